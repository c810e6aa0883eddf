"""The features that NI11 names but does not use, as a category of each training and test sample.

The language model's probability (§1.1) is that of the target phrase after the words before it, by word, in ten ranges; the
model is estimated from text that is neither trained nor tested on. The class of the phrase translated before is known while
translating. Those of the phrases next to the source phrase are not: they are predicted by ME, in training by models of the
other half of the text (§4.1.1: "a potential orientation class of nearby phrases").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.corpus import Bitext
from hyperbaton.lm import LanguageModel
from hyperbaton.models import OrientationModel
from hyperbaton.phrases import Occurrences, Samples
from papers.corpora import PARTS
from papers.ni11.cells import BY_TITLE, Scale, SplitText, law_text, make_model
from papers.protocol import Setting

N_RANGES = 10
MOST_LINES = 50_000  # of the language model

Side = Literal["before", "left", "right"]
Categories = tuple[Array, Array]  # of training and of test samples, from 0


@dataclass(frozen=True)
class Further:
    """The further features of a split of random text."""

    text: SplitText
    size: int
    model: OrientationModel  # ME, trained on the training text
    setting: Setting

    def categories(self, name: str) -> Categories:
        """The categories of a feature of `FURTHER`."""
        return FURTHER[name](self)

    def by_language_model(self) -> Categories:
        """The range of the mean log-probability of the words of the target phrase."""
        setting, laws = self.setting, law_text(self.setting)
        used = PARTS["random"](laws, self.size + Scale.of(setting).n_test, setting.seed)
        others = np.setdiff1d(np.arange(len(laws)), used)[:MOST_LINES]
        lm = LanguageModel.estimate(laws.select(others).target, 4, threads=setting.threads, discount_fallback=True)
        train, test = (self._mean_logprobs(lm, *part) for part in self._parts)
        limits = np.quantile(train, np.arange(1, N_RANGES) / N_RANGES)
        return np.searchsorted(limits, train), np.searchsorted(limits, test)

    def _mean_logprobs(self, lm: LanguageModel, bitext: Bitext, samples: Samples) -> Array:
        logprobs, starts = lm.score_words(bitext.target, threads=self.setting.threads)
        sums = np.append(0.0, np.cumsum(logprobs, dtype=np.float64))
        begins = starts[samples.sentence] + samples.target_begin
        means: Array = (sums[begins + samples.target_length] - sums[begins]) / samples.target_length
        return means

    def known_class_before(self) -> Categories:
        """The true class of the phrase translated before."""
        train, test = (self._classes_of(self.model.labels(samples), samples, "before") for _, samples in self._parts)
        return train, test

    def predicted_class(self, side: Side) -> Categories:
        """The predicted class of a phrase nearby."""
        train, test = (
            self._classes_of(predicted, samples, side)
            for predicted, (_, samples) in zip(self._predicted, self._parts, strict=True)
        )
        return train, test

    def _classes_of(self, classes: Array, samples: Samples, side: Side) -> Array:
        near = neighbours(samples, side)
        return np.where(near >= 0, classes[near], len(self.model.class_names))

    @property
    def _parts(self) -> tuple[tuple[Bitext, Samples], tuple[Bitext, Samples]]:
        text = self.text
        return (text.train, text.train_samples), (text.test, text.test_samples)

    @cached_property
    def _predicted(self) -> Categories:
        """The most probable classes of training and test samples."""
        (bitext, samples), (tested, test_samples) = self._parts
        train = np.empty(len(samples), np.int64)
        for half in range(2):
            here = samples.sentence % 2 == half
            model = make_model(BY_TITLE["ME"], self.model.orientations, self.setting)
            model.fit(bitext, samples=samples.select(~here))
            train[here] = model.logprobs(Occurrences.of_samples(bitext, samples.select(here))).argmax(axis=1)
        return train, self.model.logprobs(Occurrences.of_samples(tested, test_samples)).argmax(axis=1)


FURTHER: dict[str, Callable[[Further], Categories]] = {
    "language model": Further.by_language_model,
    "known class of the phrase before": Further.known_class_before,
    "predicted class of the phrase before": lambda further: further.predicted_class("before"),
    "predicted class of the phrase on the left": lambda further: further.predicted_class("left"),
    "predicted class of the phrase on the right": lambda further: further.predicted_class("right"),
}


def neighbours(samples: Samples, side: Side) -> Array:
    """The number of the smallest sample next to each one, −1 without any.

    The one `before` ends where the sample begins in the target sentence; those on the `left` and on the `right` are next to
    it in the source sentence.
    """
    source_end, target_end = (
        samples.source_begin.astype(np.int64) + samples.source_length,
        samples.target_begin.astype(np.int64) + samples.target_length,
    )
    place, wanted = {
        "before": (target_end, samples.target_begin),
        "left": (source_end, samples.source_begin),
        "right": (samples.source_begin, source_end),
    }[side]
    keys, wanted_keys = ((samples.sentence.astype(np.int64) << 20) + at for at in (place, wanted))
    order = np.lexsort((samples.source_length.astype(np.int64) + samples.target_length, keys))
    at = np.minimum(np.searchsorted(keys[order], wanted_keys), len(order) - 1)
    return np.where(keys[order[at]] == wanted_keys, order[at], -1)
