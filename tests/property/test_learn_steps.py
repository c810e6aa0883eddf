"""The stochastic learners follow the papers' pseudo-code visit by visit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hyperbaton.learn._matrices import delta_matrix, matrix_text
from hyperbaton.learn.dual_eg import DualEg
from hyperbaton.learn.psl import Psl
from tests.oracles import learn as oracle


@st.composite
def problems(draw, values=True, most=12):
    n, width, n_classes = draw(st.integers(1, most)), draw(st.integers(1, 6)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.random((n, width)) < 0.5
    rows = rows * (rng.normal(size=rows.shape) if values and draw(st.booleans()) else 1.0)
    return rows, rng.integers(0, n_classes, n), n_classes


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 5), st.booleans(), st.booleans())
def test_psl_is_table_2(data, seed, average, many):
    """With few rows, when it works on the products of pairs of rows, and with more, when it works on weights.

    All numbers are multiples of 1/8: sums are exact in any order, and ties are ties for both.
    """
    n = data.draw(st.integers(129, 160) if many else st.integers(1, 12))
    width, n_classes = data.draw(st.integers(1, 6)), data.draw(st.integers(2, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    rows = (rng.random((n, width)) < 0.5) * (rng.integers(-8, 9, (n, width)) / 8 if data.draw(st.booleans()) else 1.0)
    labels, delta = rng.integers(0, n_classes, n), rng.integers(0, 17, (n_classes, n_classes)) / 8
    delta *= 1 - np.eye(n_classes)
    learner = Psl(
        delta=matrix_text(delta), step=0.5, max_passes=4, tolerance=0.0, average=average, seed=seed, intercept=False
    )
    learner.fit(sparse.csr_array(rows), labels, n_classes=n_classes)
    n_passes = learner.n_passes_
    weights, losses = oracle.psl(rows, labels, delta, 0.5, n_passes, seed, average)
    assert n_passes == 4 or losses[-1] == 0
    np.testing.assert_allclose(learner.weights_, weights, atol=1e-12)
    np.testing.assert_allclose(learner.history_["objective"], losses, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(problems(most=60), st.floats(0.1, 4), st.sampled_from([0.001, 0.1, 1.0]), st.integers(0, 5))
def test_dual_eg_is_algorithm_1(problem, variance, epsilon, seed):
    rows, labels, n_classes = problem
    options = {"variance": variance, "epsilon": epsilon, "initial": 0.1, "max_trials": 8}
    learner = DualEg(**options, step="fixed", max_passes=3, recheck=False, seed=seed, intercept=False)
    learner.fit(sparse.csr_array(rows), labels, n_classes=n_classes)
    alpha, values, sizes = oracle.dual_eg(rows, labels, n_classes, **options, n_passes=3, seed=seed)
    np.testing.assert_allclose(learner.alpha_, alpha, atol=1e-8)
    # D is kept up to date by the differences of eq. 13 alone.
    np.testing.assert_allclose(learner.history_["objective"], values, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(learner.history_["active"], sizes)
    np.testing.assert_allclose(learner.weights_, oracle.dual_weights(rows, labels, learner.alpha_, variance), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(problems(most=40), st.integers(1, 3), st.sampled_from(["newton", "fixed"]), st.sampled_from([0.0, 1e-4]))
def test_dual_eg_gap_is_exact_at_the_end(problem, n_steps, step, initial):
    rows, labels, n_classes = problem
    learner = DualEg(epsilon=1e-4, max_passes=50000, n_steps=n_steps, step=step, initial=initial, intercept=False)
    learner.fit(sparse.csr_array(rows), labels, n_classes=n_classes)
    # Steps of 0.5 for all shrink a coefficient near 0 slowly: Algorithm 1 as printed may still be on its way.
    assert learner.converged_ or step == "fixed"
    # D is kept up to date by differences, the first visits' included, and never rises.
    values = learner.history_["objective"]
    assert values[-1] == pytest.approx(oracle.dual(rows, labels, learner.alpha_, 1.0), abs=1e-8)
    assert (np.diff(values) <= 1e-9).all()
    reached = oracle.primal(rows, labels, learner.weights_, 1.0)
    gap = reached + oracle.dual(rows, labels, learner.alpha_, 1.0)
    assert learner.history_["gap"][-1] == pytest.approx(gap, abs=1e-8)
    # Every row's optimality condition holds within ε, so its share of the gap is at most ε²/8.
    assert not learner.converged_ or learner.history_["gap"][-1] <= len(rows) * 1e-8 / 8 + 1e-12


def test_named_margins():
    assert delta_matrix("sides", 3).tolist() == delta_matrix("uniform", 3).tolist()
    assert delta_matrix("sides", 5)[3].tolist() == [1, 1, 1, 0, 0.5]
    assert delta_matrix("ordered", 3)[0].tolist() == [0, 0.5, 1]
