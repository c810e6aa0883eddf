"""Sentence pairs and translations for display at a prompt or in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from os import PathLike

from matplotlib.figure import Figure

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext, SentencePair
from hyperbaton.decode import Translations
from hyperbaton.decode.trace import traces
from hyperbaton.report.derivation import best_path, derivation_text, draw_derivation
from hyperbaton.report.figures import svg_text, write_figure
from hyperbaton.report.pair import draw_pair
from hyperbaton.report.pair_text import pair_text


class Picture(ABC):
    """A drawing: an SVG in a notebook, and a file."""

    def _repr_svg_(self) -> str:
        return svg_text(self._drawing())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing as .svg, .png or .pdf."""
        write_figure(self._drawing(), path)

    @abstractmethod
    def _drawing(self) -> Figure:
        """The drawing."""


@dataclass(frozen=True, repr=False)
class PairPicture(Picture):
    """One sentence pair: a drawing of its phrases and jumps in a notebook, characters at a prompt."""

    bitext: Bitext
    sentence: int
    max_length: int = 8
    every_box: bool = False

    def __repr__(self) -> str:
        return pair_text(self.bitext, self.sentence, max_length=self.max_length, every_box=self.every_box)

    def _drawing(self) -> Figure:
        return draw_pair(self.bitext, self.sentence, max_length=self.max_length, every_box=self.every_box)


@dataclass(frozen=True, repr=False)
class TranslationPicture(Picture):
    """How one sentence was translated: its phrases or rules as a drawing in a notebook, characters at a prompt.

    `record` has the content as plain values: steps, features, and the best translation in another order.
    """

    found: Translations

    def __post_init__(self) -> None:
        best_path(self.found)

    @property
    def record(self) -> JsonObject:
        """The trace of the translation, in the format of `hyperbaton translate --trace`."""
        record: JsonObject = next(traces(self.found))["pieces"][0]
        return record

    def __repr__(self) -> str:
        record = self.record
        lines = [f"{name:<20} {value:+9.3f}" for name, value in self.found.weighted(record["features"]).items()]
        other = record["second_order"]
        if other is not None:
            words = "the same words" if other["translation"] == record["translation"] else other["translation"]
            lines.append(f"in another order, {other['costs_more']:.3f} lower: {words}")
        return derivation_text(self.found, best_path(self.found)) + "".join(f"{line}\n" for line in lines)

    def _drawing(self) -> Figure:
        return draw_derivation(self.found, best_path(self.found))


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
