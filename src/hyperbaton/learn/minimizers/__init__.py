"""Minimizers: how the weights of a structured model are found. One file each; its options are its arguments."""

from __future__ import annotations

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames
from hyperbaton.base.registry import Registry

if TYPE_CHECKING:
    from hyperbaton.learn.minimizers._minimizer import Minimizer as Minimizer
    from hyperbaton.learn.minimizers._minimizer import Minimum as Minimum
    from hyperbaton.learn.minimizers._minimizer import Objective as Objective

LazyNames(globals(), ["MINIMIZERS"])

MINIMIZERS: Registry[Minimizer] = Registry(
    "minimizer", "hyperbaton.learn.minimizers", "hyperbaton.learn.minimizers._minimizer:Minimizer"
)
