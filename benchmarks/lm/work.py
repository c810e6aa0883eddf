"""The pieces of work that are timed, each in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.corpus import Text
from hyperbaton.lm import LanguageModel


def estimate(text: str, folder: str, order: int, memory: str) -> dict[str, Any]:
    """Estimate a model and store it."""
    words = Text.read(text)
    start = time.perf_counter()
    model = LanguageModel.estimate(words, order, memory=memory, discount_fallback=True)
    seconds = time.perf_counter() - start
    model.save(Path(folder) / "lm")
    model.write_arpa(Path(folder) / "lm.arpa")
    return {"memory": memory, "seconds": seconds, "n_tokens": words.n_tokens, "n_ngrams": sum(model.n_ngrams)}


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
    n_bytes = {bits: m.nbytes for bits, m in ((32, model), (8, model.quantized(8)))}
    return {"read": read, "numbers": numbers, "strings": strings, "n_tokens": words.n_tokens, "bytes": n_bytes}


def ask_kenlm(folder: str, text: str) -> dict[str, Any]:
    """The same with KenLM."""
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
    """The shortest of several times in seconds, and the answer."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        answer = work()
        seconds.append(time.perf_counter() - start)
    return min(seconds), answer
