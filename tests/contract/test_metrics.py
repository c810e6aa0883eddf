"""The contract of metrics."""

from __future__ import annotations

import numpy as np
import pytest

from hyperbaton.base.options import options_of
from hyperbaton.metrics import METRICS, Metric, Orders, Outputs, compare, estimate, make_metric

HYPOTHESES = ["the cat sat on the mat", "he goes home", "", "green ideas sleep furiously tonight", "a"]
REFERENCE = ["the cat sat on a mat", "home he goes", "nothing", "colourless green ideas sleep furiously", "a"]
SECOND = ["on the mat sat the cat", "he goes home", "", "ideas sleep", "b a"]
ORDERS = Orders.of([[0, 1, 3, 2], [0, 1, 2], [], [1, 2, 3, 4, 0], [0]])
REFERENCE_ORDERS = Orders.of([[0, 1, 2, 3], [2, 0, 1], [0], [0, 1, 2, 3, 4], [0]])
SECOND_ORDERS = Orders.of([[3, 2, 1, 0], [0, 1, 2], [], [2, 3], [1, 0]])


def outputs(hypotheses: list[str] = HYPOTHESES, orders: Orders = ORDERS, n_references: int = 1) -> Outputs:
    references = [REFERENCE, SECOND][:n_references]
    return Outputs.of(
        hypotheses, *references, orders=orders, reference_orders=[REFERENCE_ORDERS, SECOND_ORDERS][:n_references]
    )


@pytest.fixture(params=list(METRICS))
def metric(request: pytest.FixtureRequest) -> Metric:
    return make_metric(request.param)


def test_statistics_are_additive_rows_and_scores_have_the_shape_of_their_sums(metric: Metric) -> None:
    statistics = metric.statistics(outputs())
    assert statistics.dtype == np.float64 and statistics.shape[0] == len(HYPOTHESES)
    assert np.isfinite(statistics).all()
    rows = metric.score(statistics)
    assert rows.shape == (len(HYPOTHESES),) and np.isfinite(rows).all()
    assert metric.score(statistics[None]).shape == (1, len(HYPOTHESES))
    assert metric.score(np.zeros((2, statistics.shape[1]))).shape == (2,)
    assert np.isfinite(metric.score(np.zeros(statistics.shape[1])))


def test_a_reference_against_itself_is_perfect_and_beats_anything_else(metric: Metric) -> None:
    perfect = metric.value(outputs(REFERENCE, REFERENCE_ORDERS))
    other = metric.value(outputs())
    assert perfect > other if metric.higher_is_better else perfect < other
    if metric.title not in ("NIST", "METEOR"):
        assert perfect == pytest.approx(100 if metric.higher_is_better else 0)


def test_more_references_help(metric: Metric) -> None:
    one, two = metric.value(outputs()), metric.value(outputs(n_references=2))
    assert two != one


def test_lists_of_several_hypotheses_of_a_line_score_like_each_alone(metric: Metric) -> None:
    line = np.array([3, 0, 0])
    orders = Orders.of([[0, 1], [3, 2, 1, 0], [0, 1, 2, 3]])
    hypotheses = ["sleep furiously", "the mat", "the cat"]
    together = metric.statistics(
        Outputs.of(hypotheses, REFERENCE, line=line, orders=orders, reference_orders=[REFERENCE_ORDERS])
    )
    for i, s in enumerate(line.tolist()):
        alone = [""] * len(REFERENCE)
        alone[s] = hypotheses[i]
        lists: list[list[int]] = [[] for _ in REFERENCE]
        lists[s] = orders.positions[orders.offsets[i] : orders.offsets[i + 1]].tolist()
        statistics = metric.statistics(outputs(alone, Orders.of(lists)))
        assert statistics[s].tolist() == pytest.approx(together[i].tolist())


def test_signature_and_documentation(metric: Metric) -> None:
    assert metric.signature(2).startswith("nrefs:2|")
    assert metric.__doc__ and metric.title
    assert all(opt.help for opt in options_of(type(metric)))


def test_intervals_and_tests_take_every_metric_and_repeat_with_the_seed(metric: Metric) -> None:
    ours, theirs = metric.statistics(outputs()), metric.statistics(outputs(REFERENCE, REFERENCE_ORDERS))
    first = estimate(metric, [ours], samples=50, seed=3)
    assert first == estimate(metric, [ours], samples=50, seed=3)
    assert first.interval[0] <= first.value <= first.interval[1]
    for test in ("bootstrap", "randomization"):
        comparison = compare(metric, [theirs], [ours], samples=200, seed=1, test=test)
        assert comparison.delta == pytest.approx(float(metric.score(theirs.sum(0)) - metric.score(ours.sum(0))))
        assert 0 < comparison.p <= 1 and comparison.wins > 0.8
        assert compare(metric, [ours], [ours], samples=20, test=test).p == 1


def test_the_core_maximises_the_same_number(metric: Metric) -> None:
    from hyperbaton import _core

    statistics = metric.statistics(outputs())
    n = len(statistics)
    offsets = np.array([0, n])
    features = np.ascontiguousarray(np.eye(n))
    # With weights that prefer candidate i, the surface at 0 is its score.
    sign = 1 if metric.higher_is_better else -1
    for i in range(n):
        _, score, _, _ = _core.line_search(
            lists=_core.NBestLists(features=features, statistics=statistics, offsets=offsets),
            objective=metric.objective(),
            weights=features[i],
            direction=np.zeros(n),
        )
        assert score == pytest.approx(sign * float(metric.score(statistics[i])))
