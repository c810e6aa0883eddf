"""The pieces of work that are timed, each in a separate process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.base.memory import parse_memory
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Text
from hyperbaton.lm import Estimation, LanguageModel
from hyperbaton.lm.estimation import estimate_ngrams


def estimate(text: str, folder: str, order: int, memory: str, threads: int) -> dict[str, Any]:
    """Estimate a model, write the ARPA file, and build and store the model: wall-clock and processor seconds."""
    path, options = Path(folder), Estimation(order, discount_fallback=True)
    clock = _Clock()
    words = Text.read(text)
    clock.lap("read")
    ngrams = estimate_ngrams(words, options, Resources(threads, scratch=Scratch(parse_memory(memory))))
    clock.lap("estimate")
    ngrams.write_arpa(path / "lm.arpa", threads)
    clock.lap("arpa")
    to_arpa = {"text to ARPA s": clock.seconds, "processor s": clock.processor_seconds}
    LanguageModel.of(ngrams, options, threads).save(path / "lm")
    clock.lap("artefact")
    sizes = {"n_tokens": words.n_tokens, "n_ngrams": sum(ngrams.n_ngrams)}
    return {"memory": memory, "threads": threads, **to_arpa, **clock.laps, **sizes}


class _Clock:
    """Processor seconds of each stage, and in total."""

    def __init__(self) -> None:
        self._start, self._processor_start = time.perf_counter(), time.process_time()
        self.seconds, self.processor_seconds = 0.0, 0.0
        self.laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        seconds, processor_seconds = time.perf_counter() - self._start, time.process_time() - self._processor_start
        self.laps[name] = processor_seconds - self.processor_seconds
        self.seconds, self.processor_seconds = seconds, processor_seconds


def ask_ours(folder: str, text: str) -> dict[str, Any]:
    """Read the ARPA file; score a text with the stored model."""
    start = time.perf_counter()
    LanguageModel.read_arpa(Path(folder) / "lm.arpa")
    read = time.perf_counter() - start
    model, words = LanguageModel.load(Path(folder) / "lm"), Text.read(text)
    lines = [" ".join(sentence) for sentence in words]
    numbers, scores = best(lambda: model.score(words, threads=1))
    strings, _ = best(lambda: model.score(lines, threads=1))
    np.save(Path(folder) / "ours.npy", scores / np.log(10))
    found = {"read": read, "numbers": numbers, "strings": strings, "n_tokens": words.n_tokens, "forms": forms(model, words)}
    packed = {"packed": model.packed(exact=True), "packed, 8 bits": model.packed(exact=False)}
    return {**found, "bits of an n-gram": {name: columns(form) for name, form in packed.items()}}


def forms(model: LanguageModel, text: Text) -> dict[str, dict[str, float]]:
    """Size of each form of a model, and processor microseconds for a query, the best of three turns."""
    quantized = model.quantized()
    models = {"hashed": model, "packed": model.packed(exact=True)}
    models |= {"hashed, 8 bits": quantized, "packed, 8 bits": quantized.packed(exact=True)}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(3):
        for name, form in models.items():
            start = time.process_time()
            form.score_words(text, threads=1)
            seconds[name].append(time.process_time() - start)
    n = text.n_tokens + len(text)
    return {name: {"MB": form.nbytes / 1e6, "us": 1e6 * min(seconds[name]) / n} for name, form in models.items()}


def columns(model: LanguageModel) -> list[dict[str, float]]:
    """Bits of an n-gram of each order of a packed model, by column (`core/lm/packed_table.hh`)."""
    rows: list[dict[str, float]] = []
    for order, table in enumerate(model.tables, 1):
        content = table.slots.ravel()
        n = int(content[:4].view(np.uint32)[0])
        n_blocks, n_bytes = -(-n // 32), -(-(36 + int(content[16:19].sum())) // 8)
        blocks = content[20:][np.arange(n_blocks)[:, None] * n_bytes + np.arange(8)].view(np.uint64)[:, 0]
        names = ("rank", "children", "back-off", "marks", "probability")
        bits = {name: float((blocks >> np.uint64(6 * k) & np.uint64(63)).mean()) for k, name in enumerate(names)}
        bits |= {"block": 8 * n_bytes / 32, "lists": 8 * (table.prob_bins.nbytes + table.backoff_bins.nbytes) / n}
        rows.append({"order": order, "n": n, **bits, "all": 8 * sum(array.nbytes for array in table) / n})
    return rows


def ask_kenlm(folder: str, text: str) -> dict[str, Any]:
    """Read the ARPA file and score a text with KenLM."""
    import kenlm

    config = kenlm.Config()
    config.show_progress = False
    start = time.perf_counter()
    model = kenlm.LanguageModel(str(Path(folder) / "lm.arpa"), config)
    read = time.perf_counter() - start
    lines = [" ".join(sentence) for sentence in Text.read(text)]
    strings, scores = best(lambda: np.array([model.score(line) for line in lines]))
    difference = float(np.abs(scores - np.load(Path(folder) / "ours.npy")).max())
    return {"read": read, "strings": strings, "max_difference": difference}


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The shortest of several times in seconds, and the result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), answer
