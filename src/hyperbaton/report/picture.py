"""Sentence pairs drawn as alignment matrices with phrase boxes and jumps, and pictures for a prompt or a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext, SentencePair
from hyperbaton.decode import Translations
from hyperbaton.decode.records import traces
from hyperbaton.report.derivation import best_path, derivation_text, draw_derivation
from hyperbaton.report.figures import FAINT, INK, PAPER, Chart, distance_colour, style, svg_text, write_figure
from hyperbaton.report.pair_text import Box, pair_text, read_pair, smallest


def draw_pair(bitext: Bitext, sentence: int, *, max_length: int = 8, every_box: bool = False) -> Figure:
    """Draw sentence pair `sentence` (0-based).

    Columns are source words, rows target words, dots links. Boxes are the smallest phrase pairs (or all of them), and an
    arrow connects each to the next one in target order, labelled with its distance d.
    """
    src, tgt, links, boxes = read_pair(bitext, sentence, max_length)
    steps = smallest(boxes)
    with style():
        figure = Chart(figsize=(1.6 + 0.42 * len(src), 1.6 + 0.36 * len(tgt)))
        axes = figure.add_subplot()
        axes.set_xlim(0, max(len(src), 1))
        axes.set_ylim(max(len(tgt), 1), 0)
        axes.set_aspect("equal")
        axes.set_xticks([i + 0.5 for i in range(len(src))], src, rotation=55, ha="left", rotation_mode="anchor")
        axes.set_yticks([j + 0.5 for j in range(len(tgt))], tgt)
        axes.tick_params(top=True, bottom=False, labeltop=True, labelbottom=False, length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for i in range(len(src) + 1):
            axes.axvline(i, color=FAINT, linewidth=0.5, zorder=0)
        for j in range(len(tgt) + 1):
            axes.axhline(j, color=FAINT, linewidth=0.5, zorder=0)
        if every_box:
            for box in boxes:
                axes.add_patch(_rectangle(box, INK, 0.06, 0.4))
        for box in steps:
            axes.add_patch(_rectangle(box, distance_colour(box.distance), 0.22, 1.4))
        if links:
            axes.scatter([i + 0.5 for i, _ in links], [j + 0.5 for _, j in links], s=42, color=INK, zorder=3)
        for before, box in pairwise(steps):
            if box.target[0] < before.target[1]:
                continue  # an alternative for the same words, not a next step
            start = before.source[1] - 0.5, before.target[1] - 0.5
            end = box.source[0] + 0.5, box.target[0] + 0.5
            axes.add_patch(
                FancyArrowPatch(
                    start,
                    end,
                    arrowstyle="-|>",
                    mutation_scale=9,
                    color=distance_colour(box.distance),
                    linewidth=1.3,
                    connectionstyle="arc3,rad=0.12",
                    shrinkA=5,
                    shrinkB=5,
                    zorder=4,
                )
            )
            if box.distance:
                x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
                label = {"boxstyle": "round,pad=0.15", "facecolor": PAPER, "edgecolor": "none"}
                text = axes.text(x, y, f"{box.distance:+d}", ha="center", va="center", fontsize=8, zorder=5, bbox=label)
                text.set_color(distance_colour(box.distance))
        axes.set_xlabel("red jumps forward (d < 0), blue goes back (d > 0), grey is monotone")
    return figure


def _rectangle(box: Box, edge: str, alpha: float, width: float) -> Rectangle:
    (i, ii), (j, jj) = box.source, box.target
    pad = 0.06
    return Rectangle(
        (i + pad, j + pad),
        ii - i - 2 * pad,
        jj - j - 2 * pad,
        facecolor=to_rgba(edge, alpha),
        edgecolor=edge,
        linewidth=width,
        zorder=2,
    )


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

    `record` has the content as plain values: phrases, features, and the best translation in another order.
    """

    found: Translations

    def __post_init__(self) -> None:
        best_path(self.found)

    @property
    def record(self) -> JsonObject:
        """The trace of the translation, in the format of `hyperbaton translate --trace`."""
        return next(traces(self.found))["pieces"][0]

    def __repr__(self) -> str:
        record = self.record
        lines = [f"{name:<20} {value:+9.3f}" for name, value in self.found.weighted(record["features"]).items()]
        other = record["second_order"]
        if other is not None:
            words = "the same words" if other["target"] == record["target"] else " ".join(other["target"])
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
