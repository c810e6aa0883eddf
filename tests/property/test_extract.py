"""The core's extraction against the plain one, on random alignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import DistanceSet, Samples, extract, orientation_set
from hyperbaton.phrases.coverage import possible_of_spans, states_of_samples, states_of_spans
from tests.oracles import phrases as oracle
from tests.property.strategies import link_matrices

Matrix = tuple[int, int, set[tuple[int, int]]]


def as_bitext(matrices: list[Matrix]) -> Bitext:
    return Bitext.of(
        [" ".join(f"s{i}" for i in range(n)) for n, _, _ in matrices],
        [" ".join(f"t{j}" for j in range(m)) for _, m, _ in matrices],
        [sorted(links) for _, _, links in matrices],
    )


def rows(samples: Samples) -> list[oracle.Phrase]:
    columns = (samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    return [oracle.Phrase((i, i + m), (j, j + n)) for i, m, j, n in zip(*(c.tolist() for c in columns), strict=True)]


@given(link_matrices(), st.integers(1, 8))
@settings(max_examples=150, deadline=None)
def test_spans_distances_and_orientations(matrix: Matrix, max_length: int) -> None:
    n, m, links = matrix
    samples = extract(as_bitext([matrix]), max_length)
    extracted = rows(samples)
    near = oracle.phrases(n, m, links, max_length)
    assert len(extracted) == len(set(extracted))
    assert set(extracted) == set(near)

    every = oracle.phrases(n, m, links, max(n, m))
    for k, phrase in enumerate(extracted):
        assert samples.distance_before[k] == oracle.distance_before(phrase, links)
        assert samples.distance_after[k] == oracle.distance_after(phrase, n, links)
        for unit, others in (("word", []), ("phrase", near), ("hierarchical", every)):
            for side in ("before", "after"):
                shift = _core.orientation_shift(_core.Unit[unit], _core.Side[side])
                code = (int(samples.orientations[k]) >> shift) & 3
                expected = oracle.orientation(phrase, n, m, links, others, side, unit, near)
                assert _core.Orientation(code).name == expected, (phrase, unit, side)


@given(st.lists(link_matrices(), min_size=1, max_size=4), st.sampled_from(["three", "five", "nine"]))
@settings(max_examples=60, deadline=None)
def test_possible_classes(matrices: list[Matrix], kind: str) -> None:
    """Against the plain definition; the true class is always possible."""
    bitext, classes = as_bitext(matrices), orientation_set(kind)
    assert isinstance(classes, DistanceSet)
    samples = extract(bitext, 8)
    possible = classes.possible(bitext, samples)
    for k, phrase in enumerate(rows(samples)):
        covered = oracle.visited(phrase, matrices[samples.sentence[k]][2])
        expected = oracle.possible_distances(phrase.source[0], covered, classes.cuts)
        assert set(np.flatnonzero(possible[k]).tolist()) == expected
    assert possible[np.arange(len(samples)), classes.classify(samples)].all()


@given(st.lists(link_matrices(), min_size=1, max_size=4), st.sampled_from(["mslr", "phrase-mslr", "hier-mslr"]))
@settings(max_examples=60, deadline=None)
def test_possible_orientations(matrices: list[Matrix], kind: str) -> None:
    """Against the plain definition; the only label that may not be possible is what Moses takes where it does not know."""
    bitext, classes = as_bitext(matrices), orientation_set(kind)
    samples = extract(bitext, 8)
    possible, states = classes.possible(bitext, samples), states_of_samples(bitext, samples)
    for k, phrase in enumerate(rows(samples)):
        n, _, links = matrices[samples.sentence[k]]
        covered = oracle.visited_with_unlinked(phrase, n, links)
        expected = oracle.possible_orientations(*phrase.source, covered)
        assert {classes.names[c].replace(" ", "_") for c in np.flatnonzero(possible[k])} == expected
        assert states[k] == oracle.coverage_state(*phrase.source, covered, n)
    labels = classes.classify(samples)
    contradicted = ~possible[np.arange(len(samples)), labels]
    assert (labels[contradicted] == _core.Orientation.discontinuous_right).all()


@given(st.lists(link_matrices(5), min_size=1, max_size=4), st.sampled_from(["phrase-mslr", "hier-msd", "three", "five"]))
@settings(max_examples=60, deadline=None)
def test_possible_classes_of_samples_are_those_of_the_search(matrices: list[Matrix], kind: str) -> None:
    """Along a translation made of samples: the same where every source word is linked, else none that the search lacks."""
    bitext, classes = as_bitext(matrices), orientation_set(kind)
    samples = extract(bitext, 8)
    possible, states = classes.possible(bitext, samples), states_of_samples(bitext, samples)
    for s, (n, m, links) in enumerate(matrices):
        own = {phrase: k for k, phrase in enumerate(rows(samples)) if samples.sentence[k] == s}
        visited = np.zeros(n, bool)
        for phrase in oracle.derivation(n, m, list(own)) or []:
            in_search = possible_of_spans(classes.possible_classes, len(classes), visited, [phrase.source])[0]
            in_training = possible[own[phrase]]
            if len({i for i, _ in links}) == n:
                assert np.array_equal(in_training, in_search)
                assert states[own[phrase]] == states_of_spans(visited, [phrase.source])[0]
            elif not isinstance(classes, DistanceSet):
                assert not (in_training & ~in_search).any()
            visited[slice(*phrase.source)] = True


@given(st.lists(link_matrices(5), min_size=1, max_size=6))
@settings(max_examples=30, deadline=None)
def test_sentence_pairs_are_independent(matrices: list[Matrix]) -> None:
    together = extract(as_bitext(matrices), 4)
    for s, matrix in enumerate(matrices):
        alone = extract(as_bitext([matrix]), 4)
        here = slice(together.offsets[s], together.offsets[s + 1])
        for name in ("source_begin", "source_length", "target_begin", "target_length", "distance_before", "orientations"):
            assert np.array_equal(getattr(together, name)[here], getattr(alone, name)), name
        assert (together.sentence[here] == s).all()


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    matrices = []
    for _ in range(3000):
        n, m = rng.integers(1, 12, 2)
        links = {(int(i), int(j)) for i, j in zip(rng.integers(0, n, n), rng.integers(0, m, n), strict=True)}
        matrices.append((int(n), int(m), links))
    bitext = as_bitext(matrices)
    one, two = extract(bitext, threads=1), extract(bitext, threads=2)
    for name, column in one.arrays("samples").items():
        assert np.array_equal(column, two.arrays("samples")[name]), name


def test_progress_cancels() -> None:
    bitext = as_bitext([(3, 3, {(0, 0)})] * 3000)
    with pytest.raises(_core.Cancelled):
        extract(bitext, threads=1, progress=lambda done, total: False)
