"""Phrase extraction written as plainly as possible: every box of the matrix is tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[int, int]
Span = tuple[int, int]


@dataclass(frozen=True)
class Phrase:
    source: Span  # half-open
    target: Span


def consistent(links: set[Point], phrase: Phrase) -> bool:
    """At least one link inside, and none that leaves the box sideways."""
    (i, ii), (j, jj) = phrase.source, phrase.target
    inside = [i <= s < ii and j <= t < jj for s, t in links]
    leaving = [(i <= s < ii) != (j <= t < jj) for s, t in links]
    return any(inside) and not any(leaving)


def phrases(n_source: int, n_target: int, links: set[Point], max_length: int) -> list[Phrase]:
    """Every consistent box within the length; its edges may be unlinked words."""
    boxes = (
        Phrase((i, ii), (j, jj))
        for i in range(n_source)
        for ii in range(i + 1, min(n_source, i + max_length) + 1)
        for j in range(n_target)
        for jj in range(j + 1, min(n_target, j + max_length) + 1)
    )
    return [box for box in boxes if consistent(links, box)]


def distance_before(phrase: Phrase, links: set[Point]) -> int:
    """Last source position of what precedes on the target side, plus one, minus the first of the phrase."""
    left = [t for _, t in links if t < phrase.target[0]]
    last = max(s for s, t in links if t == max(left)) if left else -1
    return last + 1 - phrase.source[0]


def distance_after(phrase: Phrase, n_source: int, links: set[Point]) -> int:
    """Last source position of the phrase, plus one, minus the first of what follows on the target side."""
    right = [t for _, t in links if t >= phrase.target[1]]
    first = min(s for s, t in links if t == min(right)) if right else n_source
    return phrase.source[1] - first


def orientation(
    phrase: Phrase,
    n_source: int,
    n_target: int,
    links: set[Point],
    others: list[Phrase],
    side: str,
    unit: str,
    near: list[Phrase],
) -> str:
    """Moses' orientation. `others`: the phrase pairs the unit looks at; `near`: those within the length limit."""
    (i, ii), (j, jj) = phrase.source, phrase.target
    before = side == "before"
    row = j - 1 if before else jj

    def linked(s: int) -> bool:
        return (s, row) in links or (s, row) in {(-1, -1), (n_source, n_target)}

    at = {"left": linked(i - 1), "right": linked(ii)}
    straight, across = ("left", "right") if before else ("right", "left")

    def shows(boxes: list[Phrase], where: str, column: int) -> bool:
        """A box that ends in the row and has its last (left) or first (right) source word in the column."""
        return any(
            box.target[1] - 1 == row and (box.source[1] - 1 if where == "left" else box.source[0]) == column
            for box in boxes
        )

    touching = {"left": shows(others, "left", i - 1), "right": shows(others, "right", ii)}
    if (at[straight] and not at[across]) or touching[straight]:
        return "monotone"
    if (at[across] and not at[straight]) or touching[across]:
        return "swap"

    def farther(boxes: list[Phrase]) -> dict[str, bool]:
        return {
            "left": any(shows(boxes, "left", c) for c in range(i - 1)),
            "right": any(shows(boxes, "right", c) for c in range(ii + 1, n_source - 1)),
        }

    if unit == "word":
        if at[straight]:
            return "discontinuous_right"
        far = {
            "left": any((c, row) in links for c in range(i - 1)),
            "right": any((c, row) in links for c in range(ii + 1, n_source)),
        }
    else:
        far = farther(near)
        if unit == "hierarchical" and not any(far.values()):
            far = farther(others)
    return "discontinuous_left" if far[across] and not far[straight] else "discontinuous_right"


def visited(phrase: Phrase, links: set[Point]) -> set[int]:
    """Source words that are linked to target words left of the phrase."""
    return {i for i, j in links if j < phrase.target[0]}


def visited_with_unlinked(phrase: Phrase, n_source: int, links: set[Point]) -> set[int]:
    """Visited words including unlinked ones whose next linked words, not looking past the phrase, are all visited."""
    linked, own = {i for i, _ in links}, visited(phrase, links)
    result = set(own)
    for word in set(range(n_source)) - linked - set(range(*phrase.source)):
        beside = []
        for step in (-1, 1):
            place = word + step
            while 0 <= place < n_source and place not in linked and not phrase.source[0] <= place < phrase.source[1]:
                place += step
            if 0 <= place < n_source and not phrase.source[0] <= place < phrase.source[1]:
                beside.append(place)
        if beside and own.issuperset(beside):
            result.add(word)
    return result


def coverage_state(begin: int, end: int, covered: set[int], n_source: int) -> int:
    """The coverage state of a span: its neighbours, and the remaining words on either side."""

    def neighbour(word: int) -> int:
        return 0 if not 0 <= word < n_source else 1 if word in covered else 2

    left, right = set(range(begin)) - covered, set(range(end, n_source)) - covered
    gap = 0 if not left else 1 if len(left) <= 2 else 2
    rest = 0 if not right else 1 if len(right) <= 6 else 2
    return ((neighbour(begin - 1) * 3 + neighbour(end)) * 3 + gap) * 3 + rest


def derivation(n_source: int, n_target: int, boxes: list[Phrase]) -> list[Phrase] | None:
    """Phrase pairs that cover both sentences, in the order of the target; None if there are none."""

    def extend(path: list[Phrase], covered: set[int]) -> list[Phrase] | None:
        at = path[-1].target[1] if path else 0
        if at == n_target:
            return path if len(covered) == n_source else None
        for box in boxes:
            words = set(range(*box.source))
            if box.target[0] == at and not words & covered:
                whole = extend([*path, box], covered | words)
                if whole is not None:
                    return whole
        return None

    return extend([], set())


def possible_distances(begin: int, covered: set[int], cuts: Sequence[int]) -> set[int]:
    """Classes of the distances to some word that is covered, or to the start where none is."""
    return {sum(p + 1 - begin >= cut for cut in cuts) for p in covered or {-1}}


def possible_orientations(begin: int, end: int, covered: set[int]) -> set[str]:
    """Moses' orientations of a span that some covered word allows."""
    if not covered:
        return {"monotone" if begin == 0 else "discontinuous_right"}
    wanted = {
        "monotone": {begin - 1},
        "swap": {end},
        "discontinuous_left": {p for p in covered if p > end},
        "discontinuous_right": {p for p in covered if p < begin - 1},
    }
    return {name for name, words in wanted.items() if words & covered}
