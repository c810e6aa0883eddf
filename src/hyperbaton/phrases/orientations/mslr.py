from hyperbaton.phrases.orientation import MosesSet


class Mslr(MosesSet):
    """monotone, swap, discontinuous left, discontinuous right, as Moses decides them."""

    names = ("monotone", "swap", "discontinuous left", "discontinuous right")
    columns = ("M", "S", "DL", "DR")
    merge = (0, 1, 2, 3)
