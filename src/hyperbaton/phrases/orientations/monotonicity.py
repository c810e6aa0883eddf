from hyperbaton.phrases.orientation import MosesSet


class Monotonicity(MosesSet):
    """monotone or not, as Moses decides it."""

    names = ("monotone", "not monotone")
    columns = ("M", "NM")
    merge = (0, 1, 1, 1)
