"""Why translations differ from references: model errors, search errors, or limits on the order.

Forced decoding, without a distortion or span limit, finds the best derivation of each sentence's reference. If there is
one, its score F is compared with the score S of the translation found by the ordinary search:

    the reference itself    the search returned it
    model error             S ≥ F: the model scores another translation at least as high
    search error            S < F: the search missed a better one, the reference
    beyond the limit        S < F, and no derivation of the reference satisfies the distortion limit

Sentences are grouped by the longest jump in the derivation of the reference.

A second question is how well the orientation models predict the classes of the phrases that the search uses. They are
trained on all phrase pairs extracted from a linked text, but the search uses the few that it chooses, and their classes
depend on the phrases chosen before. Four kinds of phrases show where a model loses accuracy:

    extracted    phrase pairs extracted from the links of the text, if they are options of the search
    chosen       extracted phrase pairs that are in the translation
    reference    the steps of the derivation of the reference
    search       the steps of the translation, of sentences with a derivation of the reference

The class of an extracted phrase pair is given by the links around it, that of a step by the previous step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError, SentenceError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations, Bitext, Links, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode.annotated import BATCH, in_batches
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.reordering import OptionScores
from hyperbaton.decode.request import Pieces, unforced
from hyperbaton.decode.result import NO_CLASS, Translations
from hyperbaton.decode.scorers import ModelUse
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import NBest, TokenTranslator
from hyperbaton.models import Batch
from hyperbaton.phrases import Samples, extract
from hyperbaton.phrases.coverage import possible_of_samples, states_of_samples

JUMPS = (0, 1, 3, 6, 10, 20)  # buckets: the longest jump is at least this
_FORCED_STACK = 1000
_EQUAL = 1e-4  # scores closer than this count as equal


@dataclass
class ClassSums:
    """Sums over phrases, by their class: their number, correct predictions, log p of the class, and p of the prediction."""

    names: tuple[str, ...]
    sums: Array = field(init=False)  # (n_classes, 4)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.names), 4))

    def add(self, logprobs: Array, classes: Array) -> None:
        """Add phrases with log-probabilities (n, n_classes) and these classes; unknown phrases have rows of zeros."""
        is_scored = (classes != NO_CLASS) & logprobs.any(axis=1)
        logprobs, classes = logprobs[is_scored], classes[is_scored].astype(np.int64)
        logprob = logprobs[np.arange(len(classes)), classes]
        best = logprobs.max(axis=1, initial=-np.inf)
        columns = (np.ones(len(classes)), logprob == best, logprob, numeric.exp(best))
        for i, values in enumerate(columns):
            self.sums[:, i] += np.bincount(classes, values, len(self.names))

    def as_json(self) -> JsonObject:
        """The figures of all phrases, and of those of each class."""
        classes = {name: _figures(row) for name, row in zip(self.names, self.sums, strict=True)}
        return {**_figures(self.sums.sum(axis=0)), "classes": classes}


def _figures(sums: Array) -> dict[str, float | None]:
    """Percent of correct predictions, their mean probability in percent, mean log p of the class; None without phrases."""
    n, *rest = sums.tolist()
    correct, logprob, best = (total / n if n else None for total in rest)
    percent = {"correct": correct, "confidence": best}
    return {
        "n": int(n),
        **{name: None if share is None else 100 * share for name, share in percent.items()},
        "mean_logprob": logprob,
    }


@dataclass
class Predictions:
    """Figures by model, side and kind of phrases."""

    found: dict[tuple[str, str, str], ClassSums] = field(default_factory=dict)

    def add_extracted(self, bitext: Bitext, translations: Translations) -> None:
        """Add the phrase pairs of a bitext with links; `translations` are the system's, of the same sentences."""
        samples = extract(bitext, translations.system.max_source_length)
        options = _options_of(bitext, samples, translations.batch)
        samples, options = samples.select(options >= 0), options[options >= 0]
        best = translations.path_offsets[:-1][np.diff(translations.path_offsets) > 0]
        used = [translations.path_options(path) for path in best]
        is_used = np.isin(options, np.concatenate([np.zeros(0, np.int64), *used]))
        for name, scores in _class_scores(translations):
            orientations, possible, states = scores.orientations, None, None
            if scores.possible:
                possible = possible_of_samples(orientations.possible_classes, len(orientations), bitext, samples)
            if scores.coverage is not None:
                states = states_of_samples(bitext, samples)
            logprobs, classes = scores.logprobs(options, possible, states), orientations.classify(samples, scores.side)
            self._sums(name, scores, "extracted").add(logprobs, classes)
            self._sums(name, scores, "chosen").add(logprobs[is_used], classes[is_used])

    def add_steps(self, phrases: str, translations: Translations, pieces: Sequence[int]) -> None:
        """Add the steps of the best translations of some pieces."""
        at: dict[str, int] = {}  # the next column of classes of each model
        for name, scores in _class_scores(translations):
            column = at[name] = at.get(name, -1) + 1
            for piece in pieces:
                path = int(translations.path_offsets[piece])
                classes = translations.step_classes(piece, path)[name][:, column]
                options = translations.path_options(path)
                self._sums(name, scores, phrases).add(_step_logprobs(scores, translations, piece, options), classes)

    def as_json(self) -> list[JsonObject]:
        return [
            {"model": name, "side": side, "phrases": phrases, **sums.as_json()}
            for (name, side, phrases), sums in sorted(self.found.items(), key=lambda item: item[0][:2])
        ]

    def _sums(self, name: str, scores: OptionScores, phrases: str) -> ClassSums:
        return self.found.setdefault((name, scores.side, phrases), ClassSums(scores.orientations.names))


