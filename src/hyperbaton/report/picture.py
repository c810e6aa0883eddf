"""A sentence pair as something that a prompt or a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

from matplotlib.figure import Figure

from hyperbaton.corpus import Bitext, SentencePair
from hyperbaton.report.figures import svg_text, write_figure
from hyperbaton.report.pair import draw_pair
from hyperbaton.report.pair_text import pair_text


@dataclass(frozen=True, repr=False)
class PairPicture:
    """One sentence pair: in a notebook a drawing of its phrases and jumps, at a prompt the same in characters."""

    bitext: Bitext
    sentence: int
    max_length: int = 8
    every_box: bool = False

    def __repr__(self) -> str:
        return pair_text(self.bitext, self.sentence, max_length=self.max_length, every_box=self.every_box)

    def _repr_svg_(self) -> str:
        return svg_text(self._drawing())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing as .svg, .png or .pdf."""
        write_figure(self._drawing(), path)

    def _drawing(self) -> Figure:
        return draw_pair(self.bitext, self.sentence, max_length=self.max_length, every_box=self.every_box)


def show(bitext: Bitext | SentencePair, sentence: int = 0, *, max_length: int = 8, every_box: bool = False) -> PairPicture:
    """Draw sentence pair number `sentence`, counted from 0, or a single pair: its links, phrase pairs and jumps.

    >>> bitext = Bitext.of(["ta chi fan"], ["he eats"], [[(0, 0), (1, 1)]])
    >>> repr(show(bitext)) == repr(show(bitext[0]))
    True
    """
    if isinstance(bitext, SentencePair):
        links = None if bitext.links is None else [bitext.links]
        bitext = Bitext.of([" ".join(bitext.source)], [" ".join(bitext.target)], links)
    if not 0 <= sentence < len(bitext):
        raise IndexError(f"sentence pair {sentence} of {len(bitext)}")
    return PairPicture(bitext, sentence, max_length, every_box)


def draw_sentence_pair(pair: SentencePair) -> str | None:
    """The drawing of a sentence pair as SVG; None without links."""
    return None if pair.links is None else show(pair)._repr_svg_()
