"""Hierarchical rules against the plain way to extract and count them, on random alignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.align.lexical import LexicalTable
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Bitext, Text
from hyperbaton.phrases import RuleLimits, RuleTable, extract_rules
from hyperbaton.phrases.rules import RuleWork, extraction
from tests.oracles import rules as oracle
from tests.property.strategies import link_matrices
from tests.rules import rules_of_runs

Matrix = tuple[int, int, set[tuple[int, int]]]
LIMITS = st.builds(
    RuleLimits,
    max_span=st.integers(1, 8),
    max_symbols=st.integers(1, 6),
    max_gaps=st.integers(0, 2),
    min_gap=st.integers(1, 3),
)


def plain(limits: RuleLimits) -> oracle.Limits:
    return oracle.Limits(limits.max_span, limits.max_gaps, limits.max_symbols, limits.min_gap)


def as_bitext(matrices: list[Matrix]) -> Bitext:
    """Few words, so that rules come again; some sort before gaps or after the ends of sides."""
    return Bitext.of(
        [" ".join("a~b"[i * i % 3] for i in range(n)) for n, _, _ in matrices],
        [" ".join("x~!"[j % 3] for j in range(m)) for _, m, _ in matrices],
        [sorted(links) for _, _, links in matrices],
    )


def sentences(bitext: Bitext) -> list[tuple[tuple[str, ...], tuple[str, ...], set[tuple[int, int]]]]:
    assert bitext.links is not None
    return [
        (tuple(s), tuple(t), set(links)) for s, t, links in zip(bitext.source, bitext.target, bitext.links, strict=True)
    ]


@given(link_matrices(), LIMITS)
@settings(max_examples=150)
def test_rules_of_a_sentence(matrix: Matrix, limits: RuleLimits) -> None:
    bitext = as_bitext([matrix])
    work = RuleWork.of(bitext, limits, threads=1)
    own = {rule: count for rule, count, _ in rules_of_runs(work)}
    assert own == oracle.rules_of_sentence(*sentences(bitext)[0], plain(limits))


@given(st.lists(link_matrices(6), min_size=1, max_size=6), LIMITS)
@settings(max_examples=60)
def test_scores(matrices: list[Matrix], limits: RuleLimits) -> None:
    bitext = as_bitext(matrices)
    table = extract_rules(bitext, limits, threads=1).table
    expected = oracle.score([oracle.rules_of_sentence(*sentence, plain(limits)) for sentence in sentences(bitext)])
    lexical = LexicalTable.from_links(bitext)
    assert len(table) == len(expected)
    for row, (s, t) in enumerate(zip(table.sources, table.targets, strict=True)):
        source, target = tuple(table.source[s].split()), tuple(table.target[t].split())
        scored = expected[source, target]
        assert table.counts[row].tolist() == list(scored.counts)
        links = table.links[row]
        assert [tuple(link) for link in links.tolist()] == list(scored.links[0])
        of_target, of_source, joint = scored.counts
        weights = [oracle.six(oracle.lexical_weight(lexical, source, target, scored.links[side], side)) for side in (1, 0)]
        scores = [oracle.six(joint / of_target), weights[0], oracle.six(joint / of_source), weights[1]]
        assert table.scores[row].tolist() == scores


def random_bitext(n: int) -> Bitext:
    rng = np.random.default_rng(5)
    lengths = rng.integers(1, 9, (n, 2))
    texts = [[" ".join(rng.choice(list("abcd!~gh"), k)) for k in lengths[:, side]] for side in range(2)]
    links = [
        sorted({(int(i), int(j)) for i, j in zip(rng.integers(0, a, a), rng.integers(0, b, a), strict=True)})
        for a, b in lengths
    ]
    return Bitext.of(*texts, links)


def same(one: RuleTable, other: RuleTable) -> None:
    for name, array in one.table.arrays().items():
        assert np.array_equal(array, other.table.arrays()[name]), name


@pytest.mark.parametrize(
    ("threads", "memory", "slice_bytes"), [(2, None, 1 << 22), (2, None, 5000), (3, 1 << 21, 9000), (2, 1 << 16, 1 << 22)]
)
def test_threads_and_memory_do_not_matter(
    monkeypatch: pytest.MonkeyPatch, threads: int, memory: int | None, slice_bytes: int
) -> None:
    bitext = random_bitext(400)
    for kept in (None, Text.of(["a b c d", "h g a ~ !"])):
        expected = extract_rules(bitext, text=kept, threads=1)
        with monkeypatch.context() as changed:
            changed.setattr(extraction, "_MOST_BYTES", slice_bytes)  # less than a run, and more than its blocks
            same(extract_rules(bitext, text=kept, threads=threads, scratch=Scratch(memory)), expected)


def rows(rules: RuleTable) -> dict[tuple[str, str], tuple[list[float], list[float]]]:
    table = rules.table
    return {
        (table.source[s], table.target[t]): (table.scores[k].tolist(), table.counts[k].tolist())
        for k, (s, t) in enumerate(zip(table.sources, table.targets, strict=True))
    }


def matches(source: list[str], sentence: list[str], max_span: int) -> bool:
    """Whether a source side can be found in a sentence, gaps standing for one or more words."""

    def found(symbols: list[str], at: int, last: int) -> bool:
        if not symbols:
            return True
        if at >= last:
            return False
        if symbols[0] == "[X]":
            return any(found(symbols[1:], end, last) for end in range(at + 1, last + 1))
        return symbols[0] == sentence[at] and found(symbols[1:], at + 1, last)

    return any(found(source, begin, min(begin + max_span, len(sentence))) for begin in range(len(sentence)))


def test_rules_for_a_text_are_those_that_match_it() -> None:
    bitext, text = random_bitext(150), Text.of(["a b never c d a", "h g a", ("a " + "z " * 19 + "b").strip()])
    every, kept = rows(extract_rules(bitext)), rows(extract_rules(bitext, text=text))
    assert kept == {
        rule: scores for rule, scores in every.items() if any(matches(rule[0].split(), words, 20) for words in text)
    }
    assert ("a", "[X] b") not in kept
    assert 0 < len(kept) < len(every)


def test_progress_cancels() -> None:
    with pytest.raises(_core.Cancelled):
        extract_rules(random_bitext(20), threads=1, progress=lambda done, total: False)


def test_min_count() -> None:
    bitext = random_bitext(150)
    every, kept = rows(extract_rules(bitext)), rows(extract_rules(bitext, min_count=2))
    assert kept == {rule: (scores, counts) for rule, (scores, counts) in every.items() if counts[2] >= 2}
    assert 0 < len(kept) < len(every)
