"""A translated sentence as a picture for a page: phrases as boxes, with the order of translation.

The source words are in a row, boxed by phrase; below them are the target phrases in target order. A line connects the two
sides of each phrase: crossing lines show phrases that moved. An arrow above the source leads from a phrase to the one
translated next, unless that is adjacent, labelled with the signed distance d = last source word before + 1 − first of the
new. Source words have the same positions for every system, so that systems can be compared visually.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, zip_longest

from markupsafe import Markup

from hyperbaton.base.forms import Json
from hyperbaton.base.templates import environment
from hyperbaton.report.elements import in_digits
from hyperbaton.report.glossary import about_tag

EM = 15.0  # font size in pixels
_PAD, _GAP, _EDGE = 8.0, 6.0, 10.0
_BOX, _TAG, _BETWEEN = 30.0, 14.0, 58.0

_NARROW, _WIDE = frozenset("iljtfrI.,:;'|!()[] "), frozenset("mwMW@%—…<>=+~")


def text_width(text: str) -> float:
    """The approximate width of a text in ems, for unknown fonts: rather too large than too small.

    >>> round(text_width("move"), 2), text_width("語順")
    (2.69, 2.0)
    """
    return sum(_char_width(c) for c in text)


def _char_width(c: str) -> float:
    if unicodedata.east_asian_width(c) in "WF":
        return 1.0
    if unicodedata.combining(c):
        return 0.0
    return 0.36 if c in _NARROW else 0.92 if c in _WIDE else 0.72 if c.isupper() else 0.59


@dataclass(frozen=True)
class PhraseSegment:
    """One phrase of a translation: source span (half-open), target words, distance d from the previous phrase."""

    begin: int
    end: int
    target: str
    distance: int
    scores: Mapping[str, float]

    @property
    def kind(self) -> str:
        return "forward" if self.distance < 0 else "back" if self.distance > 0 else "monotone"


def segments_of(hypothesis: Mapping[str, Json], n: int) -> list[PhraseSegment]:
    """The phrases of a translation of n source words, in target order."""
    segments, after = [], 0
    for record in hypothesis.get("segments") or []:
        begin, end = (min(max(int(k), 0), n) for k in record["source"])
        target = record.get("target") or []
        words = target if isinstance(target, str) else " ".join(map(str, target))
        segments.append(PhraseSegment(begin, end, words, after - begin, record.get("scores") or {}))
        after = end
    return segments


def draw_translation(sentence: Mapping[str, Json], hypothesis: Mapping[str, Json]) -> Markup:
    """One translation of one sentence as SVG for a page."""
    words, tags = [str(word) for word in sentence["source"]], list(map(str, sentence.get("tags") or []))
    segments = segments_of(hypothesis, len(words))
    widths = [
        EM * max(text_width(word), 0.7 * text_width(tag or "")) + 2 * _PAD
        for word, tag in zip_longest(words, tags[: len(words)], fillvalue="")
    ]
    starts = [0.0, *accumulate(width + _GAP for width in widths)]
    target_widths = _target_widths(segments)
    target_starts = [0.0, *accumulate(width + _GAP for width in target_widths)]
    # Rows are centred on the longest row of all systems.
    others = (_target_widths(segments_of(other, len(words))) for other in sentence.get("hypotheses") or [])
    inner = max(starts[-1], target_starts[-1], _GAP, *(sum(other) + _GAP * len(other) for other in others)) - _GAP
    left = _EDGE + (inner - starts[-1] + _GAP) / 2
    target_left = _EDGE + (inner - target_starts[-1] + _GAP) / 2
    spots = [left + x for x in starts]
    arcs = list(_arcs(segments, spots, widths))
    top = max((arc.height for arc in arcs), default=0.0) * 0.75 + (22 if arcs else 6)
    box = _BOX + (_TAG if tags else 0)
    below = top + box + _BETWEEN
    phrases = []
    for segment, start, width in zip(segments, target_starts, target_widths, strict=False):
        x0 = spots[segment.begin] + _GAP / 4
        x1 = max(spots[segment.end] - _GAP * 1.25, x0)
        phrases.append((segment, x0, x1, target_left + start, width))
    covered = {k for segment in segments for k in range(segment.begin, segment.end)}
    template = environment(__package__).get_template("sentence.svg")
    picture = template.render(
        name=f"{hypothesis.get('system', '')}: {' '.join(segment.target for segment in segments)}",
        words=words,
        tags=tags,
        middles=[spot + width / 2 for spot, width in zip(spots, widths, strict=False)],
        arcs=arcs,
        left_out=[k for k in range(len(words)) if k not in covered],
        phrases=phrases,
        labels=list(_labels(arcs, top)),  # last: no arrow covers a number
        top=top,
        box=box,
        between=_BETWEEN,
        below=below,
        target_box=_BOX,
        width=inner + 2 * _EDGE,
        height=below + _BOX + 6,
        px=lambda value, decimals=1: f"{value:.{decimals}f}",
        about_tag=about_tag,
        hover_text=_hover_text,
    )
    return Markup(picture)


def _target_widths(segments: Sequence[PhraseSegment]) -> list[float]:
    return [EM * text_width(segment.target or "∅") + 2 * _PAD for segment in segments]


@dataclass(frozen=True)
class _Arc:
    """An arrow above the source from one phrase to the next."""

    start: float
    end: float
    distance: int

    @property
    def height(self) -> float:
        # Forward arrows rise higher: one there and one back would overlap.
        base, slope, most = (26, 0.22, 100.0) if self.distance < 0 else (16, 0.14, 64.0)
        return min(base + slope * abs(self.end - self.start), most)

    @property
    def kind(self) -> str:
        return "forward" if self.distance < 0 else "back"

    @property
    def label(self) -> str:
        return in_digits(self.distance, 0) if self.distance < 0 else f"+{self.distance}"

    def at(self, t: float, y: float) -> tuple[float, float]:
        """A point just above the curve, which at t is at (3t² − 2t³) of the way and 3t(1 − t) of the height."""
        return self.start + (3 * t**2 - 2 * t**3) * (self.end - self.start), y - 3 * t * (1 - t) * self.height - 9


# Candidate positions of a number on its arrow; the first free one is used.
_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8)
_LABEL_HEIGHT = 13.0


def _labels(arcs: Sequence[_Arc], y: float) -> Iterator[tuple[_Arc, float, float, float, float]]:
    """The middle, width and height of the distances on the arrows, with as little overlap as possible."""
    taken: list[tuple[float, float, float]] = []
    for arc in sorted(arcs, key=lambda arc: arc.height):
        width = 8.0 * len(arc.label)

        def overlap(t: float, arc: _Arc = arc, width: float = width) -> float:
            x, up = arc.at(t, y)
            return sum(
                max(0.0, (width + other_width) / 2 + 2 - abs(x - other_x)) * max(0.0, _LABEL_HEIGHT - abs(up - other_up))
                for other_x, other_up, other_width in taken
            )

        x, up = arc.at(min(_PLACES, key=overlap), y)
        taken.append((x, up, width))
        yield arc, x, up, width, _LABEL_HEIGHT


def _arcs(segments: Sequence[PhraseSegment], spots: Sequence[float], widths: Sequence[float]) -> Iterator[_Arc]:
    after = spots[0] + 4  # the start of the sentence
    for segment in segments:
        if segment.end <= segment.begin:
            continue
        first, last = segment.begin, segment.end - 1
        if segment.distance:
            yield _Arc(after, spots[first] + min(widths[first] / 2, 14), segment.distance)
        after = spots[last] + widths[last] - min(widths[last] / 2, 14)


def _hover_text(segment: PhraseSegment, words: Sequence[str]) -> str:
    """The text shown for a phrase on hovering, focus or tap."""
    lines = [
        f"{' '.join(words[segment.begin : segment.end])} → {segment.target or '∅'}",
        f"words {segment.begin + 1}–{segment.end}, " + (f"d = {segment.distance:+d}" if segment.distance else "monotone"),
        *(f"{in_digits(float(value), 3):>9}  {name}" for name, value in segment.scores.items()),
    ]
    if segment.scores:
        lines.append(f"{in_digits(float(sum(segment.scores.values())), 3):>9}  all")
    return "\n".join(lines)
