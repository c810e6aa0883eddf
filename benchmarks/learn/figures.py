"""AL14 Figure 1 and NI11 Figure 15, from our learners."""

from __future__ import annotations

import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt

from benchmarks.learn.data import Data, generate
from hyperbaton.learn import LEARNERS


def active_sets(data: Data, file: Path, n_passes: int = 100) -> dict[float, np.ndarray]:
    """AL14 Figure 1: the fraction of active rows, by pass, for three values of ε."""
    figure, axes = plt.subplots(figsize=(6, 4))
    shares = {}
    for epsilon in (1.0, 0.1, 0.01):
        learner = LEARNERS["dual_eg"](epsilon=epsilon, max_passes=n_passes, recheck=False)
        learner.fit(data.rows, data.labels, n_classes=data.n_classes)
        shares[epsilon] = 100 * learner.history_["active"] / len(data)
        axes.plot(np.arange(1, len(shares[epsilon]) + 1), shares[epsilon], label=f"ε = {epsilon:g}")
    axes.set(xlabel="pass", ylabel="active rows (%)", title="Active set of dual_eg (AL14 Figure 1)")
    axes.legend()
    figure.savefig(file, bbox_inches="tight")
    plt.close(figure)
    return shares


# How each learner of NI11's comparison is run for a number of passes.
RACERS = {
    "MMS (psl)": ("psl", {"tolerance": 0.0}),
    "MMR (mmr)": ("mmr", {"tolerance": 1e-6}),
    "ME (gis)": ("gis", {"tolerance": 0.0}),
    "ME (lbfgs)": ("lbfgs", {"tolerance": 0.0}),
    "SVM (svm)": ("svm", {"tolerance": 1e-6}),
}


def seconds_to_training_error(name: str, options: dict[str, float], data: Data, error: float, max_seconds: float) -> float:
    """Seconds of the cheapest fit that reaches the training error; NaN if none does in time."""
    for effort in range(14):
        learner = LEARNERS[name](max_passes=2**effort, threads=1, **options)
        start = time.perf_counter()
        learner.fit(data.rows, data.labels, n_classes=data.n_classes)
        seconds = time.perf_counter() - start
        if np.mean(learner.predict(data.rows) != data.labels) <= error:
            return seconds
        if seconds > max_seconds:
            break
    return float("nan")


def training_times(n_rows: int, file: Path, max_seconds: float = 20.0) -> dict[str, list[float]]:
    """NI11 Figure 15: time to reach a given training error by number of classes, on generated rows."""
    counts = [2, 3, 5, 9, 15]
    times: dict[str, list[float]] = {name: [] for name in RACERS}
    for n_classes in counts:
        data = generate(n_rows, n_classes)
        # What a maximum entropy model reaches in the end, and a little more.
        reference = LEARNERS["lbfgs"](tolerance=1e-3).fit(data.rows, data.labels, n_classes=n_classes)
        goal = float(np.mean(reference.predict(data.rows) != data.labels)) + 0.02
        for label, (name, options) in RACERS.items():
            times[label].append(seconds_to_training_error(name, options, data, goal, max_seconds))
    figure, axes = plt.subplots(figsize=(6, 4))
    for label, seconds in times.items():
        axes.plot(counts, seconds, marker="o", label=label)
    axes.set(xlabel="classes", ylabel="seconds", yscale="log", title="Time to equal training error (NI11 Figure 15)")
    axes.legend()
    figure.savefig(file, bbox_inches="tight")
    plt.close(figure)
    return times
