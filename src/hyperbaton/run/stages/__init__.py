"""The stages, one file for each kind. A file defines

    run(work)              the work of the stage, in its own process
    plan(plan)             adds its stages to the plan of an experiment; AFTER names the kinds to plan before it
    RATES                  its cost: "" is the default, other names are the `sub` of `plan.add`
    Options                optional: options in a table of this name in the experiment file (`plan.experiment.own`); if
                           ALWAYS is true, they have their defaults in experiments without such a table
    results(plan, root)    optional: additions to the results of the run, as rows of a table
    figures(plan, root)    optional: entries of the results themselves, by name, for sections of the report
    warnings(plan, root)   optional: warnings for the reader of the report

A new stage needs only a new file. Files import `Plan` for type checking only, so that the key of a stage does not depend
on how others are planned.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def stage_modules() -> dict[str, ModuleType]:
    """Every kind of stage, in planning order."""
    kinds = sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    modules = {kind: importlib.import_module(f"{__name__}.{kind}") for kind in kinds}
    ordered: dict[str, ModuleType] = {}

    def add(kind: str) -> None:
        for before in getattr(modules[kind], "AFTER", ()):
            if before not in ordered:
                add(before)
        ordered.setdefault(kind, modules[kind])

    for kind in kinds:
        add(kind)
    return ordered
