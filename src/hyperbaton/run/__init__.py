"""Experiments: from an experiment file to results, in stages that run once, in parallel, and atomically.

    plan = make_plan(read_experiment(Path("experiment.toml")))
    execute(plan, Path("folder"))
    finish(plan, Path("folder"))

Names are imported when they are first used: every stage is a process that should load only what it needs.
"""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.run.completion import RunSummary, finish
    from hyperbaton.run.execution import MachineLimits, Observer, StageFailed, execute
    from hyperbaton.run.experiment import Experiment, parse_experiment, read_experiment
    from hyperbaton.run.plan import Plan, make_plan
    from hyperbaton.run.stage import Stage, Work
    from hyperbaton.run.status import status_rows
else:
    __getattr__ = names_from(
        __name__,
        {
            "execution": ("MachineLimits", "Observer", "StageFailed", "execute"),
            "experiment": ("Experiment", "parse_experiment", "read_experiment"),
            "completion": ("RunSummary", "finish"),
            "plan": ("Plan", "make_plan"),
            "stage": ("Stage", "Work"),
            "status": ("status_rows",),
        },
    )

__all__ = [
    "Experiment",
    "MachineLimits",
    "Observer",
    "Plan",
    "RunSummary",
    "Stage",
    "StageFailed",
    "Work",
    "execute",
    "finish",
    "make_plan",
    "parse_experiment",
    "read_experiment",
    "status_rows",
]
