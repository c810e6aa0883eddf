"""Hierarchical rules, their scores and the glue grammar against Moses' own output (tests/golden/moses/README.md)."""

from __future__ import annotations

import lzma
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Bitext
from hyperbaton.phrases import RuleLimits, RuleTable, extract_rules
from hyperbaton.phrases.rules import RuleWork, read_glue, read_rules, rule_table_pieces, write_rules
from tests.golden.test_moses import lines
from tests.oracles.rules import extract_line
from tests.rules import rules_of_runs


def corpus(golden: Path, name: str) -> Bitext:
    return Bitext.read(*(golden / "moses" / f"{name}.{end}" for end in ("src", "tgt", "links")))


def with_sorted_links(line: str) -> str:
    """A line of `extract-rules`; Moses lists the links of gaps in a different order."""
    source, target, links, *rest = line.split(" ||| ")
    return " ||| ".join([source, target, " ".join(sorted(links.split())), *rest])


@pytest.mark.parametrize("name", ["odd", "t200"])
def test_rules_links_and_counts(golden: Path, name: str) -> None:
    bitext = corpus(golden, {"odd": "odd", "t200": "train"}[name])
    if name == "t200":
        bitext = bitext.select(np.arange(200))
    work = RuleWork.of(bitext, RuleLimits(), threads=1)
    own = Counter[str]()
    for rule, count, times in rules_of_runs(work):
        own[with_sorted_links(extract_line(rule, count))] += times
    assert own == Counter(map(with_sorted_links, lines(golden / "moses" / "hiero" / f"{name}.extract.gz")))


@pytest.fixture(scope="module")
def rules(golden: Path) -> RuleTable:
    return extract_rules(corpus(golden, "train"))


@pytest.fixture(scope="module")
def moses_table(golden: Path) -> list[str]:
    with lzma.open(golden / "moses" / "hiero" / "rule-table.xz", "rt", encoding="utf-8") as file:
        return file.read().split("\n")[:-1]


def halves(row: str) -> tuple[list[str], list[str]]:
    """The contents of Moses' two half tables for a rule: links and lex(t|s); p(s|t), lex(s|t), p(t|s) and counts."""
    _, _, scores, links, counts, _ = row.split(" ||| ")
    p_source, lex_source, p_target, lex_target = scores.split()
    return [links, lex_target], [p_source, lex_source, p_target, counts]


def test_scores(rules: RuleTable, moses_table: list[str]) -> None:
    """Every row is that of Moses but for 14, in which Moses confuses two rules.

    Rules that differ only in the order of their gaps have the same text. Moses joins two half tables line by line, and
    these rules may stand in different orders there.
    """
    expected = Counter(moses_table)
    rows = b"".join(rule_table_pieces(rules)).decode().split("\n")[:-1]
    assert rows == sorted(rows, key=str.encode)
    own = Counter(rows)
    assert sum(own.values()) == sum(expected.values()) == 200_501
    confused: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, rest in enumerate((own - expected, expected - own)):
        for row in rest:
            confused[" ||| ".join(row.split(" ||| ")[:2])][side].append(row)
    assert len(confused) == 7
    for ours, theirs in confused.values():
        (one, other), swapped = map(halves, ours), [halves(row) for row in theirs]
        assert sorted(swapped) == sorted([(one[0], other[1]), (other[0], one[1])])


def test_a_table_comes_back(rules: RuleTable, golden: Path, tmp_path: Path) -> None:
    """Export, then import, changes no bit; nor does the import of Moses' table, then export."""
    table, glue = write_rules(tmp_path, rules)
    again = read_rules(table)
    for name, array in rules.table.arrays().items():
        # Moses' files say nothing about the lengths of sentences.
        if "vocabulary" not in name and not name.endswith((".words", ".lengths")):
            assert np.array_equal(array, again.table.arrays()[name]), name
    assert again.options is None
    assert glue.read_text() == (golden / "moses" / "hiero" / "glue-grammar").read_text()


def test_import_and_export_of_moses_table(moses_table: list[str], tmp_path: Path) -> None:
    some = moses_table[::20]
    path = tmp_path / "rule-table"
    path.write_text("".join(f"{row}\n" for row in some), encoding="utf-8")
    text = b"".join(rule_table_pieces(read_rules(path))).decode()
    assert text.split("\n")[:-1] == sorted(some, key=str.encode)


def test_glue_grammar(golden: Path) -> None:
    assert f"{read_glue(golden / 'moses' / 'hiero' / 'glue-grammar'):.6g}" == "0.999896"
