"""Minimizers: how the weights of a structured model are found. One file each; its options are its arguments."""

from __future__ import annotations

from hyperbaton.base.lazy import LazyNames
from hyperbaton.base.registry import Registry

with LazyNames(globals(), ["MINIMIZERS"]):
    from hyperbaton.learn.minimizers._minimizer import Minimizer as Minimizer
    from hyperbaton.learn.minimizers._minimizer import Minimum as Minimum
    from hyperbaton.learn.minimizers._minimizer import Objective as Objective
    from hyperbaton.learn.minimizers._minimizer import States as States

MINIMIZERS: Registry[Minimizer] = Registry(
    "minimizer", "hyperbaton.learn.minimizers", "hyperbaton.learn.minimizers._minimizer:Minimizer"
)
