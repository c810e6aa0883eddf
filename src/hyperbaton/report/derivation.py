"""A translation as a picture or in characters: the rules of its derivation with their gaps, or its phrases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle, groupby
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Curve
from rich.cells import cell_len

from hyperbaton.base.errors import OptionError
from hyperbaton.decode import Translations
from hyperbaton.decode.result import Segment
from hyperbaton.report.figures import COLOURS, INK, MONOTONE, Chart, style

# Inches.
_LETTER, _SPACE, _LEVEL, _BETWEEN, _WORD = 0.085, 0.16, 0.13, 0.75, 0.22


class DrawnSegment(NamedTuple):
    """A segment to draw: its own words, the number of levels below it, and the number of its parent."""

    segment: Segment
    source: tuple[int, ...]
    target: tuple[int, ...]
    level: int
    parent: int


def parts_of(translations: Translations, path: int) -> list[DrawnSegment]:
    """The segments of a translation without glue, each before those in its gaps."""
    segments = translations.segments(path)
    kept = [number for number, segment in enumerate(segments) if segment.kind != "glue"]
    places = {number: place for place, number in enumerate(kept)}
    parents = [places.get(segments[number].parent, -1) for number in kept]
    levels = [1] * len(kept)
    inside: list[list[Segment]] = [[] for _ in kept]
    for place in reversed(range(len(kept))):
        if (parent := parents[place]) >= 0:
            levels[parent] = max(levels[parent], levels[place] + 1)
            inside[parent].append(segments[kept[place]])
    parts = []
    for place, number in enumerate(kept):
        segment = segments[number]
        source = _left_over(segment.source, [child.source for child in inside[place]])
        target = _left_over(segment.target, [child.target for child in inside[place]])
        parts.append(DrawnSegment(segment, source, target, levels[place], parents[place]))
    return parts


def _left_over(span: tuple[int, int], spans: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The positions of a span that are in no other span."""
    inside = {position for other in spans for position in range(*other)}
    return tuple(position for position in range(*span) if position not in inside)


def best_path(translations: Translations) -> int:
    """The best translation of a request of one sentence."""
    if len(translations.pieces) != 2 or translations.pieces[1] != 1:
        raise OptionError("the sentence is translated in pieces; only one that is translated whole can be drawn")
    if not translations.path_offsets[1]:
        raise OptionError("the sentence has no translation")
    return 0


def _sides(translations: Translations, path: int, part: DrawnSegment) -> tuple[str, str]:
    segment = part.segment
    if segment.rule is not None:
        return segment.rule
    words = translations.batch.source[0][slice(*segment.source)], translations.text[path][slice(*segment.target)]
    return " ".join(words[0]), " ".join(words[1])


def derivation_text(translations: Translations, path: int) -> str:
    """A translation as a tree in characters: each rule with the rules in its gaps below it."""
    parts = parts_of(translations, path)
    rows = [_sides(translations, path, part) for part in parts]
    children: dict[int, list[int]] = {}
    for number, part in enumerate(parts):
        children.setdefault(part.parent, []).append(number)
    lines = [" ".join(translations.batch.source[0]), " ".join(translations.text[path]), ""]
    # A stack of the parts left to print: the number of a part, and the prefixes of its line and of the lines below it.
    left = [(number, "", "") for number in reversed(children.get(-1, []))]
    while left:
        number, before, below = left.pop()
        lines.append(f"{before}{rows[number][0]} → {rows[number][1]}".rstrip())
        inner = children.get(number, [])
        for child in reversed(inner):
            is_last = child == inner[-1]
            left.append((child, below + ("└─ " if is_last else "├─ "), below + ("   " if is_last else "│  ")))
    return "\n".join([*lines, "", f"score {translations.scores[path]:g}", ""])


def draw_derivation(translations: Translations, path: int) -> Figure:
    """Draw a translation: target words above, source words below, and each rule on both sides between them.

    A rule has one colour. Its bar is thick over its own words and thin over its gaps; the bars of rules in its gaps are
    nearer to the words. Lines connect linked words.
    """
    source, target = translations.batch.source[0], translations.text[path]
    parts = parts_of(translations, path)
    height = _LEVEL * max((part.level for part in parts), default=0)
    top = 2 * (_WORD + height) + _BETWEEN
    places = [_places(source), _places(target)]
    width = max((places[side][-1][1] for side in (0, 1) if places[side]), default=1.0)
    for side in (0, 1):
        shift = (width - places[side][-1][1]) / 2 if places[side] else 0.0
        places[side] = [(begin + shift, end + shift) for begin, end in places[side]]
    with style():
        figure = Chart(figsize=(width + 0.3, top + 0.3))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(-0.15, width + 0.15)
        axes.set_ylim(-0.15, top + 0.15)
        axes.axis("off")
        edges = _WORD + height, top - _WORD - height
        colours: tuple[dict[int, str], dict[int, str]] = {}, {}
        rules = cycle(COLOURS[:6])
        for part in parts:
            colour = next(rules) if part.segment.kind in ("rule", "phrase") else MONOTONE
            for side, (span, positions) in enumerate(
                ((part.segment.source, part.source), (part.segment.target, part.target))
            ):
                colours[side].update(dict.fromkeys(positions, colour))
                base, step = (_WORD, _LEVEL) if side == 0 else (top - _WORD, -_LEVEL)
                y, at = base + step * (part.level - 0.5), places[side]
                if span[0] < span[1]:  # thin from end to end
                    ends = at[span[0]][0], at[span[1] - 1][1]
                    axes.plot(ends, (y, y), color=colour, linewidth=1.0, solid_capstyle="butt")
                for first, last in _runs(positions):
                    axes.plot((at[first][0], at[last][1]), (y, y), color=colour, linewidth=4.5, solid_capstyle="round")
                for x in (_middle(at[position]) for position in positions):
                    axes.plot((x, x), (base, y), color=colour, linewidth=0.8, zorder=1)
        for i, j in translations.links_of(path):
            _curve(axes, (_middle(places[0][i]), edges[0]), (_middle(places[1][j]), edges[1]), colours[0].get(i, MONOTONE))
        for side, (words, y) in enumerate(((source, 0.0), (target, top))):
            for n, word in enumerate(words):
                x, align = _middle(places[side][n]), "bottom" if side == 0 else "top"
                axes.text(x, y, word, ha="center", va=align, color=colours[side].get(n, INK))
    return figure


def _places(words: Sequence[str]) -> list[tuple[float, float]]:
    """The positions of words in a line, in inches."""
    places, at = [], 0.0
    for word in words:
        end = at + _LETTER * max(cell_len(word), 1)
        places.append((at, end))
        at = end + _SPACE
    return places


def _middle(place: tuple[float, float]) -> float:
    return (place[0] + place[1]) / 2


def _runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Group adjacent positions into spans, first and last.

    >>> list(_runs([0, 1, 3]))
    [(0, 1), (3, 3)]
    """
    for _, run in groupby(enumerate(positions), key=lambda place: place[1] - place[0]):
        adjacent = [position for _, position in run]
        yield adjacent[0], adjacent[-1]


def _curve(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    """A link between the two sides."""
    middle = (start[1] + end[1]) / 2
    points = [start, (start[0], middle), (end[0], middle), end]
    codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    axes.add_patch(PathPatch(Curve(points, codes), fill=False, edgecolor=colour, linewidth=1.0, alpha=0.75, zorder=0))
