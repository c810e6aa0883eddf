"""BLEU (Papineni et al. 2002), tokenized and smoothed as by sacreBLEU.

    BLEU = 100 · exp(min(0, 1 − r/h)) · exp(1/N Σ_n log(m_n / t_n))

h is the length of the hypotheses, r that of the references closest in length, m_n of the t_n n-grams of the hypotheses
match a reference, with clipped counts. The k-th n without a match gets the precision 1 / (2^k t_n).
Statistics: h, r, m_1 … m_N, t_1 … t_N.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.options import option
from hyperbaton.metrics._length import closest_length
from hyperbaton.metrics._metric import Statistics, Values
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._sacrebleu import SacreBleuMetric
from hyperbaton.metrics._words import all_ngrams, clipped_matches, order_counts


@dataclass
class Bleu(SacreBleuMetric):
    """BLEU: precision of n-grams up to 4 words, with a penalty for short translations.

    >>> round(Bleu().value(Outputs.of(["the cat sat on the mat"], ["the cat sat on a mat"])), 2)
    53.73
    """

    title: ClassVar[str] = "BLEU"

    tokenize: str = option("13a", "sacreBLEU's tokenizer", choices=("13a", "none", "intl", "char", "zh"))
    lowercase: bool = option(False, "ignore case")
    smooth: str = option("exp", "smoothing of precisions without matches", choices=("exp", "none"))
    max_order: int = option(4, "longest n-gram", minimum=1, maximum=9)

    def statistics(self, outputs: Outputs) -> Statistics:
        numbered = self._numbered(outputs)
        lengths = numbered[0].lengths
        matches = [clipped_matches(n, outputs.line) for n in all_ngrams(numbered, self.max_order)]
        closest = closest_length(lengths, np.stack([text.lengths[outputs.line] for text in numbered[1:]]))
        return np.column_stack([lengths, closest, *matches, order_counts(lengths, self.max_order)]).astype(np.float64)

    def score(self, sums: Statistics) -> Values:
        length, reference = sums[..., 0], sums[..., 1]
        matches, totals = sums[..., 2 : 2 + self.max_order], sums[..., 2 + self.max_order :]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_precision = numeric.log(matches / totals)
            if self.smooth == "exp":
                missing = np.cumsum(matches == 0, axis=-1)
                log_precision = np.where(matches == 0, -numeric.log(np.ldexp(totals, missing)), log_precision)
            brevity = np.minimum(0.0, 1 - reference / length)
            values = 100 * numeric.exp(brevity + log_precision.mean(axis=-1))
        return np.where((totals > 0).all(axis=-1) & (matches > 0).any(axis=-1), values, 0.0)

    def objective(self) -> _core.Objective:
        return _core.bleu_objective(max_order=self.max_order, smooth=self.smooth == "exp")

    def _sacrebleu(self) -> Any:
        from sacrebleu.metrics.bleu import BLEU

        return BLEU(
            lowercase=self.lowercase,
            tokenize=self.tokenize,
            smooth_method=self.smooth,
            max_ngram_order=self.max_order,
            force=True,
        )
