"""Options of single learners that the contract does not reach."""

import numpy as np
import pytest
from scipy import sparse

from hyperbaton.base.errors import OptionError
from hyperbaton.learn import LEARNERS, Rows, RowsError
from hyperbaton.learn._matrices import delta_matrix, kernel_matrix
from hyperbaton.models import MODELS


def ordered_problem(n=1500, seed=0, n_classes=5):
    """Rows along a line, so that neighbouring classes are confused."""
    rng = np.random.default_rng(seed)
    place = rng.normal(size=n)
    rows = np.column_stack([place + 0.4 * rng.normal(size=n) for _ in range(4)] + [np.ones(n)])
    labels = np.digitize(place, [-1, -0.3, 0.3, 1][: n_classes - 1])
    return sparse.csr_array(rows), labels


@pytest.mark.parametrize(("name", "options"), [("psl", {}), ("svm", {"kind": "crammer-singer"})])
def test_estimated_margins_are_smaller_between_neighbours(name, options):
    rows, labels = ordered_problem()
    learner = LEARNERS[name](delta="estimated", **options).fit(rows, labels, n_classes=5)
    delta = learner.delta_
    assert (np.diagonal(delta) == 0).all() and (delta == delta.T).all()
    off = delta[~np.eye(5, dtype=bool)]
    assert off.min() == 0.5 and off.max() <= 1
    near, far = np.abs(np.subtract.outer(range(5), range(5))) == 1, np.abs(np.subtract.outer(range(5), range(5))) > 2
    assert delta[near].mean() < delta[far].mean() - 0.1
    # The estimate is what training then uses, for all rows and for clusters.
    spelled_out = LEARNERS[name](delta=";".join(" ".join(map(repr, row)) for row in delta.tolist()), **options)
    np.testing.assert_array_equal(spelled_out.fit(rows, labels, n_classes=5).weights_, learner.weights_)
    model = learner.fit_clusters(rows, labels, np.arange(len(labels)) % 3, n_classes=5)
    assert np.isfinite(model.weights).all() and learner.delta_[0, 1] < learner.delta_[0, 4]


def test_psl_keeps_the_pass_with_the_fewest_held_out_errors():
    rng = np.random.default_rng(0)
    rows = sparse.csr_array((rng.random((600, 300)) < 0.05).astype(float))
    labels = rng.integers(0, 3, 600)
    learner = LEARNERS["psl"](validation=0.3, patience=4, max_passes=200, tolerance=0.0).fit(rows, labels)
    errors = learner.history_["validation"]
    best = int(errors.argmin())
    assert len(errors) == best + 5 < 200
    again = LEARNERS["psl"](validation=0.3, max_passes=best + 1, tolerance=0.0).fit(rows, labels)
    np.testing.assert_array_equal(again.weights_, learner.weights_)


def test_psl_holds_no_rows_out_where_there_are_too_few_to_judge():
    rng = np.random.default_rng(0)
    rows = sparse.csr_array((rng.random((60, 30)) < 0.2).astype(float))
    labels = rng.integers(0, 3, 60)
    few, all_rows = (LEARNERS["psl"](validation=part, max_passes=20).fit(rows, labels) for part in (0.2, 0.0))
    np.testing.assert_array_equal(few.weights_, all_rows.weights_)
    held_out = LEARNERS["psl"](validation=0.2, min_validation=1, max_passes=20).fit(rows, labels)
    assert len(held_out.history_["validation"]) and not np.array_equal(held_out.weights_, all_rows.weights_)
    assert "validation=0.2" in MODELS["mms"]().learner


