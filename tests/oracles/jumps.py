"""Jump models as GO13 writes them: features as text, eq. 1 and eq. 2 as loops, probabilities as dictionaries.

Positions are the paper's: 0 is BOS, 1 … n are words, n + 1 is EOS; what lies beyond is padding.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise

Words = Sequence[str]
Features = Callable[[int, int], list[str]]


def at(words: Words, p: int) -> str:
    if 1 <= p <= len(words):
        return words[p - 1]
    return "<bos>" if p == 0 else "<eos>" if p == len(words) + 1 else "<pad>"


def pair_features(words: Words, tags: Words | None, i: int, j: int) -> list[str]:
    """GO13 Table 1."""
    o = 0 if i < j else 1
    distance = abs(j - i)
    d = 0 if distance == 1 else 1 if distance <= 5 else 2
    names = [f"{o}", f"{o} d{d}"]
    for name, p in (("i", i), ("j", j)):
        names += [f"{o} {name}{a:+d} {at(words, p + a)}" for a in range(-2, 3)]
    for a in range(-2, 3):
        for b in range(-2, 3):
            if abs(a) <= 1 or abs(b) <= 1:
                names.append(f"{o} i{a:+d} {at(words, i + a)} j{b:+d} {at(words, j + b)}")
    if tags is None:
        return names
    ti, tj, si, sj = at(tags, i), at(tags, j), at(words, i), at(words, j)
    names += [f"{o} ti {ti}", f"{o} tj {tj}", f"{o} ti {ti} tj {tj}"]
    names += [f"{o} ti-1 {at(tags, i - 1)} ti {ti} tj {tj}", f"{o} ti {ti} ti+1 {at(tags, i + 1)} tj {tj}"]
    names += [f"{o} ti {ti} tj-1 {at(tags, j - 1)} tj {tj}", f"{o} ti {ti} tj {tj} tj+1 {at(tags, j + 1)}"]
    return [*names, f"{o} si {si} ti {ti} tj {tj}", f"{o} sj {sj} ti {ti} tj {tj}"]


def counted_where_not_made(words: Words, tags: Words | None, i: int, j: int) -> list[str]:
    """Footnote 12."""
    o = 0 if i < j else 1
    names = [f"{o} i+0 {at(words, i)} j+0 {at(words, j)}"]
    if tags is not None:
        ti, tj = at(tags, i), at(tags, j)
        names += [
            f"{o} ti {ti} tj {tj}",
            f"{o} si {at(words, i)} ti {ti} tj {tj}",
            f"{o} sj {at(words, j)} ti {ti} tj {tj}",
        ]
    return names


def next_positions(order: Sequence[int], n: int) -> dict[int, int]:
    """NP of each CP, from a visit order of 0-based words."""
    visited = [0, *(p + 1 for p in order), n + 1]
    return dict(pairwise(visited))


def count(sentences: Sequence[tuple[Words, Words | None, Sequence[int]]]) -> Counter[str]:
    """How often each feature counts, ⟨o⟩ and ⟨o, d⟩ too."""
    counts: Counter[str] = Counter()
    for words, tags, order in sentences:
        n = len(words)
        if not order:
            continue
        following = next_positions(order, n)
        for i in range(n + 1):
            for j in range(1, n + 2):
                if i != j:
                    made = following.get(i) == j
                    counts.update((pair_features if made else counted_where_not_made)(words, tags, i, j))
    return counts


def log_softmax(scores: dict[int, float]) -> dict[int, float]:
    top = max(scores.values())
    total = top + math.log(sum(math.exp(s - top) for s in scores.values()))
    return {j: s - total for j, s in scores.items()}


def pair_logprobs(n: int, weight: Callable[[int, int], float]) -> list[dict[int, float]]:
    """Eq. 1 for each CP; weight(i, j) is w · f(i, j)."""
    return [log_softmax({j: weight(i, j) for j in range(1, n + 2) if j != i}) for i in range(n + 1)]


def sequence_logprobs(n: int, weight: Callable[[int, int, str], float]) -> list[dict[int, float]]:
    """Eq. 2 for each CP, as printed; weight(i, j, labels) is w · f(i, j, l_i, l_j)."""
    rows = []
    for i in range(n + 1):
        scores = {}
        for j in range(1, n + 2):
            if j == i:
                continue
            between = list(range(min(i, j) + 1, max(i, j)))
            label = {i: "C", j: "N", **dict.fromkeys(between, "I")}
            scores[j] = sum(weight(i, k, label[i] + label[k]) for k in [*between, j]) + sum(
                weight(k, j, label[k] + label[j]) for k in [*between, i]
            )
        rows.append(log_softmax(scores))
    return rows


def candidate_class(n: int, visited: set[int], i: int, j: int) -> int:
    """The coverage class of candidate j (n + 1 is EOS), from CP i, by its number in the core."""
    left = [p for p in range(1, n + 1) if p not in visited]
    if j == n + 1:
        return 48 + next(c for c, most in enumerate([0, 1, 2, 4, 8, n]) if len(left) <= most)
    between = sum(min(i, j) < p < max(i, j) for p in left)
    bits = [j - 1 == 0 or j - 1 in visited, j + 1 in visited, j == left[0]]
    number = 3 * (j < i) + (0 if between == 0 else 1 if between <= 2 else 2)
    for bit in bits:
        number = 2 * number + bit
    return number


def remaining_logprobs(
    n: int, order: Sequence[int], score: Callable[[int, int], float], class_weights: Sequence[float] | None
) -> list[dict[int, float]]:
    """log P(j | i, visited) at each step of an order of 0-based words; score(i, j) is that of a jump."""
    rows = []
    visited: set[int] = set()
    for i in [0, *(p + 1 for p in order)]:
        visited |= {i} - {0}
        candidates = [j for j in range(1, n + 2) if j not in visited]
        extra = {j: class_weights[candidate_class(n, visited, i, j)] if class_weights else 0.0 for j in candidates}
        rows.append(log_softmax({j: score(i, j) + extra[j] for j in candidates}))
    return rows


def nine_class(distortion: int) -> int:
    """Footnote 6."""
    spans = [(7, math.inf), (4, 6), (2, 3), (1, 1), (0, 0), (-2, -2), (-4, -3), (-7, -5), (-math.inf, -8)]
    return next(c for c, (low, high) in enumerate(spans) if low <= distortion <= high)


def nine_class_logprobs(
    n: int, outbound: Sequence[Sequence[float]] | None, inbound: Sequence[Sequence[float]] | None
) -> list[dict[int, float]]:
    """P(j | i) from p(class): outbound[i] for CP i, inbound[j - 1] for NP j."""
    rows = []
    for i in range(n + 1):
        candidates = {j: nine_class(j - i - 1) for j in range(1, n + 2) if j != i}
        scores = {}
        for j, c in candidates.items():
            own = 1.0 if inbound is None else inbound[j - 1][c]
            rivals = sum(1.0 if inbound is None else inbound[k - 1][c] for k, other in candidates.items() if other == c)
            scores[j] = math.log(own if outbound is None else outbound[i][c] * own / rivals)
        rows.append(log_softmax(scores))
    return rows
