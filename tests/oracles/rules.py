"""Hierarchical rules written as plainly as possible: every set of gaps in every phrase pair is tried.

Numbers follow Moses' programs, which pass counts on as text of six digits and add them as floats in the order of sorted
files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

import numpy as np

from hyperbaton.align.lexical import LexicalTable
from tests.oracles.phrases import Phrase, Point, phrases

Words = tuple[str, ...]


@dataclass(frozen=True)
class Limits:
    max_span: int = 10
    max_gaps: int = 2
    max_symbols: int = 5
    min_gap_source: int = 2
    min_gap_target: int = 1
    min_words: int = 1


class Rule(NamedTuple):
    """A rule. Source gaps are `[X]`; a target gap `[X,k]` is the k-th of the source. Links are those of words."""

    source: Words
    target: Words
    links: tuple[Point, ...]


def six(value: float) -> np.float32:
    """A number after it was written with six digits and read again."""
    return np.float32(f"{float(value):.6g}")


def with_gaps(source: Words, target: Words, links: set[Point], phrase: Phrase, gaps: Sequence[Phrase]) -> Rule:
    """The rule that is left of a phrase pair where phrase pairs inside become gaps."""
    order = sorted(gaps, key=lambda gap: gap.source)
    names = [["[X]"] * len(gaps), [f"[X,{order.index(gap) + 1}]" for gap in sorted(gaps, key=lambda gap: gap.target)]]
    symbols: list[list[str]] = []
    places: list[dict[int, int]] = []
    for side, words in enumerate((source, target)):
        spans = sorted((gap.source, gap.target)[side] for gap in gaps)
        begin, end = (phrase.source, phrase.target)[side]
        out: list[str] = []
        place = {}
        position = begin
        while position < end:
            gap = next((k for k, span in enumerate(spans) if span[0] == position), None)
            if gap is None:
                place[position] = len(out)
                out.append(words[position])
                position += 1
            else:
                out.append(names[side][gap])
                position = spans[gap][1]
        symbols.append(out)
        places.append(place)
    inner = sorted((places[1][t], places[0][s]) for s, t in links if s in places[0] and t in places[1])
    return Rule(tuple(symbols[0]), tuple(symbols[1]), tuple((s, t) for t, s in inner))


def rules_of_phrase(
    source: Words, target: Words, links: set[Point], phrase: Phrase, inside: list[Phrase], limits: Limits
) -> Iterator[Rule]:
    """All rules of a phrase pair; `inside`: the phrase pairs that may become gaps."""
    for n_gaps in range(limits.max_gaps + 1):
        for gaps in combinations(inside, n_gaps):
            spans = [sorted(span) for span in zip(*((gap.source, gap.target) for gap in gaps), strict=True)] or [[], []]
            apart = [1 if side == 0 else 0 for side in range(2)]  # source gaps may not touch
            if any(b[0] - a[1] < apart[side] for side in range(2) for a, b in pairwise(spans[side])):
                continue
            rule = with_gaps(source, target, links, phrase, gaps)
            n_words = [len(side) - n_gaps for side in (rule.source, rule.target)]
            if len(rule.source) <= limits.max_symbols and min(n_words) >= limits.min_words and rule.links:
                yield rule


def rules_of_sentence(
    source: Words, target: Words, links: set[Point], limits: Limits | None = None
) -> dict[Rule, np.float32]:
    """The rules of a sentence pair; those of one phrase pair share a count of 1."""
    limits = limits or Limits()
    boxes = phrases(len(source), len(target), links, limits.max_span)
    boxes.sort(key=lambda b: (b.target[1] - b.target[0], b.target[0], -b.source[0], b.source[1]))
    counts: dict[Rule, np.float32] = defaultdict(lambda: np.float32(0))
    for phrase in boxes:
        inside = [
            box
            for box in boxes
            if box.target != phrase.target
            and all(a <= b and d <= c for (a, c), (b, d) in zip(*_spans(phrase, box), strict=True))
            and box.source[1] - box.source[0] >= limits.min_gap_source
            and box.target[1] - box.target[0] >= limits.min_gap_target
        ]
        rules = list(rules_of_phrase(source, target, links, phrase, inside, limits))
        for rule in rules:
            counts[rule] += np.float32(1 / len(rules))
    return {rule: six(count) for rule, count in counts.items()}


def _spans(phrase: Phrase, box: Phrase) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    return (phrase.source, phrase.target), (box.source, box.target)


def moses_side(symbols: Words) -> str:
    """A side of a rule as Moses writes it."""
    return " ".join("[X][X]" if symbol in ("[X]", "[X,1]", "[X,2]") else symbol for symbol in symbols) + " [X]"


def gap_links(rule: Rule) -> list[Point]:
    """(source, target) of the gaps, in the order of the target."""
    gaps = [i for i, symbol in enumerate(rule.source) if symbol == "[X]"]
    return [(gaps[int(t[3]) - 1], j) for j, t in enumerate(rule.target) if t in ("[X,1]", "[X,2]")]


def extract_line(rule: Rule, count: float) -> str:
    """A line of Moses' `extract-rules`."""
    links = " ".join(f"{s}-{t}" for s, t in [*rule.links, *gap_links(rule)])
    return f"{moses_side(rule.source)} ||| {moses_side(rule.target)} ||| {links} ||| {count:.6g} ||| "


