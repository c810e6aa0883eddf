"""The contract of learners, run over the registry."""

import dataclasses
import warnings

import numpy as np
import pytest
from scipy import sparse

from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.base.scratch import Scratch
from hyperbaton.learn import LEARNERS, Rows, RowsError, TrainingRows

NAMES = list(LEARNERS)

# Why a check of scikit-learn's is not passed.
ALL_EXCEPT = {
    "check_fit_score_takes_y": "the second argument is called labels, not y",
    "check_n_features_in_after_fitting": "calls score with a keyword y",
    "check_estimators_unfitted": "scikit-learn's NotFittedError is not ours to raise: it is no dependency",
    "check_supervised_y_2d": "scikit-learn's DataConversionWarning likewise; a column of labels is accepted silently",
}
SOME_EXCEPT = {
    "gis": {"check_decision_proba_consistency": "has negative values, which iterative scaling refuses"},
    "iis": {"check_decision_proba_consistency": "has negative values, which iterative scaling refuses"},
}


def make_rows(n=200, width=40, n_classes=3, seed=0):
    """Binary rows that say something about their labels."""
    rng = np.random.default_rng(seed)
    dense = rng.random((n, width)) < 0.2
    labels = (dense @ rng.normal(size=(width, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)
    matrix = sparse.csr_array(dense.astype(float))
    return matrix, Rows(matrix.indptr.astype(np.int64), matrix.indices, width), labels


def rows_of(matrix):
    return Rows(matrix.indptr, matrix.indices, matrix.shape[1], matrix.data)


class MadeRows(TrainingRows):
    """Rows that are handed out piece by piece; `made` has the size of each piece."""

    def __init__(self, rows):
        self.n_rows, self.n_features = rows.shape
        self.rows, self.made = rows, []

    def at(self, numbers):
        self.made.append(len(numbers))
        return self.rows.at(numbers)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def quick(name, **options):
    """The learner with few passes."""
    fields = {field.name for field in dataclasses.fields(LEARNERS[name])}
    return LEARNERS[name](**({"max_passes": 10} if "max_passes" in fields else {}), **options)


def test_scikit_learn_accepts_it(name):
    from sklearn.utils.estimator_checks import check_estimator  # here: one worker imports it, not all

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(LEARNERS[name](), on_fail=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed == set(ALL_EXCEPT) | set(SOME_EXCEPT.get(name, {}))


def test_rows_in_any_form_give_the_same(name, tmp_path):
    matrix, binary, labels = make_rows()
    expected = quick(name).fit(matrix, labels).scores(matrix)
    np.testing.assert_array_equal(quick(name).fit(binary, labels).scores(binary), expected)
    np.testing.assert_array_equal(quick(name).fit(matrix.toarray(), labels).scores(matrix.tocsc()), expected)
    np.save(tmp_path / "indptr.npy", binary.indptr)
    np.save(tmp_path / "indices.npy", binary.indices)
    mapped = Rows(np.load(tmp_path / "indptr.npy", mmap_mode="r"), np.load(tmp_path / "indices.npy", mmap_mode="r"), 40)
    np.testing.assert_array_equal(quick(name).fit(mapped, labels).scores([mapped]), expected)


def test_shards_are_read_as_one(name):
    matrix, binary, labels = make_rows()
    shards = [binary, matrix[50:50], matrix[:120]]
    together = sparse.vstack([matrix, matrix[50:50], matrix[:120]]).tocsr()
    learner = quick(name).fit(shards, np.concatenate([labels, labels[:120]]))
    np.testing.assert_array_equal(learner.scores(shards), learner.scores(together))
    # A stochastic learner visits shard by shard, so its weights differ; what they say does not.
    other = quick(name).fit(together, np.concatenate([labels, labels[:120]]))
    assert np.mean(learner.predict(together) == other.predict(together)) > 0.85


def test_threads_do_not_change_a_bit(name):
    matrix, _, labels = make_rows(n=3000, width=50, seed=1)
    one, two = (quick(name, threads=threads).fit(matrix, labels) for threads in (1, 2))
    np.testing.assert_array_equal(one.scores(matrix), two.scores(matrix))
    for key, values in one.history_.items():
        np.testing.assert_array_equal(values, two.history_[key])
    clusters = np.random.default_rng(0).integers(0, 40, 3000)
    one, two = (quick(name, threads=threads).fit_clusters(matrix, labels, clusters) for threads in (1, 2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.features, two.features)


def test_fitting_a_cluster_equals_fitting_its_rows(name):
    matrix, _, labels = make_rows(seed=2)
    clusters = np.random.default_rng(1).integers(-1, 4, len(labels))
    clusters[clusters == 2] = 3
    # The order of visits depends on the cluster, so let them all converge.
    options = {"max_passes": 5000, "tolerance": 1e-9} if name not in ("psl", "sgd", "relative_frequency") else {}
    if name == "dual_eg":
        options = {"max_passes": 5000, "epsilon": 1e-7}
    if name == "extragradient":
        options = {"max_passes": 20, "tolerance": 0.0}
    learner = LEARNERS[name](**options)
    model = learner.fit_clusters(matrix, labels, clusters, n_classes=3, n_clusters=5)
    assert model.n_clusters == 5 and np.isnan(model.objective[[2, 4]]).all()
    scores = model.scores(matrix, clusters)
    assert not scores[clusters == -1].any()
    np.testing.assert_array_equal(model.predict(matrix, clusters), scores.argmax(axis=1))
    for cluster in (0, 1, 3):
        here = clusters == cluster
        alone = LEARNERS[name](**options).fit(matrix[here], labels[here], n_classes=3)
        seen = model.features[model.offsets[cluster] : model.offsets[cluster + 1]]
        assert (np.diff(seen) > 0).all()
        present = np.flatnonzero(matrix[here].sum(axis=0))
        np.testing.assert_array_equal(seen, [*present, 40] if learner.intercept else present)
        if name in ("psl", "sgd"):
            assert np.mean(model.predict(matrix[here], clusters[here]) == alone.predict(matrix[here])) > 0.8
        else:
            np.testing.assert_allclose(scores[here], alone.scores(matrix[here]), rtol=1e-3, atol=2e-3)


def test_clusters_in_groups_equal_those_of_one_call(name, monkeypatch):
    matrix, _, labels = make_rows()
    clusters = np.random.default_rng(1).integers(-1, 6, len(labels))
    clusters[clusters == 2] = 3
    numbers = np.unique(labels, return_inverse=True)[1]
    whole = quick(name).fit_clusters(matrix, numbers, clusters, n_classes=3, n_clusters=7)
    for rows_together in (1, 70, 1000):
        monkeypatch.setattr("hyperbaton.learn._learner.ROWS_TOGETHER", rows_together)
        parts = quick(name).fit_clusters(MadeRows(rows_of(matrix)), numbers, clusters, n_classes=3, n_clusters=7)
        for array, expected in parts.arrays().items():
            np.testing.assert_array_equal(expected, whole.arrays()[array])


def test_rows_computed_in_pieces_give_the_same_weights(name, monkeypatch):
    monkeypatch.setattr("hyperbaton.learn._learner.ROWS_TOGETHER", 50)
    matrix, binary, labels = make_rows()
    whole = quick(name).fit(matrix, labels, n_classes=3)

    for rows, scratch in ((rows_of(matrix), None), (binary, None), (binary, Scratch(1000))):
        made = quick(name).fit(MadeRows(rows), labels, 3, scratch=scratch)
        np.testing.assert_array_equal(made.scores(matrix), whole.scores(matrix))
        np.testing.assert_array_equal(made.history_["objective"], whole.history_["objective"])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "relative_frequency"])  # which takes no passes
def test_progress_can_cancel(name):
    matrix, _, labels = make_rows()
    with pytest.raises(Cancelled):
        LEARNERS[name]().fit(matrix, labels, progress=lambda done, total: False)
    seen = []
    quick(name).fit(matrix, labels, progress=lambda done, total: seen.append((done, total)))
    assert seen and all(done <= total for done, total in seen)


def test_progress_is_shown_while_rows_are_made(name, monkeypatch):
    monkeypatch.setattr("hyperbaton.learn._learner.ROWS_TOGETHER", 50)
    matrix, _, labels = make_rows()
    rows, n, seen = MadeRows(rows_of(matrix)), len(labels), []
    made = rows.made
    quick(name).fit(rows, labels, 3, progress=lambda done, total: seen.append((done, total)))
    assert seen[: len(made)] == [(min(50 * (k + 1), n), n) for k in range(len(made))]
    made.clear()
    with pytest.raises(Cancelled):
        quick(name).fit(rows, labels, 3, progress=lambda done, total: False)
    assert made == [50]


def test_odd_but_usable_input(name):
    matrix, _, labels = make_rows(n=30)
    # One example: one class, which is the answer to everything.
    lone = quick(name).fit(matrix[:1], labels[:1])
    assert (lone.predict(matrix) == labels[0]).all()
    np.testing.assert_array_equal(lone.predict_proba(matrix), np.ones((30, 1)))
    # One example and classes that never occur.
    lone = quick(name).fit(matrix[:1], [2], n_classes=4)
    assert np.isfinite(lone.predict_proba(matrix)).all()
    # The prior of the thresholds can outweigh one example of ordered classes.
    assert lone.predict(matrix[:1]) == [2] or name == "ordinal"
    # A class without examples, and rows without features.
    empty = sparse.csr_array(sparse.vstack([matrix, sparse.csr_array((3, 40))]))
    learner = quick(name).fit(empty, np.append(labels % 2, [0, 1, 1]), n_classes=3)
    assert np.isfinite(learner.predict_proba(empty)).all()
    assert set(learner.predict(empty)) <= {0, 1}
    nothing = quick(name).fit(sparse.csr_array((4, 2)), [0, 0, 0, 1])
    assert np.isfinite(nothing.predict_proba(sparse.csr_array((1, 2)))).all()
    model = quick(name).fit_clusters(matrix, np.zeros(30), np.zeros(30, dtype=int))
    assert (model.predict(matrix, np.zeros(30, dtype=int)) == 0).all()


def bad(indptr=(0, 1), indices=(0,), n_features=2):
    return Rows(np.array(indptr, dtype=np.int64), np.array(indices, dtype=np.int32), n_features)


@pytest.mark.parametrize(
    ("rows", "labels", "n_classes", "message"),
    [
        (sparse.csr_array([[np.nan]]), [0], 2, "row 0: feature 0 is NaN"),
        (sparse.csr_array([[1.0], [np.inf]]), [0, 1], 2, "row 1: feature 0 is infinite"),
        (np.array([[np.inf]]), [0], 2, "NaN or infinity"),
        (bad(indices=[2]), [0], 2, "row 0: feature 2 is outside 0…2"),
        (bad(indices=[-1]), [0], 2, "row 0: feature -1 is outside"),
        (bad(indptr=[0, 2], indices=[1, 0]), [0], 2, "feature ids must increase, but 0 follows 1"),
        (bad(indptr=[0, 2], indices=[1, 1]), [0], 2, "feature ids must increase"),
        (bad(indptr=[0, 5]), [0], 2, "offsets 0 to 5 do not fit 1 entries"),
        (bad(indptr=[0, 1, 0]), [0, 0], 2, "row 1: offsets 1 to 0"),
        (bad(), [2], 2, "label 2 of row 0 is outside 0…1"),
        (bad(), [-1], 2, "label -1 of row 0 is outside"),
        (bad(), [0, 1], 2, "one label for each row"),
        (bad(), ["a"], 2, "with n_classes, labels must be the numbers"),
        (bad(), [0.5], None, "Unknown label type"),
        (bad(), [0], 0, "n_classes must be at least 1"),
        ([bad(), bad(n_features=3)], [0, 1], 2, "a chunk of rows has 3 features, the first one 2"),
        (bad(indptr=[0], indices=[]), [], 2, "minimum of 1 is required"),
    ],
)
def test_bad_input_is_named(name, rows, labels, n_classes, message):
    with pytest.raises(RowsError, match=message):
        quick(name).fit(rows, labels, n_classes=n_classes)


def test_bad_clusters_are_named(name):
    matrix, _, labels = make_rows(n=5)
    with pytest.raises(RowsError, match="one whole number"):
        quick(name).fit_clusters(matrix, labels, [0.5] * 5)
    with pytest.raises(RowsError, match="cluster 7 is outside 0…2"):
        quick(name).fit_clusters(matrix, labels, [7] * 5, n_clusters=3)
    model = quick(name).fit_clusters(matrix, labels, [0] * 5)
    with pytest.raises(RowsError, match="cluster 1 is outside"):
        model.scores(matrix, [1] * 5)
    with pytest.raises(RowsError, match="rows have 3 features"):
        model.scores(sparse.csr_array((5, 3)), [0] * 5)


def test_a_prior_is_taken_or_refused(name):
    matrix, _, labels = make_rows(n=20)
    prior = np.full((20, 3), 1 / 3)
    if not LEARNERS[name].takes_prior:
        with pytest.raises(OptionError, match="takes no prior"):
            quick(name).fit(matrix, labels, n_classes=3, prior=prior)
        return
    np.testing.assert_allclose(
        quick(name).fit(matrix, labels, n_classes=3, prior=prior).weights_,
        quick(name).fit(matrix, labels, n_classes=3).weights_,
        atol=1e-9,
    )
    with pytest.raises(RowsError, match="above 0"):
        quick(name).fit(matrix, labels, n_classes=3, prior=prior * 0)
    with pytest.raises(RowsError, match=r"shape \(rows, classes\)"):
        quick(name).fit(matrix, labels, n_classes=3, prior=prior[:, :2])
