"""Lexicons: counts and probabilities, what is selected, and files that other programs read."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest

from hyperbaton.align import Aligner
from hyperbaton.align.lexicon import Lexicon, Selection
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from tests.program import hyperbaton

BITEXT = Bitext.of(
    ["das Haus", "das Buch", "ein Buch", "ein < &"],
    ["the house", "the book", "a book", "a < &"],
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(1, 1)], [(0, 0), (1, 1), (2, 2)]],
)


def test_probabilities_are_those_of_counting() -> None:
    bitext = generate(300, seed=1).bitext
    pairs = Counter(
        (src[i], tgt[j])
        for src, tgt, links in zip(bitext.source, bitext.target, bitext.need_links(), strict=True)
        for i, j in links
    )
    by_source, by_target = Counter[str](), Counter[str]()
    for (source, target), n in pairs.items():
        by_source[source] += n
        by_target[target] += n
    entries = list(Lexicon.from_links(bitext))
    assert {(e.source, e.target): e.occurrences for e in entries} == pairs
    for e in entries:
        assert e.p_target == pytest.approx(pairs[e.source, e.target] / by_source[e.source])
        assert e.p_source == pytest.approx(pairs[e.source, e.target] / by_target[e.target])
    assert [e.source.encode() for e in entries] == sorted(e.source.encode() for e in entries)


def test_the_empty_word_is_listed_on_request() -> None:
    assert not any("NULL" in entry[:2] for entry in Lexicon.from_links(BITEXT))
    with_null = {entry[:2]: entry for entry in Lexicon.from_links(BITEXT, null=True)}
    assert with_null["ein", "NULL"].p_target == 0.5 and with_null["NULL", "a"].p_target == 1
    aligner = Lexicon.from_table(Aligner().fit(BITEXT).lexical_table(), null=True)
    assert {e.occurrences for e in aligner} == {None} and any(e.source == "NULL" for e in aligner)


def test_selection() -> None:
    lexicon = Lexicon.from_links(Bitext.of(["a"] * 11 + ["b"], ["x"] * 10 + ["y", "x"], [[(0, 0)]] * 12))
    assert [e[:2] for e in lexicon] == [("a", "x"), ("a", "y"), ("b", "x")]
    assert len(lexicon.select(Selection(min_count=2))) == 1
    assert len(lexicon.select(Selection(relative=0.1))) == 3  # y has no other source, b no other target
    assert [e[:2] for e in lexicon.select(Selection(top=1))] == [("a", "x"), ("b", "x")]
    with pytest.raises(OptionError, match="an aligner stores no counts; give SRC TGT LINKS"):
        Lexicon.from_table(Aligner().fit(BITEXT).lexical_table()).select(Selection(min_count=2))


def test_files(tmp_path: Path) -> None:
    lexicon = Lexicon.from_links(BITEXT)
    lexicon.write(tmp_path / "dictionary", "bicleaner")
    lines = gzip.decompress((tmp_path / "dictionary.source-target.gz").read_bytes()).decode().splitlines()
    assert "book Buch 1.0000000" in lines  # target word, source word, p(target | source)
    lines = gzip.decompress((tmp_path / "dictionary.target-source.gz").read_bytes()).decode().splitlines()
    assert "Buch book 1.0000000" in lines
    lexicon.write(tmp_path / "x.tbx", "tbx", languages=("de", "en"))
    root = ET.parse(tmp_path / "x.tbx").getroot()
    space = "{urn:iso:std:iso:30042:ed-2}"
    entries = root.findall(f".//{space}conceptEntry")
    terms = [[term.text for term in entry.iter(f"{space}term")] for entry in entries]
    assert ["Buch", "book"] in terms and ["&", "&"] in terms and len(entries) == lexicon.summary()["sources"]
    languages = {section.get("{http://www.w3.org/XML/1998/namespace}lang") for section in root.iter(f"{space}langSec")}
    assert languages == {"de", "en"}


def test_the_verb(tmp_path: Path) -> None:
    for name, part in (("c.de", BITEXT.source), ("c.en", BITEXT.target), ("c.links", BITEXT.need_links())):
        (tmp_path / name).write_bytes(b"".join(part.pieces()))
    files = [tmp_path / name for name in ("c.de", "c.en", "c.links")]
    done = hyperbaton("lexicon", *files, "--lowercase", "--min-count", "2")
    assert done.stdout == "source\ttarget\tp_target\tp_source\tcount\nbuch\tbook\t1\t1\t2\ndas\tthe\t1\t1\t2\n"
    hyperbaton("extract", *files, "-o", tmp_path / "phrases", "-q")
    done = hyperbaton("lexicon", tmp_path / "phrases", "-o", tmp_path / "out.tsv.gz", "--json")
    assert json.loads(done.stdout)["entries"] > 3
    assert b"das Haus\tthe house\t1\t1\t1\n" in gzip.decompress((tmp_path / "out.tsv.gz").read_bytes())