def test_psl_stops_by_the_rows_given():
    rng = np.random.default_rng(0)
    rows = sparse.csr_array((rng.random((600, 300)) < 0.05).astype(float))
    labels = rng.choice(["left", "right", "stay"], 600)
    judges, truth = rows[400:], labels[400:]
    rows, labels = rows[:400], labels[:400]
    options = {"patience": 4, "tolerance": 0.0}
    learner = LEARNERS["psl"](max_passes=200, **options).fit(rows, labels, validation=(judges, truth))
    errors = learner.history_["validation"]
    best = int(errors.argmin())
    assert len(errors) == best + 5 < 200
    assert 1 - learner.score(judges, truth) == pytest.approx(errors[best])
    # All rows are learned from, and those given are not among them.
    plain = LEARNERS["psl"](max_passes=best + 1, **options).fit(rows, labels)
    np.testing.assert_array_equal(plain.weights_, learner.weights_)
    # Each cluster is judged by its own rows; one without any learns as if none were given.
    clusters, others = np.arange(400) % 3, np.arange(200) % 2
    stopped = LEARNERS["psl"](max_passes=60, **options).fit_clusters(
        rows, labels, clusters, validation=(judges, truth, others)
    )
    free = LEARNERS["psl"](max_passes=60, **options).fit_clusters(rows, labels, clusters)
    errors = [np.mean(model.predict(judges, others) != truth) for model in (stopped, free)]
    assert errors[0] < errors[1]
    last = slice(free.offsets[2], free.offsets[3])
    np.testing.assert_array_equal(stopped.weights[last], free.weights[last])
    with pytest.raises(RowsError, match="label up of row 1 for validation is not among"):
        LEARNERS["psl"]().fit(rows, labels, validation=(judges[:2], ["left", "up"]))
    with pytest.raises(RowsError, match="validation have 7 features"):
        LEARNERS["psl"]().fit(rows, labels, validation=(sparse.csr_array((1, 7)), ["left"]))
    with pytest.raises(OptionError, match="does not stop by validation rows"):
        LEARNERS["sgd"]().fit(rows, labels, validation=(judges, truth))


def test_shrinking_does_not_change_the_answer():
    rows, labels = ordered_problem(n=400, n_classes=3)
    loose = LEARNERS["dual_eg"](epsilon=0.5, recheck=False, max_passes=500).fit(rows, labels)
    exact = LEARNERS["dual_eg"](epsilon=1e-6, max_passes=5000).fit(rows, labels)
    again = LEARNERS["dual_eg"](epsilon=0.01, max_passes=5000).fit(rows, labels)
    assert (np.diff(loose.history_["active"]) <= 0).all()
    assert again.history_["rechecks"][-1] >= 1
    assert again.history_["gap"][-1] <= 400 * 0.01**2 / 8
    assert -again.history_["objective"][-1] == pytest.approx(-exact.history_["objective"][-1], rel=1e-4)


def test_kernels_see_what_lines_cannot():
    rng = np.random.default_rng(0)
    rows = rng.choice([-1.0, 1.0], size=(200, 2))
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int)
    assert LEARNERS["mmr"](kernel="polynomial").fit(rows, labels).score(rows, labels) == 1
    assert LEARNERS["mmr"](kernel="gaussian").fit(rows, labels).score(rows, labels) == 1
    small = LEARNERS["mmr"](kernel="gaussian", cache=0).fit(rows, labels)
    kept = LEARNERS["mmr"](kernel="gaussian").fit(rows, labels)
    np.testing.assert_array_equal(small.model_.coefficients, kept.model_.coefficients)


def test_smoothing_towards_the_overall_distribution():
    labels = np.array([0, 0, 0, 1, 0, 0, 2, 2])
    rows = sparse.csr_array((8, 1))
    learner = LEARNERS["relative_frequency"](smoothing=0.5, towards="overall")
    model = learner.fit_clusters(rows, labels, [0, 0, 0, 0, 1, 1, 2, 2])
    probabilities = model.predict_proba(sparse.csr_array((3, 1)), np.arange(3))
    overall, counts = np.array([5, 1, 2]) / 8, np.array([[3, 1, 0], [2, 0, 0], [0, 0, 2]])
    expected = (counts + 1.5 * overall) / (counts.sum(axis=1, keepdims=True) + 1.5)
    np.testing.assert_allclose(probabilities, expected)


