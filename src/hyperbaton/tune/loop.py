"""The loop of tuning: translate with the present weights, add the n-best lists to those so far, optimise on all, repeat.

It ends when a rule says so, never without saying which; the weights that are returned are those with the best metric of
the decoder's own translations, not those that look best on lists, or the mean of several such. What goes wrong (weights
that are not finite or vanish, a metric that no translation can raise, no gain over the starting point) is a failure with a
reason, and the best weights are kept all the same. With a folder, every iteration is stored and a later call goes on from
there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import ArtefactError, HyperbatonError, OptionError
from hyperbaton.base.options import Checked, option, to_mapping
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.store import Artefact, Kind, hash_arrays, read_artefact, save
from hyperbaton.metrics import Metric, Outputs, make_metric
from hyperbaton.tune.average import Scale
from hyperbaton.tune.nbest import CandidateLists, Decode, Floats, check_nbest, first_of_each
from hyperbaton.tune.optimizers import OPTIMIZERS, Optimizer, OptimizerJob

log = logging.getLogger(__name__)

KIND = "tuning"
_SHORTEST = 1 / 16  # of the ways from the best weights
_FALL = 1.0  # points of the metric by which a step fails


class TuningFailed(HyperbatonError):
    """Tuning did not help; the best weights are kept."""


@dataclass
class Tuning(Checked):
    """How to tune."""

    metric: str = option("bleu", "metric to optimize, with options as in bleu:tokenize=none")
    optimizer: str = option("mert", "mert, mira or pro, with options as in mert:restarts=10")
    iterations: int = option(15, "maximum number of iterations; each translates the development text once", minimum=1)
    patience: int = option(4, "stop after this many iterations without improvement", minimum=1)
    reach: float = option(
        0.25,
        "first step, as a fraction of the way to the weights that are best on the n-best lists",
        minimum=0.01,
        maximum=1,
    )
    min_gain: float = option(0.01, "smallest improvement that counts, in points of the metric", minimum=0)
    average: int = option(
        1, "average the weights of this many iterations, those with the best scores; 1 takes the best one", minimum=1
    )


@dataclass(frozen=True)
class Iteration:
    """One turn of the loop: the metric of the translations with these weights, and of the best candidates on all lists."""

    score: float
    list_score: float
    n_candidates: int
    n_new: int
    weights: list[float]


@dataclass(frozen=True)
class Tuned:
    """The weights that were taken, the decoder's score with them, what happened, and why it ended.

    `failure` is None or a reason. `taken` is the number of the iteration with these weights, from 0, the start. Where
    weights were averaged, the last iteration is that of the mean, and `averaged` has the numbers of those it was made from;
    `best` is the best iteration besides.
    """

    weights: Floats
    score: float
    stopped: str
    failure: str | None
    history: list[Iteration] = field(default_factory=list)
    taken: int = 0
    best: int = 0
    averaged: tuple[int, ...] = ()

    def weights_of(self, iteration: int) -> Floats:
        """The weights of an iteration."""
        return np.array(self.history[iteration].weights)


@dataclass(frozen=True)
class _State:
    """Where tuning stands: everything that the next iteration needs."""

    weights: Floats
    lists: CandidateLists
    history: list[Iteration]
    stopped: str | None = None
    failure: str | None = None
    averaged: tuple[int, ...] | None = None  # iterations whose mean the last one is; None until the loop has ended

    def scale(self, start: Floats, fixed: npt.NDArray[np.bool_]) -> Scale:
        """The size that weights must have, known once there are lists."""
        return Scale(start, fixed, self.lists.features.shape[1])

    def ranked(self, metric: Metric) -> list[int]:
        """The numbers of the iterations, those with the best scores first, of equal ones the first."""
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
    seed: int = 0,
    threads: int | None = None,
    folder: str | PathLike[str] | None = None,
    inputs: Mapping[str, str] | None = None,
    report: Callable[[int, Iteration], None] | None = None,
    progress: Progress | None = None,
) -> Tuned:
    """Tune weights.

    Arguments:
        decode: translates all sentences with given weights.
        start: weights to begin with, (n_features,).
        references: `references[r][s]` is reference r of sentence s.
        fixed: which weights stay as they are in `start`, (n_features,).
        optimizer: with its own options, in place of the one that the options name.
        folder: where to store each iteration; when it holds iterations of the same call, they are not made again.
        inputs: what else must be the same to go on with a stored tuning, by name: the system, the source text.
        report: called with the number of each iteration, from 0, and what it found.
        progress: called for each starting point of an optimisation.
    """
    options = options or Tuning()
    metric = make_metric(options.metric)
    optimizer = optimizer or OPTIMIZERS.make(options.optimizer)
    start = np.ascontiguousarray(start, np.float64)
    if not np.isfinite(start).all() or not start.any():
        raise OptionError("tuning needs finite weights to start from, and at least one that is not 0")
    fixed = np.zeros(len(start), bool) if fixed is None else np.asarray(fixed, bool)
    if fixed.shape != start.shape:
        raise OptionError(f"there are {len(start)} weights, but {len(fixed)} say whether they are fixed")
    if fixed.all():
        raise OptionError("all weights are fixed; nothing is left to tune")
    identity = _identity(start, fixed, references, options, optimizer, seed) | dict(inputs or {})
    state = _resume(folder, identity, len(references[0]), start)
    for number, turn in enumerate(state.history):
        if report:
            report(number, turn)
    while state.stopped is None:
        number = len(state.history)
        state = _translate(state, decode, references, metric)
        if report:
            report(number, state.history[-1])
        state = _judge(state, metric, options)
        if state.stopped is None:
            best_so_far = np.array(state.best(metric).weights)
            starts = [state.weights] if np.array_equal(best_so_far, state.weights) else [state.weights, best_so_far]
            job = OptimizerJob(
                state.lists, metric, starts, (seed << 16) + number, threads or default_threads(), progress, fixed
            )
            state = _move(state, optimizer.optimize(job), metric, options, state.scale(start, fixed))
        if folder is not None:
            _store(folder, identity, state, seed)
    if state.averaged is None and options.average > 1:
        number = len(state.history)
        state = _average(state, decode, references, metric, options, state.scale(start, fixed))
        if report and state.averaged:
            report(number, state.history[-1])
        if folder is not None:
            _store(folder, identity, state, seed)
    return _taken(state, metric)


def _average(
    state: _State,
    decode: Decode,
    references: Sequence[Sequence[str]],
    metric: Metric,
    options: Tuning,
    scale: Scale,
) -> _State:
    """Translate with the mean of the weights of the best iterations, if averages are wanted and there is more than one."""
    nothing = replace(state, averaged=())
    start = state.history[0].score
    better = [i for i in state.ranked(metric) if _gain(metric, start, state.history[i].score) > 0]
    chosen = sorted(better[: options.average])
    if len(chosen) < 2 or state.failure is not None:
        return nothing
    mean = scale.mean([np.array(state.history[i].weights) for i in chosen])
    if mean is None:
        return nothing
    return replace(_translate(replace(state, weights=mean), decode, references, metric), averaged=tuple(chosen))


def _taken(state: _State, metric: Metric) -> Tuned:
    """What tuning returns: the mean, unless it is worse than all that it was made from, or the best iteration."""
    averaged, last = state.averaged or (), len(state.history) - 1
    best = next(i for i in state.ranked(metric) if not averaged or i != last)
    worst = min if metric.higher_is_better else max
    scores = [state.history[i].score for i in averaged]
    taken = last if averaged and _gain(metric, worst(scores), state.history[last].score) >= 0 else best
    turn, failure = state.history[taken], state.failure
    if failure is None and _gain(metric, state.history[0].score, turn.score) <= 0:
        failure = f"no weights were better than those at the start ({metric.title} {turn.score:.2f})"
    if failure:
        log.warning("tuning failed: %s; the best weights are kept", failure)
    stopped = state.stopped or "failure"
    return Tuned(np.array(turn.weights), turn.score, stopped, failure, state.history, taken, best, averaged)


def _translate(state: _State, decode: Decode, references: Sequence[Sequence[str]], metric: Metric) -> _State:
    nbest = decode(state.weights)
    check_nbest(nbest, state.lists.n_sentences, len(state.weights))
    # Most of a list is known from earlier iterations; only the rest and the best need statistics.
    needed = state.lists.is_new(nbest)
    needed[first_of_each(nbest)] = True
    nbest = nbest.select(needed)
    statistics = metric.statistics(Outputs.of(nbest.hypotheses, *references, line=nbest.sentence))
    score = float(metric.score(statistics[first_of_each(nbest)].sum(axis=0)))
    lists = state.lists.with_new(nbest, statistics)
    turn = Iteration(
        score=score,
        list_score=lists.value(metric, state.weights),
        n_candidates=len(lists),
        n_new=len(lists) - len(state.lists),
        weights=state.weights.tolist(),
    )
    return replace(state, lists=lists, history=[*state.history, turn])


def _judge(state: _State, metric: Metric, options: Tuning) -> _State:
    """Stop, if a rule says so."""
    number, last = len(state.history) - 1, state.history[-1]
    if number == 0:
        lists = state.lists
        reachable = metric.score(lists.statistics[lists.best(lists.gains(metric, state.weights))].sum(axis=0))
        if _gain(metric, last.list_score, float(reachable)) <= 0:
            return replace(
                state,
                stopped="unreachable",
                failure=f"no choice from the n-best lists has a better {metric.title} than {last.list_score:.2f}; "
                "check that the references belong to the source text and are tokenized like the translations",
            )
    if last.n_new == 0:
        return replace(state, stopped="no new translations")
    if number >= options.iterations:
        return replace(state, stopped="the maximum number of iterations is reached")
    better = [i for i, gain in enumerate(_gains(metric, state), start=1) if gain > options.min_gain]
    # The first lists say little about other weights: scores fall at first, and only what was gained can end.
    if better and number - better[-1] >= options.patience:
        return replace(state, stopped=f"no better score for {options.patience} iterations")
    return state


def _move(state: _State, weights: Floats, metric: Metric, options: Tuning, scale: Scale) -> _State:
    """Go towards new weights, of the same sum of absolute values as the first ones, if they are any good."""
    if not np.isfinite(weights).all():
        return replace(state, stopped="failure", failure="the optimizer returned weights that are not finite")
    best = np.array(state.best(metric).weights)
    reached = scale.applied(weights)
    if reached is not None:
        reached = scale.applied(best + _reach(state, metric, options) * (reached - best))
    if reached is None:
        return replace(state, stopped="failure", failure="the optimizer returned weights that vanish")
    if np.allclose(reached, state.weights, rtol=1e-6, atol=1e-9 * np.abs(best).sum()):
        return replace(state, stopped="the weights do not change")
    log.info("%s on the lists: %.3f", metric.title, state.lists.value(metric, reached))
    return replace(state, weights=reached)


def _reach(state: _State, metric: Metric, options: Tuning) -> float:
    """How far to go from the best weights so far towards those that the lists favour: less after a step that fell.

    Lists speak for weights near those that they were made with. What looks best far away is often a part of the space
    where the decoder finds translations that nobody has seen.
    """
    reach = options.reach
    for gain in _gains(metric, state):
        if gain > 0:
            reach = min(1.0, 2 * reach)
        elif gain < -_FALL:
            reach = max(_SHORTEST, reach / 2)
    return reach


def _gains(metric: Metric, state: _State) -> list[float]:
    """What each iteration but the first gained over the best score before it."""
    scores = [turn.score for turn in state.history]
    return [_gain(metric, _best(metric, scores[:i]), scores[i]) for i in range(1, len(scores))]


def _gain(metric: Metric, before: float, after: float) -> float:
    return after - before if metric.higher_is_better else before - after


def _best(metric: Metric, scores: Sequence[float]) -> float:
    return max(scores) if metric.higher_is_better else min(scores)


def _identity(
    start: Floats,
    fixed: npt.NDArray[np.bool_],
    references: Sequence[Sequence[str]],
    options: Tuning,
    optimizer: Optimizer,
    seed: int,
) -> dict[str, str]:
    """What must be the same for a stored tuning to be gone on with."""
    text = "\n".join(line for reference in references for line in reference).encode()
    settings = to_mapping(options) | {f"{type(optimizer).__name__}.{k}": v for k, v in to_mapping(optimizer).items()}
    values = repr([sorted(settings.items(), key=str), seed]).encode()
    return {
        "start": hash_arrays({"weights": start}),
        "fixed weights": hash_arrays({"fixed": fixed}),
        "references": hash_arrays({"text": np.frombuffer(text, np.uint8)}),
        "settings": hash_arrays({"settings": np.frombuffer(values, np.uint8)}),
    }


_TURN = {"score": float, "list_score": float, "n_candidates": int, "n_new": int, "weights": list[float]}
STORED = Kind(
    KIND,
    {"weights": "f8 n_weights", **CandidateLists.LAYOUT},
    {"details": {"history": [_TURN], "stopped": str | None, "failure": str | None, "averaged?": list[int] | None}},
)


def _store(folder: str | PathLike[str], identity: dict[str, str], state: _State, seed: int) -> None:
    details: dict[str, Any] = {"history": [asdict(turn) for turn in state.history]}
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
                raise ArtefactError(f"{folder}: holds a tuning with other {name}; remove it, or store this one elsewhere")
        details = artefact.details
        history = [Iteration(**{name: turn[name] for name in _TURN}) for turn in details["history"]]
        lists, averaged = CandidateLists.from_arrays(artefact.arrays()), details.get("averaged")
        done = (details["stopped"], details["failure"], None if averaged is None else tuple(averaged))
        return _State(np.array(artefact["weights"]), lists, history, *done)

    return read_artefact(folder, STORED, read, content=True)
