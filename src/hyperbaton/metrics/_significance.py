"""Confidence intervals and significance tests for any metric over additive statistics.

A bootstrap sample of a test set is a row of counts, one for each sentence; its score is the metric of counts ·
statistics. One matrix product gives the sums of many such sets.

Paired bootstrap (Koehn 2004): both systems are scored on the same samples. With δ the difference on the test set and
δ_s that on sample s, `wins` is the fraction of samples with δ_s in favour of the first system, and

    p = (1 + #{|δ_s − mean δ_s| ≥ |δ|}) / (1 + samples)

Approximate randomisation (Noreen 1989; Riezler and Maxwell 2005): outputs of the two systems are swapped for a random half
of the sentences, p = (1 + #{|δ_s| ≥ |δ|}) / (1 + samples). Both are two-sided.

A system that was tuned several times has several outputs; its value is their mean score (Clark et al. 2011), and
`deviation` says how much they differ. The bootstrap then draws runs as well as sentences, separately for each system:
a sample is scored by the mean over R − 1 of the R runs, drawn with replacement. The variance of such a mean is s²/R,
with s² the variance of the runs as it is estimated from them (Rao and Wu 1988); R draws would make it too small by (R −
1)/R.

Of k comparisons, the smallest p is multiplied by k, the next by k − 1, and so on (Holm 1979), so that the chance of
rejecting any true null hypothesis stays below the level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.numeric import product
from hyperbaton.metrics._metric import Metric, Statistics, Values

TESTS = ("bootstrap", "randomization")
_PIECE = 1 << 21  # numbers drawn at a time
_SLACK = 1e-9  # differences that rounding alone makes

Draw = Callable[[np.random.Generator, int, int], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class Estimate:
    """A score, its 95% bootstrap interval, and the standard deviation over runs (0 for one run)."""

    value: float
    interval: tuple[float, float]
    deviation: float
    n_runs: int


@dataclass(frozen=True)
class Comparison:
    """The first system's score minus the other's, the probability p of such a difference by chance, and wins."""

    delta: float
    p: float
    wins: float


def estimate(
    metric: Metric, runs: Sequence[Statistics], *, samples: int = 1000, seed: int = 0, level: float = 0.95
) -> Estimate:
    """Score a system by the statistics of its runs, with an interval by bootstrap resampling.

    >>> from hyperbaton.metrics import make_metric
    >>> estimate(make_metric("wer"), [np.array([[1.0, 4.0], [0.0, 4.0]])], seed=1)
    Estimate(value=12.5, interval=(0.0, 25.0), deviation=0.0, n_runs=1)
    """
    _check(runs, samples)
    scores = np.array([float(metric.score(run.sum(axis=0))) for run in runs])
    drawn = _with_runs(_drawn_scores(metric, runs, samples, seed), seed)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    deviation = float(scores.std(ddof=1)) if len(scores) > 1 else 0.0
    return Estimate(float(scores.mean()), (float(low), float(high)), deviation, len(runs))


def bootstrap_sums(statistics: Statistics, *, samples: int = 1000, seed: int = 0) -> Statistics:
    """Sums of the statistics of sentences, (n, k), over bootstrap samples of them: (samples, k).

    >>> bootstrap_sums(np.ones((5, 2)), samples=3).tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """
    _check([statistics], samples)
    return _drawn(_resampled, len(statistics), samples, seed, lambda counts: product(counts, statistics))


def check_test(test: str) -> None:
    """Raise OptionError for an unknown test."""
    if test not in TESTS:
        raise OptionError(f"unknown test {test!r}; known: {', '.join(TESTS)}")


def compare(
    metric: Metric,
    runs: Sequence[Statistics],
    against: Sequence[Statistics],
    *,
    test: str = "bootstrap",
    samples: int = 1000,
    seed: int = 0,
) -> Comparison:
    """Test whether two systems differ; randomisation pairs their runs in order."""
    _check([*runs, *against], samples)
    check_test(test)
    n = len(runs[0])
    first, second = (np.mean([metric.score(run.sum(axis=0)) for run in system]) for system in (runs, against))
    delta = float(first - second)
    # Both systems are scored on the same drawn sentences, but their runs are independent.
    every = _drawn_scores(metric, [*runs, *against], samples, seed)
    drawn = _with_runs(every[: len(runs)], seed) - _with_runs(every[len(runs) :], seed + 1)
    better = drawn > 0 if metric.higher_is_better else drawn < 0
    extreme = np.abs(drawn - drawn.mean())
    if test == "randomization":
        if len(runs) != len(against):
            raise OptionError(f"randomization needs as many runs of both systems, not {len(runs)} and {len(against)}")

        def swapped(mask: npt.NDArray[np.float64]) -> Values:
            first = [metric.score(a.sum(axis=0) + product(mask, b - a)) for a, b in zip(runs, against, strict=True)]
            second = [metric.score(b.sum(axis=0) + product(mask, a - b)) for a, b in zip(runs, against, strict=True)]
            return np.asarray(np.abs(np.mean(first, axis=0) - np.mean(second, axis=0)))

        extreme = _drawn(lambda rng, size, n: rng.integers(2, size=(size, n)).astype(np.float64), n, samples, seed, swapped)
    n_extreme = int((extreme >= abs(delta) - _SLACK).sum())
    return Comparison(delta, (1 + n_extreme) / (1 + samples), float(better.mean()))


def holm(p: Sequence[float]) -> list[float]:
    """p-values of several comparisons, corrected for their number.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, least = [1.0] * len(p), 0.0
    for rank, i in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        least = min(1.0, max(least, (len(p) - rank) * p[i]))
        corrected[i] = least
    return corrected


