"""Feature sets as plain loops over words: what a sample's features are, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Words = Sequence[str]
Span = tuple[int, int]


def dpr(source: Words, target: Words, source_span: Span, target_span: Span, window: int, longest: int) -> set[str]:
    """NI11 Table 3, words only."""
    names = set()
    begin, end = source_span
    for i in range(len(source)):
        for n in range(1, longest + 1):
            gram = " ".join(source[i : i + n])
            if begin - window <= i and i + n <= begin:
                names.add(f"source {i - begin:+d}: {gram}")
            if end <= i and i + n <= min(end + window, len(source)):
                names.add(f"source {i - end + 1:+d}: {gram}")
    first, last = target_span
    for j in range(first, last):
        for n in range(1, longest + 1):
            if j + n <= last:
                names.add(f"target {j - first:+d}: {' '.join(target[j : j + n])}")
    return names


def context(
    source: Words, target: Words, source_span: Span, target_span: Span, window: int, longest: int, far: int
) -> set[str]:
    """`dpr`, the n-grams of the source phrase, and numbers of words."""
    begin, end = source_span
    names = dpr(source, target, source_span, target_span, window, longest)
    for i in range(begin, end):
        for n in range(1, min(longest, end - i) + 1):
            names.add(f"source inside +{i - begin}: {' '.join(source[i : i + n])}")
    numbers = {
        "words before": begin,
        "words after": len(source) - end,
        "source length": end - begin,
        "target length": target_span[1] - target_span[0],
    }
    return names | {f"{name}: {min(number, far)}" for name, number in numbers.items()}


def aligned_words(
    source: Words, target: Words, source_span: Span, target_span: Span, links: Sequence[tuple[int, int]]
) -> set[str]:
    """AL14 Table 1."""
    inside = [(i, j) for i, j in links if source_span[0] <= i < source_span[1] and target_span[0] <= j < target_span[1]]
    names = {f"link: {source[i]} & {target[j]}" for i, j in inside}
    return names | {f"context: {source[i]}" for i in (source_span[0] - 1, source_span[1]) if 0 <= i < len(source)}


def frequent(rows: Sequence[set[str]], min_count: int) -> set[str]:
    """The features of at least `min_count` rows."""
    counts = Counter(feature for row in rows for feature in row)
    return {feature for feature, count in counts.items() if count >= min_count}
