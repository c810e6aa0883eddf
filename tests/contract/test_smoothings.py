"""The contract of smoothings of phrase probabilities."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import PhraseTable, Scoring, extract
from hyperbaton.phrases.smoothing import SMOOTHINGS, PairCounts, Smoothing


def counts(n: int = 400, seed: int = 3) -> PairCounts:
    """Pairs as in text: most are rare, a few frequent."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.minimum(rng.zipf(1.6, (n, 2)) - 1, 40), axis=0)
    joint = np.minimum(rng.zipf(1.5, len(pairs)), 1000).astype(np.uint32)
    given, predicted = (np.unique(side, return_inverse=True)[1].astype(np.uint32) for side in pairs.T)
    return PairCounts(joint, given, predicted, int(given.max()) + 1, int(predicted.max()) + 1)


COUNTS = counts()


@pytest.fixture(params=list(SMOOTHINGS))
def smoothing(request: pytest.FixtureRequest) -> Smoothing:
    return SMOOTHINGS[request.param]()


def probabilities(smoothing: Smoothing, counts: PairCounts = COUNTS) -> np.ndarray:
    return np.concatenate(list(smoothing.probabilities(counts)))


def test_probabilities_are_proper(smoothing: Smoothing) -> None:
    p = probabilities(smoothing)
    assert p.shape == COUNTS.joint.shape and (p > 0).all() and (p <= 1 + 1e-12).all()
    totals = np.bincount(COUNTS.given, p)
    assert (totals <= 1 + 1e-9).all() and (totals > 0).all()


def test_pairs_that_do_not_fit_into_memory_have_the_same_probabilities(smoothing: Smoothing) -> None:
    pieces = replace(COUNTS, scratch=Scratch(2000))
    assert len(list(pieces.rows())) > 3
    np.testing.assert_array_equal(probabilities(smoothing, pieces), probabilities(smoothing))


def test_the_order_of_pairs_does_not_matter(smoothing: Smoothing) -> None:
    order = np.random.default_rng(1).permutation(len(COUNTS.joint))
    shuffled = replace(COUNTS, joint=COUNTS.joint[order], given=COUNTS.given[order], predicted=COUNTS.predicted[order])
    np.testing.assert_allclose(probabilities(smoothing, shuffled), probabilities(smoothing)[order], rtol=1e-12)


@pytest.mark.parametrize("joint", [[1], [7], [1, 1], [1000, 1]])
def test_few_pairs(smoothing: Smoothing, joint: list[int]) -> None:
    n = len(joint)
    few = PairCounts(np.array(joint, np.uint32), np.zeros(n, np.uint32), np.arange(n, dtype=np.uint32), 1, n)
    p = probabilities(smoothing, few)
    assert np.isfinite(p).all() and (p > 0).all() and p.sum() <= 1 + 1e-9
    none = PairCounts(*np.zeros((3, 0), np.uint32), 0, 0)
    assert sum(map(len, smoothing.probabilities(none))) == 0


def test_a_phrase_table_finds_it_by_name(smoothing: Smoothing) -> None:
    bitext = Bitext.of(["a b", "a c"], ["x y", "x z"], [[(0, 0), (1, 1)]] * 2)
    name = SMOOTHINGS.name_of(smoothing)
    table = PhraseTable.build(bitext, extract(bitext), Scoring(smoothing=name.replace("_", "-")))
    assert (table.scores[:] > 0).all() and (table.scores[:] <= 1 + 1e-6).all()
