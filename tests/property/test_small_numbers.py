"""Numbers of one byte, with larger ones apart, against plain lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.small import SmallNumbers
from hyperbaton.base.store import read_artefact, save

numbers = st.lists(st.integers(0, 300) | st.integers(0, 2**32 - 1), max_size=30)


@given(st.lists(numbers, max_size=4), st.integers(0, 40), st.integers(0, 40), st.sampled_from([None, 8]))
def test_numbers_are_read_as_written(pieces: list[list[int]], begin: int, end: int, memory: int | None) -> None:
    plain = [number for piece in pieces for number in piece]
    coded = SmallNumbers.of((np.array(piece, np.int64) for piece in pieces), Scratch(memory))
    again = SmallNumbers.from_arrays({name: getattr(coded, name) for name in SmallNumbers.LAYOUT})
    assert again[:].tolist() == plain
    assert again[begin:end].tolist() == plain[begin:end]
    some = np.arange(len(plain))[::-2]
    assert again[some].tolist() == plain[::-2]
    assert (len(again), again.sum()) == (len(plain), sum(plain))
    assert (len(again.large), again.small.nbytes) == (sum(number > 255 for number in plain), len(plain))


@pytest.mark.parametrize("rows", [[1, 1], [2, 1], [1, 4], [-1, 1], [0, 1]])
def test_places_that_do_not_fit_are_damage(tmp_path: Path, rows: list[int]) -> None:
    arrays = {"small": np.array([7, 0, 0, 0], np.uint8), "rows": np.array(rows), "large": np.array([300, 400], np.uint32)}
    save(tmp_path / "numbers", "numbers", arrays)
    with pytest.raises(ArtefactError, match=r"numbers: damaged \(.* row"):
        read_artefact(tmp_path / "numbers", "numbers", lambda artefact: SmallNumbers.from_arrays(artefact.arrays()).check())
