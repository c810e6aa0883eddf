"""Times and trains on a machine that has NumPy and PyTorch alone."""

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

BACKEND = Path(__file__).parents[2] / "src" / "hyperbaton" / "models" / "_jump_torch.py"


def load_backend() -> Any:
    """The package's PyTorch backend, by its file: the package itself may be missing."""
    spec = importlib.util.spec_from_file_location("jump_torch", BACKEND)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{BACKEND} is missing")
    module = importlib.util.module_from_spec(spec)
    sys.modules["jump_torch"] = module
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
    backend = load_backend()
    device = torch.device(arguments.device)
    arguments.output.mkdir(parents=True, exist_ok=True)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    told: dict[str, Any] = {"device": name, "torch": torch.__version__, "pack": arguments.pack.name}

    def tell(**values: Any) -> None:
        told.update(values)
        print(json.dumps(values), flush=True)
        (arguments.output / "gpu.json").write_text(json.dumps(told, indent=1), encoding="utf-8")

    seconds, corpus = timed(device, lambda: read_pack(arguments.pack, arguments.size, device))
    n_sentences = sum(len(words) for words in corpus.words.values())
    n_jumps = sum(int((following > 0).sum()) for following in corpus.following.values())
    tell(read_seconds=seconds, sentences=n_sentences, jumps=n_jumps)
    seconds, keys = timed(device, lambda: count_keys(corpus, arguments.min_count))
    tell(count_seconds=seconds, features=len(keys))
    seconds, fields = timed(device, lambda: feature_lists(corpus, keys))
    lists = backend.Lists(**fields)
    tell(list_seconds=seconds, lists=len(lists.counts), ids=len(lists.ids))
    for planes in arguments.planes:
        for dtype in (torch.float32, torch.float64):
            time_objective(backend, lists, planes, dtype, device, n_sentences, tell)
    for kind in arguments.train:
        train(backend, lists, getattr(torch, kind), device, arguments, keys, tell)
    if device.type == "cuda":
        tell(peak_gib=torch.cuda.max_memory_allocated(device) / 2**30)


def time_objective(
    backend: Any, lists: Any, planes: int, dtype: torch.dtype, device: torch.device, n_sentences: int, tell: Any
) -> None:
    """Objective and gradient, the median of five after one to warm up."""
    seconds, objective = timed(device, lambda: backend.TorchObjective(lists, planes, str(device), dtype))
    weights = torch.randn(lists.n_features, planes, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weights = (0.01 * weights).to(device, dtype)
    value = objective(weights)[0]
    times = [timed(device, lambda: objective(weights))[0] for _ in range(5)]
    label = f"{'pair' if planes == 1 else 'sequence'}_{str(dtype).removeprefix('torch.')}"
    median = float(np.median(times))
    tell(**{label: {"build": seconds, "seconds": median, "sentences_per_second": n_sentences / median, "objective": value}})


def train(
    backend: Any, lists: Any, dtype: torch.dtype, device: torch.device, arguments: argparse.Namespace, keys: Any, tell: Any
) -> None:
    """SEQUENCE to convergence."""
    objective = backend.TorchObjective(lists, 3, str(device), dtype)

    def progress(done: int, total: int) -> None:
        if done % 10 == 0:
            print(f"pass {done} of {total} at most", file=sys.stderr, flush=True)

    options = {"max_passes": arguments.max_passes, "tolerance": arguments.tolerance, "memory": 7, "progress": progress}
    seconds, (weights, history) = timed(device, lambda: backend.train(objective, arguments.variance, **options))
    label = str(dtype).removeprefix("torch.")
    tell(**{f"train_{label}": {"seconds": seconds, "steps": len(history), "objective": history[-1], "history": history}})
    np.savez(
        arguments.output / f"weights-{label}.npz",
        keys=keys.cpu().numpy().view(np.uint64) ^ np.uint64(1 << 63),
        weights=weights.cpu().numpy().astype(np.float32),
    )
