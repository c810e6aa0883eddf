"""The registry of learners; `_registry.pyi` tells type checkers the class of each."""

from hyperbaton.base.registry import Registry
from hyperbaton.learn._learner import Learner

LEARNERS: Registry[Learner] = Registry("learner", "hyperbaton.learn", Learner)
