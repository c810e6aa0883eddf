"""Phrase pairs, orientations and tables against Moses' own output (tests/golden/moses/README.md says how it was made)."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Bitext
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    PhraseTable,
    ReorderingType,
    Samples,
    extract,
    extract_phrases,
    orientation_set,
    reordering_probabilities,
)
from hyperbaton.phrases.moses import (
    phrase_table_pieces,
    read_phrase_table,
    read_reordering_table,
    reordering_table_pieces,
    write_moses,
)

TABLES = ("wbe-msd-bidirectional-fe", "phrase-mslr-bidirectional-fe", "hier-mslr-bidirectional-fe")
# Where a model's orientations stand among the columns of `extract`.
COLUMNS = {"wbe": "{}", "phrase": " | {} | ", "hier": " |  | {}"}
WORDS = {
    "msd": ("mono", "swap", "other"),
    "mslr": ("mono", "swap", "dleft", "dright"),
}


def lines(path: Path) -> list[str]:
    return gzip.open(path, "rt", encoding="utf-8").read().split("\n")[:-1]


@pytest.fixture(scope="module", params=["odd", "t200"])
def case(request: pytest.FixtureRequest, golden: Path) -> tuple[str, Bitext, Samples]:
    name = {"odd": "odd", "t200": "train"}[request.param]
    bitext = Bitext.read(*(golden / "moses" / f"{name}.{end}" for end in ("src", "tgt", "links")))
    if request.param == "t200":
        bitext = bitext.select(np.arange(200))
    return request.param, bitext, extract(bitext, max_length=7)


def phrase_texts(bitext: Bitext, samples: Samples) -> list[str]:
    sources, targets = list(bitext.source), list(bitext.target)
    columns = (samples.sentence, samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    return [
        f"{' '.join(sources[s][i : i + m])} ||| {' '.join(targets[s][j : j + n])}"
        for s, i, m, j, n in zip(*(c.tolist() for c in columns), strict=True)
    ]


@pytest.mark.parametrize("unit", ["wbe", "phrase", "hier"])
@pytest.mark.parametrize("orientations", ["msd", "mslr"])
def test_extract_orientations(case: tuple[str, Bitext, Samples], golden: Path, unit: str, orientations: str) -> None:
    name, bitext, samples = case
    chosen = orientation_set(f"{unit}-{orientations}")
    before, after = (chosen.classify(samples, side) for side in ("before", "after"))
    words = WORDS[orientations]
    rows = Counter(
        f"{text} ||| " + COLUMNS[unit].format(f"{words[b]} {words[a]}")
        for text, b, a in zip(phrase_texts(bitext, samples), before, after, strict=True)
    )
    assert rows == Counter(lines(golden / "moses" / "extract" / f"{name}.{unit}-{orientations}.o.gz"))


def test_extract_inner_links(case: tuple[str, Bitext, Samples], golden: Path) -> None:
    name, bitext, samples = case
    links = list(bitext.links or [])
    columns = (samples.sentence, samples.source_begin, samples.source_length, samples.target_begin)
    rows = Counter()
    for text, s, i, m, j in zip(phrase_texts(bitext, samples), *(c.tolist() for c in columns), strict=True):
        inner = sorted((t - j, p - i) for p, t in links[s] if i <= p < i + m)
        rows[f"{text} ||| " + " ".join(f"{p}-{t}" for t, p in inner)] += 1
    assert rows == Counter(lines(golden / "moses" / "extract" / f"{name}.extract.gz"))


@pytest.fixture(scope="module")
def extracted(golden: Path) -> ExtractedPhrases:
    bitext = Bitext.read(*(golden / "moses" / f"train.{end}" for end in ("src", "tgt", "links")))
    return extract_phrases(bitext, Extraction(max_length=7))


def test_phrase_table(extracted: ExtractedPhrases, golden: Path) -> None:
    text = b"".join(phrase_table_pieces(extracted.table)).decode()
    assert text.split("\n")[:-1] == lines(golden / "moses" / "tables" / "phrase-table.gz")


@pytest.mark.parametrize("name", TABLES)
def test_reordering_table(extracted: ExtractedPhrases, golden: Path, name: str) -> None:
    probabilities = reordering_probabilities(extracted.orientations, ReorderingType.parse(name))
    text = b"".join(reordering_table_pieces(extracted.table, probabilities)).decode()
    assert text.split("\n")[:-1] == lines(golden / "moses" / "tables" / f"reordering-table.{name}.gz")


def test_tables_come_back(extracted: ExtractedPhrases, golden: Path, tmp_path: Path) -> None:
    """Import of Moses' files, then export, changes no byte."""
    tables = golden / "moses" / "tables"
    table: PhraseTable = read_phrase_table(tables / "phrase-table.gz")
    kinds = [ReorderingType.parse(name) for name in TABLES]
    reordering = [(kind, read_reordering_table(tables / f"reordering-table.{kind.name}.gz", kind, table)) for kind in kinds]
    for path in write_moses(tmp_path, table, reordering):
        assert lines(path) == lines(tables / path.name), path.name
