"""Rule tables: malformed files, artefacts, and the command."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError, DamagedError, InputError
from hyperbaton.base.store import Artefact
from hyperbaton.corpus import Bitext, Text
from hyperbaton.evaluate import Question, explain
from hyperbaton.phrases import ExtractedPhrases, RuleLimits, RuleTable, extract_phrases, extract_rules
from hyperbaton.phrases.moses import read_phrase_table
from hyperbaton.phrases.rules import GLUE, read_glue, read_rules, rule_table_pieces, write_rules
from tests.program import hyperbaton_bytes as run
from tests.unit.test_moses_tables import write

GOOD = "a [X][X] b [X][X] [X] ||| [X][X] y [X][X] [X] ||| 1 1 1 1 ||| 1-2 3-0 2-1 ||| 1 1 1 ||| |||\n"


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return Bitext.of(["a b c d"] * 2, ["x y z w"] * 2, [[(0, 3), (1, 0), (2, 1), (3, 2)], [(0, 0), (1, 1), (2, 2)]])


@pytest.fixture(scope="module")
def rules(bitext: Bitext) -> RuleTable:
    return extract_rules(bitext)


def test_gaps_are_named_by_the_source(tmp_path: Path) -> None:
    rules = read_rules(write(tmp_path / "t", GOOD))
    assert rules.options_of("a [X] b [X]") == [("[X,2] y [X,1]", [1.0] * 4)]
    assert rules.table.links.points.tolist() == [[2, 1]]
    assert b"".join(rule_table_pieces(rules)).decode() == GOOD.replace("1-2 3-0 2-1", "1-2 2-1 3-0")


def test_links_are_written_in_the_order_of_their_texts(tmp_path: Path) -> None:
    side, links = "a b c d e f g h i j [X][X] k [X]", " ".join(sorted(f"{place}-{place}" for place in range(12)))
    text = f"{side} ||| {side} ||| 1 1 1 1 ||| {links} ||| 1 1 1 ||| |||\n"
    assert b"".join(rule_table_pieces(read_rules(write(tmp_path / "t", text)))).decode() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b ||| x y ||| 1 1 1 1\n", "t:1: expected the label [X] at the end of the source side, found 'b'"),
        (GOOD + "a [X] ||| x [S] ||| 1 1 1 1\n", "t:2: expected the label [X] at the end of the target side, found '[S]'"),
        (
            "[NP][X] a [X] ||| [NP][X] x [X] ||| 1 1 1 1 ||| 0-0 1-1\n",
            "t:1: unknown label '[NP][X]': gaps are [X][X]; brackets of words are written &#91; and &#93;",
        ),
        ("[X] ||| x [X] ||| 1 1 1 1\n", "t:1: the source side is empty"),
        (
            "[X][X] a [X][X] b [X][X] [X] ||| x [X] ||| 1 1 1 1\n",
            "t:1: a rule has at most two gaps, found a third '[X][X]'",
        ),
        (
            "[X][X] a [X] ||| x [X] ||| 1 1 1 1 ||| 1-0\n",
            "t:1: the sides of a rule must have the same number of gaps",
        ),
        (
            "[X][X] a [X] ||| [X][X] x [X] ||| 1 1 1 1 ||| 1-1\n",
            "t:1: each gap must be linked to one gap of the other side",
        ),
        (
            "[X][X] a [X][X] [X] ||| [X][X] x [X][X] [X] ||| 1 1 1 1 ||| 0-0 0-2\n",
            "t:1: each gap must be linked to one gap of the other side",
        ),
        ("[X][X] a [X] ||| [X][X] x [X] ||| 1 1 1 1 ||| 0-1\n", "t:1: a link joins a gap and a word"),
        ("a [X] ||| x [X] ||| 1 1 1 1 ||| 0-1\n", "t:1: a link goes to the label of a side"),
        ("a [X] ||| x [X] ||| 1 1 1 1 ||| 0-2\n", "t:1: link '0-2' is out of range"),
        ("a [X] ||| x [X] ||| 1 1 ||| 0-0\n", "t:1: a rule table has 4 scores in a row, found 2"),
        (GOOD + "a [X] ||| x [X] ||| 1 1 ||| 0-0\n", "t:2: expected 4 scores, found 2"),
        (GOOD + GOOD, "t:2: the rule is already in an earlier line"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_rules(write(tmp_path / "t", text))
    assert str(raised.value) == f"{tmp_path}/{message}"


def test_a_rule_table_is_not_a_phrase_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="t:1: expected a phrase table, found a rule table"):
        read_phrase_table(write(tmp_path / "t", GOOD))


def test_glue_grammars(tmp_path: Path) -> None:
    older = "\n".join(line.split(" ||| 0 |||")[0] for line in GLUE) + "\n"
    assert read_glue(write(tmp_path / "older", older)) == pytest.approx(0.999896, abs=1e-6)
    with pytest.raises(InputError, match="glue:3: not a rule of the standard glue grammar"):
        read_glue(write(tmp_path / "glue", older.replace("2.718", "1")))
    with pytest.raises(InputError, match="few:2: expected the 3 rules of the standard glue grammar, found 2"):
        read_glue(write(tmp_path / "few", "\n".join(GLUE[:2]) + "\n"))


@pytest.mark.parametrize(("side", "word", "escaped"), [(0, "[X]", "&#91;X&#93;"), (1, "[X,2]", "&#91;X,2&#93;")])
def test_words_that_look_like_gaps_are_refused(tmp_path: Path, side: int, word: str, escaped: str) -> None:
    texts = [["a", "a b"], ["x", "x y"]]
    texts[side][1] = f"a {word}"
    names = [write(tmp_path / name, "\n".join(text) + "\n") for name, text in zip(("src", "tgt"), texts, strict=True)]
    bitext = Bitext.read(*names, write(tmp_path / "links", "0-0\n0-0\n"))
    with pytest.raises(InputError) as raised:
        extract_rules(bitext)
    assert str(raised.value) == f"{names[side]}:2: the word {word!r} is reserved for gaps of rules; write it as {escaped}"


def test_words_in_brackets_are_escaped_for_moses(tmp_path: Path) -> None:
    rules = extract_rules(Bitext.of(["[1] ["], ["[one] ]"], [[(0, 0), (1, 1)]]))
    text = b"".join(rule_table_pieces(rules)).decode()
    assert text.splitlines()[0].startswith("&#91;1&#93; [ [X] ||| &#91;one&#93; ] [X] |||")
    assert len(read_rules(write(tmp_path / "t", text))) == len(rules) == 3


def test_artefacts(tmp_path: Path, bitext: Bitext, rules: RuleTable) -> None:
    rules.save(tmp_path / "rules")
    again = RuleTable.load(tmp_path / "rules")
    assert again.options == rules.options == RuleLimits()
    for table in (again, pickle.loads(pickle.dumps(again))):
        for name, array in rules.table.arrays().items():
            assert np.array_equal(array, table.table.arrays()[name]), name
    with pytest.raises(ArtefactError, match="is a rules artefact, not a phrases one"):
        ExtractedPhrases.load(tmp_path / "rules")
    extract_phrases(bitext).save(tmp_path / "phrases", bitext)
    with pytest.raises(ArtefactError, match="is a phrases artefact, not a rules one"):
        RuleTable.load(tmp_path / "phrases")


def test_no_rules(tmp_path: Path) -> None:
    """Sentence pairs without links have none; an empty table is saved and written like others."""
    rules = extract_rules(Bitext.of(["a"], ["x"], [[]]))
    assert len(rules) == 0
    rules.save(tmp_path / "rules")
    assert len(RuleTable.load(tmp_path / "rules")) == 0
    assert len(read_rules(write_rules(tmp_path, rules)[0])) == 0


def test_a_phrase_table_is_not_a_rule_table(bitext: Bitext) -> None:
    with pytest.raises(DamagedError, match="are not the gaps of rules"):
        RuleTable(extract_phrases(bitext).table)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, bitext: Bitext) -> list[str]:
    folder = tmp_path_factory.mktemp("texts")
    texts = {"src": bitext.source, "tgt": bitext.target}
    for name, text in texts.items():
        write(folder / name, "".join(" ".join(words) + "\n" for words in text))
    write(folder / "links", "0-3 1-0 2-1 3-2\n0-0 1-1 2-2\n")
    return [str(folder / name) for name in ("src", "tgt", "links")]


def test_command(tmp_path: Path, files: list[str], rules: RuleTable) -> None:
    out, moses = tmp_path / "rules", tmp_path / "moses"
    result = run("extract", *files, "--hierarchical", "-o", out, "--moses", moses, "--for", files[0])
    assert result.returncode == 0, result.stderr
    assert b"2 sentences" in result.stderr
    assert sorted(path.name for path in moses.iterdir()) == ["glue-grammar", "rule-table.gz"]
    loaded = RuleTable.load(out)
    assert np.array_equal(loaded.table.scores, rules.table.scores)


@pytest.mark.skipif(sys.platform == "darwin", reason="names of files are UTF-8")
def test_the_name_of_the_text_need_not_be_utf8(tmp_path: Path, files: list[str]) -> None:
    text = shutil.copy(files[0], tmp_path / os.fsdecode(b"text\xff"))
    assert run("extract", *files, "--hierarchical", "-o", tmp_path / "rules", "--for", text).returncode == 0
    assert Artefact(tmp_path / "rules").options["for"].endswith("text\ufffd")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--hierarchical", "--max-length", "5"], "--max-length is an option of phrase pairs"),
        (["--hierarchical", "--smoothing", "kneser-ney"], "--smoothing is an option of phrase pairs"),
        (
            ["--hierarchical", "--moses", "m", "--reordering", "wbe-msd-bidirectional-fe"],
            "--reordering is an option of phrase",
        ),
        (["--max-span", "5"], "--max-span is an option of rules: it needs --hierarchical"),
        (["--for", "text"], "--for is an option of rules: it needs --hierarchical"),
        (["--for-span", "20"], "--for-span is an option of rules: it needs --hierarchical"),
        (["--hierarchical", "--for-span", "20"], "--for-span needs --for TEXT"),
    ],
)
def test_options_of_the_other_kind(tmp_path: Path, files: list[str], flags: list[str], message: str) -> None:
    result = run("extract", *files, "-o", tmp_path / "out", *flags)
    assert result.returncode == 1
    assert message in result.stderr.decode()
    assert not (tmp_path / "out").exists()


def test_prune(tmp_path: Path, files: list[str]) -> None:
    rules, texts = tmp_path / "rules", files[:2]
    assert run("extract", *files, "--hierarchical", "-o", rules, "-q").returncode == 0
    result = run("prune", rules, *texts, "-o", tmp_path / "few", "--significance", "none", "--top", "1")
    assert result.returncode == 0, result.stderr
    fewer = RuleTable.load(tmp_path / "few").table
    assert np.array_equal(np.diff(fewer.offsets), np.ones(len(RuleTable.load(rules).table.source)))
    # In a text of two sentences nothing is significant.
    assert run("prune", rules, *texts, "-o", tmp_path / "none", "--significance", "100").returncode == 0
    assert len(RuleTable.load(tmp_path / "none")) == 0
    result = run("prune", rules, *texts, "-o", tmp_path / "composed", "--relative-entropy", "1")
    assert result.returncode == 1
    assert b"--relative-entropy composes phrases without gaps" in result.stderr


def test_explained_rules(rules: RuleTable, tmp_path: Path) -> None:
    """The rules that apply to a sentence, with their places, and those of a phrase."""
    found = explain(rules, Question(sentence="d a b c q", everything=True)).as_json()
    assert {row["source"] for row in found} == {
        "[X] c",
        "a [X]",
        "a b [X]",
        "a b c",
        "a b",
        "a",
        "b [X]",
        "b c",
        "b",
        "c",
        "d",
    }
    assert [row["spans"] for row in found if row["source"] == "a [X]"] == [[(1, 3), (1, 4), (1, 5)]] * 3
    of_words = explain(rules, Question(sentence="d a b c q", span=(1, 3))).as_json()
    assert {row["source"] for row in of_words} == {"a [X]", "a b"} and of_words[0]["spans"] == [(1, 3)]
    rules.save(tmp_path / "rules")
    shown = run("explain", tmp_path / "rules", "--phrase", "b c", "--top", "2").stdout.decode().splitlines()
    assert shown[0] == "10 rules with 4 source sides that have 'b c'; 2 shown" and len(shown) == 4
    assert b"give --phrase or --sentence" in run("explain", tmp_path / "rules").stderr


def test_rules_for_a_text_with_long_spans(rules: RuleTable, bitext: Bitext) -> None:
    """A side that needs more words than the span limit is kept only if the limit is that of the system."""
    text = Text.of(["a " + "q " * 30 + "d"])
    assert "a [X] d" not in set(extract_rules(bitext, text=text).table.source)
    for span in (0, 32):
        assert "a [X] d" in set(extract_rules(bitext, text=text, text_span=span).table.source)
