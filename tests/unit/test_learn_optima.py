"""Gradients by finite differences, and optima by duality gap, KKT conditions or a second solver."""

import numpy as np
import pytest
from scipy import optimize, sparse

from hyperbaton import _core
from hyperbaton.learn import LEARNERS
from hyperbaton.learn._matrices import delta_matrix, matrix_text
from tests.oracles import learn as oracle

N_CLASSES = 4


def make_problem(n=120, width=15, seed=0, positive=False):
    rng = np.random.default_rng(seed)
    rows = (rng.random((n, width)) < 0.3) * (1.0 if positive else rng.normal(size=(n, width)))
    labels = (rows @ rng.normal(size=(width, N_CLASSES)) + rng.gumbel(size=(n, N_CLASSES))).argmax(axis=1)
    return sparse.csr_array(rows), labels.astype(np.int32)


def core_rows(rows, constant=False):
    in_core = _core.Rows(n_features=rows.shape[1], constant=constant, unit_length=False)
    in_core.add(rows.indptr.astype(np.int64), rows.indices, rows.data)
    return in_core


def check_gradient(function, x, n_checks=20, seed=0):
    """Central differences along random directions."""
    _, gradient = function(x)
    rng = np.random.default_rng(seed)
    for _ in range(n_checks):
        direction = rng.normal(size=x.shape)
        up, down = function(x + 1e-6 * direction)[0], function(x - 1e-6 * direction)[0]
        assert (up - down) / 2e-6 == pytest.approx((gradient * direction).sum(), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "margin", "hinge", "true-class"])
def test_gradients_of_linear_losses(loss):
    rows, labels = make_problem()
    in_core = core_rows(rows)
    prior = np.log(np.random.default_rng(1).dirichlet(np.ones(N_CLASSES), len(labels))) if loss == "logistic" else None
    delta = delta_matrix("ordered", N_CLASSES)

    def function(weights):
        return _core.linear_loss(loss, in_core, labels, weights, matrix=delta, log_prior=prior, n_threads=1)

    # A point without ties, where the margin losses have a gradient.
    check_gradient(function, np.random.default_rng(2).normal(size=(rows.shape[1], N_CLASSES)))


@pytest.mark.parametrize("loss", ["logistic", "margin"])
def test_ordinal_gradient_and_second_solver(loss):
    rows, labels = make_problem(seed=3)
    in_core = core_rows(rows, constant=True)

    def function(x):
        return _core.ordinal_objective(in_core, labels, x, n_classes=N_CLASSES, loss=loss, variance=2.0, n_threads=1)

    x = np.random.default_rng(4).normal(size=rows.shape[1] + N_CLASSES)
    x[rows.shape[1]] = 0
    keep = np.arange(len(x)) != rows.shape[1]

    def free(part):
        full = np.zeros(len(x))
        full[keep] = part
        value, gradient = function(full)
        return value, gradient[keep]

    check_gradient(free, x[keep])
    best = optimize.minimize(free, x[keep], jac=True, method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})
    learner = LEARNERS["ordinal"](loss=loss, variance=2.0, tolerance=1e-9).fit(rows, labels, n_classes=N_CLASSES)
    assert learner.history_["objective"][-1] == pytest.approx(best.fun, rel=1e-8)
    assert (np.diff(learner.thresholds_) >= 0).all()
    # The class is the number of thresholds below the score.
    below = (rows @ learner.weights_[:, 1])[:, None] > learner.thresholds_
    assert (learner.predict(rows) == below.sum(axis=1)).all()


def logistic_optimum(rows, labels, variance):
    from sklearn.linear_model import LogisticRegression  # here and below: one worker imports it, not all

    reference = LogisticRegression(C=variance, fit_intercept=False, tol=1e-10, max_iter=10000).fit(rows, labels)
    return oracle.primal(rows.toarray(), labels, reference.coef_.T, variance)


