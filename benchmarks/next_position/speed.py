"""Sentences per second of objective and gradient, by backend and threads, and of `jump_logprobs`."""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import print_rows
from benchmarks.next_position.pack import read
from hyperbaton import _core
from hyperbaton.models import MODELS
from hyperbaton.models._jump_weights import N_CONSTANTS, JumpWeights
from hyperbaton.models._next_position import JumpTraining, TaggedSentences


def run(arguments: argparse.Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for size in arguments.sizes:
        rows += measure(arguments, size)
    print_rows(rows)


def measure(arguments: argparse.Namespace, size: int) -> list[dict[str, Any]]:
    bitext, tags, visits = read(arguments, size)
    labels = None if tags is None else tags.labels.astype(np.uint32)
    training = JumpTraining(TaggedSentences(bitext.source, labels), visits, None)
    jumps = training.core()
    threads = max(arguments.threads)
    keys = _core.count_jump_features(jumps, min_count=4, n_threads=threads, progress=None)
    rows = []
    for name in ("pair", "sequence"):
        model = MODELS[name](threads=threads)
        if not isinstance(model, JumpWeights):
            raise TypeError(name)
        model.keys_ = keys
        shape = (N_CONSTANTS + len(keys), model.planes)
        weights = np.random.default_rng(1).normal(scale=0.01, size=shape)

        def tell(backend: str, work: Callable[[], Any], name: str = name, n: int = len(bitext)) -> None:
            work()
            walls, cpus = zip(*(timed(work) for _ in range(3)), strict=True)
            wall, cpu = float(np.median(walls)), float(np.median(cpus))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
            rows.append(
                {"model": name, "sentences": n, "features": len(keys), "backend": backend, "seconds": wall}
                | {"cpu seconds": cpu, "sentences/s": n / wall, "peak MiB": peak}
            )

        for n_threads in arguments.threads:
            model.threads = n_threads
            objective = model._objective(jumps, True, None)
            tell(f"core, {n_threads} threads", lambda objective=objective: objective(weights))
            del objective
        anew = model._objective(jumps, False, None)
        tell(f"core, {threads} threads, features found anew", lambda anew=anew: anew(weights))
        flat = {"tagged": labels is not None, "n_threads": threads, "progress": None}
        tell(f"jump_logprobs, {threads} threads", lambda: _core.jump_logprobs(jumps, keys, weights, **flat))
        for device in arguments.torch:
            import torch

            from hyperbaton.models._jump_torch import TorchObjective

            on = TorchObjective(model.lists(training), model.planes, device, torch.float32)
            given = torch.from_numpy(weights).to(device, torch.float32)
            tell(f"torch, {device}, float32", lambda on=on, given=given: on(given))
    return rows


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu
