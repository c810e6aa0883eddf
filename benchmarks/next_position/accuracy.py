"""Accuracy and mean log-probability of the next position on held-out text, and GO13 Fig. 5."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks._measure import alone, print_rows
from benchmarks.next_position.corpus import read
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS, NextPositionModel, load_model
from hyperbaton.report.figures import write_figure
from hyperbaton.report.jumps import jump_figures


def run(arguments: argparse.Namespace) -> None:
    arguments.output.mkdir(parents=True, exist_ok=True)
    test = Bitext.read(*arguments.test)
    tags = None if arguments.test_tags is None else Tags.read(arguments.test_tags, test.source)
    rows, results = [], {}
    for name in arguments.models:
        folder = arguments.output / name
        if not folder.exists():
            alone(train, name, vars(arguments), str(folder))
        model = load_model(folder)
        if not isinstance(model, NextPositionModel):
            raise SystemExit(f"{name} is not a jump model")
        results[name] = evaluate(model, HeldOut(test, Annotations(source_tags=tags)))
        record = results[name].as_json() | {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
        (arguments.output / f"{name}.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
        rows.append(
            {"model": name, "n": results[name].n, "accuracy": results[name].accuracy, "log p": results[name].mean_logprob}
            | {direction: result["accuracy"] for direction, result in results[name].by_direction.items()}
            | {"train s": model.train_seconds_, "peak MiB": model.train_peak_mib_}
        )
    print_rows(rows)
    for picture, figure in jump_figures({name: result.as_json() for name, result in results.items()}).items():
        write_figure(figure, arguments.output / f"{picture}.svg")


def train(name: str, options: dict[str, Any], folder: str) -> dict[str, Any]:
    """Train one model, in a separate process."""
    arguments = argparse.Namespace(**options)
    bitext, tags, _ = read(arguments)
    model = MODELS[name](threads=arguments.threads)
    if not isinstance(model, NextPositionModel):
        raise SystemExit(f"{name} is not a jump model")
    model.fit(bitext, Annotations(source_tags=tags)).save(Path(folder))
    return {}
