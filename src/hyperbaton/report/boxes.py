"""The phrase pairs of one sentence pair, as boxes in its alignment matrix."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from hyperbaton.align import visit_order
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import extract


@dataclass(frozen=True)
class Box:
    """A phrase pair's spans (half-open) and its distance d from the phrase before it."""

    source: tuple[int, int]
    target: tuple[int, int]
    distance: int

    def inside(self, other: Box) -> bool:
        return (
            other.source[0] <= self.source[0]
            and self.source[1] <= other.source[1]
            and other.target[0] <= self.target[0]
            and self.target[1] <= other.target[1]
        )


def phrase_boxes(bitext: Bitext, sentence: int, max_length: int = 8) -> list[Box]:
    """All phrase pairs of one sentence pair, by target position."""
    samples = extract(bitext.select([sentence]), max_length, threads=1)
    columns = (samples.source_begin, samples.source_length, samples.target_begin, samples.target_length)
    return [
        Box((i, i + m), (j, j + n), d)
        for i, m, j, n, d in zip(*(c.tolist() for c in columns), samples.distance_before.tolist(), strict=True)
    ]


def smallest(boxes: list[Box]) -> list[Box]:
    """The boxes that contain no other box.

    >>> smallest([Box((0, 1), (0, 1), 0), Box((0, 2), (0, 2), 0), Box((1, 2), (1, 2), 0)])
    [Box(source=(0, 1), target=(0, 1), distance=0), Box(source=(1, 2), target=(1, 2), distance=0)]
    """
    return [box for box in boxes if not any(other != box and other.inside(box) for other in boxes)]


def read_pair(
    bitext: Bitext, sentence: int, max_length: int
) -> tuple[list[str], list[str], list[tuple[int, int]], list[Box]]:
    """The words, links and phrase pairs of one sentence pair."""
    if not 0 <= sentence < len(bitext):
        raise OptionError(f"line {sentence + 1} of {len(bitext)}")
    links = bitext.need_links()[sentence]
    return bitext.source[sentence], bitext.target[sentence], links, phrase_boxes(bitext, sentence, max_length)


def describe_pair(bitext: Bitext, sentence: int, *, max_length: int = 8, every_box: bool = False) -> dict[str, object]:
    """What `draw_pair` draws, as plain values: words, links, visit order, phrase pairs with half-open spans."""
    links = bitext.need_links()
    boxes = phrase_boxes(bitext, sentence, max_length)
    return {
        "source": bitext.source[sentence],
        "target": bitext.target[sentence],
        "links": links[sentence],
        "visit_order": visit_order(links.select(np.array([sentence])))[0],
        "phrases": [asdict(box) for box in (boxes if every_box else smallest(boxes))],
    }
