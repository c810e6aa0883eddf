"""Relative frequencies, the default in Moses."""

from collections.abc import Iterator

from hyperbaton.phrases.smoothing import Doubles, PairCounts, Smoothing


class None_(Smoothing):
    """c(s, t) / c(s): relative frequency."""

    is_relative_frequency = True

    def probabilities(self, counts: PairCounts) -> Iterator[Doubles]:
        for rows in counts.rows():
            yield counts.joint[rows] / counts.given_totals[counts.given[rows]]
