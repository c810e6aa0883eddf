"""Minimizers: how the weights of a structured model are found. One file each; its options are its arguments."""

from hyperbaton.base.registry import Registry
from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective, States

__all__ = ["MINIMIZERS", "Minimizer", "Minimum", "Objective", "States"]

MINIMIZERS: Registry[Minimizer] = Registry("minimizer", "hyperbaton.learn.minimizers", Minimizer)
