"""Distinct sets of inner links against plain lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.scratch import Scratch
from hyperbaton.phrases.pair_values import LinkSetColumn, LinkSets

links = st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)) | st.just((0, 0)), max_size=3)
pieces = st.lists(st.lists(links, max_size=8), max_size=3)


def plain(sets: LinkSets) -> list[list[tuple[int, int]]]:
    return [[(int(i), int(j)) for i, j in sets[k]] for k in range(len(sets))]


@given(pieces, st.integers(0, 2**24 - 1), st.sampled_from([None, 8]))
def test_links_are_read_as_written(pieces: list[list[list[tuple[int, int]]]], bits: int, memory: int | None) -> None:
    scratch = Scratch(memory)
    column = LinkSetColumn(scratch)
    for piece in pieces:
        offsets = np.cumsum([0, *map(len, piece)])
        column.append(offsets, np.array([point for own in piece for point in own], np.uint8).reshape(-1, 2))
    pairs, sets = [own for piece in pieces for own in piece], column.finish()
    sets.check()
    assert plain(sets) == pairs
    assert sets.numbers.tolist() == [list(dict.fromkeys(map(tuple, pairs))).index(tuple(own)) for own in pairs]
    keep = np.array([bits >> k & 1 for k in range(len(pairs))], np.bool_)
    kept = [own for own, good in zip(pairs, keep, strict=True) if good]
    fewer = sets.select(keep, scratch)
    used = fewer.without_unused()
    assert plain(fewer) == plain(used) == kept
    assert (np.diff(np.bincount(used.numbers)) <= 0).all()
    assert len(used.offsets) - 1 == len({tuple(own) for own in kept})
    points, offsets = sets.gather(np.flatnonzero(keep))
    assert [points[a:b].tolist() for a, b in pairwise(offsets)] == [[list(point) for point in own] for own in kept]
