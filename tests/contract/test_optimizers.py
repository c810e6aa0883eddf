"""The contract of optimizers of weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.sparse import csr_array

from hyperbaton.base.errors import OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.metrics import make_metric
from hyperbaton.tune import OPTIMIZERS, CandidateLists, Tuning, TuningRecord, tune
from hyperbaton.tune.loop import Iteration
from hyperbaton.tune.optimizers import Optimizer, OptimizerJob
from hyperbaton.tune.optimizers.pro import Pro
from tests.contract.made_up_decoder import START, MadeUp, first_lists

BLEU = "bleu:tokenize=none"
QUICK = {"pro": "pro:draws=500", "mert": "mert:restarts=6"}


@pytest.fixture(scope="module")
def decoder() -> MadeUp:
    return MadeUp()


def quick(name: str) -> Optimizer:
    return OPTIMIZERS.make(QUICK.get(name, name))


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_threads_change_nothing_and_the_seed_repeats(decoder: MadeUp, name: str) -> None:
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)
    one, two = (quick(name).optimize(OptimizerJob(lists, metric, [START], 3, threads)) for threads in (1, 3))
    assert one.shape == START.shape and one.tolist() == two.tolist()
    assert lists.value(metric, one) > lists.value(metric, START)
    assert one[4] == START[4]  # a feature that never differs keeps its weight


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_metrics_where_lower_is_better(decoder: MadeUp, name: str) -> None:
    lists, metric = first_lists(decoder(START), decoder.references, "wer"), make_metric("wer")
    weights = quick(name).optimize(OptimizerJob(lists, metric, [START], 1, 1))
    assert lists.value(metric, weights) < lists.value(metric, START) - 5


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_sparse_features_are_tuned_or_refused(decoder: MadeUp, name: str) -> None:
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)
    # One that marks good candidates, one that is always 0.
    good = lists.features[:, 0] + 1.5 * lists.features[:, 2] > 1
    lists = replace(lists, sparse=csr_array(np.column_stack([good, np.zeros(len(lists))]).astype(np.float64)))
    start = np.append(START, [0.0, 0.0])
    try:
        weights = quick(name).optimize(OptimizerJob(lists, metric, [start], 1, 1))
    except OptionError as error:
        assert "sparse features" in str(error) and "--optimizer" in str(error)
        return
    assert weights.shape == (7,) and weights[5] != 0 and weights[6] == 0
    assert lists.value(metric, weights) > lists.value(metric, start)


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_lists_without_a_choice_keep_the_weights(name: str) -> None:
    decoder = MadeUp(6, 4, 1)  # one candidate for each sentence
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)
    weights = quick(name).optimize(OptimizerJob(lists, metric, [START], 1, 1))
    assert weights == pytest.approx(START, rel=1e-12)


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_finds_good_weights(decoder: MadeUp, name: str) -> None:
    seen: list[Iteration] = []
    options = Tuning(optimizer="pro:draws=500" if name == "pro" else name, iterations=8, metric=BLEU, average=1)
    tuned = tune(
        decoder,
        START,
        [decoder.references],
        options,
        resources=Resources(2),
        record=TuningRecord(report=lambda _, turn: seen.append(turn)),
    )
    assert tuned.failure is None and tuned.history == seen
    assert tuned.score == max(turn.score for turn in seen)
    # The hidden weights are as good as any can be expected to be.
    hidden = (
        tune(decoder, np.array([2.0, -0.1, 3.0, 0.5, 1.0]), [decoder.references], Tuning(iterations=1)).history[0].score
    )
    assert tuned.score > seen[0].score + 10
    assert tuned.score > hidden - (2 if name == "mert" else 6)
    # A feature that never differs keeps its share, and the size of all weights stays.
    assert np.abs(tuned.weights).sum() == pytest.approx(np.abs(START).sum())
    assert tuned.weights[4] > 0


@pytest.mark.parametrize("value", [0.0, 0.7])
@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_leaves_fixed_weights_alone(decoder: MadeUp, name: str, value: float) -> None:
    start, fixed = START.copy(), np.array([False, False, True, False, False])
    start[2] = value
    options = Tuning(optimizer="pro:draws=500" if name == "pro" else name, iterations=8, metric=BLEU, average=1)
    tuned = tune(decoder, start, [decoder.references], options, fixed=fixed, resources=Resources(2))
    assert tuned.failure is None and all(turn.weights[2] == value for turn in tuned.history)
    # Feature 2 has the hidden weight 3 beside 2 and −0.1: with it fixed at 0.7, the others must find a fitting size.
    hidden = np.array([2.0, -0.1, 3.0, 0.5, 0.0]) * (value / 3 if value else 1)
    hidden[2] = value
    reachable = tune(decoder, hidden, [decoder.references], replace(options, iterations=1)).history[0].score
    assert tuned.score > tuned.history[0].score + 8
    assert tuned.score > reachable - (2 if name == "mert" else 6)
    if value == 0:
        assert np.abs(tuned.weights).sum() == pytest.approx(np.abs(start).sum())


@pytest.mark.parametrize("name", list(OPTIMIZERS))
@pytest.mark.parametrize("factor", [0.1, 20])
def test_finds_the_scale_of_weights_next_to_a_fixed_one(name: str, factor: float) -> None:
    decoder = MadeUp(n_best=60)
    hidden = np.array([2.0, -0.1, 3.0, 0.5, 0.0])
    start, fixed = hidden * factor, np.array([True, False, False, False, False])
    start[0] = hidden[0]
    metric, lists = make_metric(BLEU), first_lists(decoder(start), decoder.references)
    weights = OPTIMIZERS[name]().optimize(OptimizerJob(lists, metric, [start], 1, 2, fixed=fixed))
    assert weights[0] == hidden[0] and weights[4] == start[4]
    assert lists.value(metric, weights) > max(lists.value(metric, hidden) - 1, lists.value(metric, start))
    assert 0.5 < weights[2] / hidden[2] < 2


def test_more_orders_make_mira_depend_less_on_the_seed(decoder: MadeUp) -> None:
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)

    def deviation(n_orders: int) -> float:
        mira = OPTIMIZERS["mira"](passes=2, orders=n_orders, max_step=0.1)
        ends = np.array([mira.optimize(OptimizerJob(lists, metric, [START], seed, 1)) for seed in range(6)])
        return float((ends.std(axis=0) * lists.spread).sum())

    assert deviation(8) < 0.7 * deviation(1)


def test_company_is_the_number_of_average_sentences_in_a_gain(decoder: MadeUp, monkeypatch: pytest.MonkeyPatch) -> None:
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)
    average = lists.statistics[lists.best(lists.scores(START))].mean(axis=0)
    expected = 4 * metric.score(3 * average + lists.statistics)
    assert lists.gains(metric, START, 3) == pytest.approx(expected)
    asked = []

    def gains(*_: object) -> npt.NDArray[np.float64]:
        asked.append(_[-1])
        return expected

    monkeypatch.setattr(CandidateLists, "gains", gains)
    for name in ("mira", "pro"):
        OPTIMIZERS[name](company=3).optimize(OptimizerJob(lists, metric, [START], 0, 1))
    assert asked == [3, 3]


def test_pro_is_at_the_optimum_of_its_logistic_regression(decoder: MadeUp) -> None:
    lists, metric = first_lists(decoder(START), decoder.references), make_metric(BLEU)
    pro = OPTIMIZERS["pro"](draws=200, variance=2.0)
    assert isinstance(pro, Pro)
    weights = pro.optimize(OptimizerJob(lists, metric, [START], 4, 1))
    better, worse = pro._pairs(lists.offsets, lists.gains(metric, START), np.random.default_rng(4))
    rows = ((lists.features[better] - lists.features[worse]) / np.where(lists.spread > 0, lists.spread, 1))[:, :4]

    def loss(direction: npt.NDArray[np.float64]) -> float:
        # Each pair is used in both orders, and the two classes have a weight vector each: ±direction/2.
        return float(2 * np.log1p(np.exp(-rows @ direction)).sum() + (direction**2).sum() / (4 * pro.variance))

    found = weights[:4] * lists.spread[:4]
    best = minimize(loss, np.zeros(4), method="BFGS").x
    assert found / np.abs(found).sum() == pytest.approx(best / np.abs(best).sum(), abs=2e-3)
    size = minimize_scalar(lambda k: loss(k * found), bounds=(0, 1e3), method="bounded").x
    assert loss(size * found) == pytest.approx(loss(best), rel=1e-4)
