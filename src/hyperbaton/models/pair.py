"""PAIR: predicts the next source word from words and tags around the current position and around each candidate.

    P(j | i) = exp(w · f(i, j, S, o, d)) / Z_i                                        GO13 eq. 1

The normaliser runs over all positions of the sentence but the current one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hyperbaton.models.jumps.weights import JumpWeights


@dataclass(eq=False)
class Pair(JumpWeights):
    """Next word by features of the current and the candidate position (PAIR)."""

    n_weights_each: ClassVar = 1
