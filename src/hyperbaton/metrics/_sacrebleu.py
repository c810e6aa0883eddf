"""Common parts of the metrics of sacreBLEU: tokenizers, statistics of segments, and signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hyperbaton.metrics._metric import Statistics
from hyperbaton.metrics._outputs import Outputs

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric


def segment_statistics(metric: Metric, outputs: Outputs) -> Statistics:
    """The statistics of each hypothesis as a metric of sacreBLEU counts them."""
    references = metric._cache_references(outputs.references)
    rows = [
        metric._compute_segment_statistics(metric._preprocess_segment(hypothesis), references[s])
        for hypothesis, s in zip(outputs.hypotheses, outputs.line.tolist(), strict=True)
    ]
    return np.array(rows, np.float64).reshape(len(rows), -1)


def signature(metric: Metric, n_references: int) -> str:
    """The signature that sacreBLEU gives a metric."""
    metric.num_refs = n_references
    return str(metric.get_signature())
