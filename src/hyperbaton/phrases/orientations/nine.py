"""The nine distortion classes of the word-level 9-CLASS model."""

from hyperbaton import _core
from hyperbaton.phrases.orientation import DistanceSet


class Nine(DistanceSet):
    """Nine classes of the word distortion j-i-1 = -d (Goto 2013, footnote 6; Green et al. 2010).

    From far forward to far back. A word cannot jump to itself, but a phrase may start where the previous one ended:
    that distortion, -1, joins -2.
    """

    def __init__(self) -> None:
        super().__init__(*_core.distance_cuts()["nine"])
        self.names = ("[7,∞)", "[4,6]", "[2,3]", "1", "0", "-2", "[-4,-3]", "[-7,-5]", "(-∞,-8]")
