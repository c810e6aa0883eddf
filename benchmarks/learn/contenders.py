"""The learners that are compared: ours, scikit-learn's and liblinear, each with increasing effort.

Effort e means 2^e passes, or for a program without a limit on passes the tolerance 10^(1 − e). All solve with the
same constant feature and the same penalty, σ² = C, so that objectives can be compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.learn.data import Data
from hyperbaton.learn import LEARNERS, LinearModel

# Takes training data, effort and threads; returns weights of shape (n_features + 1, n_classes).
Fit = Callable[[Any, int, int], np.ndarray]


@dataclass(frozen=True)
class Contender:
    """A learner. `objective` names the function that it minimises, if that can be compared with others."""

    name: str
    prepare: Callable[[Data], Any]
    fit: Fit
    objective: str | None = None


def _ours(name: str, objective: str | None = None, label: str | None = None, **options: Any) -> Contender:
    def fit(train: Data, effort: int, threads: int) -> np.ndarray:
        limits = {} if name == "relative_frequency" else {"max_passes": 2**effort}
        strict = {"tolerance": 0.0} if name not in ("relative_frequency", "dual_eg", "svm", "mmr") else {}
        learner = LEARNERS[name](threads=threads, **limits, **strict, **options)
        learner.fit(train.rows, train.labels, n_classes=train.n_classes)
        return np.vstack([learner.weights_, learner.intercept_])

    return Contender(label or name, lambda train: train, fit, objective)


def _with_constant(train: Data) -> tuple[sparse.csr_matrix, np.ndarray]:
    matrix = sparse.hstack([train.matrix(), np.ones((len(train), 1))], format="csr")
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix, np.asarray(train.labels)


def _theirs(name: str, make: Callable[[int, int], Any], objective: str | None = None) -> Contender:
    def fit(train: Any, effort: int, threads: int) -> np.ndarray:
        matrix, labels = train
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make(effort, len(labels)).fit(matrix, labels).coef_.T

    return Contender(f"scikit-learn {name}", _with_constant, fit, objective)


def _liblinear(name: str, flags: str, cost: float, objective: str | None = None) -> Contender:
    def prepare(train: Data) -> Any:
        from liblinear.liblinear import problem

        matrix, labels = _with_constant(train)
        return problem(labels.astype(float), matrix, bias=-1), train.n_classes

    def fit(train: Any, effort: int, threads: int) -> np.ndarray:
        from liblinear.liblinear import parameter
        from liblinear.liblinearutil import train as run

        problem, n_classes = train
        model = run(problem, parameter(f"{flags} -c {cost} -e {10.0 ** (1 - effort)} -q"))
        weights = np.ctypeslib.as_array(model.w, shape=(model.nr_feature, model.nr_class)).copy()
        order = [int(model.label[k]) for k in range(model.nr_class)]
        return weights[:, np.argsort(order)][:, :n_classes]

    return Contender(f"liblinear {name}", prepare, fit, objective)


def contenders(variance: float = 1.0) -> list[Contender]:
    """All learners, ours first."""
    from sklearn.linear_model import LogisticRegression, Perceptron, SGDClassifier
    from sklearn.svm import LinearSVC

    plain = {"fit_intercept": False}
    prior, cost = {"variance": variance}, {"cost": variance}
    return [
        _ours("relative_frequency"),
        _ours("lbfgs", "logistic", **prior),
        _ours("sgd", "logistic", **prior),
        _ours("sgd", "logistic", "sgd, constant step 0.1", step=0.1, schedule="constant", **prior),
        _ours("dual_eg", "logistic", "dual_eg ε=1", epsilon=1.0, **prior),
        _ours("dual_eg", "logistic", "dual_eg ε=0.1", epsilon=0.1, **prior),
        _ours("dual_eg", "logistic", "dual_eg ε=0.01", epsilon=0.01, **prior),
        _ours("dual_eg", "logistic", "dual_eg ε=0.1, Algorithm 1", epsilon=0.1, step="fixed", initial=1e-4, **prior),
        _ours("gis", "logistic", **prior),
        _ours("iis", "logistic", **prior),
        _ours("svm", "hinge", "svm one-vs-rest", tolerance=0.01, **cost),
        _ours("svm", "margin", "svm Crammer–Singer", tolerance=0.01, kind="crammer-singer", **cost),
        _ours("mmr", label="mmr", intercept=False, **cost),
        _ours("psl"),
        _ours("psl", label="psl averaged", average=True),
        _ours("extragradient"),
        _ours("ordinal", **prior),
        _theirs(
            "LogisticRegression lbfgs",
            lambda e, n: LogisticRegression(C=variance, max_iter=2**e, tol=1e-9, **plain),
            "logistic",
        ),
        _theirs(
            "LogisticRegression saga",
            lambda e, n: LogisticRegression(C=variance, solver="saga", max_iter=2**e, tol=1e-9, random_state=0, **plain),
            "logistic",
        ),
        _theirs(
            "SGDClassifier log",
            lambda e, n: SGDClassifier(
                loss="log_loss", alpha=1 / (n * variance), max_iter=2**e, tol=None, random_state=0, **plain
            ),
        ),
        _theirs(
            "LinearSVC",
            lambda e, n: LinearSVC(C=variance, loss="hinge", max_iter=2**e, tol=1e-9, random_state=0, **plain),
            "hinge",
        ),
        _theirs("Perceptron", lambda e, n: Perceptron(max_iter=2**e, tol=None, random_state=0, **plain)),
        _liblinear("-s 0 (logistic, one-vs-rest)", "-s 0", variance),
        _liblinear("-s 7 (the same, dual)", "-s 7", variance),
        _liblinear("-s 3 (hinge, one-vs-rest)", "-s 3", variance, "hinge"),
        _liblinear("-s 4 (Crammer–Singer)", "-s 4", variance, "margin"),
    ]


def held_out_error(weights: np.ndarray, held_out: Data) -> float:
    """Fraction of the held-out rows with a wrong label."""
    scores = LinearModel(np.ascontiguousarray(weights), True, False).scores(held_out.rows, threads=1)
    return float(np.mean(scores.argmax(axis=1) != held_out.labels))
