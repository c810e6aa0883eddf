"""NIST (Doddington 2002), as by mteval-v13a.

    NIST = Σ_n (Σ of info over matched n-grams) / t_n · exp(β ln² min(1, h/r)),   β = ln ½ / ln² 1.5
    info(w_1 … w_n) = log2(#(w_1 … w_n−1) / #(w_1 … w_n)), counted in the references

n ≤ 5; h is the length of the hypotheses, r the mean length of the references, t_n the n-grams of the hypotheses. Matches
are clipped to the largest count of the n-gram in a reference. The scale has no upper bound; good systems reach 5 to
10. Statistics: h, r, information for each n, t_n for each n; the information is that of all references,
whichever sentences are summed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import all_ngrams, clipped_matches, number_words, order_counts

_BETA = numeric.log(0.5) / numeric.power(numeric.log(1.5), 2)


@dataclass
class Nist(Metric):
    """NIST: n-grams weighted by their information; not limited to 100."""

    title: ClassVar[str] = "NIST"

    max_order: int = option(5, "longest n-gram", minimum=1, maximum=9)
    lowercase: bool = option(False, "ignore case")

    def statistics(self, outputs: Outputs) -> Statistics:
        outputs = outputs.lowercased() if self.lowercase else outputs
        numbered = number_words(outputs.hypotheses, *outputs.references)
        lengths = numbered[0].lengths
        information = []
        shorter = np.array([sum(text.lengths.sum() for text in numbered[1:])])
        for ngrams in all_ngrams(numbered, self.max_order):
            counts = np.bincount(np.concatenate(ngrams.number[1:]), minlength=ngrams.n_kinds)
            weight = numeric.log2(np.maximum(shorter[ngrams.prefix], 1) / np.maximum(counts, 1))
            information.append(clipped_matches(ngrams, outputs.line, weight))
            shorter = counts
        reference = np.mean([text.lengths[outputs.line] for text in numbered[1:]], axis=0)
        return np.column_stack([lengths, reference, *information, order_counts(lengths, self.max_order)]).astype(np.float64)

    def score(self, sums: Statistics) -> Values:
        information, totals = sums[..., 2 : 2 + self.max_order], sums[..., 2 + self.max_order :]
        share = np.minimum(1.0, ratio(sums[..., 0], sums[..., 1], nothing=1.0))
        penalty = numeric.exp(_BETA * numeric.power(numeric.log(np.maximum(share, 1e-300)), 2))
        return np.asarray(ratio(information, totals).sum(axis=-1) * penalty)
