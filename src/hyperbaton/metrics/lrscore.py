"""LRscore (Birch and Osborne 2010): word order and words in one number.

    LRscore = α R + (1 − α) BLEU,   R = 100 · mean over sentences of d · BP

d compares the permutations of visit orders: 1 − √(discordant pairs / pairs) for `kendall`, the share of words in their
place for `hamming`. BP is BLEU's brevity penalty of the sentence. Of several references the best counts.
Statistics: d · BP, 1, then those of BLEU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._orders import agreement
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import number_words
from hyperbaton.metrics.bleu import Bleu


@dataclass
class LrScore(Metric):
    """LRscore: distance of word orders, mixed with BLEU."""

    title: ClassVar[str] = "LRscore"
    needs_orders: ClassVar[bool] = True

    alpha: float = option(0.5, "weight of word order; the rest is BLEU's", minimum=0, maximum=1)
    distance: str = option("kendall", "how orders are compared", choices=("kendall", "hamming"))
    tokenize: str = option("13a", "BLEU's tokenizer", choices=("13a", "none", "intl", "char", "zh"))

    def statistics(self, outputs: Outputs) -> Statistics:
        orders = self.need_orders(outputs)
        hypotheses, *references = number_words(outputs.hypotheses, *outputs.references)
        similarities = []
        for words, order in zip(references, outputs.reference_orders, strict=True):
            agreed = agreement(orders, order, outputs.line)
            similarity = 1 - np.sqrt(1 - agreed.kendall) if self.distance == "kendall" else agreed.hamming
            wanted = words.lengths[outputs.line].astype(np.float64)
            penalty = numeric.exp(np.minimum(0.0, 1 - ratio(wanted, hypotheses.lengths.astype(np.float64), nothing=1.0)))
            similarities.append(np.where((hypotheses.lengths > 0) | (wanted == 0), similarity * penalty, 0.0))
        best = np.max(similarities, axis=0)
        return np.column_stack([best, np.ones(len(best)), self._bleu().statistics(outputs)])

    def score(self, sums: Statistics) -> Values:
        order = 100 * ratio(sums[..., 0], sums[..., 1])
        return self.alpha * order + (1 - self.alpha) * self._bleu().score(sums[..., 2:])

    def _bleu(self) -> Bleu:
        return Bleu(tokenize=self.tokenize)
