"""All derivations of a short sentence by rules with gaps, and their features; slow.

A rule is a pair of sides of symbols: `[X]` is a gap of the source, `[X,1]` and `[X,2]` are the gaps of the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, pairwise, product
from typing import Any, NamedTuple

from tests.oracles.decode import Arpa, log

Rules = Mapping[tuple[str, str], tuple[list[float], list[tuple[int, int]]]]
GLUE = math.log(2.718)


class Tree(NamedTuple):
    """A rule over a span, with a tree in each gap; a rule without scores is an unknown word."""

    begin: int
    end: int
    source: tuple[str, ...]
    target: tuple[str, ...]
    scores: list[float] | None
    links: list[tuple[int, int]]
    children: tuple[Tree, ...]


def matches(
    words: Sequence[str], source: Sequence[str], begin: int, end: int, max_span: int
) -> Iterator[list[tuple[int, int]]]:
    """The gaps of each way in which a source side covers a span."""
    if not source:
        if begin == end:
            yield []
        return
    if source[0] != "[X]":
        if begin < end and words[begin] == source[0]:
            yield from matches(words, source[1:], begin + 1, end, max_span)
        return
    for middle in range(begin + 1, end + 1):
        for gaps in matches(words, source[1:], middle, end, max_span):
            yield [(begin, middle), *gaps]


def trees(words: Sequence[str], rules: Rules, begin: int, end: int, max_span: int) -> list[Tree]:
    """Everything that X can be over a span."""
    if max_span and end - begin > max_span:
        return []
    found, any_match = [], False
    for (source, target), (scores, links) in rules.items():
        symbols = tuple(source.split())
        for gaps in matches(words, symbols, begin, end, max_span):
            if gaps == [(begin, end)]:
                continue
            inside = [trees(words, rules, *gap, max_span) for gap in gaps]
            any_match = any_match or all(inside)
            found += [
                Tree(begin, end, symbols, tuple(target.split()), scores, links, children) for children in product(*inside)
            ]
    if not any_match and end == begin + 1:
        found.append(Tree(begin, end, (words[begin],), (words[begin],), None, [(0, 0)], ()))
    return found


def derivations(words: Sequence[str], rules: Rules, max_span: int) -> Iterator[list[Tree]]:
    """All ways to cover the sentence by trees from left to right."""

    def rest(begin: int) -> Iterator[list[Tree]]:
        if begin == len(words):
            yield []
        for end in range(begin + 1, len(words) + 1):
            for tree in trees(words, rules, begin, end, max_span):
                for others in rest(end):
                    yield [tree, *others]

    return rest(0)


def words_of(tree: Tree) -> list[str]:
    words = []
    for symbol in tree.target:
        words += words_of(tree.children[int(symbol[3]) - 1]) if symbol.startswith("[X,") else [symbol]
    return words


def positions(tree: Tree) -> list[int]:
    """Where each symbol of the source side begins."""
    at, found, gaps = tree.begin, [], iter(tree.children)
    for symbol in tree.source:
        found.append(at)
        at = next(gaps).end if symbol == "[X]" else at + 1
    return found


def visits(tree: Tree, numbers: Iterator[int]) -> list[tuple[int, int]]:
    """(source word, number of the rule that holds it) in target order, each word once."""
    number, order, seen = next(numbers), [], set()
    for j, symbol in enumerate(tree.target):
        if symbol.startswith("[X,"):
            order += visits(tree.children[int(symbol[3]) - 1], numbers)
        for i in sorted(i for i, k in tree.links if k == j):
            if i not in seen:
                order.append((positions(tree)[i], number))
                seen.add(i)
    return order


def features(
    derivation: Sequence[Tree], n_words: int, lm: Arpa, jumps: Any = None, inside: bool = True
) -> dict[str, list[float]]:
    """Unweighted features of a derivation; `jumps`, if given, is a matrix of jumps."""
    target = [word for tree in derivation for word in words_of(tree)]
    nodes, unseen = [], list(derivation)
    while unseen:
        nodes.append(unseen.pop())
        unseen += nodes[-1].children
    known = [node.scores for node in nodes if node.scores is not None]
    found = {
        "LM0": [lm.sentence(target)],
        "WordPenalty0": [-float(len(target) + 2)],
        "PhrasePenalty0": [float(len(nodes) + len(derivation) + 2)],
        "TranslationModel0": [sum(map(log, column)) for column in zip(*known, strict=True)] or [0.0, 0.0],
        "TranslationModel1": [GLUE * len(derivation)],
        "UnknownWordPenalty0": [-100.0 * sum(node.scores is None for node in nodes)],
    }
    if jumps is not None:
        numbers = count()
        order = [(-1, -1), *(visit for tree in derivation for visit in visits(tree, numbers)), (n_words, -2)]
        charged = [(i, j) for (i, a), (j, b) in pairwise(order) if inside or a != b]
        found["JUMPS"] = [float(sum(jumps[i + 1, j] for i, j in charged))]
    return found
