"""The phrase pairs of one sentence pair, as plain values and drawn in characters for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size

from hyperbaton.align import visit_order
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import extract

LINK, INSIDE, OUTSIDE = "■", "░", "·"
LABEL = 16  # largest width of the column of target words
TALLEST = 12  # characters of a source word above its column


@dataclass(frozen=True)
class Box:
    """A phrase pair's spans (half-open) and its distance d from the phrase before it."""

    source: tuple[int, int]
    target: tuple[int, int]
    distance: int

    def inside(self, other: Box) -> bool:
        sides = (self.source, other.source), (self.target, other.target)
        return all(b[0] <= a[0] and a[1] <= b[1] for a, b in sides)


def smallest(boxes: list[Box]) -> list[Box]:
    """The boxes that contain no other box.

    >>> smallest([Box((0, 1), (0, 1), 0), Box((0, 2), (0, 2), 0), Box((1, 2), (1, 2), 0)])
    [Box(source=(0, 1), target=(0, 1), distance=0), Box(source=(1, 2), target=(1, 2), distance=0)]
    """
    return [box for box in boxes if not any(other != box and other.inside(box) for other in boxes)]


def read_pair(
    bitext: Bitext, sentence: int, max_length: int
) -> tuple[list[str], list[str], list[tuple[int, int]], list[Box]]:
    """The words, links and phrase pairs of one sentence pair, the latter by target position."""
    if not 0 <= sentence < len(bitext):
        raise OptionError(f"line {sentence + 1} of {len(bitext)}")
    links = bitext.need_links()[sentence]
    samples = extract(bitext.select([sentence]), max_length, threads=1)
    columns = (samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    rows = zip(*(column.tolist() for column in (*columns, samples.distance_before)), strict=True)
    boxes = [Box((i, i + m), (j, j + n), d) for i, m, j, n, d in rows]
    return bitext.source[sentence], bitext.target[sentence], links, boxes


def describe_pair(bitext: Bitext, sentence: int, *, max_length: int = 8, every_box: bool = False) -> dict[str, object]:
    """What `draw_pair` draws, as plain values: words, links, visit order, phrase pairs with half-open spans."""
    source, target, links, boxes = read_pair(bitext, sentence, max_length)
    return {
        "source": source,
        "target": target,
        "links": links,
        "visit_order": visit_order(bitext.need_links().select(np.array([sentence])))[0],
        "phrases": [asdict(box) for box in (boxes if every_box else smallest(boxes))],
    }


def pair_text(bitext: Bitext, sentence: int, *, width: int = 80, max_length: int = 8, every_box: bool = False) -> str:
    """Draw sentence pair `sentence` (0-based) in characters, in lines of at most `width` if its words allow it.

    Source words are written above their columns, from top to bottom. A pair too long for a grid of that width is drawn
    only as the list of its phrases.
    """
    src, tgt, links, boxes = read_pair(bitext, sentence, max_length)
    steps = smallest(boxes)
    marks = [[OUTSIDE] * len(src) for _ in tgt]
    for box in steps:
        for j in range(*box.target):
            marks[j][slice(*box.source)] = [INSIDE] * (box.source[1] - box.source[0])
    for i, j in links:
        marks[j][i] = LINK
    lines = list(_grid(src, tgt, marks, width))
    if lines:
        lines.append(f"{LINK} link, {INSIDE} inside a phrase pair that contains no smaller one")
    else:
        lines.append(f"{len(src)} source words are too many for a grid of {width} columns; phrases in target order:")
    lines.append("")
    shown = boxes if every_box else steps
    rows = [
        (f"{box.distance:+d}" if box.distance else "0", _span(box.source, src), _span(box.target, tgt)) for box in shown
    ]
    lines += _list(rows, width)
    lines.append("d is the distance from the previous phrase: < 0 jumps forward, > 0 goes back")
    return "\n".join(lines) + "\n"


def _grid(src: Sequence[str], tgt: Sequence[str], marks: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    label = min(LABEL, max(map(cell_len, tgt), default=0))
    column = next((c for c in (3, 2) if label + 1 + c * len(src) <= width), 0)
    if not column:
        return
    letters = [list(word if len(word) <= TALLEST else f"{word[: TALLEST - 1]}…") for word in src]
    height = max(map(len, letters), default=0)
    upright = [[" "] * (height - len(word)) + word for word in letters]
    for line in zip(*upright, strict=True):
        yield (" " * (label + 1) + "".join(set_cell_size(letter, column) for letter in line)).rstrip()
    for word, row in zip(tgt, marks, strict=True):
        yield f"{_shortened(word, label)} {''.join(f'{mark:<{column}}' for mark in row)}".rstrip()


def _list(rows: Sequence[tuple[str, str, str]], width: int) -> Iterator[str]:
    """Three columns; the last two share the width, and longer phrases continue on the next line."""
    half = max(12, (width - 10) // 2)
    source = min(half, max((cell_len(row[1]) for row in rows), default=0))
    source = max(source, len("source"))
    yield f"{'d':>5}  {'source':<{source}}  target"
    for distance, left, right in rows:
        pieces = zip_longest(chop_cells(left, source), chop_cells(right, width - source - 9), fillvalue="")
        for n, (a, b) in enumerate(pieces):
            yield f"{'' if n else distance:>5}  {set_cell_size(a, source)}  {b}".rstrip()


def _span(span: tuple[int, int], words: Sequence[str]) -> str:
    return " ".join(words[slice(*span)])


def _shortened(word: str, width: int) -> str:
    return set_cell_size(word, width) if cell_len(word) <= width else set_cell_size(word, width - 1) + "…"
