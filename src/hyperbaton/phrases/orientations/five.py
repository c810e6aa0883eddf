from hyperbaton.phrases.orientation import DistanceSet


class Five(DistanceSet):
    """d≤-5, -5<d<0, d=0, 0<d<5, d≥5 (Ni 2011, Fig. 4)."""

    def __init__(self) -> None:
        super().__init__(-4, 0, 1, 5)
