"""chrF (Popović 2015), counted as by sacreBLEU.

With P and R the mean precision and recall of character n-grams (n ≤ 6) over those n that both sides have,

    chrF = 100 · (1 + β²) P R / (β² P + R),  β = 2

`word_order` 2 adds word n-grams: chrF++. Statistics: for each n the n-grams of hypotheses, of references, and matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._sacrebleu import SacreBleuMetric


@dataclass
class Chrf(SacreBleuMetric):
    """chrF: F-score of character n-grams."""

    title: ClassVar[str] = "chrF"

    char_order: int = option(6, "longest character n-gram", minimum=1)
    word_order: int = option(0, "longest word n-gram; 2 is chrF++", minimum=0)
    beta: int = option(2, "weight of recall relative to precision", minimum=1)
    lowercase: bool = option(False, "ignore case")

    def statistics(self, outputs: Outputs) -> Statistics:
        metric = self._sacrebleu()
        references = metric._cache_references(outputs.references)
        rows = [
            metric._compute_segment_statistics(metric._preprocess_segment(hypothesis), references[s])
            for hypothesis, s in zip(outputs.hypotheses, outputs.line.tolist(), strict=True)
        ]
        return np.array(rows, np.float64).reshape(len(rows), -1)

    def score(self, sums: Statistics) -> Values:
        hypothesis, reference, matches = (sums[..., i::3] for i in range(3))
        both = (hypothesis > 0) & (reference > 0)
        n_orders = both.sum(axis=-1)
        precision = ratio(np.where(both, ratio(matches, hypothesis), 0).sum(axis=-1), n_orders)
        recall = ratio(np.where(both, ratio(matches, reference), 0).sum(axis=-1), n_orders)
        factor = self.beta * self.beta
        return 100 * ratio((1 + factor) * precision * recall, factor * precision + recall)

    def _sacrebleu(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(**vars(self))
