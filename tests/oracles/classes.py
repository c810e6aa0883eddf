"""Word classes, slowly and plainly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise


def n_log_n(n: int) -> float:
    return n * math.log(n) if n else 0.0


def criterion(sentences: Sequence[Sequence[str]], classes: Mapping[str, int]) -> float:
    """F, counted bigram by bigram."""
    bigrams: Counter[tuple[int, int]] = Counter()
    unigrams: Counter[int] = Counter()
    for sentence in sentences:
        if not sentence:
            continue
        padded = [0, *(classes[word] for word in sentence), 0]
        for left, right in pairwise(padded):
            bigrams[left, right] += 1
            unigrams[left] += 1
    return sum(map(n_log_n, bigrams.values())) - 2 * sum(map(n_log_n, unigrams.values()))


def exchange(
    sentences: Sequence[Sequence[str]], classes: Mapping[str, int], words: Sequence[str], choices: Sequence[int]
) -> dict[str, int]:
    """One sweep of the exchange algorithm: each word goes to the class that gives the highest criterion."""
    now = dict(classes)
    for word in words:
        scores = {choice: criterion(sentences, {**now, word: choice}) for choice in choices}
        best = max(choices, key=lambda choice: scores[choice])
        if scores[best] > scores[now[word]] + 1e-6:
            now[word] = best
    return now


def is_local_optimum(sentences: Sequence[Sequence[str]], classes: Mapping[str, int], choices: Sequence[int]) -> bool:
    """No single word gains by moving to another class."""
    here = criterion(sentences, classes)
    return all(criterion(sentences, {**classes, word: choice}) <= here + 1e-5 for word in classes for choice in choices)
