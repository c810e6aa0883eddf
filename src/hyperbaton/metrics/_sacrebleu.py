"""The base class of the metrics of sacreBLEU: its tokenizers and signatures."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from hyperbaton.metrics._metric import Metric
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import NumberedText, number_words


@dataclass
class SacreBleuMetric(Metric):
    """A metric that sacreBLEU has too."""

    @abstractmethod
    def _sacrebleu(self) -> Any:
        """The metric of sacreBLEU with these options."""

    def signature(self, n_references: int) -> str:
        metric = self._sacrebleu()
        metric.num_refs = n_references
        return str(metric.get_signature())

    def _numbered(self, outputs: Outputs) -> list[NumberedText]:
        """The words of hypotheses and references as sacreBLEU tokenizes them."""
        prepare = self._sacrebleu()._preprocess_segment
        return number_words(*([prepare(line) for line in text] for text in (outputs.hypotheses, *outputs.references)))
