"""SEQUENCE: PAIR with labels, so that all words between the current position and a candidate count (partial CRF).

With the labels C (current), I (in between) and N (next),

    P(j | i) ∝ exp( Σ_{k ∈ M ∪ {j}} w · f(i, k; l_i, l_k) + Σ_{k ∈ M ∪ {i}} w · f(k, j; l_k, l_j) )      GO13 eq. 2

where M are the positions strictly between i and j. Each feature has three weights, one for each label pair ⟨C, I⟩, ⟨C, N⟩
and ⟨I, N⟩, and o and d are those of the two positions given to f. Running sums compute all (i, j) of a sentence in O(n²).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.base.options import option
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer
from hyperbaton.models.jumps.weights import JumpWeights


@dataclass(eq=False)
class Sequence(JumpWeights):
    """Next word, by features of all words on the way to it (SEQUENCE)."""

    # A score adds up many more weights than in PAIR, so each must be smaller.
    learner: str | Minimizer = option("adagrad:variance=0.003", "minimizer and its options", plugins=MINIMIZERS)

    n_weights_each: ClassVar = 3
