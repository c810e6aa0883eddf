"""Numbers and addresses of a sentence: their places and spelling in its translation, and which are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperbaton.corpus.placeholders import PLACEHOLDERS


class ValuedTranslation(NamedTuple):
    """A translation with its values: tokens, links, values by position, and the source words whose values are lost."""

    tokens: list[str]
    links: list[tuple[int, int]]
    values: dict[int, str]
    lost: list[int]


def carry(
    source: Sequence[str], values: Mapping[int, str], target: Sequence[str], links: Sequence[tuple[int, int]]
) -> ValuedTranslation:
    """Write the values of a sentence into its translation.

    A target word carries a value if it equals the value's source word, which may be a placeholder, or the value in the
    target language's spelling; linked words come first. Leftover placeholders are dropped, and all values that have one
    count as lost.

    Arguments:
        values: in the target language's spelling, by their places in the source.

    >>> carry(["@number@", "km", "1.5"], {0: "1,234", 2: "1,5"}, ["1.5", "km", "@number@"], [(0, 2), (1, 1)]).tokens
    ['1,5', 'km', '1,234']
    >>> carry(["1990"], {0: "1990"}, ["then"], [(0, 0)]).lost
    [0]
    """
    written: dict[int, str] = {}
    left = dict(values)
    everywhere = ((i, j) for i in values for j in range(len(target)))
    for i, j in (*links, *everywhere):
        if i in left and j not in written and target[j] in (source[i], left[i]):
            written[j] = left.pop(i)
    lost = set(left)
    unfilled = {j for j, word in enumerate(target) if word in PLACEHOLDERS and j not in written} if values else set()
    if unfilled:
        lost |= {i for i in values if source[i] in PLACEHOLDERS}
    places = {j: n for n, j in enumerate(j for j in range(len(target)) if j not in unfilled)}
    return ValuedTranslation(
        [written.get(j, target[j]) for j in places],
        [(i, places[j]) for i, j in links if j in places],
        {places[j]: value for j, value in written.items()},
        sorted(lost),
    )
