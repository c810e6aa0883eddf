"""Find the best values of the models' options on held-out text, by which the defaults of orientation models were chosen.

    python -m benchmarks.orientation.choose SRC TGT LINKS DEV_SRC DEV_TGT DEV_LINKS [--choices choices.toml] [--models mms]

Each option is varied alone, with the others at their defaults; the first line is for the defaults. The development text
must not be used in the experiment itself.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import alone, existing, print_rows
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Bitext
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS


def cleaned(bitext: Bitext, limits: dict[str, float]) -> Bitext:
    """The sentence pairs within the limits `longest` (words) and `ratio` (of the lengths)."""
    n, m = bitext.source.lengths, bitext.target.lengths
    longest, ratio = limits.get("longest", np.inf), limits.get("ratio", np.inf)
    return bitext.select(np.flatnonzero((n <= longest) & (m <= longest) & (n <= ratio * m) & (m <= ratio * n)))


def settings(name: str, choices: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """The defaults, then each non-default value of each option."""
    defaults = to_mapping(MODELS[name]())
    yield {}
    for option, values in choices.items():
        yield from ({option: value} for value in values if value != defaults[option])


def work(name: str, options: dict[str, Any], toml: dict[str, Any], train: list[str], dev: list[str]) -> dict[str, Any]:
    """Train on a part of one text, and classify the other."""
    whole = cleaned(Bitext.read(*train), toml["clean"])
    part = whole.split({"train": toml["size"], "rest": -1}, seed=toml["seed"])["train"]
    limits = {"max-length": toml["max_length"], "max-distance": toml["max_distance"]}
    model = from_mapping(MODELS[name], {**limits, "orientations": toml["orientations"], **options}).fit(part)
    held_out = cleaned(Bitext.read(*dev), toml["clean"])
    result = evaluate(model, HeldOut(held_out, max_length=toml["max_length"], max_distance=toml["max_distance"]))
    return {
        "model": name,
        "option": " ".join(f"{option}={value}" for option, value in options.items()) or "(defaults)",
        "precision": round(result.overall_precision, 2),
        "with sub-model": round(result.known_precision or 0.0, 2),
        "mean log p": round(result.mean_logprob, 4),
        "seconds": round(model.train_seconds_, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ("SRC", "TGT", "LINKS", "DEV_SRC", "DEV_TGT", "DEV_LINKS")
    parser.add_argument("files", nargs=6, metavar="FILE", help=" ".join(names), type=existing)
    parser.add_argument("--choices", type=Path, default=Path(__file__).parent / "choices.toml")
    parser.add_argument("--models", nargs="+")
    arguments = parser.parse_args()
    toml = tomllib.loads(arguments.choices.read_text(encoding="utf-8"))
    for name in arguments.models or toml["models"]:
        tried = settings(name, toml["models"][name])
        rows = [alone(work, name, options, toml, arguments.files[:3], arguments.files[3:]) for options in tried]
        print_rows([{column: value for column, value in row.items() if column != "peak_mib"} for row in rows])


if __name__ == "__main__":
    main()