def test_unit_length_divides_by_the_norm():
    rows, labels = ordered_problem(n=50, n_classes=3)
    scaled = sparse.csr_array(rows / np.sqrt(rows.multiply(rows).sum(axis=1))[:, None])
    one = LEARNERS["lbfgs"](unit_length=True).fit(rows, labels)
    two = LEARNERS["lbfgs"]().fit(scaled, labels)
    np.testing.assert_allclose(one.scores(rows), two.scores(scaled), atol=1e-6)


def test_rows_are_read_in_place(tmp_path):
    """Neither fitting nor scoring copies memory-mapped rows."""
    rng = np.random.default_rng(0)
    n, width = 400_000, 16
    indices = np.tile(np.arange(width, dtype=np.int32), n)
    np.save(tmp_path / "indices.npy", indices)
    mapped = np.load(tmp_path / "indices.npy", mmap_mode="r")
    rows = Rows(np.arange(n + 1) * width, mapped, width)
    import tracemalloc

    tracemalloc.start()
    LEARNERS["psl"](max_passes=1).fit(rows, rng.integers(0, 2, n).astype(np.int32), n_classes=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < indices.nbytes / 2


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("psl", {"delta": "0 1; 1 0"}, "delta must be 3 × 3 for 3 classes"),
        ("psl", {"delta": "far"}, "must be a name or rows of numbers"),
        ("psl", {"delta": "0 1 1; 1 0 -1; 1 1 0"}, "nowhere negative"),
        ("psl", {"step": 0.0}, "step must be at least"),
        ("svm", {"delta": "ordered"}, "need kind crammer-singer"),
        ("svm", {"kind": "both"}, "kind must be one of"),
        ("mmr", {"output_kernel": "1 2 0; 2 1 0; 0 0 1"}, "positive semi-definite"),
        ("ordinal", {"intercept": False}, "thresholds are kept"),
        ("relative_frequency", {"intercept": False}, "set intercept"),
        ("lbfgs", {"variance": float("inf")}, "variance must be a finite number, not inf"),
        ("lbfgs", {"variance": float("nan")}, "variance must be a finite number, not nan"),
    ],
)
def test_options_that_make_no_sense_are_named(name, options, message):
    rows, labels = ordered_problem(n=20, n_classes=3)
    with pytest.raises(OptionError, match=message):
        LEARNERS[name](**options).fit(rows, labels % 3, n_classes=3)


def test_kernel_inputs_have_no_clusters():
    rows, labels = ordered_problem(n=20, n_classes=3)
    with pytest.raises(OptionError, match="need linear inputs"):
        LEARNERS["mmr"](kernel="gaussian").fit_clusters(rows, labels, np.zeros(20, dtype=int))


def test_matrices_by_name():
    assert kernel_matrix("1 .5; .5 1", 2).tolist() == [[1, 0.5], [0.5, 1]]
    assert delta_matrix("0 2; 1 0", 2).tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize("l1", [0.0, 0.05])
@pytest.mark.parametrize("unit_length", [False, True])
def test_features_of_the_same_rows_are_learned_as_one(l1, unit_length):
    """The weights of sub-models are those of all features by themselves, whether some of them are alike or not."""
    rng = np.random.default_rng(3)
    different = rng.random((60, 8)) < 0.4
    matrix = sparse.csr_array(different[:, [0, 1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7]].astype(float))
    rows = Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.shape[1])
    labels, clusters = rng.integers(0, 3, 60), np.repeat([0, 1], 30)
    learner = LEARNERS["lbfgs"](l1=l1, unit_length=unit_length, tolerance=1e-9)
    model = learner.fit_clusters(rows, labels, clusters, n_classes=3)
    for cluster in (0, 1):
        alone = learner.fit(matrix[clusters == cluster], labels[clusters == cluster], n_classes=3)
        weights = model.weights[model.offsets[cluster] : model.offsets[cluster + 1]]
        np.testing.assert_allclose(weights[:-1], alone.weights_, atol=1e-5)
        if l1 == 0:
            np.testing.assert_array_equal(weights[4], weights[6])
