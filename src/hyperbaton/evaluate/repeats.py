"""Experiments repeated with different splits: means, deviations, paired t-tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def summarize(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation (n − 1) of repeats; the deviation of one repeat is 0.

    >>> summarize([60.0, 62.0])
    (61.0, 1.4142135623730951)
    """
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def paired_test(first: Sequence[float], second: Sequence[float]) -> float | None:
    """p of the two-sided paired t-test that both have the same mean; None if there are fewer than two pairs.

    >>> round(paired_test([60.0, 62.0, 61.0], [58.0, 59.5, 59.2]), 4)
    0.0097
    """
    if len(first) < 2 or len(first) != len(second):
        return None
    differences = np.subtract(first, second)
    if np.ptp(differences) == 0:
        return 1.0 if differences[0] == 0 else 0.0
    from scipy import stats  # slow to load, and seldom needed

    return float(stats.ttest_rel(first, second).pvalue)
