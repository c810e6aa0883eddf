"""The verb `evaluate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Json, Quiet, Threads, Verify
from hyperbaton.cli._common import n_threads, print_table, say, verify_artefacts
from hyperbaton.corpus import Bitext, Tags, read_trees
from hyperbaton.evaluate import (
    BlockSteps,
    Classification,
    NextPositions,
    evaluate_blocks,
    evaluate_jumps,
    evaluate_model,
)
from hyperbaton.models import NextPositionModel, OrientationModel, ReorderingModel, load_model
from hyperbaton.models.block_me import BlockMe


def evaluate(
    arguments: Annotated[
        list[str], typer.Argument(metavar="DIR… SRC TGT LINKS", help="Trained models, then the held-out bitext with links.")
    ],
    *,
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words, on either side.", min=1, max=255)] = 8,
    max_distance: Annotated[int, typer.Option(help="Leave out phrase pairs that move farther; 0 keeps all.", min=0)] = 15,
    source_tags: Annotated[
        str | None, typer.Option(help="A tag for each source word, for models trained with tags.")
    ] = None,
    source_trees: Annotated[
        str | None, typer.Option(help="Trees of the source sentences, for models that ask about them.")
    ] = None,
    plots: Annotated[Path | None, typer.Option(help="Folder for pictures.")] = None,
    verify: Verify = False,
    threads: Threads = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the movements of a held-out bitext, and say how often each model is right.

    Models of orientations classify phrase pairs; models of jumps predict the next source word, whatever --max-length and
    --max-distance say. A block model predicts target and jump of each block on the path.

    Examples:

        hyperbaton evaluate lr mms test.zh test.en test.links

        hyperbaton evaluate lr mms test.zh test.en test.links --json --plots pictures

        hyperbaton evaluate pair sequence test.ja test.en test.links --source-tags test.ja.pos
    """
    if len(arguments) < 4:
        raise OptionError("give at least one model, and the three files SRC TGT LINKS")
    *folders, source, target, links = arguments
    verify_artefacts(verify, *folders)
    bitext = Bitext.read(source, target, links)
    tags = None if source_tags is None else Tags.read(source_tags, bitext.source)

    trees = None if source_trees is None else read_trees(source_trees, bitext.source)

    def result_of(model: ReorderingModel) -> Classification | NextPositions | BlockSteps:
        model.threads = n_threads(threads)
        if isinstance(model, OrientationModel):
            return evaluate_model(model, bitext, max_length=max_length, max_distance=max_distance)
        if isinstance(model, NextPositionModel):
            return evaluate_jumps(model, bitext, tags if model.needs_tags else None)
        if isinstance(model, BlockMe):
            return evaluate_blocks(model, bitext, tags, trees)
        raise OptionError(f"the model {model.name} is of a shape that cannot be evaluated alone")

    classified: dict[str, Classification] = {}
    jumped: dict[str, NextPositions] = {}
    told: list[dict[str, Any]] = []
    for folder in folders:
        model = load_model(folder)
        result = result_of(model)
        if isinstance(result, Classification):
            classified[Path(folder).name] = result
        elif isinstance(result, NextPositions):
            jumped[Path(folder).name] = result
        costs = {"train_seconds": model.train_seconds_, "train_peak_mib": model.train_peak_mib_}
        told.append({"model": model.name, "path": folder, **result.as_json(), **costs})
    if plots is not None:
        say(f"pictures: {', '.join(map(str, _draw(plots, classified, jumped)))}", quiet)
    if as_json:
        for values in told:  # one object, one line
            print(json.dumps(values, ensure_ascii=False))
    else:
        print_table([_class_row(values) for values in told if "f1" in values])
        print_table([_jump_row(values) for values in told if "accuracy" in values])
        print_table([_block_row(values) for values in told if "block_accuracy" in values])


def _draw(folder: Path, classified: dict[str, Classification], jumped: dict[str, NextPositions]) -> list[Path]:
    from hyperbaton.report.classification import classification_figures
    from hyperbaton.report.figures import write_figure
    from hyperbaton.report.jumps import jump_figures

    figures = classification_figures({name: result.as_json() for name, result in classified.items()})
    figures |= jump_figures({name: result.as_json() for name, result in jumped.items()})
    paths = []
    for name, figure in figures.items():
        paths.append(folder / f"{name}.svg")
        write_figure(figure, paths[-1])
    return paths


def _class_row(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": values["model"],
        "path": values["path"],
        "n": values["n"],
        "precision": round(values["overall_precision"], 2),
        **{f"F1 {name}": round(value, 1) for name, value in values["f1"].items()},
        "log p": round(values["mean_logprob"], 4),
        **_costs(values),
    }


def _jump_row(values: dict[str, Any]) -> dict[str, Any]:
    directions = {name: round(told["accuracy"], 1) for name, told in values["by_direction"].items()}
    return {
        "model": values["model"],
        "path": values["path"],
        "n": values["n"],
        "accuracy": round(values["accuracy"], 2),
        **directions,
        "log p": round(values["mean_logprob"], 4),
        **_costs(values),
    }


def _block_row(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": values["model"],
        "path": values["path"],
        "n": values["n"],
        "accuracy": round(values["block_accuracy"], 2),
        "of jumps": round(values["jump_accuracy"], 2),
        "log p": round(values["mean_logprob"], 4),
        "of jumps log p": round(values["mean_jump_logprob"], 4),
        **_costs(values),
    }


def _costs(values: dict[str, Any]) -> dict[str, Any]:
    return {"train s": round(values["train_seconds"], 1), "train MiB": round(values["train_peak_mib"])}
