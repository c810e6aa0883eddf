"""TER (Snover et al. 2006), with the numbers of sacreBLEU, which follows Tercom; the edits are counted by the core.

TER = 100 · E / R: E counts insertions, deletions, substitutions and shifts of runs of words, R the words of the
references (of several, their mean; E is then the fewest). Statistics: E, R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Statistics, Values, error_rate
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._sacrebleu import SacreBleuMetric
from hyperbaton.metrics._words import edits_of


@dataclass
class Ter(SacreBleuMetric):
    """TER: edits per reference word, including shifts of word sequences; lower is better."""

    title: ClassVar[str] = "TER"
    higher_is_better: ClassVar[bool] = False

    case_sensitive: bool = option(False, "do not ignore case")
    normalized: bool = option(False, "normalize and tokenize as Tercom does")
    no_punct: bool = option(False, "ignore punctuation")
    asian_support: bool = option(False, "split Chinese and Japanese characters, with normalized")

    def statistics(self, outputs: Outputs) -> Statistics:
        hypotheses, *references = self._numbered(outputs)
        edits = edits_of(_core.translation_edits, hypotheses, references, outputs.line)
        lengths = [reference.lengths[outputs.line] for reference in references]
        return np.column_stack([np.min(edits, axis=0), np.mean(lengths, axis=0)]).astype(np.float64)

    def score(self, sums: Statistics) -> Values:
        return error_rate(sums)

    def _sacrebleu(self) -> Any:
        from sacrebleu.metrics.ter import TER

        return TER(**vars(self))
