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
Span = tuple[int, int]
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


class Phrase(NamedTuple):
    """A phrase of a derivation: its source and target spans, and the links inside it by the words of the sentence."""

    source: Span
    target: Span
    links: tuple[tuple[int, int], ...]
    is_unknown: bool


def cuts(tree: Tree) -> dict[int, list[Span]]:
    """The source spans of the phrases of a rule, by the target symbol that each begins with."""
    if not tree.children:
        return {0: [(tree.begin, tree.end)]}
    at, gaps = positions(tree), [i for i, symbol in enumerate(tree.source) if symbol == "[X]"]
    visits: list[list[tuple[int, int]]] = []  # source and target symbols of each gap, or run of words
    for j, symbol in enumerate(tree.target):
        is_gap = symbol.startswith("[X,")
        if is_gap or not visits or tree.target[j - 1].startswith("[X,"):
            visits.append([])
        seen = {i for run in visits for i, _ in run}
        symbols = [gaps[int(symbol[3]) - 1]] if is_gap else sorted({i for i, k in tree.links if k == j} - seen)
        visits[-1] += [(i, j) for i in symbols]
    used = sorted(i for run in visits for i, _ in run)
    words: dict[int, set[int]] = {i: set() for i in used}  # of each symbol, with those without links that belong to it
    for i in range(len(tree.source)):
        if i not in gaps:
            words[max((k for k in used if k <= i), default=used[0])].add(at[i])
    found: dict[int, list[Span]] = {j: [] for j in range(len(tree.target) + 1)}
    first_symbol = {id(run): j for j, run in zip(run_starts(tree), visits, strict=True)}
    for run in visits:
        if run and run[0][0] in gaps:
            gap, j = run[0]
            if left := {word for word in words[gap] if word < at[gap]}:
                found[0].insert(0, hull(left))
            if right := words[gap] - left:
                found[j + 1].append(hull(right))
            continue
        rest = run
        while rest:
            sizes = [k for k in range(1, len(rest) + 1) if is_whole(set.union(*(words[i] for i, _ in rest[:k])))]
            j = rest[0][1]
            if len(rest) == len(run):
                j = first_symbol[id(run)]
            elif run[len(run) - len(rest) - 1][1] == j:
                j += 1
            found[j].append(hull(set.union(*(words[i] for i, _ in rest[: max(sizes)]))))
            rest = rest[max(sizes) :]
    return found


def run_starts(tree: Tree) -> list[int]:
    """The first target symbol of each gap and of each run of words."""
    is_gap = [symbol.startswith("[X,") for symbol in tree.target]
    return [j for j, here in enumerate(is_gap) if here or j == 0 or is_gap[j - 1]]


def is_whole(words: set[int]) -> bool:
    return len(words) == max(words) - min(words) + 1


def phrases(derivation: Sequence[Tree]) -> list[Phrase]:
    """The phrases that a derivation is read as, in target order."""
    begun: list[tuple[Span, int, bool]] = []
    links: list[tuple[int, int]] = []

    def read(tree: Tree, n: int) -> int:
        """Read a rule whose target side begins after n words; returns where it ends."""
        starts, places = cuts(tree), []
        for j, symbol in enumerate([*tree.target, ""]):
            begun.extend((span, n, tree.scores is None) for span in starts.get(j, []))
            places.append(n)
            n = read(tree.children[int(symbol[3]) - 1], n) if symbol.startswith("[X,") else n + 1 if symbol else n
        links.extend((positions(tree)[i], places[j]) for i, j in tree.links)
        return n

    end = 0
    for tree in derivation:
        end = read(tree, end)
    places = [*[n for _, n, _ in begun], end]
    places[0] = 0
    return [
        Phrase((a, b), (first, last), tuple((i, j) for i, j in links if a <= i < b and first <= j < last), is_unknown)
        for ((a, b), _, is_unknown), (first, last) in zip(begun, pairwise(places), strict=True)
    ]


class Block(NamedTuple):
    """A phrase pair that orientation models see: a rule without gaps, or words of a rule between its gaps."""

    begin: int
    end: int
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


class Meeting(NamedTuple):
    """Two blocks that follow each other on the target side; no previous one at the start of the sentence.

    Spans are (begin, end): of the blocks with the words without links that belong to them, and of the largest contiguous
    runs of parts that they are the end and the beginning of.
    """

    previous: Block | None
    next: Block
    near: tuple[Span, Span]
    wide: tuple[Span, Span]


