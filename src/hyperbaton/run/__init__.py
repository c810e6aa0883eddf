"""Experiments: from an experiment file to results, in stages that run once, in parallel, and atomically.

    plan = make_plan(read_experiment(Path("experiment.toml")))
    execute(plan, Path("folder"))
    finish(plan, Path("folder"))

Names are imported when they are first used: every stage is a process that should load only what it needs.
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.run.execution import MachineLimits as MachineLimits
    from hyperbaton.run.execution import Observer as Observer
    from hyperbaton.run.execution import StageFailed as StageFailed
    from hyperbaton.run.execution import execute as execute
    from hyperbaton.run.experiment import Experiment as Experiment
    from hyperbaton.run.experiment import parse_experiment as parse_experiment
    from hyperbaton.run.experiment import read_experiment as read_experiment
    from hyperbaton.run.plan import Plan as Plan
    from hyperbaton.run.plan import make_plan as make_plan
    from hyperbaton.run.results import RunSummary as RunSummary
    from hyperbaton.run.results import finish as finish
    from hyperbaton.run.stage import Stage as Stage
    from hyperbaton.run.stage import Work as Work
    from hyperbaton.run.status import status_rows as status_rows

LazyNames(globals())
