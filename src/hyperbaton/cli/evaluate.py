"""The verb `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Json, Quiet, Threads
from hyperbaton.cli._common import n_threads, print_table, say
from hyperbaton.corpus import Bitext
from hyperbaton.evaluate import Classification, evaluate_model
from hyperbaton.models import load_model


def evaluate(
    arguments: Annotated[
        list[str], typer.Argument(metavar="DIR… SRC TGT LINKS", help="Trained models, then the held-out bitext with links.")
    ],
    *,
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words, on either side.", min=1, max=255)] = 8,
    max_distance: Annotated[int, typer.Option(help="Leave out phrase pairs that move farther; 0 keeps all.", min=0)] = 15,
    plots: Annotated[Path | None, typer.Option(help="Folder for pictures.")] = None,
    threads: Threads = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Classify the phrase movements of a held-out bitext, and say how often each model is right.

    Examples:

        hyperbaton evaluate lr mms test.zh test.en test.links

        hyperbaton evaluate lr mms test.zh test.en test.links --json --plots pictures
    """
    if len(arguments) < 4:
        raise OptionError("give at least one model, and the three files SRC TGT LINKS")
    *folders, source, target, links = arguments
    bitext = Bitext.read(source, target, links)
    found: list[tuple[str, Classification, dict[str, Any]]] = []
    for folder in folders:
        model = load_model(folder)
        model.threads = n_threads(threads)
        result = evaluate_model(model, bitext, max_length=max_length, max_distance=max_distance)
        costs = {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
        found.append((folder, result, {"model": model.name, "path": folder, **result.as_json(), **costs}))
    if plots is not None:
        from hyperbaton.report.classification import draw_by_distance, draw_by_support
        from hyperbaton.report.figures import write_figure

        named = {Path(folder).name: result for folder, result, _ in found}
        write_figure(draw_by_distance(named), plots / "precision-by-distance.svg")
        write_figure(draw_by_support(named), plots / "precision-by-support.svg")
        say(f"pictures: {plots / 'precision-by-distance.svg'}, {plots / 'precision-by-support.svg'}", quiet)
    if as_json:
        for _, _, values in found:  # one object, one line
            print(json.dumps(values, ensure_ascii=False))
    else:
        print_table([_row(folder, values) for folder, _, values in found])


def _row(folder: str, values: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": values["model"],
        "path": folder,
        "n": values["n"],
        "precision": round(values["overall_precision"], 2),
        **{f"F1 {name}": round(value, 1) for name, value in values["f1"].items()},
        "log p": round(values["mean_logprob"], 4),
        "train s": round(values["train_seconds"], 1),
        "train MiB": round(values["train_peak_mib"]),
    }
