"""A sentence pair drawn in characters, and pictures of characters that no font has."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure
from rich.cells import cell_len

from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.report import figures
from hyperbaton.report.pair_text import pair_text

BITEXT = Bitext(Text.of(["彼 は 本 を 買った"]), Text.of(["he bought a book"]), Links.of([[(0, 0), (4, 1), (2, 3)]]))


def test_grid() -> None:
    assert pair_text(BITEXT, 0, width=80).splitlines() == [
        "                   買",
        "                   っ",
        "       彼 は 本 を た",
        "he     ■  ·  ·  ·  ·",
        "bought ·  ·  ·  ·  ■",
        "a      ·  ·  ·  ·  ·",
        "book   ·  ·  ■  ·  ·",
        "■ link, ░ inside a phrase pair that contains no smaller one",
        "",
        "    d  source  target",
        "    0  彼      he",
        "   -3  買った  bought",
        "   +3  本      book",
        "d is the distance from the previous phrase: < 0 jumps forward, > 0 goes back",
    ]


def test_long_sentences_fit_the_terminal() -> None:
    words = [f"word{i}" for i in range(40)]
    links = Links.of([[(0, 39), (39, 0), *((i, i) for i in range(1, 39))]])
    bitext = Bitext(Text.of([" ".join(words)]), Text.of([" ".join(words)]), links)
    for width in (40, 60, 80):
        lines = pair_text(bitext, 0, width=width, max_length=40, every_box=True).splitlines()
        assert lines[0] == f"40 source words are too many for a grid of {width} columns; phrases in target order:"
        assert max(map(cell_len, lines[1:-1])) <= width
    assert cell_len(pair_text(bitext, 0, width=100).splitlines()[0]) <= 100  # narrow columns
    assert pair_text(bitext, 0, width=100).count("■") == 41


def test_characters_without_a_font_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    figures._warn_of_glyphs.cache_clear()
    for n in range(2):
        figure = Figure()
        figure.text(0.5, 0.5, "𐎀𐎁")  # Ugaritic, which few have a font for
        figures.write_figure(figure, tmp_path / f"{n}.png")
    (record,) = caplog.records
    assert record.getMessage().startswith("no installed font has the Ugaritic characters of the picture")
