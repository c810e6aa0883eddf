"""A slow, plain choice of sentences by n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence


def n_grams(words: Sequence[str], longest: int) -> Iterator[tuple[str, ...]]:
    """All n-grams of a sentence."""
    return (tuple(words[i : i + n]) for n in range(1, longest + 1) for i in range(len(words) - n + 1))


def chosen_sentences(
    text: Sequence[list[str]], others: Sequence[Sequence[list[str]]], instances: int, longest: int
) -> list[int]:
    """The sentences with one of the first instances of an n-gram of the others."""
    wanted = {gram for other in others for words in other for gram in n_grams(words, longest)}
    n_seen: Counter[tuple[str, ...]] = Counter()
    chosen = []
    for s, words in enumerate(text):
        before = n_seen.copy()
        n_seen.update(gram for gram in n_grams(words, longest) if gram in wanted)
        if any(before[gram] < instances for gram in n_seen if n_seen[gram] > before[gram]):
            chosen.append(s)
    return chosen
