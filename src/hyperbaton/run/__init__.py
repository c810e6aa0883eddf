"""Experiments: from an experiment file to results, in stages that are done once, side by side, and never by half."""

from hyperbaton.run.execute import Limits, execute
from hyperbaton.run.experiment import Experiment, read_experiment
from hyperbaton.run.finish import Finished, finish
from hyperbaton.run.plan import Plan, make_plan

__all__ = ["Experiment", "Finished", "Limits", "Plan", "execute", "finish", "make_plan", "read_experiment"]
