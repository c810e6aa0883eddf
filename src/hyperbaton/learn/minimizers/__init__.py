"""Minimizers: how the weights of a structured model are found. One file each; its options are its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from
from hyperbaton.base.registry import Registry

if TYPE_CHECKING:
    from hyperbaton.learn.minimizers._minimizer import Minimizer, Minimum, Objective, States
else:
    __getattr__ = names_from(
        __name__,
        {
            "_minimizer": ("Minimizer", "Minimum", "Objective", "States"),
        },
    )


__all__ = ["MINIMIZERS", "Minimizer", "Minimum", "Objective", "States"]

MINIMIZERS: Registry[Minimizer] = Registry(
    "minimizer", "hyperbaton.learn.minimizers", "hyperbaton.learn.minimizers._minimizer:Minimizer"
)
