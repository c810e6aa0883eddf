"""The stages, one file for each kind. A file defines

    run(work)              the work of the stage, in its own process
    plan(plan)             adds its stages to the plan of an experiment; AFTER names the kinds to plan before it, and
                           BEFORE those to plan after it, if they exist
    RATES                  its cost: "" is the default, other names are the `sub` of `plan.add`
    TABLES                 optional: its tables of the experiment file, and the class of the options of each
                           (`plan.experiment.options`, `find`); if ALWAYS is true, they have their defaults in experiments
                           without such a table
    results(plan, root)    optional: additions to the results of the run, as rows of a table
    figures(plan, root)    optional: entries of the results themselves, by name, for sections of the report
    warnings(plan, root)   optional: warnings for the reader of the report
    commands(plan, root)   optional: shell commands that reproduce its numbers, by section of the report
    finding(results)       optional: a sentence that summarises its part of the results

A class of options is a dataclass of options, or has two methods: `read(table, experiment)`, a class method that
reads a `KeyTable`, and `resolved()`, the options as plain values. A table that several stages use is declared by the first.

A new stage needs only a new file. The key of a stage depends only on what its `run` uses, not on how it is planned.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple


class DeclaredTable(NamedTuple):
    """A table of the experiment file: the class of its options, and whether experiments without the table have them."""

    options: type
    always: bool


@cache
def stage_modules() -> dict[str, ModuleType]:
    """Every kind of stage, in planning order."""
    kinds = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    modules = {kind: importlib.import_module(f"{__name__}.{kind}") for kind in kinds}
    ordered: dict[str, ModuleType] = {}

    def add(kind: str) -> None:
        named = getattr(modules[kind], "AFTER", ())
        for before in kinds:
            if before not in ordered and (before in named or kind in getattr(modules[before], "BEFORE", ())):
                add(before)
        ordered.setdefault(kind, modules[kind])

    for kind in kinds:
        add(kind)
    return ordered


def functions(name: str) -> dict[str, Callable[..., Any]]:
    """A function of every kind of stage that has it, in planning order."""
    return {kind: getattr(module, name) for kind, module in stage_modules().items() if hasattr(module, name)}


def declared_tables() -> dict[str, DeclaredTable]:
    """The tables of experiment files, in planning order of the stages that declare them."""
    return {
        table: DeclaredTable(options, getattr(module, "ALWAYS", False))
        for module in stage_modules().values()
        for table, options in getattr(module, "TABLES", {}).items()
    }
