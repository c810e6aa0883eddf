"""Phrase inventory, table and orientation counts against plain counting, on random bitexts with few words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.phrases import (
    Inventory,
    PairOrientations,
    PhraseTable,
    ReorderingType,
    Samples,
    Scoring,
    extract,
    reordering_probabilities,
)
from hyperbaton.phrases.moses import phrase_table_pieces
from tests.oracles import tables as oracle
from tests.property.strategies import link_matrices

# Words that sort unlike their numbers, and around the bar that ends a phrase in Moses' files.
SOURCE, TARGET = ["b", "a", "a!", "~", "的"], ["B", "A", "|", "}", "é"]


@st.composite
def bitexts(draw: st.DrawFn) -> Bitext:
    matrices = draw(st.lists(link_matrices(4), min_size=1, max_size=5))
    source = [" ".join(draw(st.lists(st.sampled_from(SOURCE), min_size=n, max_size=n))) for n, _, _ in matrices]
    target = [" ".join(draw(st.lists(st.sampled_from(TARGET), min_size=m, max_size=m))) for _, m, _ in matrices]
    return Bitext.of(source, target, [sorted(links) for _, _, links in matrices])


def texts(bitext: Bitext, samples: Samples) -> list[tuple[str, str, frozenset[tuple[int, int]]]]:
    rows = []
    columns = (samples.sentence, samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    for s, i, m, j, n in zip(*(c.tolist() for c in columns), strict=True):
        inner = frozenset((p - i, t - j) for p, t in bitext.need_links()[s] if i <= p < i + m)
        rows.append((" ".join(bitext.source[s][i : i + m]), " ".join(bitext.target[s][j : j + n]), inner))
    return rows


@given(bitexts(), st.sampled_from([1, 2]))
@settings(max_examples=120, deadline=None)
def test_table(bitext: Bitext, threads: int) -> None:
    samples = extract(bitext, 3)
    rows = texts(bitext, samples)
    expected = oracle.table(rows)
    sentences = [(s, t, set(k)) for s, t, k in zip(bitext.source, bitext.target, bitext.need_links(), strict=True)]
    forward, backward = oracle.lexical(sentences)
    backward = {(t, s): p for (s, t), p in backward.items()}
    table = PhraseTable.build(bitext, samples, threads=threads)

    entries = {}
    for k, source in enumerate(table.sources):
        pair = table.source[int(source)], table.target[int(table.targets[k])]
        links = {(int(i), int(j)) for i, j in table.links[k]}
        entries[pair] = (links, table.counts[k].tolist(), table.scores[k])
    assert entries.keys() == expected.keys()
    for (source, target), row in expected.items():
        links, counts, scores = entries[source, target]
        assert links == row["links"]
        assert counts == [row["target"], row["source"], row["joint"]]
        src, tgt = source.split(), target.split()
        inverse = set(row["inverse_links"])  # type: ignore[call-overload]
        wanted = [
            row["joint"] / row["target"],  # type: ignore[operator]
            oracle.weight(src, tgt, inverse, backward),
            row["joint"] / row["source"],  # type: ignore[operator]
            oracle.weight(tgt, src, {(t, s) for s, t in links}, forward),
        ]
        assert scores == pytest.approx(wanted, rel=1e-6)


@given(bitexts())
@settings(max_examples=60, deadline=None)
def test_rows_come_in_byte_order(bitext: Bitext) -> None:
    table = PhraseTable.build(bitext, extract(bitext, 3))
    lines = b"".join(phrase_table_pieces(table)).split(b"\n")[:-1]
    assert lines == sorted(lines)
    for phrases in (table.source, table.target):
        assert [phrases.number(phrase) for phrase in phrases] == list(range(len(phrases)))
        assert phrases.number("nowhere") == -1


@given(bitexts(), st.sampled_from(["wbe-msd", "hier-mslr"]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_reordering_probabilities_are_relative_frequencies(bitext: Bitext, name: str, by_source: bool) -> None:
    samples = extract(bitext, 3)
    inventory = Inventory.of(bitext, samples)
    kind = ReorderingType.parse(f"{name}-{'f' if by_source else 'fe'}")
    probabilities = reordering_probabilities(PairOrientations.of(inventory, samples), kind, smoothing=0)
    classes = kind.set.classify(samples)
    expected = Counter(
        (row[0] if by_source else row[:2], int(c)) for row, c in zip(texts(bitext, samples), classes, strict=True)
    )
    keys = (
        list(inventory.source)
        if by_source
        else [
            (inventory.source[p], inventory.target[int(t)])
            for p in range(len(inventory.source))
            for t in inventory.targets[inventory.offsets[p] : inventory.offsets[p + 1]]
        ]
    )
    counts = [[expected[key, c] for c in range(len(kind.set))] for key in keys]
    assert probabilities.tolist() == [[n / sum(row) for n in row] for row in counts]
    assert sum(map(sum, counts)) == len(samples)


@pytest.mark.parametrize("smoothing", ["none", "good-turing", "kneser-ney"])
def test_smoothing_keeps_probabilities_proper(smoothing: str) -> None:
    rng = np.random.default_rng(3)
    lines = [" ".join(f"w{k}" for k in np.minimum(rng.zipf(1.5, 8), 40)) for _ in range(300)]
    links = [[(i, int(j)) for i, j in enumerate(rng.permutation(8))] for _ in lines]
    bitext = Bitext.of(lines, [line.upper() for line in lines], links)
    samples = extract(bitext, 2)
    table = PhraseTable.build(bitext, samples, Scoring(smoothing=smoothing))
    plain = PhraseTable.build(bitext, samples)
    assert (table.scores[:] > 0).all()
    assert (table.scores[:] <= 1 + 1e-6).all()
    totals = np.bincount(table.sources, table.scores[:, 2])
    if smoothing == "none":
        assert totals == pytest.approx(np.ones_like(totals), abs=1e-5)
    else:
        # Some mass is kept for pairs never seen, most of it where a phrase was seen least.
        assert (totals <= 1 + 1e-5).all()
        assert totals.mean() < 0.999
        rare, frequent = plain.counts[:, 1] <= 2, plain.counts[:, 1] >= 50
        assert (table.scores[rare, 2] / plain.scores[rare, 2]).mean() < (
            table.scores[frequent, 2] / plain.scores[frequent, 2]
        ).mean()


def test_min_count_leaves_rare_pairs_out() -> None:
    bitext = Bitext.of(["a", "a", "b"], ["x", "x", "y"], [[(0, 0)]] * 3)
    table = PhraseTable.build(bitext, extract(bitext), Scoring(min_count=2))
    assert table.options_of("a")
    assert table.options_of("b") == []


def test_nothing_to_extract() -> None:
    bitext = Bitext.of(["a b"], ["x"], [[]])
    table = PhraseTable.build(bitext, extract(bitext))
    assert len(table) == 0
    assert b"".join(phrase_table_pieces(table)) == b""


@given(bitexts())
@settings(max_examples=60, deadline=None)
def test_packed_tables_have_the_same_pairs_and_find_them(bitext: Bitext) -> None:
    table = PhraseTable.build(bitext, extract(bitext, 3))
    packed = table.packed()
    packed.check()
    assert (list(packed.source), list(packed.target)) == (list(table.source), list(table.target))
    for name in ("sources", "targets", "offsets", "scores", "counts"):
        np.testing.assert_array_equal(getattr(packed, name), getattr(table, name))
    for k in range(len(table)):
        assert packed.links[k].tolist() == table.links[k].tolist()
    system = System.of(table, options=Decoding(table_limit=0))
    lines = AnnotatedLines.parse([" ".join(words) for words in bitext.source], markup=False)
    for searched in (system, replace(system, table=packed)):
        found = TokenTranslator(searched, threads=1).search(lines).found_options
        assert {pair for pair in found.pair.tolist() if pair >= 0} == set(range(len(table)))


@given(bitexts())
@settings(max_examples=30, deadline=None)
def test_source_phrases_in_another_order_are_refused(bitext: Bitext) -> None:
    source = PhraseTable.build(bitext, extract(bitext)).source
    ranks = _core.phrase_ranks(source.core, source.vocabulary.spelling)
    assert sorted(ranks.tolist()) == list(range(len(source.vocabulary) + 1))
    if len(source) > 1:
        swapped = replace(source, begins=source.begins[::-1].copy(), lengths=source.lengths[::-1].copy())
        with pytest.raises(HyperbatonError, match="not in byte order"):
            _core.phrase_ranks(swapped.core, swapped.vocabulary.spelling)
