"""Tuning: find the feature weights of a system that optimise a metric of its translations.

The system is seen only as a function that translates with given weights and returns n-best lists. `docs/tune.md`
describes the optimizers.
"""

from hyperbaton.tune.length import Length, TargetLength
from hyperbaton.tune.loop import Tuning, TuningRecord, TuningResult, tune
from hyperbaton.tune.nbest import CandidateLists, Candidates, Decode
from hyperbaton.tune.optimizers import OPTIMIZERS, Optimizer
from hyperbaton.tune.runs import tune_and_choose

__all__ = [
    "OPTIMIZERS",
    "CandidateLists",
    "Candidates",
    "Decode",
    "Length",
    "Optimizer",
    "TargetLength",
    "Tuning",
    "TuningRecord",
    "TuningResult",
    "tune",
    "tune_and_choose",
]
