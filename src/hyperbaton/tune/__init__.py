"""Tuning: find the feature weights of a system that optimise a metric of its translations.

The system is seen only as a function that translates with given weights and returns n-best lists. `docs/tune.md`
describes the optimizers.
"""

from hyperbaton.tune.loop import Tuning, TuningResult, tune
from hyperbaton.tune.nbest import CandidateLists, Candidates, Decode
from hyperbaton.tune.optimizers import OPTIMIZERS, Optimizer
from hyperbaton.tune.protocol import tune_and_choose

__all__ = [
    "OPTIMIZERS",
    "CandidateLists",
    "Candidates",
    "Decode",
    "Optimizer",
    "Tuning",
    "TuningResult",
    "tune",
    "tune_and_choose",
]
