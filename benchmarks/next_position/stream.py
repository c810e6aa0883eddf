"""Training with PyTorch on any amount of text: time and memory of the device, compared with the core's objective."""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from benchmarks._measure import print_rows
from benchmarks.next_position.pack import read
from hyperbaton.base.options import plugin
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Annotations
from hyperbaton.models import MODELS
from hyperbaton.models.jumps.weights import JumpWeights
from hyperbaton.models.shapes.next_position import JumpTraining


def run(arguments: argparse.Namespace) -> None:
    bitext, tags, visits = read(arguments)
    annotations = Annotations(source_tags=tags)
    rows: list[dict[str, Any]] = []
    for memory in arguments.device_memory:
        learner = f"torch:variance={arguments.variance}:device={arguments.device}"
        learner += f":max-passes={arguments.max_passes}" + (f":device-memory={memory}" if memory != "all" else "")
        model = MODELS[arguments.model](learner=learner, threads=arguments.threads)
        if not isinstance(model, JumpWeights):
            raise SystemExit(f"{arguments.model} has no weights of jumps")
        if arguments.device != "cpu":
            torch.cuda.reset_peak_memory_stats()
        passes: list[tuple[int, float]] = []  # how many were done, and when

        def progress(done: int, total: int, passes: list[tuple[int, float]] = passes) -> None:
            if total == arguments.max_passes:
                passes.append((done, time.perf_counter()))

        start = time.perf_counter()
        model.fit(bitext, annotations, progress=progress)
        row = {"device memory": memory, "sentences": len(bitext), "features": model.n_features}
        row |= {"seconds": time.perf_counter() - start, "of them features": passes[0][1] - start if passes else 0.0}
        n_passes = passes[-1][0] - passes[0][0] if passes else 0
        row |= {"seconds a pass": (passes[-1][1] - passes[0][1]) / n_passes if n_passes else 0.0}
        row |= {"GiB": torch.cuda.max_memory_reserved() / 2**30 if arguments.device != "cpu" else 0.0}
        rows.append(row | {"steps": len(model.objective_) - 1, "objective": float(model.objective_[-1])})
    print_rows(rows)
    if arguments.core:
        training = JumpTraining(model._known(bitext.source, annotations), visits, Resources.of())
        value, _ = model.core_objective(training, cached=False)(model.weights_)
        value += float((model.weights_**2).sum()) / (2 * plugin(model, "learner").variance)
        difference = value / rows[-1]["objective"] - 1
        print(f"objective of the core at the last weights: {value} (relative difference {difference:.1e})")
