"""Tree transformations by rules, applied first: XI11 §5.1 raises the Chinese "de" out of its phrase.

A rule file has one rule per line; `#` starts a comment:

    raise DEC CP     a DEC that ends a CP leaves it and becomes its right neighbour, repeatedly
    splice VP VP     a VP under a VP is removed, and its children move to the upper one

so that (NP (CP (IP …) (DEC 的)) (NP …)) becomes (NP (CP (IP …)) (DEC 的) (NP …)). The rules named `de` come with the
package; `none` leaves trees unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import AnyPath, read_lines, shown
from hyperbaton.corpus.trees import Trees

ACTIONS = ("raise", "splice")
KNOWN = {"none": (), "de": ("raise DEC CP", "raise DEG DNP", "raise DEC DNP", "raise DEG CP")}


@dataclass(frozen=True)
class TreeRule:
    """An action on nodes `child` directly under a node `parent`."""

    action: str
    child: str
    parent: str

    def __str__(self) -> str:
        return f"{self.action} {self.child} {self.parent}"


def parse_rules(lines: list[str], path: str | None = None) -> tuple[TreeRule, ...]:
    """Read rules.

    >>> [str(rule) for rule in parse_rules(["# the relative clause", "raise DEC CP"])]
    ['raise DEC CP']
    """
    rules = []
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 3 or words[0] not in ACTIONS:
            raise InputError(f"expected {' or '.join(ACTIONS)}, a child and a parent label, found {line!r}", path, number)
        rule = TreeRule(*words)
        if rule.action == "raise" and rule.child == rule.parent:
            raise InputError(f"{rule}: the child and the parent must have different labels", path, number)
        rules.append(rule)
    return tuple(rules)


def read_rules(name: AnyPath) -> tuple[TreeRule, ...]:
    """The rules of a file, or the package's rules of this name."""
    if str(name) in KNOWN:
        return parse_rules(list(KNOWN[str(name)]))
    return parse_rules(list(read_lines(name)), shown(name))


def apply_rules(trees: Trees, rules: tuple[TreeRule, ...]) -> Trees:
    """Apply rules to trees in order, each wherever it applies.

    >>> from hyperbaton.corpus import Text
    >>> text = Text.of(["he buy de book"])
    >>> trees = Trees.of(["(NP (CP (IP (NN he) (VV buy)) (DEC de)) (NP (NN book)))"], text)
    >>> b"".join(apply_rules(trees, read_rules("de")).pieces(text)).decode().strip()
    '(NP (CP (IP (NN he) (VV buy))) (DEC de) (NP (NN book)))'
    """
    for rule in rules:
        labels = trees.vocabulary.number(rule.child), trees.vocabulary.number(rule.parent)
        if min(labels) >= 0:
            trees = _raise(trees, *labels) if rule.action == "raise" else _splice(trees, *labels)
    return trees


def _first_nodes(trees: Trees) -> Array:
    """The first node of each node's sentence."""
    return np.repeat(trees.offsets[:-1], np.diff(trees.offsets))


def _raise(trees: Trees, child: int, parent: int) -> Trees:
    """Raise nodes; they stay in pre-order, since a raised node was the last child of its parent."""
    first = _first_nodes(trees)
    ends, parents = trees.ends.copy(), trees.parents.copy()
    children = np.flatnonzero(trees.labels == child)
    while True:
        children = children[parents[children] >= 0]
        above = first[children] + parents[children]
        moves = (
            (trees.labels[above] == parent)
            & (parents[above] >= 0)
            & (ends[above] == ends[children])
            & (trees.begins[above] < trees.begins[children])
        )
        if not moves.any():
            return replace(trees, ends=ends, parents=parents)
        ends[above[moves]] = trees.begins[children[moves]]
        parents[children[moves]] = parents[above[moves]]


def _splice(trees: Trees, child: int, parent: int) -> Trees:
    """Drop nodes; their children move to the nearest remaining ancestor."""
    first = _first_nodes(trees)
    above = np.where(trees.parents >= 0, first + trees.parents, -1)
    dropped = (trees.labels == child) & (above >= 0) & (trees.labels[above] == parent)
    while dropped[above[above >= 0]].any():
        above = np.where((above >= 0) & dropped[above], above[above], above)
    kept = np.flatnonzero(~dropped)
    place = offsets_of(~dropped)  # of each node among those that remain
    offsets = place[trees.offsets].astype(np.int64)
    new_first = place[first[kept]]
    parents = np.where(above[kept] >= 0, place[above[kept]] - new_first, -1).astype(np.int32)
    return replace(
        trees,
        labels=trees.labels[kept],
        begins=trees.begins[kept],
        ends=trees.ends[kept],
        parents=parents,
        offsets=offsets,
    )
