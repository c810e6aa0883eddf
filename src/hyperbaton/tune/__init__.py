"""Tuning: weights of a system's features that make a metric of its translations best.

The system is seen through a function alone that translates with given weights and returns n-best lists. `docs/tune.md` says
which optimizer does what.
"""

from hyperbaton.tune.loop import Tuned, Tuning, tune
from hyperbaton.tune.nbest import CandidateLists, Candidates, Decode
from hyperbaton.tune.optimizers import OPTIMIZERS, Optimizer
from hyperbaton.tune.protocol import tune_and_choose

__all__ = [
    "OPTIMIZERS",
    "CandidateLists",
    "Candidates",
    "Decode",
    "Optimizer",
    "Tuned",
    "Tuning",
    "tune",
    "tune_and_choose",
]