@pytest.mark.parametrize(
    ("name", "options", "rel"),
    [
        ("lbfgs", {"tolerance": 1e-8}, 1e-9),
        ("gis", {"tolerance": 1e-12, "max_passes": 20000}, 1e-6),
        ("iis", {"tolerance": 1e-12, "max_passes": 20000}, 1e-6),
        ("dual_eg", {"epsilon": 1e-5, "max_passes": 10000}, 1e-9),
        ("dual_eg", {"epsilon": 1e-5, "max_passes": 10000, "n_steps": 5}, 1e-9),
        ("dual_eg", {"epsilon": 1e-5, "max_passes": 10000, "step": "fixed", "initial": 1e-4}, 1e-9),
        # Stochastic steps get near the optimum, not to it.
        ("sgd", {"tolerance": 0.0, "max_passes": 2000}, 1e-3),
    ],
)
def test_logistic_learners_agree_with_scikit_learn(name, options, rel):
    rows, labels = make_problem(positive=True)
    best = logistic_optimum(rows, labels, 1.5)
    learner = LEARNERS[name](variance=1.5, intercept=False, **options).fit(rows, labels, n_classes=N_CLASSES)
    reached = oracle.primal(rows.toarray(), labels, learner.weights_, 1.5)
    assert reached == pytest.approx(best, rel=rel)
    assert reached >= best * (1 - 1e-7)


def test_l1_satisfies_kkt():
    rows, labels = make_problem(n=300)
    l1, variance = 3.0, 10.0
    learner = LEARNERS["lbfgs"](l1=l1, variance=variance, tolerance=1e-9, max_passes=5000, intercept=False)
    weights = learner.fit(rows, labels, n_classes=N_CLASSES).weights_
    _, gradient = _core.linear_loss(
        "logistic", core_rows(rows), labels, weights, matrix=np.eye(N_CLASSES), log_prior=None, n_threads=1
    )
    gradient = gradient + weights / variance
    zero = weights == 0
    assert 0.1 < zero.mean() < 0.9
    assert (np.abs(gradient[zero]) <= l1 * (1 + 1e-6)).all()
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(weights[~zero]), rtol=1e-5)


def test_prior_of_each_row_shifts_the_scores():
    rows, labels = make_problem(positive=True)
    prior = np.random.default_rng(5).dirichlet(np.ones(N_CLASSES), len(labels))

    def negative(x):
        weights = x.reshape(-1, N_CLASSES)
        value, gradient = _core.linear_loss(
            "logistic", core_rows(rows), labels, weights, matrix=np.eye(2), log_prior=np.log(prior), n_threads=1
        )
        return value + (weights**2).sum() / 2, (gradient + weights).ravel()

    best = optimize.minimize(negative, np.zeros(rows.shape[1] * N_CLASSES), jac=True, method="L-BFGS-B")
    for name in ("iis", "gis", "lbfgs"):
        learner = LEARNERS[name](tolerance=1e-9, max_passes=20000, intercept=False)
        learner.fit(rows, labels, n_classes=N_CLASSES, prior=prior)
        assert negative(learner.weights_.ravel())[0] == pytest.approx(best.fun, rel=1e-5)
        probabilities = learner.predict_proba(rows, prior=prior)
        product = prior * np.exp(rows @ learner.weights_)
        np.testing.assert_allclose(probabilities, product / product.sum(axis=1, keepdims=True))


def test_one_vs_rest_agrees_with_liblinear():
    from sklearn.svm import LinearSVC

    rows, labels = make_problem()
    reference = LinearSVC(loss="hinge", C=0.7, tol=1e-8, max_iter=10**6, fit_intercept=False).fit(rows, labels)
    learner = LEARNERS["svm"](cost=0.7, tolerance=1e-8, max_passes=10**5, intercept=False).fit(rows, labels)

    def objective(weights):
        signs = 2 * np.eye(N_CLASSES)[labels] - 1
        return (weights**2).sum() / 2 + 0.7 * np.maximum(0, 1 - signs * (rows @ weights)).sum()

    assert objective(learner.weights_) == pytest.approx(objective(reference.coef_.T), rel=1e-7)
    assert learner.history_["gap"][0] == pytest.approx(0, abs=1e-6 * objective(learner.weights_))
    assert -learner.history_["objective"][-1] == pytest.approx(objective(learner.weights_), rel=1e-6)


def structured_objective(weights, rows, labels, delta, cost):
    scores = rows @ weights
    own = scores[np.arange(len(labels)), labels]
    return (weights**2).sum() / 2 + cost * ((delta[labels] + scores).max(axis=1) - own).sum()


