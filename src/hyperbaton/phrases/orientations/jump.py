"""The eleven jumps of the joint block model."""

from hyperbaton import _core
from hyperbaton.phrases.orientation import DistanceSet


class Jump(DistanceSet):
    """Jumps 5…-5 from the last source word to the new one, 1 - d; longer ones count as ±5 (Xiang 2011, 3).

    From far forward to far back; jump 1 is monotone.
    """

    def __init__(self) -> None:
        super().__init__(*_core.distance_cuts()["jump"])
        self.names = tuple(str(jump) for jump in _core.block_jumps())
