"""Tuning with a decoder that is made up: sentences with fixed candidates, of which it returns the best n."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hyperbaton import _core
from hyperbaton.base.errors import ArtefactError, HyperbatonError, OptionError
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune import (
    OPTIMIZERS,
    CandidateLists,
    Candidates,
    Decode,
    Tuning,
    TuningRecord,
    loop,
    tune,
    tune_and_choose,
)
from hyperbaton.tune.average import Scale
from hyperbaton.tune.loop import Iteration, TuningResult, _longest, _State, _step
from hyperbaton.tune.optimizers import Optimizer, OptimizerJob
from hyperbaton.tune.runs import halves
from tests.contract.made_up_decoder import START, Floats, MadeUp


@pytest.fixture(scope="module")
def decoder() -> MadeUp:
    return MadeUp()


def test_fixed_weights_that_make_no_sense(decoder: MadeUp, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="all weights are fixed, so there is nothing to tune"):
        tune(decoder, START, [decoder.references], fixed=np.ones(5, bool))
    with pytest.raises(OptionError, match="there are 5 weights, but 2 flags for fixed ones"):
        tune(decoder, START, [decoder.references], fixed=np.ones(2, bool))
    options = Tuning(iterations=1)
    tune(decoder, START, [decoder.references], options, record=TuningRecord(tmp_path / "tuning"))
    with pytest.raises(ArtefactError, match="contains a tuning with different fixed weights"):
        tune(
            decoder,
            START,
            [decoder.references],
            options,
            record=TuningRecord(tmp_path / "tuning"),
            fixed=np.eye(5, dtype=bool)[0],
        )


class Fixed(Optimizer):
    """Always favours the same weights."""

    def __init__(self, weights: Floats) -> None:
        self.weights = weights

    def optimize(self, job: OptimizerJob) -> Floats:
        return self.weights


@pytest.mark.parametrize("reach", [0.2, 1.0])
def test_a_step_goes_part_of_the_way_from_the_last_weights(decoder: MadeUp, reach: float) -> None:
    favoured = np.array([2.0, -0.1, 3.0, 0.5, 1.0])
    favoured *= np.abs(START).sum() / np.abs(favoured).sum()
    options = Tuning(iterations=3, metric="bleu:tokenize=none", reach=reach, average=1)
    tuned = tune(decoder, START, [decoder.references], options, optimizer=Fixed(favoured))
    assert len(tuned.history) > 1
    for before, turn in pairwise(tuned.history):
        steps = [np.array(before.weights) + part * (favoured - before.weights) for part in np.arange(1, 41) / 40]
        scaled = [step * np.abs(START).sum() / np.abs(step).sum() for step in steps]
        nearest = np.argmin([np.abs(step - turn.weights).max() for step in scaled])
        assert turn.weights == pytest.approx(scaled[nearest])
        assert (nearest + 1) / 40 <= reach
    assert tuned.failure is None


def test_a_step_goes_no_farther_than_the_lists_promise_gains(decoder: MadeUp) -> None:
    """All candidates of a list may be too short: a larger reward for words then never looks wrong on the list."""
    goal, metric = np.array([0.0, 1.0]), make_metric("bleu:tokenize=none")
    words = Outputs.of(["a b", "a b c d e f"], ["a b c d e f"], line=np.array([0, 0]))
    lists = CandidateLists(
        features=np.array([[0.61, 0.0], [0.0, 0.39]]),
        statistics=metric.statistics(words),
        keys=np.array([1, 2], np.uint64),
        offsets=np.array([0, 2]),
    )
    state = _State(np.array([1.0, 0.0]), lists, [Iteration(1.0, 1.0, 2, 2, [1.0, 0.0])])
    scale = state.scale(state.weights, np.zeros(2, bool))
    # The longer candidate wins where 0.39 p > 0.61 (1 - p), which is p > 0.61.
    reached = _step(state, goal, metric, 1.0, scale)
    assert reached is not None and reached.tolist() == pytest.approx([0.375, 0.625])
    reached = _step(state, goal, metric, 0.2, scale)
    assert reached is not None and reached.tolist() == pytest.approx([0.8, 0.2])


@pytest.mark.parametrize(
    ("scores", "longest"),
    [
        ([20.0], 0.2),
        ([20.0, 21.0], 0.3),  # a gain
        ([20.0, 21.0, 20.9], 0.15),  # a loss after a gain
        ([20.0, 19.5, 19.2], 0.45),  # scores may fall at first
        ([20.0, 20.1, 20.0], 0.45),  # 20.1 is not clearly better
        ([20.0, 18.5], 0.1),  # too far
        ([20.0, 21.0, 20.0, 19.0, 18.0, 17.0], 0.05),
        ([20.0, 21.0, 22.0, 23.0, 24.0], 0.5),
    ],
)
def test_steps_follow_the_scores(scores: list[float], longest: float) -> None:
    metric = make_metric("bleu")
    history = [Iteration(score, score, 1, 1, START.tolist()) for score in scores]
    state = _State(START, CandidateLists.empty(1, len(START)), history)
    assert _longest(state, metric, 0.5) == pytest.approx(longest)


def test_weights_that_are_worse_are_not_taken(decoder: MadeUp) -> None:
    tuned = tune(decoder, START, [decoder.references], Tuning(iterations=3), optimizer=Fixed(-START))
    assert tuned.failure is not None and tuned.taken == 0 and tuned.weights.tolist() == START.tolist()


@pytest.mark.parametrize("metric", ["wer", "ribes"])
def test_any_metric_can_be_the_objective(decoder: MadeUp, metric: str) -> None:
    optimizer = OPTIMIZERS["mert"](restarts=2)
    tuned = tune(decoder, START, [decoder.references], Tuning(metric=metric, iterations=3, reach=1.0), optimizer=optimizer)
    gain = tuned.score - tuned.history[0].score
    assert tuned.failure is None and (gain < -10 if metric == "wer" else gain > 10)


def test_lists_grow_by_what_is_new() -> None:
    nbest = Candidates(np.array([0, 0, 0, 1]), np.array([[1.0], [1.0], [2.0], [1.0]]), ["a", "a", "a", "a"])
    lists = CandidateLists.empty(2, 1).with_new(nbest, np.array([[1.0], [1.0], [2.0], [3.0]]))
    # The second is a duplicate; the third has the same words, but other features; the last is of another sentence.
    assert lists.statistics.tolist() == [[1], [2], [3]] and lists.offsets.tolist() == [0, 2, 3]
    more = Candidates(np.array([0, 0, 1]), np.array([[2.0 + 1e-12], [5.0], [1.0]]), ["a", "b", "b"])
    lists = lists.with_new(more, np.array([[9.0], [4.0], [5.0]]))
    assert lists.statistics.tolist() == [[1], [2], [4], [3], [5]] and lists.offsets.tolist() == [0, 3, 5]
    assert lists.best(lists.features[:, 0]).tolist() == [2, 3]


def test_resumes_after_each_iteration(tmp_path: Path) -> None:
    options = Tuning(iterations=3, metric="bleu:tokenize=none", patience=9)
    whole = tune(decoder := MadeUp(20), START, [decoder.references], options, seed=5)
    interrupted = MadeUp(20)

    def stopping(weights: Floats) -> Candidates:
        if interrupted.calls == 2:
            raise KeyboardInterrupt
        return interrupted(weights)

    with pytest.raises(KeyboardInterrupt):
        tune(stopping, START, [decoder.references], options, seed=5, record=TuningRecord(tmp_path / "state"))
    calls = decoder.calls
    again = tune(decoder, START, [decoder.references], options, seed=5, record=TuningRecord(tmp_path / "state"))
    assert decoder.calls - calls == len(whole.history) - 2
    assert again.history == whole.history and again.weights.tolist() == whole.weights.tolist()
    done = decoder.calls
    assert (
        tune(decoder, START, [decoder.references], options, seed=5, record=TuningRecord(tmp_path / "state")).stopped
        == whole.stopped
    )
    assert decoder.calls == done
    with pytest.raises(ArtefactError, match="contains a tuning with different settings"):
        tune(decoder, START, [decoder.references], options, seed=6, record=TuningRecord(tmp_path / "state"))


@dataclass
class Broken(Optimizer):
    """Returns preset values."""

    weights: object = None

    def optimize(self, job: OptimizerJob) -> Floats:
        return np.array(self.weights, np.float64)


@pytest.mark.parametrize(
    ("weights", "reason"), [([np.nan, 1, 1, 1, 1], "not finite"), ([1e-39] * 5, "vanish"), ([0.0] * 5, "vanish")]
)
def test_broken_weights_are_a_failure_with_the_best_ones_kept(decoder: MadeUp, weights: list[float], reason: str) -> None:
    tuned = tune(decoder, START, [decoder.references], optimizer=Broken(weights))
    assert tuned.failure and reason in tuned.failure
    assert tuned.weights.tolist() == START.tolist()


def test_no_gain_is_a_failure(decoder: MadeUp) -> None:
    best = tune(decoder, START, [decoder.references], Tuning(optimizer="mert", iterations=8, average=1)).weights
    tuned = tune(decoder, best, [decoder.references], Tuning(iterations=2), optimizer=Broken([0.0, 1, 0, 0, 0]))
    assert tuned.failure and "no weights were better than those at the start" in tuned.failure
    assert tuned.weights.tolist() == best.tolist()


def test_a_metric_that_cannot_rise_is_a_failure(decoder: MadeUp) -> None:
    tuned = tune(decoder, START, [["another language"] * len(decoder.references)])
    assert tuned.failure and "no choice from the n-best lists has a better BLEU than 0.00" in tuned.failure
    assert tuned.weights.tolist() == START.tolist() and len(tuned.history) == 1


def test_what_cannot_be_tuned_on() -> None:
    decoder = MadeUp(3, 4, 2)
    with pytest.raises(OptionError, match="finite weights"):
        tune(decoder, np.zeros(5), [decoder.references])
    with pytest.raises(HyperbatonError, match="see sentence 4"):
        tune(decoder, START, [[*decoder.references, "one more"]])
    decoder.features[1, :, 2] = np.inf
    with pytest.raises(HyperbatonError, match="feature 3 of a translation of sentence 2 is not finite"):
        tune(decoder, START, [decoder.references])


def part_of(decoder: MadeUp, half: slice) -> Decode:
    """The decoder of some of the sentences."""

    def decode(weights: Floats) -> Candidates:
        nbest = decoder(weights)
        inside = (nbest.sentence >= half.start) & (nbest.sentence < half.stop)
        texts = [text for text, keep in zip(nbest.hypotheses, inside.tolist(), strict=True) if keep]
        return Candidates(nbest.sentence[inside] - half.start, nbest.features[inside], texts)

    return decode


@pytest.mark.parametrize("average", [1, 2])
def test_choosing_a_run_or_a_mean_on_the_other_half(average: int) -> None:
    decoder = MadeUp(20)
    first, second = halves(20)
    options = Tuning(metric="bleu:tokenize=none", iterations=4, average=average)
    scale, held_out = Scale(START, np.zeros(5, bool), 5), part_of(decoder, second)
    choice = tune_and_choose(
        lambda i: tune(
            part_of(decoder, first),
            START,
            [decoder.references[first]],
            options,
            seed=i,
            optimizer=OPTIMIZERS["mert"](restarts=1),
        ),
        3,
        held_out,
        [decoder.references[second]],
        options.metric,
        scale=scale,
    )
    names = ["mean of 3 runs", "run 1", "run 2", "run 3"]
    if average > 1:
        names = ["mean of 3 averaged runs", names[0], *(f"run {i}{end}" for i in "123" for end in (", averaged", ""))]
    assert len(choice.runs) == 3 and list(choice.held_out) == names
    assert choice.held_out[choice.chosen] == max(choice.held_out.values())
    expected = {"mean of 3 runs": np.mean([run.weights_of(run.best) for run in choice.runs], axis=0)}
    expected |= {f"run {i}": run.weights_of(run.best) for i, run in enumerate(choice.runs, start=1)}
    if average > 1:
        expected["mean of 3 averaged runs"] = np.mean([run.weights_of(-1) for run in choice.runs], axis=0)
        expected |= {f"run {i}, averaged": run.weights_of(-1) for i, run in enumerate(choice.runs, start=1)}
    assert choice.weights / np.abs(choice.weights).sum() == pytest.approx(
        expected[choice.chosen] / np.abs(expected[choice.chosen]).sum()
    )
    judged = tune(held_out, expected["mean of 3 runs"], [decoder.references[second]], Tuning(metric=options.metric))
    assert judged.history[0].score == choice.held_out["mean of 3 runs"]


def test_a_failed_run_is_in_no_mean() -> None:
    turns = [Iteration(10.0, 10.0, 1, 1, weights.tolist()) for weights in (START, START * 2, START + 1)]
    runs = [TuningResult(START, 10.0, "", "no gain" if i == 0 else None, [turn], 0, 0) for i, turn in enumerate(turns)]
    decoder, seen = MadeUp(4), []

    def decode(weights: Floats) -> Candidates:
        seen.append(weights)
        return decoder(weights)

    scale = Scale(START, np.zeros(5, bool), 5)
    choice = tune_and_choose(lambda i: runs[i], 3, decode, [decoder.references], "bleu", scale=scale)
    assert list(choice.held_out) == ["mean of 2 runs", "run 1", "run 2", "run 3"]
    second = (START + 1) * np.abs(START).sum() / np.abs(START + 1).sum()
    mean = (START + second) / 2
    assert seen[0] == pytest.approx(mean * np.abs(START).sum() / np.abs(mean).sum())


@pytest.mark.parametrize("metric", ["bleu:tokenize=none", "wer"])
def test_the_mean_of_the_last_iterations(decoder: MadeUp, metric: str) -> None:
    options = Tuning(iterations=6, metric=metric, average=3, patience=9)
    tuned = tune(decoder, START, [decoder.references], options, optimizer=OPTIMIZERS["mira"](passes=10))
    alone = tune(decoder, START, [decoder.references], replace(options, average=1), optimizer=OPTIMIZERS["mira"](passes=10))
    assert tuned.history[:-1] == alone.history and tuned.best == alone.taken and alone.averaged == ()
    sign = 1 if metric.startswith("bleu") else -1
    n = len(alone.history)
    assert tuned.averaged == (n - 3, n - 2, n - 1) and n == 7
    mean = np.mean([tuned.weights_of(i) for i in tuned.averaged], axis=0)
    assert tuned.history[-1].weights == pytest.approx(mean * np.abs(START).sum() / np.abs(mean).sum())
    good = sign * tuned.history[-1].score >= min(sign * tuned.history[i].score for i in tuned.averaged)
    assert tuned.taken == (len(tuned.history) - 1 if good else tuned.best)
    assert tuned.weights.tolist() == tuned.history[tuned.taken].weights


def test_a_mean_that_is_worse_than_all_is_not_taken(decoder: MadeUp) -> None:
    good, other = np.array([2.0, -0.1, 3.0, 0.5, 1.0]), np.array([-0.5, 0.1, 3.0, 4.0, 1.0])
    ends = iter([good, other, good, other])

    @dataclass
    class Far(Optimizer):
        def optimize(self, job: OptimizerJob) -> Floats:
            return next(ends)

    def decode(weights: Floats) -> Candidates:
        """Good at every step of the optimizer, bad at their mean."""
        calls.append(weights)
        near = good * (1 + 0.3 * rng.standard_normal(5))  # so that every list has new translations
        return decoder({1: START, 6: -START}.get(len(calls), near))

    calls: list[Floats] = []
    rng = np.random.default_rng(0)
    options = Tuning(iterations=4, average=2, reach=1.0, metric="bleu:tokenize=none")
    tuned = tune(decode, START, [decoder.references], options, optimizer=Far())
    assert tuned.averaged == (3, 4) and tuned.taken == tuned.best < 5 and len(tuned.history) == 6


def test_a_mean_that_is_worse_than_the_start_is_not_taken(decoder: MadeUp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_LOSS", np.inf)  # or the second step would start from the first weights again
    good = np.array([2.0, -0.1, 3.0, 0.5, 1.0])
    options = Tuning(iterations=4, average=2, patience=9, metric="bleu:tokenize=none")
    tuned = tune(decoder, good, [decoder.references], options, optimizer=Fixed(START))
    assert tuned.averaged and tuned.failure is not None and tuned.taken == 0 and tuned.weights.tolist() == good.tolist()


def test_an_average_is_resumed(tmp_path: Path) -> None:
    options = Tuning(iterations=4, metric="bleu:tokenize=none", patience=9, average=2, optimizer="mira:passes=5")
    decoder = MadeUp(20)
    whole = tune(decoder, START, [decoder.references], options)
    n_calls = decoder.calls

    def stopping(weights: Floats) -> Candidates:
        if decoder.calls == n_calls + len(whole.history) - 1:
            raise KeyboardInterrupt
        return decoder(weights)

    with pytest.raises(KeyboardInterrupt):
        tune(stopping, START, [decoder.references], options, record=TuningRecord(tmp_path / "state"))
    for n_more in (1, 0):
        before = decoder.calls
        again = tune(decoder, START, [decoder.references], options, record=TuningRecord(tmp_path / "state"))
        assert decoder.calls - before == n_more
        assert again.history == whole.history and again.taken == whole.taken and again.averaged == whole.averaged


def test_the_core_refuses_lists_that_do_not_fit() -> None:
    with pytest.raises(HyperbatonError, match="a sentence has no candidates"):
        _core.NBestLists(features=np.zeros((1, 1)), statistics=np.zeros((1, 1)), offsets=np.array([0, 0, 1]))
    with pytest.raises(HyperbatonError, match="need features and statistics"):
        _core.NBestLists(features=np.zeros((1, 0)), statistics=np.zeros((1, 1)), offsets=np.array([0, 1]))


def test_a_small_fixed_weight_does_not_make_the_others_grow_for_ever() -> None:
    scale = Scale(np.array([0.5, 0.02]), np.array([False, True]), 2)
    found = scale.applied(np.array([1e9, 7.0]))
    assert found is not None and found.tolist() == pytest.approx([520.0, 0.02])
    near = scale.applied(np.array([3.0, 7.0]))
    assert near is not None and near.tolist() == [3.0, 0.02]
