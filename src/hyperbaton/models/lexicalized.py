"""Lexicalized reordering (LR): relative frequencies of the classes of each phrase pair.

    p(o | s, t) = (c(o, s, t) + σ K q(o)) / (c(s, t) + σ K)            K classes; NI11 §1.1, AL14 eq. 4 with σ = 0

With q uniform and σ = 0.5 this is Moses' estimate. A pair that was not seen takes p(o | s), a source phrase that was not
seen the distribution of all samples. Every variant of Moses is an orientation set (`hier-mslr`), a side and a
conditioning: `wbe-msd-bidirectional-fe` is the two models `--orientations msd --side before` and `--side after`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.options import option
from hyperbaton.models._orientation import LogProbs, OrientationModel, Training
from hyperbaton.models._store import ModelState
from hyperbaton.phrases import ORIENTATIONS, ClassCounts, MosesSet, Occurrences, ReorderingType, smooth
from hyperbaton.phrases.reordering import SMOOTHING


@dataclass(eq=False)
class Lexicalized(OrientationModel):
    """Relative frequency of each orientation of the phrase pair (LR); backs off to the source phrase, then to all."""

    conditioning: str = option("fe", "condition on the phrase pair (fe) or the source phrase (f)", choices=("f", "fe"))
    smoothing: float = option(SMOOTHING, "pseudo-count of each class", minimum=0)
    towards: str = option(
        "uniform", "pseudo-counts are shared equally, or as the back-off has it", choices=("uniform", "backoff")
    )

    def _fit(self, training: Training) -> None:
        n_classes = len(self.class_names)
        threads = self.threads or None
        self.sources_ = ClassCounts.of(training.occurrences.source_keys(threads), training.labels, n_classes)
        self.pairs_ = None
        if self.conditioning == "fe":
            self.pairs_ = ClassCounts.of(training.occurrences.pair_keys(threads), training.labels, n_classes)

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        probabilities = np.tile(self.prior, (len(occurrences), 1))
        probabilities = self._estimate(self.sources_.at(occurrences.source_keys(self.threads or None)), probabilities)
        if self.pairs_ is not None:
            counts = self.pairs_.at(occurrences.pair_keys(self.threads or None))
            probabilities = self._estimate(counts, probabilities)
        with np.errstate(divide="ignore"):  # without smoothing, a class that never occurred has log 0
            logprobs: LogProbs = numeric.log(probabilities)
        return logprobs

    def moses_table(self, direction: str) -> str | None:
        orientations = self.set
        if not isinstance(orientations, MosesSet):
            return None
        unit = {"word": "wbe", "phrase": "phrase", "hierarchical": "hier"}[orientations.unit]
        classes = ORIENTATIONS.name_of(orientations)
        return ReorderingType.parse(f"{unit}-{classes}-{direction}-{self.conditioning}").name

    def counts_of(self, occurrences: Occurrences) -> Array:
        return self.sources_.at(self.known(occurrences).source_keys(self.threads or None))

    def _estimate(self, counts: Array, backoff: Array) -> Array:
        """Smoothed relative frequencies; the back-off where nothing was counted."""
        seen = counts.sum(axis=1) > 0
        towards = backoff[seen] if self.towards == "backoff" else np.full(counts.shape[1], 1 / counts.shape[1])
        result = backoff.copy()
        result[seen] = smooth(counts[seen], self.smoothing, towards)
        return result

    def _arrays(self) -> dict[str, Array]:
        return self.sources_.arrays("sources") | ({} if self.pairs_ is None else self.pairs_.arrays("pairs"))

    def _restore(self, state: ModelState) -> None:
        self.sources_ = ClassCounts.from_arrays(state.arrays, "sources")
        self.pairs_ = ClassCounts.from_arrays(state.arrays, "pairs") if "pairs.keys" in state.arrays else None
