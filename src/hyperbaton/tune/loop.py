"""The loop of tuning: translate with the current weights, add the n-best lists to the earlier ones, optimise, repeat.

It always ends with a stated reason. The returned weights are those with the best metric of the decoder's own
translations, not those that look best on lists, or the mean of several such. Problems (weights that are not finite or
vanish, a metric that no translation can raise, no gain over the starting point) are failures with a reason, and the best
weights are still kept. With a folder, every iteration is stored and a later call resumes from there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import ArtefactError, DamagedError, HyperbatonError, OptionError
from hyperbaton.base.options import CheckedOptions, option, to_mapping
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import Artefact, Kind, hash_arrays, read_artefact, save
from hyperbaton.metrics import METRICS, Metric, Outputs, make_metric
from hyperbaton.tune.average import Scale
from hyperbaton.tune.length import MeasuredMetric, TargetLength
from hyperbaton.tune.nbest import CandidateLists, Decode, Floats, check_nbest, first_of_each
from hyperbaton.tune.optimizers import OPTIMIZERS, Optimizer, OptimizerJob

log = logging.getLogger(__name__)

KIND = "tuning"

_ENOUGH = 0.7  # of the gain that the lists promise on the way: a longer step is not worth its risk
_STEPS = 40  # lengths of a step that are tried
_FIRST = 0.2  # longest first step; later ones may be longer after a gain, and must be shorter after a loss
_GROWTH, _SHRINKAGE, _SHORTEST = 1.5, 0.5, 0.05
_LOSS = 0.3  # points of the metric below the best score, beyond which the next step starts from the best weights
_FALL = 1.0  # the same until a score is clearly better than the first


class TuningFailed(HyperbatonError):
    """Tuning did not help; the best weights are kept."""


@dataclass
class Tuning(CheckedOptions):
    """Options of tuning."""

    metric: str = option("bleu", "metric to optimize, with its options, as in bleu:tokenize=none", plugins=METRICS)
    optimizer: str = option("mira", "optimizer and its options, as in mert:restarts=10", plugins=OPTIMIZERS)
    iterations: int = option(12, "maximum number of iterations; each translates the development text once", minimum=1)
    patience: int = option(6, "stop after this many iterations without improvement", minimum=1)
    reach: float = option(
        0.5,
        "longest step, as a fraction of the way to the weights that are best on the n-best lists",
        minimum=0.01,
        maximum=1,
    )
    min_gain: float = option(0.01, "smallest improvement that counts, in points of the metric", minimum=0)
    average: int = option(
        6, "average the weights of the last iterations, this many, at most half of all; 1 takes the best one", minimum=1
    )


@dataclass(frozen=True)
class Iteration:
    """One iteration: what is maximised, of the translations with these weights and of the best candidates on all lists.

    `value` is the metric alone; `length` and `expected` are words for each word of the references. `score` differs from
    `value` if the length is a constraint.
    """

    score: float
    list_score: float
    n_candidates: int
    n_new: int
    weights: list[float]
    is_mean: bool = False  # of the weights of earlier iterations
    value: float = 0.0
    length: float = 1.0
    expected: float = 1.0


@dataclass(frozen=True)
class TuningRecord:
    """Where iterations are stored and reported.

    With a `folder`, stored iterations of the same call are not repeated. `inputs`: what must be unchanged to resume,
    besides the arguments, by name: the system, the source text. `report` is called with the number of each iteration,
    from 0, and its result.
    """

    folder: str | PathLike[str] | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[int, Iteration], None] = lambda number, iteration: None


@dataclass(frozen=True)
class TuningResult:
    """The chosen weights, the decoder's score with them, the history, and why tuning ended.

    `failure` is None or a reason. `taken` is the number of the iteration with these weights; 0 is the start. If weights
    were averaged, the last iteration is that of the mean, and `averaged` has the numbers of the iterations averaged;
    `best` is the best of the others.
    """

    weights: Floats
    score: float
    stopped: str
    failure: str | None
    history: list[Iteration] = field(default_factory=list)
    taken: int = 0
    best: int = 0
    averaged: tuple[int, ...] = ()

    @property
    def turn(self) -> Iteration:
        """The iteration with the chosen weights."""
        return self.history[self.taken]

    def weights_of(self, iteration: int) -> Floats:
        """The weights of an iteration."""
        return np.array(self.history[iteration].weights)


@dataclass(frozen=True)
class _State:
    """The state of tuning: everything that the next iteration needs."""

    weights: Floats
    lists: CandidateLists
    history: list[Iteration]
    stopped: str | None = None
    failure: str | None = None
    averaged: tuple[int, ...] | None = None  # iterations averaged in the last one; None until the loop has ended

    def scale(self, start: Floats, fixed: npt.NDArray[np.bool_]) -> Scale:
        """The scale of weights, known once there are lists."""
        return Scale(start, fixed, self.lists.features.shape[1])

    def ranked(self, metric: Metric) -> list[int]:
        """The numbers of the iterations, best scores first; ties go to the first."""
        sign = -1 if metric.higher_is_better else 1
        return sorted(range(len(self.history)), key=lambda i: sign * self.history[i].score)

    def best(self, metric: Metric) -> Iteration:
        """The iteration with the best score."""
        return self.history[self.ranked(metric)[0]]


def tune(
    decode: Decode,
    start: Floats,
    references: Sequence[Sequence[str]],
    options: Tuning | None = None,
    *,
    fixed: npt.NDArray[np.bool_] | None = None,
    optimizer: Optimizer | None = None,
    length: TargetLength | None = None,
    seed: int = 0,
    resources: Resources | None = None,
    record: TuningRecord | None = None,
) -> TuningResult:
    """Tune weights.

    Arguments:
        decode: translates all sentences with given weights.
        start: weights to begin with, (n_features,).
        references: `references[r][s]` is reference r of sentence s.
        fixed: which weights stay as they are in `start`, (n_features,).
        optimizer: an optimizer that replaces the one named in the options.
        length: the expected length of translations, for example as a constraint; without it, the metric alone decides.
        resources: of an optimisation; progress is called for each of its starting points.
        record: where to store and report each iteration.
    """
    options, resources, record = options or Tuning(), resources or Resources.of(), record or TuningRecord()
    length = length or TargetLength()
    metric = MeasuredMetric(make_metric(options.metric), length)
    optimizer = optimizer or OPTIMIZERS.make(options.optimizer)
    start = np.ascontiguousarray(start, np.float64)
    if not np.isfinite(start).all() or not start.any():
        raise OptionError("tuning needs finite weights to start from, and at least one that is not 0")
    fixed = np.zeros(len(start), bool) if fixed is None else np.asarray(fixed, bool)
    if fixed.shape != start.shape:
        raise OptionError(f"there are {len(start)} weights, but {len(fixed)} flags for fixed ones")
    if fixed.all():
        raise OptionError("all weights are fixed, so there is nothing to tune")
    identity = _identity(start, fixed, references, options, optimizer, length, seed) | dict(record.inputs)
    state = _resume(record.folder, identity, len(references[0]), start)
    for number, turn in enumerate(state.history):
        record.report(number, turn)
    while state.stopped is None:
        number = len(state.history)
        state = _translate(state, decode, references, metric)
        record.report(number, state.history[-1])
        state = _judge(state, metric, options)
        if state.stopped is None:
            best_so_far = np.array(state.best(metric).weights)
            starts = [state.weights] if np.array_equal(best_so_far, state.weights) else [state.weights, best_so_far]
            job = OptimizerJob(
                state.lists, metric, starts, (seed << 16) + number, resources.threads, resources.progress, fixed
            )
            state = _move(state, optimizer.optimize(job), metric, options, state.scale(start, fixed))
        _store(record.folder, identity, state, seed)
    if state.averaged is None and options.average > 1:
        number = len(state.history)
        state = _average(state, decode, references, metric, options, state.scale(start, fixed))
        if state.averaged:
            record.report(number, state.history[-1])
        _store(record.folder, identity, state, seed)
    return _taken(state, metric)


def _average(
    state: _State,
    decode: Decode,
    references: Sequence[Sequence[str]],
    metric: MeasuredMetric,
    options: Tuning,
    scale: Scale,
) -> _State:
    """Translate with the mean of the weights of the last iterations, at most half of all, if that is more than one.

    Choosing iterations by their scores would favour those with luck on the development text; early ones are still on the
    way.
    """
    nothing = replace(state, averaged=())
    last = len(state.history) - 1
    iterations = range(last + 1 - min(options.average, last // 2), last + 1)
    if len(iterations) < 2 or state.failure is not None:
        return nothing
    mean = scale.mean([np.array(state.history[i].weights) for i in iterations])
    if mean is None:
        return nothing
    state = _translate(replace(state, weights=mean), decode, references, metric)
    history = [*state.history[:-1], replace(state.history[-1], is_mean=True)]
    return replace(state, history=history, averaged=tuple(iterations))


def _taken(state: _State, metric: Metric) -> TuningResult:
    """The result of tuning: the best iteration, or the mean if it beats the start and at least one of its parts."""
    averaged, last = state.averaged or (), len(state.history) - 1
    best = next(i for i in state.ranked(metric) if not state.history[i].is_mean)
    worst = min if metric.higher_is_better else max
    scores = [state.history[i].score for i in averaged]
    mean = state.history[last].score
    is_good = averaged and _gain(metric, worst(scores), mean) >= 0 and _gain(metric, state.history[0].score, mean) > 0
    taken = last if is_good else best
    turn, failure = state.history[taken], state.failure
    if failure is None and _gain(metric, state.history[0].score, turn.score) <= 0:
        failure = f"no weights were better than those at the start ({metric.title} {turn.score:.2f})"
    if failure:
        log.warning("tuning failed: %s; the best weights are kept", failure)
    stopped = state.stopped or "failure"
    return TuningResult(np.array(turn.weights), turn.value, stopped, failure, state.history, taken, best, averaged)


def _translate(state: _State, decode: Decode, references: Sequence[Sequence[str]], metric: MeasuredMetric) -> _State:
    nbest = decode(state.weights)
    check_nbest(nbest, state.lists.n_sentences, len(state.weights))
    # Most of a list is known from earlier iterations; only the new translations and the best need statistics.
    needed = state.lists.is_new(nbest)
    needed[first_of_each(nbest)] = True
    nbest = nbest.select(needed)
    statistics = metric.statistics(Outputs.of(nbest.hypotheses, *references, line=nbest.sentence))
    sums = statistics[first_of_each(nbest)].sum(axis=0)
    lists = state.lists.with_new(nbest, statistics)
    words, expected = metric.lengths(sums)
    turn = Iteration(
        score=float(metric.score(sums)),
        list_score=lists.value(metric, state.weights),
        n_candidates=len(lists),
        n_new=len(lists) - len(state.lists),
        weights=state.weights.tolist(),
        value=float(metric.plain(sums)),
        length=words,
        expected=expected,
    )
    return replace(state, lists=lists, history=[*state.history, turn])


def _judge(state: _State, metric: MeasuredMetric, options: Tuning) -> _State:
    """Stop if a rule applies."""
    number, last = len(state.history) - 1, state.history[-1]
    if number == 0:
        lists, alone = state.lists, metric.unconstrained()
        reachable = alone.score(lists.statistics[lists.best(lists.gains(alone, state.weights))].sum(axis=0))
        if _gain(metric, lists.value(alone, state.weights), float(reachable)) <= 0:
            return replace(
                state,
                stopped="unreachable",
                failure=f"no choice from the n-best lists has a better {metric.title} than {last.value:.2f}; "
                "check that the references belong to the source text and are tokenized like the translations",
            )
    if all(turn.n_new == 0 for turn in state.history[-2:]):
        return replace(state, stopped="no new translations")
    if number >= options.iterations:
        return replace(state, stopped="the maximum number of iterations is reached")
    scores = [turn.score for turn in state.history]
    best = max if metric.higher_is_better else min
    better = [i for i in range(1, len(scores)) if _gain(metric, best(scores[:i]), scores[i]) > options.min_gain]
    # The first lists say little about other weights: scores fall at first, so patience counts only after a gain.
    if better and number - better[-1] >= options.patience:
        return replace(state, stopped=f"no better score for {options.patience} iterations")
    return state


def _move(state: _State, weights: Floats, metric: Metric, options: Tuning, scale: Scale) -> _State:
    """Move part of the way towards new weights, if they are usable; the sum of absolute values stays that of the first."""
    if not np.isfinite(weights).all():
        return replace(state, stopped="failure", failure="the optimizer returned weights that are not finite")
    goal = scale.applied(weights)
    reached = None if goal is None else _step(state, goal, metric, _longest(state, metric, options.reach), scale)
    if reached is None:
        return replace(state, stopped="failure", failure="the optimizer returned weights that vanish")
    if np.allclose(reached, state.weights, rtol=1e-6, atol=1e-9 * np.abs(state.weights).sum()):
        return replace(state, stopped="the weights do not change")
    log.info("%s on the lists: %.3f", metric.title, state.lists.value(metric, reached))
    return replace(state, weights=reached)


def _longest(state: _State, metric: Metric, reach: float) -> float:
    """The longest next step, as a fraction of the way: how far lists can be trusted shows in the scores so far."""
    longest, scores = min(_FIRST, reach), [turn.score for turn in state.history]
    for i, (before, after) in enumerate(pairwise(scores), start=2):
        tolerated = 0 if _has_gained(metric, scores[:i]) else _FALL
        factor = _GROWTH if _gain(metric, before, after) > -tolerated else _SHRINKAGE
        longest = min(max(longest * factor, _SHORTEST), reach)
    return reach if state.history[-1].n_new == 0 else longest  # the lists have all that the decoder finds


def _step(state: _State, goal: Floats, metric: Metric, longest: float, scale: Scale) -> Floats | None:
    """Weights on the way to the goal: the nearest with most of the gain that the lists promise, at most `longest` away.

    N-best lists are reliable only near the weights that they were made with (Hopkins and May 2011 mix new and previous
    weights too). Far away the lists lack what the decoder would find: if all candidates are too short, for example, no
    reward for words is too large for the lists, and the decoder's next translations are three times too long.
    """
    best, scores = state.best(metric), [turn.score for turn in state.history]
    tolerated = _LOSS if _has_gained(metric, scores) else _FALL
    here = np.array(best.weights) if _gain(metric, scores[-1], best.score) > tolerated else state.weights
    ways = [scale.applied(here + part * (goal - here)) for part in np.linspace(0, 1, _STEPS + 1)]
    values = [-np.inf if way is None else state.lists.value(metric, way) for way in ways]
    gains = np.array([_gain(metric, values[0], value) for value in values])
    near = int(np.argmax(gains >= _ENOUGH * gains.max()))
    return scale.applied(here + min(max(near, 1) / _STEPS, longest) * (goal - here))


def _has_gained(metric: Metric, scores: Sequence[float]) -> bool:
    """Whether a score is clearly better than the first; until then scores may fall, because the lists are incomplete."""
    return any(_gain(metric, scores[0], score) > _LOSS for score in scores[1:])


def _gain(metric: Metric, before: float, after: float) -> float:
    return after - before if metric.higher_is_better else before - after


def _identity(
    start: Floats,
    fixed: npt.NDArray[np.bool_],
    references: Sequence[Sequence[str]],
    options: Tuning,
    optimizer: Optimizer,
    length: TargetLength,
    seed: int,
) -> dict[str, str]:
    """Everything that must be unchanged to resume a stored tuning."""
    text = "\n".join(line for reference in references for line in reference).encode()
    settings = to_mapping(options) | {f"{type(optimizer).__name__}.{k}": v for k, v in to_mapping(optimizer).items()}
    values = repr([sorted(settings.items(), key=str), seed]).encode()
    expected = np.full(1, length.ratio) if length.words is None else length.words
    return {
        "start": hash_arrays({"weights": start}),
        "fixed weights": hash_arrays({"fixed": fixed}),
        "references": hash_arrays({"text": np.frombuffer(text, np.uint8)}),
        "expected length": hash_arrays({"words": expected, "constraint": np.array([length.is_constraint])}),
        "settings": hash_arrays({"settings": np.frombuffer(values, np.uint8)}),
    }


_TURN = {"score": float, "list_score": float, "n_candidates": int, "n_new": int, "weights": list[float]}
_TURN |= {"is_mean?": bool, "value": float, "length": float, "expected": float}
STORED = Kind(
    KIND,
    {"weights": "f8 n_weights", **CandidateLists.LAYOUT},
    {"details": {"history": [_TURN], "stopped": str | None, "failure": str | None, "averaged?": list[int] | None}},
)


def _store(folder: str | PathLike[str] | None, identity: dict[str, str], state: _State, seed: int) -> None:
    if folder is None:
        return
    details: dict[str, object] = {"history": [asdict(turn) for turn in state.history]}
    details |= {"stopped": state.stopped, "failure": state.failure}
    if state.averaged is not None:
        details["averaged"] = list(state.averaged)
    arrays = {"weights": state.weights, **state.lists.arrays()}
    save(folder, STORED, arrays, inputs=identity, seed=seed, details=details)


def _resume(folder: str | PathLike[str] | None, identity: dict[str, str], n_sentences: int, start: Floats) -> _State:
    fresh = _State(start, CandidateLists.empty(n_sentences, len(start)), [])
    if folder is None or not Path(folder).exists():
        return fresh

    def read(artefact: Artefact) -> _State:
        for name, digest in identity.items():
            if artefact.manifest["inputs"].get(name) != digest:
                raise ArtefactError(
                    f"{folder}: contains a tuning with different {name}; remove it, or store this one elsewhere"
                )
        details = artefact.details
        history = [Iteration(**turn) for turn in details["history"]]
        lists, averaged = CandidateLists.from_arrays(artefact.arrays()), details.get("averaged")
        if all(turn.is_mean for turn in history) or any(not 0 <= i < len(history) for i in averaged or ()):
            raise DamagedError("its iterations do not fit each other")
        done = (details["stopped"], details["failure"], None if averaged is None else tuple(averaged))
        return _State(np.array(artefact["weights"]), lists, history, *done)

    return read_artefact(folder, STORED, read, content=True)
