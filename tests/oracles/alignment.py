"""Word alignment, slowly: the hidden Markov model by listing every sequence of origins, and an iteration of model 1."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

FIRST_DISTANCE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 40, 80]
N = len(FIRST_DISTANCE)


def bucket(distance: int) -> int:
    return max(b for b, first in enumerate(FIRST_DISTANCE) if first <= distance)


class JumpModel:
    """p(next | place) from weights by range: signed ones between words, those of the first word, those of the end."""

    def __init__(self, weights: Sequence[float]) -> None:
        self.between, self.first, self.last = weights[: 2 * N - 1], weights[2 * N - 1 : 3 * N - 1], weights[3 * N - 1 :]

    def weight(self, place: int, state: int, n: int) -> float:
        """From place (-1 is the start) to a state (n is the end)."""
        if state == n:
            return self.last[bucket(n if place < 0 else n - place)]
        if place < 0:
            return self.first[bucket(state)]
        distance = state - place
        return self.between[N - 1 + (bucket(distance) if distance >= 0 else -bucket(-distance))]

    def probability(self, place: int, state: int, n: int) -> float:
        return self.weight(place, state, n) / sum(self.weight(place, k, n) for k in range(n + 1))


def posteriors(
    emission: npt.NDArray[np.float64], null_emission: Sequence[float], jumps: JumpModel, null_probability: float
) -> tuple[npt.NDArray[np.float64], float]:
    """p(word j comes from state k) of shape (m, n), and p(all words); `emission` has the same shape."""
    m, n = emission.shape
    total, sums = 0.0, np.zeros((m, n))
    for origins in itertools.product(range(-1, n), repeat=m):  # -1 is the null word
        probability, place = 1.0, -1
        for j, k in enumerate(origins):
            if k < 0:
                probability *= null_probability * null_emission[j]
            else:
                probability *= (1 - null_probability) * jumps.probability(place, k, n) * emission[j, k]
                place = k
        probability *= (1 - null_probability) * jumps.probability(place, n, n)
        total += probability
        for j, k in enumerate(origins):
            if k >= 0:
                sums[j, k] += probability
    return sums / total, total


def first_model1_table(
    pairs: Sequence[tuple[Sequence[str], Sequence[str]]],
    prior: Mapping[tuple[str, str], float],
    smoothing: float,
    null_probability: float,
) -> dict[tuple[str, str], float]:
    """p(target word | source word) after one iteration of IBM model 1 by plain EM that starts from counts of pairs."""
    words = Counter(t for _, target in pairs for t in target)
    frequency = {t: n / words.total() for t, n in words.items()}
    sources = {s for source, _ in pairs for s in source}

    def table(counts: Mapping[tuple[str, str], float], weight: float) -> dict[tuple[str, str], float]:
        raw = {(s, t): counts.get((s, t), 0) + prior.get((s, t), 0) + weight * frequency[t] for s in sources for t in words}
        sums = {s: sum(raw[s, t] for t in words) for s in sources}
        return {(s, t): value / sums[s] for (s, t), value in raw.items()}

    first, counts = table({}, max(smoothing, 1.0)), Counter[tuple[str, str]]()
    for source, target in pairs:
        for t in target:
            shares = [(1 - null_probability) / len(source) * first[s, t] for s in source]
            total = sum(shares) + null_probability * frequency[t]
            for s, share in zip(source, shares, strict=True):
                counts[s, t] += share / total
    return table(counts, smoothing)
