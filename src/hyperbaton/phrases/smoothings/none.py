"""Relative frequencies, as Moses' default."""

from hyperbaton.phrases.smoothing import Doubles, PairCounts, Smoothing


class None_(Smoothing):
    """c(s, t) / c(s): relative frequency."""

    def probabilities(self, counts: PairCounts) -> Doubles:
        return counts.joint / counts.given_totals()[counts.given]
