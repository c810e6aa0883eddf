"""Tune several times on one half of the development text, choose on the other (GO13 §4.1).

Each seed gives a different result. GO13 tune three times on the first half, translate the second half with each result,
and take the weights with the best score there. Here the mean of the runs is also a candidate, and so are the mean of the
best iterations of each run, if runs have one (`Tuning.average`), and the mean of these means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune.average import Scale
from hyperbaton.tune.loop import TuningResult
from hyperbaton.tune.nbest import Decode, Floats, first_of_each


@dataclass(frozen=True)
class Choice:
    """The runs, the candidates with their scores on the held-out half, and the chosen one.

    A single run has no held-out half: `held_out` is then empty. `tuned` is the run of the chosen weights; if they are a
    mean of runs, it is the best run on the held-out half.
    """

    runs: list[TuningResult]
    weights: Floats
    tuned: TuningResult
    chosen: str = "run 1"
    held_out: Mapping[str, float] = field(default_factory=dict)

    @property
    def failure(self) -> str | None:
        """Why tuning failed, if it did."""
        return self.tuned.failure


def tune_and_choose(
    run: Callable[[int], TuningResult],
    n_runs: int,
    decode_held_out: Decode,
    references: Sequence[Sequence[str]],
    metric: str,
    *,
    scale: Scale | None = None,
) -> Choice:
    """Tune `n_runs` times, where `run(i)` is run i, and choose by the metric on held-out sentences.

    With `scale`, means of runs are also candidates; it gives all weights the same scale.
    """
    if n_runs < 1:
        raise OptionError("there must be at least one run")
    judge = make_metric(metric)
    runs = [run(i) for i in range(n_runs)]
    candidates = _candidates(runs, scale)

    def score(weights: Floats) -> float:
        nbest = decode_held_out(weights)
        best = first_of_each(nbest)
        outputs = Outputs.of([nbest.hypotheses[i] for i in best.tolist()], *references, line=nbest.sentence[best])
        return judge.value(outputs)

    held_out = {name: score(weights) for name, (weights, _) in candidates.items()}
    best = max if judge.higher_is_better else min
    chosen = best(held_out, key=lambda name: held_out[name])
    of_runs = [name for name, (_, run) in candidates.items() if run is not None]
    tuned = candidates[chosen][1] or candidates[best(of_runs, key=lambda name: held_out[name])][1]
    assert tuned is not None
    return Choice(runs, candidates[chosen][0], tuned, chosen, held_out)


def _candidates(runs: Sequence[TuningResult], scale: Scale | None) -> dict[str, tuple[Floats, TuningResult | None]]:
    """Candidate weights by name, with their run; means come first, since they win ties."""
    found: dict[str, tuple[Floats, TuningResult | None]] = {}
    good = [run for run in runs if run.failure is None]
    if scale is not None:
        for name, weights in (
            ("mean of {} averaged runs", [run.weights_of(-1) for run in good if run.averaged]),
            ("mean of {} runs", [run.weights_of(run.best) for run in good]),
        ):
            mean = scale.mean(weights) if len(weights) > 1 else None
            if mean is not None:
                found[name.format(len(weights))] = (mean, None)
    for i, run in enumerate(runs, start=1):
        if run.averaged:
            found[f"run {i}, averaged"] = (run.weights_of(-1), run)
        found[f"run {i}"] = (run.weights_of(run.best), run)
    return found


def halves(n_sentences: int) -> tuple[slice, slice]:
    """The two halves of a development text.

    >>> halves(5)
    (slice(0, 3, None), slice(3, 5, None))
    """
    if n_sentences < 2:
        raise InputError("a text of one sentence cannot be split into halves")
    middle = (n_sentences + 1) // 2
    return slice(0, middle), slice(middle, n_sentences)
