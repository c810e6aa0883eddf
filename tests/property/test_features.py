"""The core's features against plain loops over words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError
from hyperbaton.corpus import Bitext
from hyperbaton.features import FEATURES, FeatureSet, Rows, Template
from hyperbaton.features.aligned_words import AlignedWords
from hyperbaton.features.context import Context
from hyperbaton.features.dpr import Dpr
from hyperbaton.phrases import Occurrences, Samples, extract
from tests.oracles import features as oracle
from tests.property.strategies import link_matrices


@st.composite
def bitexts(draw: st.DrawFn) -> Bitext:
    """Few different words, so that features repeat."""
    matrices = draw(st.lists(link_matrices(7), min_size=1, max_size=4))
    letters = st.sampled_from("abc")
    return Bitext.of(
        [" ".join(draw(st.lists(letters, min_size=n, max_size=n))) for n, _, _ in matrices],
        [" ".join(draw(st.lists(letters, min_size=m, max_size=m))) for _, m, _ in matrices],
        [sorted(links) for _, _, links in matrices],
    )


def described(features: FeatureSet, rows: Rows, bitext: Bitext) -> list[set[str]]:
    words = bitext.source.vocabulary, bitext.target.vocabulary
    names = [features.describe(i, *words) for i in range(features.n_features)]
    assert len(set(names)) == len(names)
    names_by_row = []
    for start, end in zip(rows.indptr, rows.indptr[1:], strict=False):
        row = rows.indices[start:end]
        assert (np.diff(row) > 0).all()
        names_by_row.append({names[i] for i in row})
    return names_by_row


def plain(kind: FeatureSet, bitext: Bitext, samples: Samples) -> list[set[str]]:
    names_by_row = []
    for k, s in enumerate(samples.sentence.tolist()):
        begin, first = int(samples.source_begin[k]), int(samples.target_begin[k])
        spans = (begin, begin + int(samples.source_length[k])), (first, first + int(samples.target_length[k]))
        if isinstance(kind, Context):
            sides = bitext.source[s], bitext.target[s]
            names_by_row.append(oracle.context(*sides, *spans, kind.window, kind.longest, kind.far))
        elif isinstance(kind, Dpr):
            names_by_row.append(oracle.dpr(bitext.source[s], bitext.target[s], *spans, kind.window, kind.longest))
        else:
            links = bitext.need_links()[s]
            names_by_row.append(oracle.aligned_words(bitext.source[s], bitext.target[s], *spans, links))
    return names_by_row


@given(
    bitexts(),
    bitexts(),
    st.integers(0, 4),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([Dpr, Context, AlignedWords]),
)
@settings(max_examples=100, deadline=None)
def test_rows_are_those_of_the_oracle(
    train: Bitext,
    test: Bitext,
    window: int,
    longest: int,
    min_count: int,
    cls: type[Dpr] | type[AlignedWords],
) -> None:
    samples = extract(train, 8)
    kind = cls(min_count, window, longest) if issubclass(cls, Dpr) else cls(min_count)
    rows = kind.fit(Occurrences.of_samples(train, samples), np.zeros(len(samples), np.uint8), 1, threads=2)
    expected = plain(kind, train, samples)
    space = oracle.frequent(expected, min_count)
    assert described(kind, rows, train) == [row & space for row in expected]

    others = extract(test, 8)
    known = Occurrences.of_samples(test, others).over(train.source.vocabulary, train.target.vocabulary)
    later = kind.rows(known)
    assert described(kind, later, train) == [row & space for row in plain(kind, test, others)]


def test_threads_do_not_matter_and_ids_are_stable() -> None:
    rng = np.random.default_rng(3)
    lines = [" ".join(map(str, rng.integers(0, 30, 12))) for _ in range(800)]
    bitext = Bitext.of(lines, lines, [[(i, int(j)) for i, j in enumerate(rng.permutation(12))] for _ in lines])
    samples = extract(bitext, 8)
    labels = np.zeros(len(samples), np.uint8)
    for name in [*FEATURES, "aligned_words+statistical"]:
        one, two, shuffled = (FEATURES.make(name) for _ in range(3))
        occurrences = Occurrences.of_samples(bitext, samples)
        rows, again = one.fit(occurrences, labels, 2, threads=1), two.fit(occurrences, labels, 2, threads=2)
        for here, there in zip(vars(rows).values(), vars(again).values(), strict=True):
            assert np.array_equal(np.asarray(here), np.asarray(there)), name
        for key, array in one.arrays().items():
            assert np.array_equal(array, two.arrays()[key]), (name, key)
        # Samples in another order: the same features, the rows in that order.
        order = rng.permutation(len(samples))
        moved = shuffled.fit(occurrences.select(order), labels, 2)
        assert np.array_equal(
            moved.indices[: moved.indptr[1]], rows.indices[rows.indptr[order[0]] : rows.indptr[order[0] + 1]]
        )


def test_a_sample_is_not_described_by_its_own_class() -> None:
    """Pairs seen once tell nothing about their class: the statistical features of both samples are the same."""
    bitext = Bitext.of(["a b c"], ["x y z"], [[(0, 2), (1, 1), (2, 0)]])
    samples = extract(bitext, 1)
    features = FEATURES["statistical"]()
    rows = features.fit(Occurrences.of_samples(bitext, samples), np.array([0, 1, 1], np.uint8), 2)
    assert rows.values is not None
    values = rows.values.reshape(3, -1)
    assert np.allclose(values[0], values[1]) and np.allclose(values[1], values[2])


def test_templates_of_one_name_share_a_layer() -> None:
    """A feature is its name and words: one name for words of two vocabularies would mix them."""

    class Mixed(Dpr):
        def templates(self) -> Iterator[Template]:
            yield Template("word", "source", "before", -1)
            yield Template("word", "target", "inside", 0)

    bitext = Bitext.of(["a b"], ["x y"], [[(0, 0), (1, 1)]])
    samples = extract(bitext, 2)
    with pytest.raises(HyperbatonError, match="templates of one name must be of one kind and one layer"):
        Mixed().fit(Occurrences.of_samples(bitext, samples), np.zeros(len(samples), np.uint8), 1)


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=3000))
def test_keys_are_numbered_like_unique(keys: list[int]) -> None:
    array = np.array(keys, np.uint64)
    expected = np.unique(array, return_index=True, return_inverse=True)
    for ours, theirs in zip(_core.number_keys(array), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
