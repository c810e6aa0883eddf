"""What stages do, one file each. A file is the kind of stage of its name, and defines

    run(work)              what the stage does, in a process of its own
    plan(plan)             adds its stages to the plan of an experiment; AFTER names the kinds that are planned before
    RATES                  what it costs: "" for any, other names for what `plan.add` calls it
    Options                optional: options that a table of the experiment file of its name holds (`plan.experiment.own`)
    results(plan, root)    optional: what it adds to the results of the run, as rows of a table

A stage in a file of its own is all that a new one needs. Files import `Plan` for type checking alone, so that the key of a
stage does not depend on how others are planned.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def stage_modules() -> dict[str, ModuleType]:
    """Every kind of stage, each after those that are planned before it."""
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
