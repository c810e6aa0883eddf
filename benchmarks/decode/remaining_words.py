"""Cost of normalising a jump model over the remaining words: one system and its matrices, with both kinds of candidates.

python -m benchmarks.decode.remaining_words SRC SYSTEM [distortion limit] [rounds]
"""

from __future__ import annotations

import argparse
import resource
from dataclasses import replace

import numpy as np

from benchmarks._measure import existing, existing_path
from hyperbaton.decode import ModelUse, System, TokenTranslator
from hyperbaton.models import NextPositionModel


def translator(folder: str, candidates: str, limit: int) -> TokenTranslator:
    system = System.load(folder)
    for use in system.reordering.values():
        if isinstance(use, ModelUse) and isinstance(use.model, NextPositionModel):
            use.model.candidates = candidates
    return TokenTranslator(system, replace(system.options, distortion_limit=limit), threads=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("source", metavar="SRC", type=existing_path)
    parser.add_argument("system", metavar="SYSTEM", type=existing)
    parser.add_argument("limit", nargs="?", type=int, default=10, help="distortion limit")
    parser.add_argument("rounds", nargs="?", type=int, default=5)
    options = parser.parse_args()
    lines = options.source.read_text(encoding="utf-8").splitlines()
    translators = {candidates: translator(options.system, candidates, options.limit) for candidates in ("all", "remaining")}
    for each in translators.values():
        each.translate(lines[:2])
    seconds: dict[str, list[float]] = {name: [] for name in translators}
    for _ in range(options.rounds):
        for name, each in translators.items():
            start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
            each.translate(lines)
            seconds[name].append(resource.getrusage(resource.RUSAGE_SELF).ru_utime - start)
    for name, values in seconds.items():
        print(name, *(f"{value:.2f}" for value in values))
    print(f"speed: {np.median(seconds['all']) / np.median(seconds['remaining']):.3f} of that with all")


if __name__ == "__main__":
    main()
