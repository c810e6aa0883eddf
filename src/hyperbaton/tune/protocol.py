"""Tune several times on one half of the development text, choose on the other (GO13 §4.1).

MERT ends elsewhere with every seed. GO13 tune three times on the first half, translate the second half with each result,
and take the weights with the best score there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune.loop import Tuned
from hyperbaton.tune.nbest import Decode, first_of_each


@dataclass(frozen=True)
class Choice:
    """The runs, the score of each on the held-out half, and the number of the best."""

    runs: list[Tuned]
    held_out: list[float]
    chosen: int

    @property
    def tuned(self) -> Tuned:
        return self.runs[self.chosen]


def tune_and_choose(
    run: Callable[[int], Tuned], n_runs: int, decode_held_out: Decode, references: Sequence[Sequence[str]], metric: str
) -> Choice:
    """Tune `n_runs` times, `run(i)` being run i, and choose by the metric on held-out sentences."""
    if n_runs < 1:
        raise OptionError("at least one run is needed")
    judge = make_metric(metric)
    runs = [run(i) for i in range(n_runs)]
    scores = []
    for tuned in runs:
        nbest = decode_held_out(tuned.weights)
        best = first_of_each(nbest)
        outputs = Outputs.of([nbest.hypotheses[i] for i in best.tolist()], *references, line=nbest.sentence[best])
        scores.append(judge.value(outputs))
    return Choice(runs, scores, int(np.argmax(scores) if judge.higher_is_better else np.argmin(scores)))


def halves(n_sentences: int) -> tuple[slice, slice]:
    """The two halves of a development text.

    >>> halves(5)
    (slice(0, 3, None), slice(3, 5, None))
    """
    if n_sentences < 2:
        raise InputError("a text of one sentence cannot be split into halves")
    middle = (n_sentences + 1) // 2
    return slice(0, middle), slice(middle, n_sentences)
