"""Sentences per second of objective and gradient, by threads, and of `jump_logprobs`."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._measure import print_rows
from benchmarks.next_position.corpus import read
from hyperbaton import _core
from hyperbaton.base.resources import Resources
from hyperbaton.models import MODELS
from hyperbaton.models.jumps.weights import N_CONSTANTS, JumpWeights
from hyperbaton.models.shapes.next_position import JumpTraining, TaggedSentences


def run(arguments: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for size in arguments.sizes:
        rows += measure(arguments, size)
    print_rows(rows)


def measure(arguments: argparse.Namespace, size: int) -> list[dict[str, Any]]:
    bitext, tags, visits = read(arguments, size)
    labels = None if tags is None else tags.labels.astype(np.uint32)
    threads = max(arguments.threads)
    training = JumpTraining(TaggedSentences(bitext.source, labels), visits, Resources(threads))
    jumps = training.core()
    keys = _core.count_jump_features(jumps, min_count=4, n_threads=threads, progress=None)
    return [row for name in ("pair", "sequence") for row in measure_model(arguments, name, training, keys)]


def measure_model(
    arguments: argparse.Namespace, name: str, training: JumpTraining, keys: npt.NDArray[np.uint64]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    jumps, n, threads = training.core(), len(training.source.text), max(arguments.threads)
    model = MODELS[name](threads=threads)
    if not isinstance(model, JumpWeights):
        raise TypeError(name)
    model.keys_ = keys
    weights = np.random.default_rng(1).normal(scale=0.01, size=(N_CONSTANTS + len(keys), model.n_weights_each))

    def tell(backend: str, work: Callable[[], Any]) -> None:
        work()
        walls, cpus = zip(*(timed(work) for _ in range(3)), strict=True)
        wall, cpu = float(np.median(walls)), float(np.median(cpus))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
        rows.append(
            {"model": name, "sentences": n, "features": len(keys), "backend": backend, "seconds": wall}
            | {"cpu seconds": cpu, "sentences/s": n / wall, "peak MiB": peak}
        )

    for n_threads in arguments.threads:
        objective = model.core_objective(training._replace(resources=Resources(n_threads)), cached=True)
        tell(f"core, {n_threads} threads", partial(objective, weights))
        del objective
    tell(
        f"core, {threads} threads, features computed again", partial(model.core_objective(training, cached=False), weights)
    )
    scored = partial(_core.jump_logprobs, jumps, training.features(keys), weights, n_threads=threads)
    tell(f"jump_logprobs, {threads} threads", scored)
    return rows


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu
