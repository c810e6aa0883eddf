"""Word-order agreement, edits and error surfaces in the plainest way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt


def edits(hypothesis: Sequence[object], reference: Sequence[object]) -> int:
    """Levenshtein's distance by its recursion."""
    table = {(i, 0): i for i in range(len(hypothesis) + 1)} | {(0, j): j for j in range(len(reference) + 1)}
    for i, h in enumerate(hypothesis, start=1):
        for j, r in enumerate(reference, start=1):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (h != r))
    return table[len(hypothesis), len(reference)]


def order_agreement(hypothesis: list[int], reference: list[int]) -> list[int]:
    """The six counts of `compare_orders`."""
    own, wanted = list(pairwise([-1, *hypothesis])), list(pairwise([-1, *reference]))
    common = [step for step in wanted if step in own]
    every = sorted({*hypothesis, *reference})
    first, second = completed(hypothesis, every), completed(reference, every)
    discordant = sum(
        (first.index(a) < first.index(b)) != (second.index(a) < second.index(b)) for a, b in combinations(every, 2)
    )
    displaced = sum(a != b for a, b in zip(first, second, strict=True))
    inner = [step for step in common if step[0] != -1]
    return [len(reference), len(common), len(inner), len(every), discordant, displaced]


def completed(order: list[int], every: list[int]) -> list[int]:
    """The order with the missing positions, each behind the one before it."""
    order = list(order)
    for before, position in zip([None, *every], every, strict=False):
        if position not in order:
            order.insert(0 if before is None else order.index(before) + 1, position)
    return order


def surface(
    features: npt.NDArray[np.float64],
    statistics: npt.NDArray[np.float64],
    offsets: npt.NDArray[np.int64],
    score: Callable[[npt.NDArray[np.float64]], float],
    weights: npt.NDArray[np.float64],
    direction: npt.NDArray[np.float64],
    step: float,
) -> float:
    """The metric of the best candidates at one step along a direction; of equal candidates the first."""
    total = features @ (weights + step * direction)
    best = [a + int(np.argmax(total[a:b])) for a, b in pairwise(offsets.tolist())]
    return score(statistics[best].sum(axis=0))


def between_crossings(
    scores: npt.NDArray[np.float64], slopes: npt.NDArray[np.float64], offsets: npt.NDArray[np.int64]
) -> list[float]:
    """A step in every interval between the places where two candidates of a sentence have the same score."""
    crossings = {
        (scores[i] - scores[j]) / (slopes[j] - slopes[i])
        for a, b in pairwise(offsets.tolist())
        for i, j in combinations(range(a, b), 2)
        if slopes[i] != slopes[j]
    }
    ends = sorted(float(x) for x in crossings)
    if not ends:
        return [0.0]
    return [ends[0] - 1, *((a + b) / 2 for a, b in pairwise(ends) if b - a > 1e-6), ends[-1] + 1]


def mira_on_one_sentence(
    features: npt.NDArray[np.float64],
    gains: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    max_step: float,
    n: int,
) -> list[npt.NDArray[np.float64]]:
    """The average of weights after each of n visits to the same list (Cherry and Foster 2012, Algorithm 2)."""
    visited, averages = [], []
    for _ in range(n):
        model = features @ weights
        hope, fear = int(np.argmax(model + gains)), int(np.argmax(model - gains))
        difference = features[hope] - features[fear]
        loss = gains[hope] - gains[fear] - difference @ weights
        if loss > 0 and difference.any():
            weights = weights + min(max_step, loss / (difference @ difference)) * difference
        visited.append(weights)
        averages.append(np.mean(visited, axis=0))
    return averages
