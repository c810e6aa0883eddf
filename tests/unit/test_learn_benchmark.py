"""The benchmark's own parts: its data and its figures run at a small size."""

import sys

import numpy as np
import pytest
from benchmarks.learn.clusters import against_perceptron
from benchmarks.learn.data import Data, from_bitext, generate
from benchmarks.learn.figures import active_sets
from benchmarks.learn.streaming import stream

from hyperbaton.corpus import Bitext


def test_generated_rows_can_be_learned_and_kept(tmp_path):
    data = generate(400, n_classes=5)
    assert len(data) == 400 and data.labels.max() < 5
    data.save(tmp_path / "data")
    again = Data.load(tmp_path / "data")
    np.testing.assert_array_equal(again.rows.indices, data.rows.indices)
    np.savez(tmp_path / "rows.npz", **vars(data.rows), labels=data.labels, clusters=data.clusters)
    np.testing.assert_array_equal(Data.read(tmp_path / "rows.npz").labels, data.labels)
    train, held_out = data.split()
    assert len(train) + len(held_out) == 400
    np.testing.assert_array_equal(train.matrix().sum(axis=1).A1, np.diff(train.rows.indptr))
    assert against_perceptron(generate(3000), 5, 3, 1)["ratio"] > 0
    shares = active_sets(train, tmp_path / "active.svg", n_passes=3)
    assert all(share[0] == 100 for share in shares.values()) and (tmp_path / "active.svg").exists()


def test_rows_of_a_bitext_are_its_phrase_pairs():
    bitext = Bitext.of(["a b c", "a b"], ["A C B", "B A"], [[(0, 0), (2, 1), (1, 2)], [(1, 0), (0, 1)]])
    data = from_bitext(bitext, "aligned_words", "three", min_count=1)
    # a, a b c, c, c and b together, b; then b, a, and both.
    assert len(data) == 8 and data.n_classes == 3
    assert np.bincount(data.sentences).tolist() == [5, 3]
    train, held_out = data.split(0.5, seed=1)
    assert set(train.sentences) | set(held_out.sentences) == {0, 1} and not set(train.sentences) & set(held_out.sentences)
    assert len(np.unique(data.clusters)) == 6


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on private memory is Linux's")
def test_learners_stream_shards_larger_than_their_memory():
    # The system refuses them more than half of the 41 MiB of rows.
    for result in stream(0.04, 0.02, 1, ("lbfgs", "sgd", "dual_eg"), shard_rows=10_000):
        assert result["rows"] > 200_000 and result["private_mib"] < 20, result
