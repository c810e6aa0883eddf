"""How well the orientation models of a system predict the classes of the phrases that the search uses.

A model is trained on all phrase pairs extracted from a linked text, but the search uses the few that it chooses,
and their classes depend on the phrases chosen before. Four kinds of phrases show where a model loses accuracy:

    extracted    phrase pairs extracted from the links of the text, if they are options of the search
    chosen       extracted phrase pairs that are in the translation
    reference    the steps of the derivation of the reference
    search       the steps of the translation, of sentences with a derivation of the reference

The class of an extracted phrase pair is given by the links around it, that of a step by the previous step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext
from hyperbaton.decode.result import NO_CLASS, Translations
from hyperbaton.decode.scorers import ModelUse, OptionScores
from hyperbaton.models import Batch
from hyperbaton.phrases import Samples, extract
from hyperbaton.phrases.coverage import possible_of_samples, states_of_samples


@dataclass
class ClassSums:
    """Sums over phrases, by their class: their number, correct predictions, log p of the class, and p of the prediction."""

    names: tuple[str, ...]
    sums: Array = field(init=False)  # (n_classes, 4)

    def __post_init__(self) -> None:
        self.sums = np.zeros((len(self.names), 4))

    def add(self, logprobs: Array, classes: Array) -> None:
        """Add phrases with log-probabilities (n, n_classes) and these classes; unknown phrases have rows of zeros."""
        known = (classes != NO_CLASS) & logprobs.any(axis=1)
        logprobs, classes = logprobs[known], classes[known].astype(np.int64)
        own = logprobs[np.arange(len(classes)), classes]
        best = logprobs.max(axis=1, initial=-np.inf)
        columns = (np.ones(len(classes)), own == best, own, numeric.exp(best))
        for i, values in enumerate(columns):
            self.sums[:, i] += np.bincount(classes, values, len(self.names))

    def as_json(self) -> JsonObject:
        """The figures of all phrases, and of those of each class."""
        classes = {name: _figures(row) for name, row in zip(self.names, self.sums, strict=True)}
        return {**_figures(self.sums.sum(axis=0)), "classes": classes}


def _figures(sums: Array) -> JsonObject:
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
        chosen = np.isin(options, np.concatenate([np.zeros(0, np.int64), *used]))
        for name, scores in _class_scores(translations):
            orientations, possible, states = scores.orientations, None, None
            if scores.possible:
                possible = possible_of_samples(orientations.possible_classes, len(orientations), bitext, samples)
            if scores.coverage is not None:
                states = states_of_samples(bitext, samples)
            logprobs, classes = scores.logprobs(options, possible, states), orientations.classify(samples, scores.side)
            self._sums(name, scores, "extracted").add(logprobs, classes)
            self._sums(name, scores, "chosen").add(logprobs[chosen], classes[chosen])

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
    """The scores of all orientation models, as log-probabilities."""
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
    known = {(*place, " ".join(target[option])): option for option, place in enumerate(places)}
    found = []
    spans = (samples.sentence, samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    for s, begin, length, target_begin, target_length in zip(*(span.tolist() for span in spans), strict=True):
        words = bitext.target[s][target_begin : target_begin + target_length]
        found.append(known.get((s, begin, length, " ".join(words)), -1))
    return np.array(found, np.int64)
