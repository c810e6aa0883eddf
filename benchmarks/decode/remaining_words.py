"""Cost of normalising a jump model over the remaining words: one system and its matrices, with both kinds of candidates.

python benchmarks/decode/remaining_words.py SRC SYSTEM [distortion limit] [rounds]
"""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from hyperbaton.decode import ModelUse, System, Translator
from hyperbaton.models import NextPositionModel


def translator(folder: str, candidates: str, limit: int) -> Translator:
    system = System.load(folder)
    for use in system.reordering.values():
        if isinstance(use, ModelUse) and isinstance(use.model, NextPositionModel):
            use.model.candidates = candidates
    return Translator(system, replace(system.options, distortion_limit=limit), threads=1)


def main(source: str, folder: str, limit: str = "10", rounds: str = "5") -> None:
    lines = Path(source).read_text(encoding="utf-8").splitlines()
    translators = {candidates: translator(folder, candidates, int(limit)) for candidates in ("all", "remaining")}
    for each in translators.values():
        each.translate(lines[:2])
    seconds: dict[str, list[float]] = {name: [] for name in translators}
    for _ in range(int(rounds)):
        for name, each in translators.items():
            start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            each.translate(lines)
            seconds[name].append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start)
    for name, values in seconds.items():
        print(name, *(f"{value:.2f}" for value in values))
    print(f"speed: {np.median(seconds['all']) / np.median(seconds['remaining']):.3f} of that with all")


if __name__ == "__main__":
    main(*sys.argv[1:])
