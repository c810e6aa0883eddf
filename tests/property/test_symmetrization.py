"""Symmetrisation against Moses' own answers and against a plain reading of its definition."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.align import evaluate_links, read_links, symmetrize, visit_order
from hyperbaton.align.symmetrization import METHODS
from hyperbaton.base.errors import HyperbatonError, InputError
from hyperbaton.corpus import Bitext, Links
from tests.oracles.symmetrization import joined

GOLDEN = Path(__file__).parent.parent / "golden" / "symal"

point = st.tuples(st.integers(0, 6), st.integers(0, 6))
pairs = st.lists(st.tuples(st.lists(point), st.lists(point)), max_size=4)


@pytest.mark.parametrize("method", METHODS)
def test_gives_what_symal_gives(method: str) -> None:
    links = symmetrize(read_links(GOLDEN / "forward.links"), read_links(GOLDEN / "backward.links"), method)
    assert list(links) == list(read_links(GOLDEN / method))


@given(pairs, st.sampled_from(METHODS))
def test_equals_the_definition(pairs: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]], method: str) -> None:
    forward, backward = Links.of([f for f, _ in pairs]), Links.of([b for _, b in pairs])
    expected = [sorted(joined(f, b, method)) for f, b in pairs]
    assert list(symmetrize(forward, backward, method, threads=2)) == expected


def test_directions_must_match() -> None:
    with pytest.raises(InputError, match="1 line of forward links, but 2"):
        symmetrize(Links.of([[]]), Links.of([[], []]))
    with pytest.raises(HyperbatonError, match="known: intersection, union"):
        symmetrize(Links.of([[]]), Links.of([[]]), "both")


def test_giza_files_need_no_text_and_are_checked_against_it(tmp_path: Path) -> None:
    file = tmp_path / "forward.A3"
    file.write_text("# Sentence pair (1)\nhe eats rice\nNULL ({ 2 }) ta ({ 1 }) fan ({ 3 }) le ({ })\n")
    assert read_links(file, format="giza")[0] == [(0, 0), (1, 2)]
    assert read_links(file, format="giza-inverse")[0] == [(0, 0), (2, 1)]
    assert read_links(file, Bitext.of(["ta fan le"], ["he eats rice"]), format="giza")[0] == [(0, 0), (1, 2)]
    with pytest.raises(InputError, match=r"forward.A3:2: the sentence has 3 words, the text 2"):
        read_links(file, Bitext.of(["ta fan le"], ["he eats"]), format="giza")
    file.write_text("# Sentence pair (1)\nhe eats rice\n")
    with pytest.raises(InputError, match=r"forward.A3:2: the file ends inside a sentence pair"):
        read_links(file, format="giza")


@given(pairs)
def test_scores_follow_their_definition(pairs: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]) -> None:
    links, sure = Links.of([f for f, _ in pairs]), Links.of([b for _, b in pairs])
    possible = Links.of([f[:2] for f, _ in pairs])
    hits_sure = sum(len(set(f) & set(b)) for f, b in pairs)
    hits = sum(len(set(f) & (set(b) | set(f[:2]))) for f, b in pairs)
    n, n_sure = sum(len(set(f)) for f, _ in pairs), sum(len(set(b)) for _, b in pairs)
    scores = evaluate_links(links, sure, possible)
    if n + n_sure:
        assert scores.aer == pytest.approx(100 - 100 * (hits_sure + hits) / (n + n_sure))
    if n and n_sure:
        assert (scores.precision, scores.recall) == pytest.approx((100 * hits / n, 100 * hits_sure / n_sure))


@given(pairs)
def test_visit_order_is_as_specified(pairs: list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]) -> None:
    orders = visit_order(Links.of([f for f, _ in pairs]))
    for s, (points, _) in enumerate(pairs):
        expected: list[int] = []
        for i, _ in sorted(points, key=lambda p: (p[1], p[0])):
            if i not in expected:
                expected.append(i)
        assert orders[s] == expected