@pytest.mark.parametrize("delta", ["uniform", "ordered"])
def test_crammer_singer_closes_the_gap(delta):
    from sklearn.svm import LinearSVC

    rows, labels = make_problem()
    matrix = delta_matrix(delta, N_CLASSES)
    learner = LEARNERS["svm"](
        kind="crammer-singer", delta=delta, cost=0.5, tolerance=1e-8, max_passes=10**5, intercept=False
    ).fit(rows, labels)
    reached = structured_objective(learner.weights_, rows, labels, matrix, 0.5)
    assert -learner.history_["objective"][-1] == pytest.approx(reached, rel=1e-6)
    assert learner.history_["gap"][0] == pytest.approx(0, abs=1e-6 * reached)
    if delta == "uniform":
        reference = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-9, max_iter=10**6, fit_intercept=False)
        best = structured_objective(reference.fit(rows, labels).coef_.T, rows, labels, matrix, 0.5)
        assert reached == pytest.approx(best, rel=1e-6)


def mmr_dual(rows, labels, output, gram, cost):
    """The dual of maximum margin regression, by SciPy."""
    matrix = gram * output[np.ix_(labels, labels)]

    def function(alpha):
        product = matrix @ alpha
        return alpha @ product / 2 - alpha.sum(), product - 1

    return optimize.minimize(
        function,
        np.zeros(len(labels)),
        jac=True,
        bounds=[(0, cost)] * len(labels),
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 10**5, "maxfun": 10**6},
    )


@pytest.mark.parametrize("output_kernel", ["identity", "ordered"])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "gaussian"])
def test_mmr_agrees_with_scipy(kernel, output_kernel):
    rows, labels = make_problem(n=60)
    dense = rows.toarray()
    output = np.eye(N_CLASSES) if output_kernel == "identity" else 1 - delta_matrix("ordered", N_CLASSES) / 2
    products, norms = dense @ dense.T, (dense**2).sum(axis=1)
    gram = {
        "linear": products,
        "polynomial": (0.5 * products + 1) ** 2,
        "gaussian": np.exp(-0.5 * (norms[:, None] + norms - 2 * products)),
    }[kernel]
    best = mmr_dual(dense, labels, output, gram, 0.8)
    learner = LEARNERS["mmr"](
        kernel=kernel,
        gamma=0.5,
        degree=2,
        cost=0.8,
        output_kernel="identity" if output_kernel == "identity" else matrix_text(output),
        tolerance=1e-7,
        max_passes=10**5,
    ).fit(rows, labels)
    assert learner.history_["objective"][-1] == pytest.approx(best.fun, rel=1e-6)
    assert learner.history_["gap"][0] == pytest.approx(0, abs=1e-6 * abs(best.fun))
    expected = gram @ (best.x[:, None] * output[labels])
    np.testing.assert_allclose(learner.scores(rows), expected, atol=2e-3)


def test_extragradient_closes_the_saddle_gap():
    rows, labels = make_problem(n=80, width=8)
    delta, radius = delta_matrix("ordered", N_CLASSES), 1.5
    learner = LEARNERS["extragradient"](
        delta="ordered", radius=radius, tolerance=1e-7, max_passes=200000, intercept=False
    ).fit(rows, labels)
    assert (np.linalg.norm(learner.weights_, axis=0) <= radius * (1 + 1e-12)).all()
    reached = structured_objective(learner.weights_, rows, labels, delta, 1.0) - (learner.weights_**2).sum() / 2
    assert learner.history_["objective"][-1] == pytest.approx(reached, rel=1e-12)
    assert 0 <= learner.history_["gap"][-1] <= 1e-7 * reached
    # The gap is a certificate only if the lower bound is right: nothing nearby may beat the solution.
    dense = rows.toarray()

    def penalised(x):
        weights = x.reshape(-1, N_CLASSES)
        norms = np.linalg.norm(weights, axis=0)
        inside = weights * np.minimum(1, radius / np.maximum(norms, 1e-12))
        scores = dense @ inside
        return ((delta[labels] + scores).max(axis=1) - scores[np.arange(len(labels)), labels]).sum()

    rng = np.random.default_rng(0)
    near = [penalised((learner.weights_ + 0.01 * rng.normal(size=learner.weights_.shape)).ravel()) for _ in range(200)]
    assert min(near) >= reached * (1 - 1e-6)