def _class_scores(translations: Translations) -> Iterator[tuple[str, OptionScores]]:
    """The scores of all orientation models, as log-probabilities; none for rules, whose steps are not phrases."""
    if translations.system.is_hierarchical:
        return
    for name, model in translations.system.reordering.items():
        direct = replace(model, use="direct") if isinstance(model, ModelUse) else model
        for scores in direct.class_scores(translations.batch):
            yield name, scores


def _step_logprobs(
    scores: OptionScores, translations: Translations, piece: int, options: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Log-probabilities of the classes of the steps of a path; those of side `after` are about the previous step."""
    if scores.side == "after":
        return scores.logprobs(np.concatenate([options[:1], options[:-1]]))
    source = translations.batch.options.source
    spans = [(int(b), int(b) + int(n)) for b, n in zip(source.begin[options], source.length[options], strict=True)]
    return scores.step_logprobs(options, spans, int(translations.batch.source.lengths[piece]))


def _options_of(bitext: Bitext, samples: Samples, batch: Batch) -> npt.NDArray[np.int64]:
    """The option of each sample: the same words at the same place; -1 if there is none."""
    source, target = batch.options.source, batch.options.target
    places = zip(source.sentence.tolist(), source.begin.tolist(), source.length.tolist(), strict=True)
    numbers = {(*place, " ".join(target[option])): option for option, place in enumerate(places)}
    matches = []
    spans = (samples.sentence, samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    for s, begin, length, target_begin, target_length in zip(*(span.tolist() for span in spans), strict=True):
        words = bitext.target[s][target_begin : target_begin + target_length]
        matches.append(numbers.get((s, begin, length, " ".join(words)), -1))
    return np.array(matches, np.int64)


@dataclass
class Verdicts:
    """Counts of sentences with a reachable reference, by verdict."""

    reference: int = 0
    model_error: int = 0
    search_error: int = 0
    beyond_limit: int = 0


@dataclass
class Diagnosis:
    """The verdicts of all sentences; `by_jump`: by the longest jump in the derivation of the reference."""

    sentences: int = 0
    reachable: int = 0
    by_jump: dict[int, Verdicts] = field(default_factory=lambda: {jump: Verdicts() for jump in JUMPS})
    predictions: Predictions = field(default_factory=Predictions)
    spans: int = 0
    spans_cut: int = 0
    limits_lifted: int = 0

    @property
    def cut_fraction(self) -> float:
        """The fraction of considered extensions of hypotheses that the limits on the order forbade."""
        return self.spans_cut / self.spans if self.spans else 0.0

    def as_json(self) -> JsonObject:
        return {
            "sentences": self.sentences,
            "reachable": self.reachable,
            "cut_fraction": self.cut_fraction,
            "limits_lifted": self.limits_lifted,
            "by_jump": {str(jump): asdict(verdicts) for jump, verdicts in self.by_jump.items()},
            "orientations": self.predictions.as_json(),
        }


class Judgement(NamedTuple):
    """The verdict on one sentence with a reachable reference, and the longest jump in the reference's derivation."""

    verdict: str  # a field of Verdicts
    longest_jump: int


class Judge:
    """Diagnoses why a system's translations differ from the references."""

    def __init__(self, system: System, options: Decoding, *, threads: int | None = None) -> None:
        system.need_unpacked("diagnosis")
        unlimited = replace(
            options, search="stack", stack=_FORCED_STACK, threshold=0.0, table_limit=0, distortion_limit=-1, max_span=0
        )
        limited = replace(unlimited, distortion_limit=options.distortion_limit, max_span=options.max_span)
        self._forcing = TokenTranslator(system, unlimited, threads=threads)
        self._forcing_limited = TokenTranslator(system, limited, threads=threads)

    def force(self, lines: Sequence[str], references: Sequence[str], annotations: Annotations = NOTHING) -> Translations:
        """The best derivation of each reference, without limits on the order; none if it cannot be reached."""
        return self._forcing.translate_batch(lines, NBest(1), annotations=annotations, forced=references, relax=False)

    def judge(
        self,
        lines: Sequence[str],
        references: Sequence[str],
        translations: Translations,
        annotations: Annotations = NOTHING,
        *,
        forced: Translations | None = None,
    ) -> list[Judgement | None]:
        """A judgement for each sentence, None if its reference cannot be reached.

        `translations` are the system's, `forced` those of `force`, if they are known.
        """
        forced = forced or self.force(lines, references, annotations)
        within = self._forcing_limited.translate_batch(
            lines, NBest(1), annotations=annotations, forced=references, relax=False
        )
        judgements: list[Judgement | None] = []
        for s, line in enumerate(translations.lines()):
            path = next(iter(forced.paths(s)), None)
            if path is None:
                judgements.append(None)
                continue
            longest = forced.longest_jump(path)
            best = float(translations.scores[translations.path_offsets[s]])
            if line.split() == references[s].split():
                verdict = "reference"
            elif best >= float(forced.scores[path]) - _EQUAL:
                verdict = "model_error"
            elif not within.paths(s):
                verdict = "beyond_limit"
            else:
                verdict = "search_error"
            judgements.append(Judgement(verdict, longest))
        return judgements


def diagnose(
    system: System,
    sources: Sequence[str],
    references: Sequence[str],
    options: Decoding | None = None,
    *,
    annotations: Annotations = NOTHING,
    links: Links | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Diagnose why the search did not return the references of sentences.

    `links` between the sentences and references also show what orientation models predict for extracted phrase pairs.
    """
    if len(sources) != len(references):
        raise InputError(f"there are {len(sources)} sentences, but {len(references)} references")
    if links is not None and system.is_hierarchical:
        raise OptionError("--links compares orientations of phrase pairs, which a system with rules does not have")
    ordinary = TokenTranslator(system, options, threads=threads)
    most = ordinary.options.max_words
    Pieces.of(sources, most).need_whole(range(len(sources)), unforced(most))  # before the search
    judge = Judge(system, ordinary.options, threads=threads)
    result = Diagnosis()
    for lines, labels, _ in in_batches(sources, annotations, BATCH):
        first = result.sentences
        wanted = list(references[first : first + len(lines)])
        try:
            translations = ordinary.translate_batch(lines, NBest(1), annotations=labels)
        except SentenceError as error:
            raise error.moved(first) from error
        result.sentences += len(lines)
        totals = dict(zip(translations.counted, translations.counts.sum(axis=0).tolist(), strict=True))
        result.spans += totals["spans"]
        result.spans_cut += totals.get("spans_cut", 0)
        result.limits_lifted += int(translations.relaxed.sum())
        forced = judge.force(lines, wanted, labels)
        judgements = judge.judge(lines, wanted, translations, labels, forced=forced)
        if links is not None:
            here = links.select(np.arange(first, first + len(lines)))
            bitext = Bitext(translations.batch.source, Text.of(wanted), here)
            result.predictions.add_extracted(bitext, translations)
        reached = [s for s, judgement in enumerate(judgements) if judgement is not None]
        result.predictions.add_steps("reference", forced, reached)
        result.predictions.add_steps("search", translations, reached)
        for judgement in judgements:
            if judgement is not None:
                result.reachable += 1
                verdicts = result.by_jump[max(jump for jump in JUMPS if jump <= judgement.longest_jump)]
                setattr(verdicts, judgement.verdict, getattr(verdicts, judgement.verdict) + 1)
        if progress is not None:
            progress(result.sentences, len(sources))
    return result
