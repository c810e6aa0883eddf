"""The report's sections about models: each shape of model has a section and figures, in a separate file.

The file `orientation_section.py` has the `SHAPE` "orientation"; `docs/report.md` describes the content of evaluations.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from hyperbaton.base.forms import Json
from hyperbaton.report.elements import Cell, Section, TableColumn, number

Results = Mapping[str, Json]
COSTS = [TableColumn("train s"), TableColumn("train MiB")]


class ShapeReport(NamedTuple):
    """`absent`: what is missing if no model of the shape was evaluated. `figures`: of evaluations, by model."""

    place: int  # on the page, among the shapes
    absent: str
    section: Callable[[Results], Section | None]
    figures: Callable[[Mapping[str, Results]], dict[str, Figure]] = lambda evaluations: {}


def shapes() -> dict[str, ShapeReport]:
    """The sections of all shapes, by name, in page order."""
    sections = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        name = module.name.removesuffix("_section")
        if name != module.name and hasattr(section := importlib.import_module(f"{__package__}.{module.name}"), "SHAPE"):
            sections[name] = section.SHAPE
    return dict(sorted(sections.items(), key=lambda item: item[1].place))


def evaluation_figures(evaluations: Mapping[str, Results]) -> dict[str, Figure]:
    """The figures of evaluations of models of all shapes, by model."""
    figures: dict[str, Figure] = {}
    for shape, report in shapes().items():
        figures |= report.figures({name: values for name, values in evaluations.items() if values["shape"] == shape})
    return figures


def costs(model: Results) -> list[Cell]:
    return [number(model.get("train_seconds"), 1), number(model.get("train_peak_mib"))]
