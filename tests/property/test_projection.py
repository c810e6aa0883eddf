"""Projection of labels, spans and markup, for any links."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.align.inline_markup import MarkedSentence, parse_inline, project_markup
from hyperbaton.align.projection import SPLITS, Span, bio_spans, is_bio, project_bio, project_labels, project_spans
from hyperbaton.base.errors import InputError
from tests.oracles import projection as plain


@st.composite
def marked(draw: st.DrawFn, depth: int = 3, fewest: int = 1, blanks: tuple[str, ...] = (" ",)) -> str:
    """Words with well-formed markup; without blanks between them, tags lie inside words."""
    pieces = []
    for _ in range(draw(st.integers(fewest, 4))):
        what = draw(st.sampled_from(["word", "word", "element", "single"]))
        if what == "element" and depth:
            name = draw(st.sampled_from(["a", "b", "i"]))
            pieces.append(f'<{name} n="{draw(st.integers(0, 9))}">{draw(marked(depth - 1, fewest, blanks))}</{name}>')
        elif what == "single":
            pieces.append("<br/>")
        else:
            pieces.append(draw(st.sampled_from(["x", "y", "<", "&amp;"])))
    return draw(st.sampled_from(blanks)).join(pieces)


def points(n_source: int, n_target: int) -> st.SearchStrategy[list[tuple[int, int]]]:
    if not n_source or not n_target:
        return st.just([])
    both = st.tuples(st.integers(0, n_source - 1), st.integers(0, n_target - 1))
    return st.lists(both, max_size=12, unique=True)


def shape(line: str) -> Any:
    parsed = parse_inline(line)
    return parsed.words, [(e.tag, e.begin, e.end, e.parent) for e in parsed.elements]


@given(marked())
def test_markup_stays_where_words_stay(line: str) -> None:
    words = parse_inline(line).words
    projected = project_markup(line, words, [(i, i) for i in range(len(words))])
    assert shape(projected.text) == shape(line) and projected.conflicts == []


@given(marked(), st.integers(0, 6), st.sampled_from(SPLITS), st.data())
def test_markup_is_well_formed_for_any_links(line: str, n_target: int, split: str, data: st.DataObject) -> None:
    source = parse_inline(line)
    links = data.draw(points(len(source.words), n_target))
    target = [f"t{j}" for j in range(n_target)]
    projected = project_markup(line, target, links, split=split)
    parsed = parse_inline(projected.text)
    assert parsed.words == target
    kinds = {conflict.kind for conflict in projected.conflicts}
    if not kinds:  # then every element is there once
        assert sorted(e.tag for e in parsed.elements) == sorted(e.tag for e in source.elements)
    if split != "repeat" and "crossing" not in kinds:
        with_words = [e.tag for e in parsed.elements if e.begin < e.end]
        assert len(with_words) <= sum(e.begin < e.end for e in source.elements)


@given(marked(4, 0, (" ", "")), st.integers(0, 8), st.sampled_from(SPLITS), st.data())
def test_markup_is_projected_as_word_by_word(line: str, n_target: int, split: str, data: st.DataObject) -> None:
    source, target = parse_inline(line), [f"t{j}" for j in range(n_target)]
    links = data.draw(points(len(source.words), n_target))
    assert project_markup(source, target, links, split=split) == plain.project_markup(source, target, links, split)


@given(st.lists(st.sampled_from(["a", " ", "<b>", "</b>", "<br/>", "<!--", "-->", "<", ">", "--"]), max_size=12))
def test_comments_are_cut_out_first(pieces: list[str]) -> None:
    line = "".join(pieces)
    # A tag cannot hold a <, and a comment may hold anything, so that whichever begins first wins.
    without = re.sub("<!--.*?-->", "\0", line)

    def parsed(text: str) -> object:
        try:
            return parse_inline(text)
        except InputError as error:
            return error.what

    expected = parsed(without)
    if isinstance(expected, MarkedSentence):
        assert "".join(expected.words).replace("\0", "") == "".join(parse_inline(line).words)
    assert type(parsed(line)) is type(expected)


@given(marked(), st.randoms())
def test_markup_comes_back_over_a_permutation(line: str, random: Any) -> None:
    source = parse_inline(line)
    order = list(range(len(source.words)))
    random.shuffle(order)
    there = project_markup(line, [source.words[i] for i in order], [(i, j) for j, i in enumerate(order)])
    back = project_markup(there.text, source.words, [(j, i) for j, i in enumerate(order)])

    def enclosing(text: str) -> list[list[str]]:
        parsed = parse_inline(text)
        return [[parsed.elements[k].tag for k in stack] for stack in plain.stacks(parsed)]

    assert enclosing(back.text) == enclosing(line)


@given(st.data(), st.integers(1, 6), st.integers(0, 6))
def test_spans_keep_to_the_words_they_are_linked_to(data: st.DataObject, n_source: int, n_target: int) -> None:
    links = data.draw(points(n_source, n_target))
    begin = data.draw(st.integers(0, n_source - 1))
    span = Span(begin, data.draw(st.integers(begin + 1, n_source)), "X")
    reached = {j for i, j in links if span.begin <= i < span.end}
    for split in SPLITS:
        projected = project_spans([span], links, n_source, n_target, split=split)
        covered = {j for s in projected.spans for j in range(s.begin, s.end)}
        if split == "largest":
            assert len(projected.spans) == bool(reached)
        else:
            assert reached <= covered
        foreign = {j for _, j in links} - reached
        assert split == "cover" or not covered & foreign
        assert [c.kind for c in projected.conflicts] == (
            ["lost"] if not reached else ["split"] * (len(projected.conflicts) > 0)
        )


@given(st.data(), st.integers(1, 8), st.integers(0, 8), st.sampled_from(SPLITS))
def test_spans_are_projected_as_link_by_link(data: st.DataObject, n_source: int, n_target: int, split: str) -> None:
    links = data.draw(points(n_source, n_target))
    begins = data.draw(st.lists(st.integers(0, n_source - 1), max_size=4))
    spans = [Span(begin, data.draw(st.integers(begin + 1, n_source)), "X") for begin in begins]
    assert project_spans(spans, links, n_source, n_target, split=split) == plain.project_spans(spans, links, split)
    labels = data.draw(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y"]), min_size=n_source, max_size=n_source))
    assert project_bio(labels, links, n_target, split=split) == plain.project_bio(labels, links, n_target, split)


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=8), st.randoms())
def test_bio_labels_come_back(labels: list[str], random: Any) -> None:
    n = len(labels)
    identity = [(i, i) for i in range(n)]
    projected = project_bio(labels, identity, n)
    assert bio_spans(projected.labels) == bio_spans(labels) and projected.conflicts == []
    assert is_bio(labels) == (set(labels) != {"O"})
    assert project_labels(labels, identity, n).labels == labels
    links = [(random.randrange(n), random.randrange(n)) for _ in range(n)]
    assert all(label == "O" or label[:2] in ("B-", "I-") for label in project_bio(labels, links, n).labels)
