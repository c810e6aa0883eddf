"""Word error rate.

WER = 100 · E / R: E is the fewest insertions, deletions and substitutions of words that turn the hypotheses into the
references, R the words of the references. With several references, the one with the lowest rate is used. Statistics:
E, R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, error_rate
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import edits_of, number_words


@dataclass
class Wer(Metric):
    """WER: word edits per reference word; lower is better.

    >>> round(Wer().value(Outputs.of(["a c d"], ["a b c"])), 2)
    66.67
    """

    title: ClassVar[str] = "WER"
    higher_is_better: ClassVar[bool] = False

    lowercase: bool = option(False, "ignore case")

    def statistics(self, outputs: Outputs) -> Statistics:
        outputs = outputs.lowercased() if self.lowercase else outputs
        hypotheses, *references = number_words(outputs.hypotheses, *outputs.references)
        each = zip(edits_of(_core.edit_distances, hypotheses, references, outputs.line), references, strict=True)
        return self.best_reference(
            [np.column_stack([edits, reference.lengths[outputs.line]]).astype(np.float64) for edits, reference in each]
        )

    def score(self, sums: Statistics) -> Values:
        return error_rate(sums)
