"""Many small sub-models in one call, compared with a loop over scikit-learn's Perceptron; and cost by number of entries."""

from __future__ import annotations

import time
import warnings

import numpy as np

from benchmarks.learn.data import Data, generate
from hyperbaton.learn import LEARNERS


def against_perceptron(data: Data, n_clusters: int, n_passes: int, threads: int) -> dict[str, float]:
    """Seconds of both methods for the same clusters and number of passes, and their training errors."""
    from sklearn.linear_model import Perceptron

    # On one thread the processor's time does not mind a busy machine.
    clock = time.process_time if threads == 1 else time.perf_counter
    sizes = np.bincount(data.clusters)
    classes = np.unique(np.stack([data.clusters, data.labels]), axis=1)[0]
    several = np.bincount(classes, minlength=len(sizes)) > 1
    chosen = np.flatnonzero((sizes >= 10) & several)
    chosen = np.random.default_rng(0).permutation(chosen)[:n_clusters]
    number = np.full(len(sizes), -1)
    number[chosen] = np.arange(len(chosen))
    part = data.select(number[data.clusters] >= 0)
    clusters = number[part.clusters]

    learner = LEARNERS["psl"](max_passes=n_passes, tolerance=0.0, threads=threads)
    start = clock()
    model = learner.fit_clusters(part.rows, part.labels, clusters, n_classes=part.n_classes)
    ours = clock() - start
    our_error = np.mean(model.predict(part.rows, clusters) != part.labels)

    # The rows of each cluster together, so that the loop is not charged for finding them.
    order = np.argsort(clusters, kind="stable")
    matrix, labels_of = part.matrix()[order], part.labels[order]
    ends = np.cumsum(np.bincount(clusters))
    wrong = 0
    start = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for begin, end in zip(np.concatenate([[0], ends[:-1]]), ends, strict=True):
            rows, labels = matrix[begin:end], labels_of[begin:end]
            # Like ours over only the features that the cluster sees.
            rows = rows[:, np.unique(rows.indices)]
            perceptron = Perceptron(max_iter=n_passes, tol=None, random_state=0).fit(rows, labels)
            wrong += int((perceptron.predict(rows) != labels).sum())
    theirs = clock() - start
    return {
        "clusters": len(chosen),
        "rows": len(part),
        "entries": len(part.rows.indices),
        "ours_seconds": ours,
        "perceptron_seconds": theirs,
        "ratio": theirs / ours,
        "ours_training_error": float(our_error),
        "perceptron_training_error": wrong / len(part),
    }


def cost_by_size(sizes: list[int], n_passes: int, threads: int) -> list[tuple[str, int, float]]:
    """(learner, entries, nanoseconds of processor time for each entry and pass) on generated rows."""
    results = []
    for size in sizes:
        data = generate(size)
        for name in ("psl", "sgd", "dual_eg", "lbfgs", "gis", "svm", "mmr"):
            options = {} if name == "dual_eg" else {"tolerance": 0.0}
            learner = LEARNERS[name](max_passes=n_passes, threads=threads, **options)
            entries = len(data.rows.indices)
            start = time.process_time()
            learner.fit(data.rows, data.labels, n_classes=data.n_classes)
            middle = time.process_time()
            results.append((name, entries, 1e9 * (middle - start) / entries / n_passes))
            if name in ("psl", "svm"):
                learner.fit_clusters(data.rows, data.labels, data.clusters, n_classes=data.n_classes)
                seconds = time.process_time() - middle
                results.append((f"{name}, clusters", entries, 1e9 * seconds / entries / n_passes))
    return results
