"""Phrase tables by plain counting over Python strings."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import prod

Pair = tuple[str, str]
Point = tuple[int, int]


def lexical(sentences: list[tuple[list[str], list[str], set[Point]]]) -> tuple[dict[Pair, float], dict[Pair, float]]:
    """p(target word | source word) and p(source word | target word); the empty word is ''."""
    joint: Counter[Pair] = Counter()
    for src, tgt, links in sentences:
        joint.update((src[i], tgt[j]) for i, j in links)
        joint.update((word, "") for i, word in enumerate(src) if all(i != s for s, _ in links))
        joint.update(("", word) for j, word in enumerate(tgt) if all(j != t for _, t in links))
    by_source, by_target = Counter(), Counter()
    for (s, t), n in joint.items():
        by_source[s] += n
        by_target[t] += n
    rounded = {pair: max(round(n / by_source[pair[0]], 7), 1e-7) for pair, n in joint.items()}
    backward = {pair: max(round(n / by_target[pair[1]], 7), 1e-7) for pair, n in joint.items()}
    return rounded, backward


def best_links(counts: Counter[frozenset[Point]], by_source: bool) -> frozenset[Point]:
    """The most frequent links; ties go to the greatest list of linked positions, word by word of one side."""

    def order(links: frozenset[Point]) -> tuple[int, list[list[int]]]:
        flipped = links if by_source else {(t, s) for s, t in links}
        length = 1 + max(a for k in counts for a, _ in (k if by_source else {(t, s) for s, t in k}))
        return counts[links], [sorted(b for a, b in flipped if a == word) for word in range(length)]

    return max(counts, key=order)


def weight(words: list[str], others: list[str], links: set[Point], p: dict[Pair, float]) -> float:
    """Product over words of the mean p[other, word] over their links (word, other), or p['', word]."""

    def one(k: int, word: str) -> float:
        linked = [p[others[b], word] for a, b in sorted(links) if a == k]
        return sum(linked) / len(linked) if linked else p["", word]

    return prod(one(k, word) for k, word in enumerate(words))


def table(samples: list[tuple[str, str, frozenset[Point]]]) -> dict[Pair, dict[str, object]]:
    """Counts and inner links of each pair."""
    inner: defaultdict[Pair, Counter[frozenset[Point]]] = defaultdict(Counter)
    sources, targets = Counter(), Counter()
    for source, target, links in samples:
        inner[source, target][links] += 1
        sources[source] += 1
        targets[target] += 1
    return {
        pair: {
            "joint": sum(counts.values()),
            "source": sources[pair[0]],
            "target": targets[pair[1]],
            "links": best_links(counts, by_source=False),
            "inverse_links": best_links(counts, by_source=True),
        }
        for pair, counts in inner.items()
    }
