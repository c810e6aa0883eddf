"""Why translations differ from references: model errors, search errors, or limits on the order.

Forced decoding, without a distortion or span limit, finds the best derivation of each sentence's reference. If there is
one, its score F is compared with the score S of the translation found by the ordinary search:

    the reference itself    the search returned it
    model error             S ≥ F: the model scores another translation at least as high
    search error            S < F: the search missed a better one, the reference
    beyond the limit        S < F, and no derivation of the reference satisfies the distortion limit

Sentences are grouped by the longest jump in the derivation of the reference. `predictions.py` compares what orientation
models predict for both derivations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np

from hyperbaton.base.errors import InputError, SentenceError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations, Bitext, Links, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode.annotated import BATCH, in_batches
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.predictions import Predictions
from hyperbaton.decode.request import Pieces, unforced
from hyperbaton.decode.result import Translations
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import NBest, Translator

JUMPS = (0, 1, 3, 6, 10, 20)  # buckets: the longest jump is at least this
_FORCED_STACK = 1000
_EQUAL = 1e-4  # scores closer than this count as equal


@dataclass
class Verdicts:
    """Counts of sentences with a reachable reference, by verdict."""

    reference: int = 0
    model_error: int = 0
    search_error: int = 0
    beyond_limit: int = 0

    @property
    def total(self) -> int:
        return self.reference + self.model_error + self.search_error + self.beyond_limit


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
        unlimited = replace(
            options, search="stack", stack=_FORCED_STACK, threshold=0.0, table_limit=0, distortion_limit=-1, max_span=0
        )
        limited = replace(unlimited, distortion_limit=options.distortion_limit, max_span=options.max_span)
        self._forcing, self._forcing_limited = (Translator(system, how, threads=threads) for how in (unlimited, limited))

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
    ordinary = Translator(system, options, threads=threads)
    most = ordinary.options.max_words
    Pieces.of(sources, most).need_whole(range(len(sources)), unforced(most))  # before the search
    judge = Judge(system, ordinary.options, threads=threads)
    result = Diagnosis()
    for lines, known, _ in in_batches(sources, annotations, BATCH):
        first = result.sentences
        wanted = list(references[first : first + len(lines)])
        try:
            translations = ordinary.translate_batch(lines, NBest(1), annotations=known)
        except SentenceError as error:
            raise error.moved(first) from error
        result.sentences += len(lines)
        totals = dict(zip(translations.counted, translations.counts.sum(axis=0).tolist(), strict=True))
        result.spans += totals["spans"]
        result.spans_cut += totals.get("spans_cut", 0)
        result.limits_lifted += int(translations.relaxed.sum())
        forced = judge.force(lines, wanted, known)
        judgements = judge.judge(lines, wanted, translations, known, forced=forced)
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