@dataclass
class Scored:
    """A rule with its counts (target, source, joint) and most frequent links, seen from the source and from the target."""

    rule: Rule
    counts: tuple[np.float32, np.float32, np.float32]
    links: tuple[tuple[Point, ...], tuple[Point, ...]]


def words_linked(links: tuple[Point, ...], side: int, n_words: int) -> list[list[int]]:
    """The positions that each word of a side is linked to."""
    return [sorted(point[1 - side] for point in links if point[side] == i) for i in range(n_words)]


def lexical_weight(lexical: LexicalTable, source: Words, target: Words, links: tuple[Point, ...], side: int) -> np.float32:
    """The product over the words of a side (0: target given source) of the mean probability given the linked words."""
    given, words = (source, target)[side], (target, source)[side]
    weight = 1.0
    for j, linked in enumerate(words_linked(links, 1 - side, len(words))):
        if words[j].startswith("[X"):
            continue
        pairs = [(given[i], words[j])[:: 1 - 2 * side] for i in linked] or [("", words[j])[:: 1 - 2 * side]]
        values = [probability(lexical, *pair)[side] for pair in pairs]
        weight *= sum(values) / len(values)
    return np.float32(weight)


def probability(lexical: LexicalTable, source: str, target: str) -> tuple[float, float]:
    """p(t|s) and p(s|t) of a pair of words; an empty word is spelled as nothing."""
    s = lexical.source.number(source) if source else len(lexical.source)
    t = lexical.target.number(target) if target else len(lexical.target)
    for at in range(lexical.offsets[s], lexical.offsets[s + 1]):
        if lexical.targets[at] == t:
            forward, backward = lexical.probabilities[at]
            return float(forward), float(backward)
    return 1.0, 1.0


def score(extracted: Sequence[Mapping[Rule, np.float32]]) -> dict[tuple[Words, Words], Scored]:
    """Counts of the rules of many sentence pairs, by source and target side."""
    instances = [(rule, count) for rules in extracted for rule, count in rules.items()]
    totals: list[dict[str, np.float32]] = []
    joint: list[dict[tuple[Words, Words], np.float32]] = []
    best: list[dict[tuple[Words, Words], tuple[Point, ...]]] = []
    for inverse in (False, True):

        def line(item: tuple[Rule, np.float32], inverse: bool = inverse) -> tuple[str, str, str, str]:
            rule, count = item
            points = [*rule.links, *gap_links(rule)]
            links = " ".join(f"{t}-{s}" if inverse else f"{s}-{t}" for s, t in points)
            sides = moses_side(rule.source), moses_side(rule.target)
            given, other = sides[::-1] if inverse else sides
            # With what follows each field in a line, so that tuples compare as lines do.
            return f"{given} |||", f"{other} |||", f"{links} |||", f"{count:.6g} "

        total: dict[str, np.float32] = {}
        pair_counts: dict[tuple[Words, Words], np.float32] = {}
        pair_links: dict[tuple[Words, Words], tuple[Point, ...]] = {}
        for given, group in groupby(sorted(instances, key=line), key=lambda item: line(item)[0]):
            pairs: dict[tuple[Words, Words], np.float32] = {}
            frequent: dict[tuple[Words, Words], dict[tuple[Point, ...], np.float32]] = {}
            for rule, count in group:
                key = rule.source, rule.target
                pairs[key] = pairs.get(key, np.float32(0)) + count
                known = frequent.setdefault(key, {})
                known[rule.links] = known.get(rule.links, np.float32(0)) + count
            # Pairs of the same text stand in the order of their first lines, which is that of the dictionary.
            sum_ = np.float32(0)
            for count in pairs.values():
                sum_ += count
            total[given] = sum_
            pair_counts |= pairs
            for key, known in frequent.items():
                side = 0 if inverse else 1

                n_words = len(key[side])
                by_word = {links: words_linked(links, side, n_words) for links in known}
                pair_links[key] = max(known, key=lambda links: (known[links], by_word[links]))
        totals.append(total)
        joint.append(pair_counts)
        best.append(pair_links)
    return {
        key: Scored(
            Rule(*key, best[0][key]),
            (
                six(totals[1][f"{moses_side(key[1])} |||"]),
                six(totals[0][f"{moses_side(key[0])} |||"]),
                six(joint[1][key]),
            ),
            (best[0][key], best[1][key]),
        )
        for key in joint[0]
    }
