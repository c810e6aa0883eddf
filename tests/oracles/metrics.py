"""Word-order agreement, edits and error surfaces in the plainest way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
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
    """The order with the missing positions, each after the one before it."""
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
    # Intercept and slope first: lines of equal candidates then stay equal, where rounded weights would part them.
    total = features @ weights + step * (features @ direction)
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
    """The average of weights after each of n visits to the same list (Cherry and Foster 2012, Algorithm 2).

    They end before a visit in which rounding decides between candidates: a full step makes two of them equal.
    """
    visited, averages = [], []
    for _ in range(n):
        model = features @ weights
        hope, fear = int(np.argmax(model + gains)), int(np.argmax(model - gains))
        hopes, fears = (np.flatnonzero(values > values.max() - 1e-9) for values in (model + gains, model - gains))
        if len(hopes) > 1 or (len(fears) > 1 and hope not in fears):
            break
        difference = features[hope] - features[fear]
        loss = gains[hope] - gains[fear] - difference @ weights
        if loss > 0 and difference.any():
            weights = weights + min(max_step, loss / (difference @ difference)) * difference
        visited.append(weights)
        averages.append(np.mean(visited, axis=0))
    return averages


def count_matches(
    hypothesis: Sequence[str], reference: Sequence[str], stages: Sequence[Callable[[str], Iterable[Hashable]]]
) -> tuple[int, int]:
    """The matched words and the chunks that they form: the longest chunk is taken first, then the next of what is left."""
    cells: dict[tuple[int, int], int] = {}  # what may match, and in which stage
    for stage, keys in enumerate(stages):
        places: dict[Hashable, list[int]] = {}
        for j, word in enumerate(reference):
            for key in keys(word):
                places.setdefault(key, []).append(j)
        for i, word in enumerate(hypothesis):
            for key in keys(word):
                for j in places.get(key, ()):
                    cells.setdefault((i, j), stage)
    matched: list[tuple[int, int]] = []
    while cells:
        length, i, j = min(_chunks(cells))[-3:]
        matched += ((i + k, j + k) for k in range(length))
        cells = {(a, b): stage for (a, b), stage in cells.items() if not (i <= a < i + length or j <= b < j + length)}
    matched.sort()
    n_chunks = sum(k == 0 or matched[k - 1] != (i - 1, j - 1) for k, (i, j) in enumerate(matched))
    return len(matched), n_chunks


def _chunks(cells: dict[tuple[int, int], int]) -> Iterator[tuple[int, int, int, int, int]]:
    """Runs of neighbouring matches as (−length, sum of stages, length, places): the smallest is the one to take."""
    for i, j in cells:
        if (i - 1, j - 1) not in cells:
            length = late = 0
            while (i + length, j + length) in cells:
                late += cells[i + length, j + length]
                length += 1
            yield -length, late, length, i, j


def matched_ranks(hypothesis: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Places in the reference of the hypothesis' words, as far as the words around them tell.

    A word matches when it occurs once on both sides, or with as few words as it takes on its right or left
    (right first) to make an n-gram that does.

    """
    own, other = Counter(hypothesis), Counter(reference)
    ranks = []
    for i, word in enumerate(hypothesis):
        if word not in other:
            continue
        if own[word] == other[word] == 1:
            ranks.append(reference.index(word))
            continue
        for window in range(1, min(max(i + 1, len(hypothesis) - i), len(reference))):
            right = _only_place(hypothesis, reference, i, i + window + 1)
            if right is not None:
                ranks.append(right)
                break
            left = _only_place(hypothesis, reference, i - window, i + 1)
            if left is not None:
                ranks.append(left + window)
                break
    return ranks


def _only_place(hypothesis: Sequence[str], reference: Sequence[str], begin: int, end: int) -> int | None:
    """Where in the reference the words begin … end of the hypothesis are, if they are once in both."""
    if begin < 0 or end > len(hypothesis):
        return None
    wanted, width = hypothesis[begin:end], end - begin
    places = [
        j for j in range(len(reference) - width + 1) if reference[j] == wanted[0] and reference[j : j + width] == wanted
    ]
    if len(places) != 1:
        return None
    again = (j for j in range(len(hypothesis) - width + 1) if j != begin and hypothesis[j] == wanted[0])
    return None if any(hypothesis[j : j + width] == wanted for j in again) else places[0]
