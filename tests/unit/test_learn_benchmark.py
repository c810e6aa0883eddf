"""The benchmark's own parts: its data and its figures run at a small size."""

import numpy as np
from benchmarks.learn.clusters import against_perceptron
from benchmarks.learn.data import Data, from_bitext, generate
from benchmarks.learn.figures import active_sets

from hyperbaton.corpus.bitext import Bitext


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


def test_rows_of_a_bitext_tell_where_the_next_word_lies():
    bitext = Bitext.of(["a b c d", "a b"], ["A C B D", "B A"], [[(0, 0), (2, 1), (1, 2), (3, 3)], [(1, 0), (0, 1)]])
    data = from_bitext(bitext, n_classes=3, min_count=1)
    # Jumps: a is monotone, c skips b, b goes back, d skips c; then b skips a, and a goes back.
    assert data.labels.tolist() == [1, 0, 2, 0, 0, 2]
    assert data.clusters.tolist() == [0, 2, 1, 3, 1, 0]
    assert (np.diff(data.rows.indptr) == 8).all()
