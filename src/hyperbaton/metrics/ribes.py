"""RIBES (Isozaki et al. 2010): rank correlation of the words that hypothesis and reference share.

    RIBES = 100 · NKT · P^α · BP^β,  α = 0.25, β = 0.10

Words are matched one to one, repeated words by their contexts. NKT = (τ + 1)/2 is the share of pairs of matched words
in the same order, P the share of the hypothesis that is matched, BP the brevity penalty of BLEU. The value of a corpus
is the mean of its sentences; of several references the best counts. Statistics: value, 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import Ints, NumberedText, edits_of, number_words


@dataclass
class Ribes(Metric):
    """RIBES: rank correlation of the order of shared words.

    >>> round(Ribes().value(Outputs.of(["Bob hit John yesterday"], ["John hit Bob yesterday"])), 1)
    50.0
    """

    title: ClassVar[str] = "RIBES"

    alpha: float = option(0.25, "exponent of the fraction of matched words", minimum=0)
    beta: float = option(0.10, "exponent of the brevity penalty", minimum=0)
    lowercase: bool = option(False, "ignore case")

    def statistics(self, outputs: Outputs) -> Statistics:
        outputs = outputs.lowercased() if self.lowercase else outputs
        hypotheses, *references = number_words(outputs.hypotheses, *outputs.references)
        values = [self._sentences(hypotheses, reference, outputs.line) for reference in references]
        return np.column_stack([100 * np.max(values, axis=0), np.ones(len(outputs.line))])

    def score(self, sums: Statistics) -> Values:
        return ratio(sums[..., 0], sums[..., 1])

    def _sentences(self, hypotheses: NumberedText, reference: NumberedText, line: Ints) -> Values:
        shared = edits_of(_core.count_shared_words, hypotheses, [reference], line)[0].astype(np.float64)
        matches, concordant = shared[:, 0], shared[:, 1]
        length, other = (lengths.astype(np.float64) for lengths in (hypotheses.lengths, reference.lengths[line]))
        # With fewer than two matches there is no order: correct only if neither side has another word.
        alone = ((matches == 1) & (other == 1)).astype(np.float64)
        agreement = np.where(matches < 2, alone, ratio(concordant, matches * (matches - 1) / 2))
        brevity = numeric.exp(np.minimum(0.0, 1 - ratio(other, length, nothing=1.0)))
        values: Values = agreement * numeric.power(ratio(matches, length), self.alpha) * numeric.power(brevity, self.beta)
        return np.where(length == 0, other == 0, values)
