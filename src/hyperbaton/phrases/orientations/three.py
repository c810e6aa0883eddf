from hyperbaton.phrases.orientation import DistanceSet


class Three(DistanceSet):
    """d<0, d=0, d>0: forward, monotone, back (Ni 2011, Fig. 4)."""

    def __init__(self) -> None:
        super().__init__(0, 1)
