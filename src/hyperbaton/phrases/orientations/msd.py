from hyperbaton.phrases.orientation import MosesSet


class Msd(MosesSet):
    """monotone, swap, discontinuous, as Moses decides them."""

    names = ("monotone", "swap", "discontinuous")
    columns = ("M", "S", "D")
    merge = (0, 1, 2, 2)
