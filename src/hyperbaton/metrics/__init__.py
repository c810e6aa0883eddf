"""Metrics of translations and of word order, all over additive statistics of sentences.

A metric is one file of this folder; its options are its arguments. `docs/metrics.md` has the formulas.

>>> from hyperbaton.metrics import Outputs, make_metric
>>> outputs = Outputs.of(["the cat sat on the mat"], ["the cat sat on a mat"])
>>> wer = make_metric("wer")
>>> wer.statistics(outputs).tolist(), round(wer.value(outputs), 2)
([[1.0, 6.0]], 16.67)
>>> make_metric("bleu:tokenize=none").signature(outputs.n_references).split("|")[:3]
['nrefs:1', 'case:mixed', 'eff:no']
"""

from hyperbaton.metrics._length import count_words, length_ratio, length_warning
from hyperbaton.metrics._metric import METRICS, Metric, Statistics, Values, higher_is_better, make_metric, metric_or_none
from hyperbaton.metrics._outputs import Orders, Outputs
from hyperbaton.metrics._significance import Comparison, Estimate, bootstrap_sums, check_test, compare, estimate, holm

__all__ = [
    "METRICS",
    "Comparison",
    "Estimate",
    "Metric",
    "Orders",
    "Outputs",
    "Statistics",
    "Values",
    "bootstrap_sums",
    "check_test",
    "compare",
    "count_words",
    "estimate",
    "higher_is_better",
    "holm",
    "length_ratio",
    "length_warning",
    "make_metric",
    "metric_or_none",
]