def _drawn_scores(metric: Metric, runs: Sequence[Statistics], samples: int, seed: int) -> Values:
    """Scores of each run on the same drawn sets of sentences, (n_runs, samples)."""

    def scores(counts: npt.NDArray[np.float64]) -> Values:
        return np.stack([metric.score(product(counts, run)) for run in runs], axis=1)

    return _drawn(_resampled, len(runs[0]), samples, seed, scores).T


def _with_runs(scores: Values, seed: int) -> Values:
    """The mean score of drawn runs on each drawn set: (n_runs, samples) → (samples,)."""
    n_runs, samples = scores.shape
    drawn = np.zeros((1, samples), np.int64)
    if n_runs > 1:
        drawn = np.random.default_rng([seed, n_runs]).integers(n_runs, size=(n_runs - 1, samples))
    return np.take_along_axis(scores, drawn, axis=0).mean(axis=0)


def _drawn(draw: Draw, n: int, samples: int, seed: int, score: Callable[[npt.NDArray[np.float64]], Values]) -> Values:
    """Scores of drawn sets, in pieces that fit into memory; the pieces depend on n alone."""
    rng = np.random.default_rng(seed)
    size = max(1, _PIECE // n)
    return np.concatenate([score(draw(rng, min(size, samples - done), n)) for done in range(0, samples, size)])


def _resampled(rng: np.random.Generator, samples: int, n: int) -> npt.NDArray[np.float64]:
    """How often each sentence is in each drawn set, (samples, n)."""
    drawn = rng.integers(n, size=(samples, n)) + n * np.arange(samples)[:, None]
    return np.bincount(drawn.ravel(), minlength=samples * n).reshape(samples, n).astype(np.float64)


def _check(runs: Sequence[Statistics], samples: int) -> None:
    if not runs or len(runs[0]) == 0:
        raise InputError("nothing to score: no sentences")
    if any(run.shape != runs[0].shape for run in runs):
        raise InputError(f"outputs of {', '.join(str(len(run)) for run in runs)} sentences cannot be compared")
    if samples < 1:
        raise OptionError("at least one sample must be drawn")
