"""Numbers and addresses: found in any script, demanded of the search, and replaced by placeholders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Program
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.placeholders import mask
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.raw import Glossary, RawTranslator
from hyperbaton.phrases import PhraseTable, extract


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("価格は1,234.5円、連絡はme@a.orgまで", ["1,234.5", "me@a.org"]),
        ("v1.2, 3.5kg, a1.5 and müller@a.de", ["müller@a.de"]),
        ("1\u202f234,5 €", ["1\u202f234,5"]),
    ],
)
def test_numbers_and_addresses_are_found_beside_words_of_any_script(text: str, values: list[str]) -> None:
    assert list(mask(text).texts.values()) == values


def _system(source: list[str], target: list[str], links: list[list[tuple[int, int]]], **options: Any) -> System:
    bitext = Bitext.of(source, target, links)
    text = TextProcessing(TextSide("de", "sacremoses", **options), TextSide("en", "sacremoses", **options))
    weights = {"PhrasePenalty0": -1.0}
    return System.of(PhraseTable.build(bitext, extract(bitext)), weights=weights).with_text(text)


def test_a_number_that_the_search_loses_is_demanded() -> None:
    system = _system(["im Jahr 1990 kam er"], ["then he came"], [[(0, 0), (1, 0), (2, 0), (3, 2), (4, 1)]])
    assert TokenTranslator(system).translate(["im Jahr 1990 kam er"]) == ["then he came"]
    raw = RawTranslator(TokenTranslator(system))
    (translated,) = raw.translate(["im Jahr 1990 kam er"])
    assert "1990" in translated and "he came" in translated
    assert raw.translate(["er kam im Jahr 12"]) == ["he came im Jahr 12"]
    glossary = Glossary.of([("1990", "MCMXC")], system.text)
    assert "MCMXC" in RawTranslator(TokenTranslator(system, glossary=glossary)).translate(["im Jahr 1990 kam er"])[0]


def test_placeholders_come_back_as_what_they_stand_for() -> None:
    system = _system(
        ["@number@ km von @address@", "viele", "an @number@"],
        ["from @address@ @number@ km", "@number@", "to"],
        [[(0, 2), (1, 3), (2, 0), (3, 1)], [(0, 0)], [(0, 0)]],
        placeholders=True,
    )
    raw = RawTranslator(TokenTranslator(system))
    assert raw.translate(["1.234,5 km von Me@A.org"]) == ["from Me@A.org 1,234.5 km"]
    # A pair of phrases that loses a placeholder, and one that makes one of nothing.
    assert raw.translate(["an 2000"]) == ["to 2000"]
    assert raw.translate(["viele 2000"]) == ["2000"]
    with pytest.raises(OptionError, match="placeholders must be set on both sides"):
        TextProcessing(TextSide("de", placeholders=True), TextSide("en"))


def test_clean_writes_placeholders(tmp_path: Path) -> None:
    (tmp_path / "a.ja").write_text("1,234.5 円 は 1990 年 の 700 円\n１２３４\n", encoding="utf-8")
    (tmp_path / "a.en").write_text("1,234.5 yen in 1990\n1,234\n", encoding="utf-8")
    arguments = ["clean", str(tmp_path / "a.ja"), str(tmp_path / "a.en"), "-o", str(tmp_path / "b"), "--placeholders"]
    done = CliRunner().invoke(Program(), arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "b.ja").read_text(encoding="utf-8") == "@number@ 円 は @number@ 年 の 700 円\n@number@\n"
    assert (tmp_path / "b.en").read_text(encoding="utf-8") == "@number@ yen in @number@\n@number@\n"
