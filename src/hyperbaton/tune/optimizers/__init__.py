"""Optimizers: from n-best lists to weights. One file each; its options are its arguments."""

from hyperbaton.base.registry import Registry
from hyperbaton.tune.optimizers._optimizer import Optimizer, OptimizerJob

__all__ = ["OPTIMIZERS", "Optimizer", "OptimizerJob"]

OPTIMIZERS: Registry[Optimizer] = Registry("optimizer", "hyperbaton.tune.optimizers", Optimizer)
