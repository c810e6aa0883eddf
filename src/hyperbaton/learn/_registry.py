"""The registry of learners; `_registry.pyi` gives type checkers the class of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.registry import Registry

if TYPE_CHECKING:
    from hyperbaton.learn._learner import Learner

LEARNERS: Registry[Learner] = Registry("learner", "hyperbaton.learn", "hyperbaton.learn._learner:Learner")
