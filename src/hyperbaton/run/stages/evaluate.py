"""A trained model's predictions of the movements of held-out text."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import option, to_mapping
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import load_model
from hyperbaton.run.cost import Rate
from hyperbaton.run.models import Models
from hyperbaton.run.plan import Plan, shell
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import FROM_CORPUS, Texts


@dataclass(frozen=True)
class Options:
    """The held-out movements to predict."""

    split: str = option("test", "part of the corpus", choices=("dev", "test"))
    max_length: int = option(8, "longest phrase, in words, on either side", minimum=1, maximum=255)
    max_distance: int = option(15, "skip phrase pairs that move farther; 0 keeps all", minimum=0)


AFTER = ("train",)
TABLES, ALWAYS = {"evaluate": Options}, True
RATES = {"": Rate(0.4, 1.5, 60, 8, "test")}


def plan(plan: Plan) -> None:
    """Plan the evaluation of every trained model."""
    options = plan.experiment.options(Options)
    for model in plan.experiment.options(Models).reordering.values():
        for side in model.sides:
            inputs = plan.text(options.split, links=True) | {"model": plan.provided[f"model.{model.use(side)}"]}
            plan.add(model.stage("evaluate", side), "evaluate", to_mapping(options), inputs)


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    bitext = texts.bitext(options["split"])
    model = load_model(work.inputs["model"] / "model")
    model.threads = work.threads
    annotations = texts.annotations(options["split"], model.reads, bitext)
    evaluation = evaluate(model, HeldOut(bitext, annotations, options["max-length"], options["max-distance"]))
    work.write_json("evaluation.json", {**evaluation.record(), **model.costs})


def figures(plan: Plan, root: Path) -> JsonObject:
    """The evaluations of all models, by shape."""
    by_shape: JsonObject = {}
    for model in plan.experiment.options(Models).reordering.values():
        for side in model.sides:
            stage = plan.stages[model.stage("evaluate", side)]
            evaluation = read_json(stage.folder(root) / "evaluation.json")
            name = f"{model.name} (after)" if side == "after" and len(model.sides) > 1 else model.name
            path = str(plan.provided[f"model.{model.use(side)}"].folder(root))
            row = {"model": name, "kind": model.model, "is_distance": model.cls.is_distance, "path": path, **evaluation}
            by_shape.setdefault(evaluation["shape"], []).append(row)
    return by_shape


def commands(plan: Plan, root: Path) -> dict[str, list[str]]:
    """One command for all models of a shape."""
    held_out, every = plan.experiment.options(Options), plan.experiment.options(Models).reordering.values()
    texts = Texts(plan.folders(root))
    columns = [texts.path(held_out.split, name) for name in ("source", "target", "links")]
    commands = {}
    for shape in dict.fromkeys(model.cls.shape for model in every):
        models = [model for model in every if model.cls.shape == shape]
        uses = [model.use(side) for model in models for side in model.sides]
        folders = [plan.provided[f"model.{use}"].folder(root) / "model" for use in uses]
        options: list[object] = ["--max-length", held_out.max_length, "--max-distance", held_out.max_distance]
        for annotation, name in FROM_CORPUS.items():
            if any(annotation in model.annotations for model in models):
                options += [f"--{annotation.replace('_', '-')}", texts.path(held_out.split, name)]
        commands[shape] = [shell("hyperbaton", "evaluate", *folders, *columns, "--json", *options)]
    return commands


def finding(results: JsonObject) -> str:
    """The best model of each shape, and the distance baseline if it was included."""
    said = []
    for rows in results.values():
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict) and "shape" in rows[0]):
            continue
        # Figures of different orientation sets are not comparable: those comparable with most others are compared.
        kinds = [row["comparable"] for row in rows]
        rows = [row for row in rows if row["comparable"] == max(kinds, key=kinds.count)]
        figure, what = rows[0]["figure"], rows[0]["predicts"]
        best = max(rows, key=lambda row: row[figure])
        plain = next((row for row in rows if row["is_distance"]), None)
        worst = plain or min(rows, key=lambda row: row[figure])
        text = f"{best['model']} predicts {best[figure]:.1f}% of the held-out {what}"
        if worst is not best:
            text += f", {worst['model']} {worst[figure]:.1f}%"
        said.append(text)
    return "; ".join(said) + "." if said else "No model was evaluated separately."
