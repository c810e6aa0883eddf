"""Time and train models on a machine that has only NumPy and PyTorch."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.next_position.torch_features import count_keys, feature_lists, read_pack

PLANES = {"pair": 1, "sequence": 3}
PACKAGE = Path(__file__).parents[2] / "src" / "hyperbaton"


def load(file: str) -> Any:
    """A module of the package that needs only PyTorch, loaded from its file, since the package may not be installed."""
    path = PACKAGE / file
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def timed(device: torch.device, work: Callable[[], Any]) -> tuple[float, Any]:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    start = time.perf_counter()
    result = work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - start, result


def run(arguments: argparse.Namespace) -> None:
    backend = load("models/jumps/torch_objective.py")
    device = torch.device(arguments.device)
    arguments.output.mkdir(parents=True, exist_ok=True)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    results: dict[str, Any] = {"device": name, "torch": torch.__version__, "pack": arguments.pack.name}

    def tell(**values: Any) -> None:
        results.update(values)
        print(json.dumps(values), flush=True)
        (arguments.output / "gpu.json").write_text(json.dumps(results, indent=1), encoding="utf-8")

    seconds, corpus = timed(device, lambda: read_pack(arguments.pack, arguments.size, device))
    n_sentences = sum(len(words) for words in corpus.words.values())
    n_jumps = sum(int((following > 0).sum()) for following in corpus.following.values())
    tell(read_seconds=seconds, sentences=n_sentences, jumps=n_jumps)
    seconds, keys = timed(device, lambda: count_keys(corpus, arguments.min_count))
    tell(count_seconds=seconds, features=len(keys))
    seconds, fields = timed(device, lambda: feature_lists(corpus, keys))
    lists = backend.TorchLists(**fields)
    tell(list_seconds=seconds, lists=len(lists.counts), ids=len(lists.ids))
    for model in arguments.models:
        for dtype in (torch.float32, torch.float64):
            time_objective(backend, lists, model, dtype, device, n_sentences, tell)
    held_out = read_pack(arguments.pack, 0, device, "test_")
    test = None if held_out is None else backend.TorchLists(**feature_lists(held_out, keys))
    for kind in arguments.train:
        for model in arguments.models:
            for variance in arguments.variances:
                train(backend, lists, test, model, variance, getattr(torch, kind), device, arguments, tell)
    if device.type == "cuda":
        tell(peak_gib=torch.cuda.max_memory_allocated(device) / 2**30)


def time_objective(
    backend: Any, lists: Any, model: str, dtype: torch.dtype, device: torch.device, n_sentences: int, tell: Any
) -> None:
    """Time objective and gradient: the median of five runs after one to warm up."""
    planes = PLANES[model]
    seconds, objective = timed(device, lambda: backend.TorchObjective(lists, planes, str(device), dtype))
    weights = torch.randn(lists.n_features, planes, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weights = (0.01 * weights).to(device, dtype)
    value = objective(weights)[0]
    times = [timed(device, lambda: objective(weights))[0] for _ in range(5)]
    label = f"{model}_{str(dtype).removeprefix('torch.')}"
    median = float(np.median(times))
    tell(**{label: {"build": seconds, "seconds": median, "sentences_per_second": n_sentences / median, "objective": value}})


def train(
    backend: Any,
    lists: Any,
    test: Any,
    model: str,
    variance: float,
    dtype: torch.dtype,
    device: torch.device,
    arguments: argparse.Namespace,
    tell: Any,
) -> None:
    """Train to convergence; then evaluate the jumps of the test text, if there is one."""
    planes = PLANES[model]
    objective = backend.TorchObjective(lists, planes, str(device), dtype)

    def progress(done: int, total: int) -> None:
        if done % 10 == 0:
            print(f"pass {done} of {total} at most", file=sys.stderr, flush=True)

    minimize = load("learn/minimizers/_lbfgs_torch.py").minimize
    options = {
        "max_passes": arguments.max_passes,
        "tolerance": arguments.tolerance,
        "gain": 0.0,
        "memory": 7,
        "progress": progress,
    }
    seconds, (weights, history) = timed(device, lambda: minimize(objective, variance, **options))
    result = {"seconds": seconds, "steps": len(history), "objective": history[-1]}
    if test is not None:
        result |= held_out(backend.TorchObjective(test, planes, str(device), dtype), weights)
    tell(**{f"train_{model}_{str(dtype).removeprefix('torch.')}_{variance:g}": result})


def held_out(objective: Any, weights: torch.Tensor) -> dict[str, Any]:
    """Accuracy, mean log-probability, and mean probability of forward jumps by distortion (GO13 Fig. 5)."""
    n, right, logprob = 0, 0, 0.0
    chances, candidates = np.zeros(31), np.zeros(31)
    for batch, logprobs in objective.logprobs(weights):
        rows = logprobs.reshape(-1, batch.n + 1)
        made, best = rows.reshape(-1)[batch.true], rows[batch.rows].max(1).values
        n, right, logprob = n + len(made), right + int((made >= best).sum()), logprob + float(made.double().sum())
        current = batch.rows % (batch.n + 1)  # CP + 1 of each jump made
        for d in range(min(31, batch.n + 1)):
            there = current + d <= batch.n
            chances[d] += float(torch.exp(rows[batch.rows[there], (current + d)[there]]).double().sum())
            candidates[d] += int(there.sum())
    forward = {d: chances[d] / candidates[d] for d in range(31) if candidates[d]}
    return {"n": n, "accuracy": 100 * right / n, "mean_logprob": logprob / n, "average_probability": forward}
