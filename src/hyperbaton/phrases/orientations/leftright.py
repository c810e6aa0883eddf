from hyperbaton.phrases.orientation import MosesSet


class LeftRight(MosesSet):
    """to the right (monotone, discontinuous right) or to the left (swap, discontinuous left)."""

    names = ("right", "left")
    columns = ("R", "L")
    merge = (0, 1, 1, 0)
