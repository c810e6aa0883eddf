"""Lexicalized reordering (LR): relative frequencies of the classes of each phrase pair.

    p(o | s, t) = (c(o, s, t) + σ K q(o)) / (c(s, t) + σ K)            K classes; NI11 §1.1, AL14 eq. 4 with σ = 0

With q uniform and σ = 0.5 this is Moses' estimate. An unseen pair uses p(o | s), an unseen source phrase the distribution
of all samples. `towards = "ladder"` is the maximum a posteriori estimate with four steps: q of the pair is p(o | s),
which is smoothed in the same way towards p(o | t), and that towards p(o). `units` replaces words by their classes, or
source words by their tags, so that rare phrases share counts. Every variant of Moses is an orientation set (`hier-mslr`),
a side and a conditioning: `wbe-msd-bidirectional-fe` corresponds to the two models `--orientations msd --side before` and
`--side after`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import joined, within
from hyperbaton.base.options import check_options, option
from hyperbaton.corpus import Annotations
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.orientation import LogProbs, OrientationModel, TrainingSamples
from hyperbaton.phrases import ClassCounts, Occurrences, smooth
from hyperbaton.phrases.occurrences import Keys
from hyperbaton.phrases.reordering import SMOOTHING


@dataclass(eq=False)
class Lexicalized(OrientationModel):
    """Relative frequency of each orientation of the phrase pair (LR); backs off to the source phrase, then to all."""

    conditioning: str = option("fe", "condition on the phrase pair (fe) or the source phrase (f)", choices=("f", "fe"))
    smoothing: float = option(SMOOTHING, "pseudo-count of each class", minimum=0)
    towards: str = option(
        "uniform",
        "distribute pseudo-counts equally, like the back-off distribution, or down a ladder: pair, source, target, all",
        choices=("uniform", "backoff", "ladder"),
    )
    units: str = option(
        "words",
        "phrases consist of words, of word classes, or of source tags and target classes",
        choices=("words", "classes", "tags"),
    )

    is_table: ClassVar = True
    uses: ClassVar = ("source_tags", "source_classes", "target_classes")

    def _used(self, annotations: Annotations) -> Annotations:
        needed = {"words": (), "classes": ("source_classes", "target_classes"), "tags": ("source_tags", "target_classes")}
        check_options(self)
        for name in needed[self.units]:
            if getattr(annotations, name) is None:
                flags = " and ".join(f"--{name.replace('_', '-')}" for name in needed[self.units])
                raise OptionError(f"units={self.units} needs {flags}")
        if self.units == "words":
            return annotations.only([name for name in annotations.names if name != "source_tags"])
        return annotations.only(needed[self.units])

    def _fit(self, training: TrainingSamples) -> None:
        phrases, resources = self._in_units(training.occurrences), training.resources

        def counted(keys: Keys) -> ClassCounts:
            return ClassCounts.of(keys, training.labels, len(self.class_names), resources.scratch)

        self.sources_ = counted(phrases.source_keys(resources))
        self.pairs_ = counted(phrases.pair_keys(resources)) if self.conditioning == "fe" else None
        self.targets_ = counted(phrases.target_keys(resources)) if self.towards == "ladder" else None

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        phrases, resources = self._in_units(occurrences), self._resources
        probabilities = np.tile(self.prior, (len(occurrences), 1))
        if self.targets_ is not None:
            probabilities = self._estimate(self.targets_.at(phrases.target_keys(resources)), probabilities)
        probabilities = self._estimate(self.sources_.at(phrases.source_keys(resources)), probabilities)
        if self.pairs_ is not None:
            probabilities = self._estimate(self.pairs_.at(phrases.pair_keys(resources)), probabilities)
        with np.errstate(divide="ignore"):  # without smoothing, a class that never occurred has log 0
            logprobs: LogProbs = numeric.log(probabilities)
        return logprobs

    def _in_units(self, occurrences: Occurrences) -> Occurrences:
        return occurrences if self.units == "words" else occurrences.in_classes()

    def moses_table(self, direction: str) -> str | None:
        # Tags belong to a sentence, not to a phrase; and the ladder uses the target phrase, which f leaves out.
        by_context = self.units == "tags" or (self.towards == "ladder" and self.by_source)
        return None if by_context else super().moses_table(direction)

    @property
    def by_source(self) -> bool:
        return self.conditioning == "f"

    @property
    def estimates_like_moses(self) -> bool:
        return self.units == "words" and self.towards == "uniform" and self.smoothing == SMOOTHING

    def counts_of(self, occurrences: Occurrences) -> Array:
        return self.sources_.at(self._in_units(self.known(occurrences)).source_keys(self._resources))

    def _estimate(self, counts: Array, backoff: Array) -> Array:
        """Smoothed relative frequencies; the back-off if nothing was counted."""
        seen = counts.sum(axis=1) > 0
        towards = backoff[seen] if self.towards != "uniform" else np.full(counts.shape[1], 1 / counts.shape[1])
        result = backoff.copy()
        result[seen] = smooth(counts[seen], self.smoothing, towards)
        return result

    def _arrays(self) -> dict[str, Array]:
        levels = {"sources": self.sources_, "targets": self.targets_, "pairs": self.pairs_}
        return {
            key: array
            for name, counts in levels.items()
            if counts is not None
            for key, array in counts.arrays(name).items()
        }

    def _layout(self) -> dict[str, str]:
        levels = {"sources": True, "pairs": self.conditioning == "fe", "targets": self.towards == "ladder"}
        n_classes = str(len(self.class_names))
        counts = (within(level, ClassCounts.LAYOUT, n_classes=n_classes) for level, has in levels.items() if has)
        return super()._layout() | joined(counts)

    def _restore(self, state: ModelState) -> None:
        self.sources_ = ClassCounts.from_arrays(state.group("sources"))
        self.pairs_ = ClassCounts.from_arrays(state.group("pairs")) if self.conditioning == "fe" else None
        self.targets_ = ClassCounts.from_arrays(state.group("targets")) if self.towards == "ladder" else None
