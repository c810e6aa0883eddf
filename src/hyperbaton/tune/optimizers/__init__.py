"""Optimizers: from n-best lists to weights. One file each; its options are its arguments."""

from hyperbaton.base.registry import Registry
from hyperbaton.tune.optimizers._optimizer import Job, Optimizer

__all__ = ["OPTIMIZERS", "Job", "Optimizer"]

OPTIMIZERS: Registry[Optimizer] = Registry("optimizer", "hyperbaton.tune.optimizers", Optimizer)