class Part(NamedTuple):
    """A gap or a run of words of a rule: its source words, and its first and its last block, each with its span."""

    words: set[int]
    first: tuple[Block, Span]
    last: tuple[Block, Span]
    edges: tuple[Span, Span]  # the source side of the first and of the last block; of a gap, all of it


def hull(words: set[int]) -> Span:
    return min(words), max(words) + 1


def largest_run(parts: Sequence[Part], one: Span) -> Span:
    """The largest contiguous union of the first parts; `one` if there is none."""
    found, words = one, set[int]()
    for part in parts:
        words |= part.words
        if len(words) == max(words) - min(words) + 1:
            found = hull(words)
    return found


def meetings_in(parts: Sequence[Part]) -> Iterator[Meeting]:
    for k, (a, b) in enumerate(pairwise(parts), 1):
        wide = (largest_run(parts[k - 1 :: -1], a.edges[1]), largest_run(parts[k:], b.edges[0]))
        yield Meeting(a.last[0], b.first[0], (a.last[1], b.first[1]), wide)


def meetings_of(tree: Tree) -> tuple[list[Meeting], Part]:
    """The meetings inside a tree, and the tree as a part."""
    span, links = (tree.begin, tree.end), tuple(sorted(tree.links))
    if not tree.children:
        block = Block(*span, tree.target, links)
        return [], Part(set(range(*span)), (block, span), (block, span), (span, span))
    inner = [meetings_of(child) for child in tree.children]
    gaps = [i for i, symbol in enumerate(tree.source) if symbol == "[X]"]
    runs: list[tuple[list[int], list[int]]] = []  # target and source symbols of each part
    for j, symbol in enumerate(tree.target):
        if symbol.startswith("[X,"):
            runs.append(([j], [gaps[int(symbol[3]) - 1]]))
            continue
        if not runs or tree.target[runs[-1][0][-1]].startswith("[X,"):
            runs.append(([], []))
        runs[-1][0].append(j)
        seen = {i for _, symbols in runs for i in symbols}
        runs[-1][1].extend(sorted(i for i, k in links if k == j and i not in seen))
    used = sorted(i for _, symbols in runs for i in symbols)
    words: dict[int, set[int]] = {i: set() for i in used}  # of each symbol
    for i, position in enumerate(positions(tree)):
        owner = max((k for k in used if k <= i), default=used[0])
        child = tree.children[gaps.index(i)] if i in gaps else None
        words[owner] |= {position} if child is None else set(range(child.begin, child.end))
    parts = []
    for targets, symbols in runs:
        if not symbols:
            continue
        everything = set.union(*(words[i] for i in symbols))
        if symbols[0] in gaps:
            part = inner[gaps.index(symbols[0])][1]
            inside, outside = hull(part.words), hull(everything)
            first, last = (
                (block, tuple(out if at == edge else at for at, edge, out in zip(near, inside, outside, strict=True)))
                for block, near in (part.first, part.last)
            )
            parts.append(Part(everything, first, last, (outside, outside)))
            continue
        ends = []
        for end in (symbols[0], symbols[-1]):
            place = [i for i in symbols if sum(g < i for g in gaps) == sum(g < end for g in gaps)]
            near = hull(set.union(*(words[i] for i in place)))
            here = [i for i, position in enumerate(positions(tree)) if near[0] <= position < near[1] and i not in gaps]
            inner_links = tuple(sorted((i - here[0], j - targets[0]) for i, j in links if i in here and j in targets))
            ends.append((Block(*near, tuple(tree.target[j] for j in targets), inner_links), near))
        parts.append(Part(everything, *ends, (ends[0][1], ends[1][1])))
    whole = Part(set(range(*span)), parts[0].first, parts[-1].last, (span, span))
    return [*(meeting for found, _ in inner for meeting in found), *meetings_in(parts)], whole


def meetings(derivation: Sequence[Tree]) -> Iterator[Meeting]:
    """The meetings of a derivation; the glue rules join a prefix of the sentence and a tree."""
    last: tuple[Block | None, Span] = (None, (0, 0))
    for tree in derivation:
        inside, part = meetings_of(tree)
        yield from inside
        yield Meeting(last[0], part.first[0], (last[1], part.first[1]), ((0, tree.begin), (tree.begin, tree.end)))
        last = part.last
