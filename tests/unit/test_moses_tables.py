"""Malformed tables of Moses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.phrases import ReorderingType
from hyperbaton.phrases.moses import read_phrase_table, read_reordering_table

GOOD = "a ||| x y ||| 0.5 0.25 1 1e-3 ||| 0-0 0-1 ||| 1 2 1 ||| |||\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_fields_may_be_missing_at_the_end(tmp_path: Path) -> None:
    table = read_phrase_table(write(tmp_path / "t", "b ||| x ||| 0.5\na ||| y ||| 0.25\n"))
    assert list(table.source) == ["a", "b"]
    assert table.scores[:].tolist() == [[0.25], [0.5]]
    assert table.options_of("b") == [("x", [0.5])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a ||| x\n", "t:1: expected 'source ||| target ||| scores', found 2 fields"),
        (GOOD + "a ||| z ||| 0.5 0.25 1\n", "t:2: expected 4 scores, found 3"),
        ("a ||| x ||| 0.5 many\n", "t:1: expected a number, found 'many'"),
        ("a ||| x ||| nan\n", "t:1: expected a number, found 'nan'"),
        ("a ||| ||| 1\n", "t:1: the target phrase is empty"),
        (" ||| x ||| 1\n", "t:1: the source phrase is empty"),
        ("a ||| x ||| \n", "t:1: expected 1 score, found 0"),
        ("a ||| x ||| 1 ||| 0:0\n", "t:1: expected links like 0-0, found '0:0'"),
        ("a ||| x ||| 1 ||| 0-1\n", "t:1: link '0-1' is out of range"),
        (GOOD + GOOD, "t:2: the phrase pair is already in an earlier line"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_phrase_table(write(tmp_path / "t", text))
    assert str(raised.value) == f"{tmp_path}/{message}"


def test_reordering_table_of_another_type(tmp_path: Path) -> None:
    table = read_phrase_table(write(tmp_path / "t", GOOD))
    with pytest.raises(InputError, match="a wbe-msd-bidirectional-fe table has 6 scores in a row, found 2"):
        read_reordering_table(
            write(tmp_path / "r", "a ||| x y ||| 0.5 0.5\n"), ReorderingType.parse("msd-bidirectional-fe"), table
        )


def test_pairs_without_a_row_are_nan(tmp_path: Path) -> None:
    table = read_phrase_table(write(tmp_path / "t", "a ||| x ||| 1\nb ||| y ||| 1\n"))
    kind = ReorderingType.parse("wbe-monotonicity-backward-fe")
    scores = read_reordering_table(write(tmp_path / "r", "b ||| y ||| 0.9 0.1\nc ||| z ||| 0.5 0.5\n"), kind, table)
    assert np.isnan(scores[0]).all()
    assert scores[1] == pytest.approx([0.9, 0.1])


@given(st.lists(st.sampled_from(["a", "|||", "0.5", "0-0", "é", "\t", "nan", "x y"]), max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, tokens: list[str]) -> None:
    path = tmp_path_factory.mktemp("any") / "t"
    try:
        read_phrase_table(write(path, " ".join(tokens) + "\n"))
    except HyperbatonError as error:
        assert "t:1: " in str(error)


@pytest.mark.parametrize(
    "name", ["wbe-msd", "hier-mslr-bidirectional-f", "leftright-forward", "phrase-monotonicity-backward-fe"]
)
def test_names_of_reordering_types(name: str) -> None:
    kind = ReorderingType.parse(name)
    assert ReorderingType.parse(kind.name) == kind


@pytest.mark.parametrize("name", ["", "wbe", "wbe-three-forward-fe", "msd-sideways-fe"])
def test_invalid_names(name: str) -> None:
    with pytest.raises(OptionError):
        ReorderingType.parse(name)
