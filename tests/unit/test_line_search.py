"""The exact line search on surfaces made by hand, with ties, and against a dense grid."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from hyperbaton import _core
from hyperbaton.metrics import make_metric
from tests.oracles.metrics import surface

RIGHT = _core.python_objective(lambda sums: 100 * sums[:, 0] / sums[:, 1])


def search(candidates: list[list[tuple[float, float, float]]]) -> tuple[float, float, float, float]:
    """Sentences of candidates (score at 0, slope, right), each of 10 points."""
    rows = np.array([c for sentence in candidates for c in sentence], np.float64)
    return _core.line_search(
        lists=_core.NBestLists(
            features=np.ascontiguousarray(rows[:, :2]),
            statistics=np.column_stack([rows[:, 2], np.full(len(rows), 10.0)]),
            offsets=np.cumsum([0, *map(len, candidates)]),
        ),
        objective=RIGHT,
        weights=np.array([1.0, 0.0]),
        direction=np.array([0.0, 1.0]),
    )


def test_three_lines_and_one_below_the_envelope() -> None:
    # Best from the left: slope -1, then 0 from x = -1, then 1 from x = 2; the fourth line is never best.
    lines = [(0, -1, 2), (1, 0, 9), (-1, 1, 5), (-3, 0.5, 10)]
    assert search([lines]) == (0.0, 90.0, -1.0, 2.0)


def test_two_sentences_share_the_optimum_of_neither() -> None:
    # The first changes at 1 (8 to 4), the second at 3 (2 to 9): right of 3 is 13, more than the 10 at 0.
    step, score, low, high = search([[(1, 0, 8), (0, 1, 4)], [(3, 0, 2), (0, 1, 9)]])
    assert (score, low, high) == (65.0, 3.0, math.inf)
    assert step > 3


def test_three_lines_through_one_point_leave_no_interval_for_the_middle_one() -> None:
    # All meet at x = 2. The middle line is only best at a point, which is no step to take.
    assert search([[(2, -1, 3), (0, 0, 10), (-2, 1, 4)]])[1:] == (40.0, 2.0, math.inf)


def test_of_equal_slopes_the_higher_line_counts_and_of_equal_lines_the_first() -> None:
    assert search([[(0, 1, 7), (1, 1, 2), (1, 1, 9)]]) == (0.0, 20.0, -math.inf, math.inf)


def test_touching_intervals_of_one_score_are_one_and_zero_is_preferred() -> None:
    # Changes at -1 and 1 between candidates of the same score: no step helps.
    assert search([[(-1, -1, 6), (0, 0, 6), (-1, 1, 6)]]) == (0.0, 60.0, -math.inf, math.inf)
    # 5 up to -4, 8 up to -2, 3 up to 1, 8 up to 5, 3: of the two eights the one nearer to 0.
    lines = [(-8, -2, 5), (-4, -1, 8), (-2, 0, 3), (-3, 1, 8), (-8, 2, 3)]
    assert search([lines]) == (3.0, 80.0, 1.0, 5.0)


def test_changes_of_different_sentences_at_one_place_count_together() -> None:
    # At 1 one sentence gains and the other loses as much; an optimum between the two changes does not exist.
    assert search([[(1, 0, 2), (0, 1, 9)], [(1, 0, 9), (0, 1, 2)]]) == (0.0, 55.0, -math.inf, math.inf)


def test_bleu_of_a_real_sized_problem_is_best_on_a_dense_grid() -> None:
    features, statistics, offsets = random_nbest(np.random.default_rng(5), 60, 30, 4)
    bleu = make_metric("bleu")
    w, v = np.array([1.0, -0.5, 0.3, 0.2]), np.array([0.1, 1.0, -0.4, 0.0])
    lists = _core.NBestLists(features=features, statistics=statistics, offsets=offsets)
    results = [
        _core.line_search(lists=lists, objective=objective, weights=w, direction=v)
        for objective in (bleu.objective(), _core.python_objective(bleu.score))
    ]
    (step, best, low, high), other = results
    assert other == pytest.approx(results[0], rel=1e-12)

    def at(x: float) -> float:
        return surface(features, statistics, offsets, lambda sums: float(bleu.score(sums)), w, v, x)

    grid = [at(x) for x in np.linspace(-20, 20, 4001)]
    assert max(grid) <= best + 1e-9
    assert at(step) == pytest.approx(best, abs=1e-9)
    assert all(at(x) < best - 1e-9 for x in (low - 1e-7, high + 1e-7) if math.isfinite(x))


def random_nbest(
    rng: np.random.Generator, n_sentences: int, size: int, n_features: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Candidates whose BLEU depends on their features, as statistics of BLEU."""
    n = n_sentences * size
    features = rng.normal(size=(n, n_features))
    quality = features @ np.linspace(1, -1, n_features) + rng.normal(size=n)
    length = rng.integers(15, 25, n)
    matches, totals = [], []
    rate = 1 / (1 + np.exp(-quality / 2))
    for k in range(4):
        totals.append(length - k)
        matches.append(np.floor(rate ** (k + 1) * (length - k)))
    statistics = np.column_stack([length, np.full(n, 20), *matches, *totals]).astype(np.float64)
    return features, statistics, np.arange(0, n + 1, size)
