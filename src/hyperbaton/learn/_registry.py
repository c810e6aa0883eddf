"""The registry of learners; `_registry.pyi` tells type checkers the class of each."""

from hyperbaton.base.registry import Registry

LEARNERS: Registry[object] = Registry("learner", "hyperbaton.learn", "hyperbaton.learn._learner:Learner")
