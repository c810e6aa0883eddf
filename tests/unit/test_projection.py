"""Projection of files: CoNLL, JSON lines, markup; rules by example, conflicts and faults."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.align.annotation_files import ProjectionOptions, project_files
from hyperbaton.align.inline_markup import parse_inline, project_markup
from hyperbaton.align.projection import Span, project_bio, project_spans
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.corpus import Links, Tags, Text
from hyperbaton.data import generate
from tests.program import hyperbaton


def projected(folder: Path, kind: str, source: str, target: str, links: str, **options: object) -> tuple[str, dict]:
    for name, text in (("s", source), ("t", target), ("l", links)):
        (folder / name).write_text(text)
    chosen = ProjectionOptions(**options)  # type: ignore[arg-type]
    paths = [folder / name for name in "stlo"]
    counts = project_files(kind, *paths, chosen, report=folder / "r")
    return (folder / "o").read_text(), counts["conflicts"]


def test_tags(tmp_path: Path) -> None:
    source = "das DET x\nHaus NOUN y\n\nja\tINTJ\tz\n"
    result = projected(tmp_path, "tags", source, "the house there\nyes\n", "0-0 1-1\n0-0\n", column=2)
    assert result == ("the\tDET\nhouse\tNOUN\nthere\t_\n\nyes\tINTJ\n\n", {"unlinked": 1})
    (row,) = map(json.loads, (tmp_path / "r").read_text().splitlines())
    assert row == {"sentence": 1, "line": 1, "kind": "unlinked", "label": "_", "source": None, "target": [2, 3]}
    # The last column, which is BIO: names stay together.
    source = "-DOCSTART- X O\n\nAnna N B-PER\nMeier N I-PER\nsingt V O\n"
    result = projected(tmp_path, "tags", source, "sings Anna the Meier\n", "0-1 1-3 2-0\n")
    assert result == ("sings\tO\nAnna\tB-PER\nthe\tI-PER\nMeier\tI-PER\n\n", {})


def test_universal_tags(tmp_path: Path) -> None:
    rows = ["# text = zum Haus", "1-2\tzum" + "\t_" * 8, "1\tzu\t_\tADP" + "\t_" * 6, "2\tdem\t_\tDET" + "\t_" * 6, ""]
    for name, text in (("s.conllu", "\n".join(rows) + "\n"), ("t", "to the\n"), ("l", "0-0 1-1\n")):
        (tmp_path / name).write_text(text)
    project_files("tags", tmp_path / "s.conllu", tmp_path / "t", tmp_path / "l", tmp_path / "o")
    assert (tmp_path / "o").read_text() == "to\tADP\nthe\tDET\n\n"


def test_spans(tmp_path: Path) -> None:
    record = {"id": 7, "tokens": ["a", "b", "c"], "spans": [{"begin": 0, "end": 2, "label": "X", "by": "me"}]}
    text, conflicts = projected(tmp_path, "spans", json.dumps(record) + "\n", "C A B\n", "0-1 1-2 2-0\n")
    spans = [{"by": "me", "begin": 1, "end": 3, "label": "X"}]
    assert json.loads(text) == {"id": 7, "tokens": ["C", "A", "B"], "spans": spans} and conflicts == {}
    record = {"text": "Anna  Meier singt", "spans": [{"begin": 0, "end": 9, "label": "PER"}]}
    text, conflicts = projected(
        tmp_path, "spans", json.dumps(record) + "\n", "sings Anna Meier\n", "0-1 1-2 2-0\n", characters=True
    )
    (span,) = json.loads(text)["spans"]
    assert "sings Anna Meier"[span["begin"] : span["end"]] == "Anna Meier" and conflicts == {"inside": 1}


def test_rules_for_split_spans() -> None:
    links = [(0, 0), (1, 2), (1, 3), (2, 1)]
    spans = {
        rule: [(s.begin, s.end) for s in project_spans([Span(0, 2, "X")], links, 3, 4, split=rule).spans]
        for rule in ("largest", "cover", "repeat")
    }
    assert spans == {"largest": [(2, 4)], "cover": [(0, 4)], "repeat": [(0, 1), (2, 4)]}


def test_markup(tmp_path: Path) -> None:
    source = '<p>das <a href="x">kleine Haus</a> <br>brennt</p>\n<!-- nothing -->ja\n'
    text, conflicts = projected(tmp_path, "markup", source, "the small house is burning\nyes\n", "0-0 1-1 2-2 3-4\n0-0\n")
    assert text == '<p>the <a href="x">small house</a> is <br>burning</p>\nyes\n' and conflicts == {}
    # German brackets its verb: an element around both parts is apart in German, and in one piece in English.
    line, target, links = "he <b>called up</b> her", "er rief sie an", [(0, 0), (1, 1), (2, 3), (3, 2)]
    texts = [project_markup(line, target, links, split=rule).text for rule in ("repeat", "largest", "cover")]
    assert texts == ["er <b>rief</b> sie <b>an</b>", "er <b>rief</b> sie an", "er <b>rief sie an</b>"]
    picture = '<a href="x"><img src="y"/></a> a <b>b <br/></b> c'
    assert (
        project_markup(picture, "A B C", [(0, 0), (1, 1), (2, 2)]).text == '<a href="x"><img src="y"/></a>A <b>B<br/></b> C'
    )
    spaced = project_markup("<b>a</b> .", ["A", "."], [(0, 0), (1, 1)], spaces=["", ""])
    assert spaced.text == "<b>A</b>."


@pytest.mark.parametrize(
    ("kind", "source", "message"),
    [
        ("tags", "word\n", "s:1: expected a word and its tag in column 2, found 'word'"),
        ("tags", "a X\n\nb X\n", "s: 2 annotated sentences, but .*t has 1 line"),
        ("spans", "[1\n", r"s:1: expected a JSON object, found '\[1'"),
        ("spans", "[]\n", "s:1: expected an object with tokens or text"),
        ("spans", '{"tokens": ["a"], "spans": [{"begin": 0}]}\n', "s:1: a span has begin, end and label"),
        ("spans", '{"tokens": ["a"], "spans": [{"begin": 0, "end": 2, "label": ""}]}\n', "s:1: the span 0 to 2 encl"),
        ("spans", '{"tokens": ["a"], "spans": [{"begin": true, "end": 2, "label": ""}]}\n', "s:1: the begin and end of a"),
        (
            "spans",
            '{"tokens": ["a"], "spans": [{"begin": 0, "end": 1, "label": "\\ud800"}]}\n',
            r"s:1: the escape \\ud800 is",
        ),
        ("spans", '{"tokens": ["a"], "\\uDC00": 1}\n', r"s:1: the escape \\udc00 is half of a character"),
        ("markup", "<b>a\n", "s:1: <b> is not closed"),
        ("markup", "<b><i>a</b></i>\n", "s:1: </b> where </i> is expected"),
        ("markup", "a</b>\n", "s:1: </b> where no end tag is expected"),
        ("markup", "a\tb\n", "s:1: control character"),
        ("markup", "a b\n", "l:1: link '3-0' is out of range"),
    ],
)
def test_faults(tmp_path: Path, kind: str, source: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        projected(tmp_path, kind, source, "x\n", "3-0\n")
    assert not (tmp_path / "o").exists()


def test_a_tag_is_one_cell_of_a_file(tmp_path: Path) -> None:
    for tag in ("a\nb", "a\tb", "\udcff"):
        with pytest.raises(OptionError, match="--unlinked must be a tag without tabs, line ends"):
            projected(tmp_path, "tags", "a X\n", "x\n", "0-0\n", unlinked=tag)


def n_steps(work: Callable[[], object]) -> int:
    """The lines of Python that run, which unlike time are the same on every machine and in every run."""
    n, before = 0, sys.gettrace()

    def count(frame: object, event: str, argument: object) -> Any:
        nonlocal n
        n += event == "line"
        return count

    sys.settrace(count)
    try:
        work()
    finally:
        sys.settrace(before)
    return n


@pytest.mark.parametrize(
    ("unit", "n_words", "shift"),
    [
        ("w <br/> ", 1, 1),
        ("<b>w</b> ", 1, 7),
        ("<b>w</b>", 0, 0),
        ("<b>w <i>w</i></b> ", 2, 7),
        ("w ", 1, 0),
        ("<i></i>", 0, 0),
    ],
)
def test_the_work_for_markup_grows_with_the_line(unit: str, n_words: int, shift: int) -> None:
    def work(n: int) -> None:
        line, n_target = f"<p>{unit * n}</p>", n * max(n_words, 1)
        links = [(i, i * shift % n_target) for i in range(n * n_words)] if shift else []
        project_markup(line, ["t"] * n_target, links)

    assert n_steps(lambda: work(201)) < 2.5 * n_steps(lambda: work(101))


@pytest.mark.parametrize("linked", [True, False])
def test_the_work_for_spans_grows_with_their_number(tmp_path: Path, linked: bool) -> None:
    def work(n: int) -> None:
        links = [(i, (i * 7) % n) for i in range(n)] if linked else []
        project_bio(["B-X", "O", "I-X"] * (n // 3), links, n // 3 * 3 if not linked else n, split="cover")
        spans = [{"begin": 2 * i, "end": 2 * i + 1, "label": "X"} for i in range(n)]
        (tmp_path / "s").write_text(json.dumps({"text": " ".join("w" * n), "spans": spans}) + "\n")
        (tmp_path / "t").write_text(" ".join("t" * n) + "\n")
        (tmp_path / "l").write_text(" ".join(f"{i}-{j}" for i, j in links) + "\n")
        places = [tmp_path / name for name in "stlo"]
        project_files("spans", *places, ProjectionOptions(characters=True))

    work(3)  # imports are no part of it
    assert n_steps(lambda: work(402)) < 2.5 * n_steps(lambda: work(201))


def test_long_and_deep_markup() -> None:
    deep = "<b>" * 2000 + "<br/>" + "</b>" * 2000
    assert project_markup(f"{deep} a", "A", [(0, 0)]).text == f"{deep}A"
    words = "<b>" * 2000 + "a b" + "</b>" * 2000
    assert project_markup(words, "a b", [(0, 0), (1, 1)]).text == words
    assert len(parse_inline("<!-- " * 20_000).words) == 20_000
    assert parse_inline("a <!-- b --> <!--> c <!-- d").words == ["a", "<!-->", "c", "<!--", "d"]


def test_one_sentence_is_singular(tmp_path: Path) -> None:
    for name, text in (("s", "a X\n"), ("t", "x\n"), ("links", "0-0\n")):
        (tmp_path / name).write_text(text)
    done = hyperbaton("project", "tags", tmp_path / "s", tmp_path / "t", tmp_path / "links", "-o", tmp_path / "o")
    assert done.returncode == 0 and done.stderr == "1 sentence; no conflicts\n"


def test_generated_tags_come_back(tmp_path: Path) -> None:
    """Tags go to the other language and back; what is linked both ways has its tag again."""
    text = generate(200, seed=2)
    bitext = text.bitext
    tags = [[f"T{len(word) % 3}" for word in words] for words in bitext.source]
    for name, words in (("t", bitext.target), ("s", bitext.source)):
        (tmp_path / name).write_bytes(b"".join(words.pieces()))
    bitext.need_links().write(tmp_path / "links")
    bitext.need_links().reversed().write(tmp_path / "back")
    rows = ["".join(f"{w}\t{t}\n" for w, t in zip(ws, ts, strict=True)) for ws, ts in zip(bitext.source, tags, strict=True)]
    (tmp_path / "conll").write_text("\n".join(rows) + "\n")
    there = hyperbaton("project", "tags", tmp_path / "conll", tmp_path / "t", tmp_path / "links", "-o", tmp_path / "there")
    assert there.returncode == 0 and there.stderr.startswith("200 sentences; ")
    project_files("tags", tmp_path / "there", tmp_path / "s", tmp_path / "back", tmp_path / "again")
    again = [line.split("\t")[1] for line in (tmp_path / "again").read_text().split("\n") if line]
    before = [tag for sentence in tags for tag in sentence]
    known = [(a, b) for a, b in zip(again, before, strict=True) if a != "_"]
    assert len(known) > 0.7 * len(before) and sum(a == b for a, b in known) > 0.9 * len(known)


def test_spans_come_back_on_hand_linked_text(corpora: Path) -> None:
    folder = corpora / "gold-links" / "ja-en-kftt"
    src, tgt = Text.read(folder / "gold.ja"), Text.read(folder / "gold.en")
    links, tags = Links.read(folder / "gold.links", src, tgt), Tags.read(folder / "gold.ja.pos", src)
    n_spans = n_there = n_back = 0
    for s in range(len(src)):
        bio = [f"{'I' if 'noun' in t.lower() or t.startswith('名詞') else 'O'}-N".replace("O-N", "O") for t in tags[s]]
        for span in [Span(at, at + 1, label) for at, label in enumerate(bio) if label != "O"]:
            n_spans += 1
            there = project_spans([span], links[s], len(bio), int(tgt.lengths[s]))
            n_there += len(there.spans)
            if there.spans:
                back = [(j, i) for i, j in links[s]]
                again = project_spans(there.spans, back, int(tgt.lengths[s]), len(bio))
                n_back += any(returned.begin <= span.begin < returned.end for returned in again.spans)
    assert n_spans > 3000 and n_there > 0.8 * n_spans and n_back > 0.95 * n_there


def test_comments_and_odd_tags_are_distinguished() -> None:
    assert parse_inline("a <3 b < c").words == ["a", "<3", "b", "<", "c"]
    assert [e.tag for e in parse_inline("<a b c=d e='f>g'>x</a>").elements] == ["<a b c=d e='f>g'>"]
