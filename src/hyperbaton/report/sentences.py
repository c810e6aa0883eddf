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
from html import escape
from itertools import accumulate

from hyperbaton.base.forms import Json
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


def draw_translation(sentence: Mapping[str, Json], hypothesis: Mapping[str, Json]) -> str:
    """One translation of one sentence as SVG for a page."""
    words, tags = [str(word) for word in sentence["source"]], list(map(str, sentence.get("tags") or []))
    segments = segments_of(hypothesis, len(words))
    widths = [EM * max(text_width(w), 0.7 * text_width(t)) + 2 * _PAD for w, t in _with_tags(words, tags)]
    starts = [0.0, *accumulate(width + _GAP for width in widths)]
    shown = [segment.target or "∅" for segment in segments]
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
    height, width = below + _BOX + 6, inner + 2 * _EDGE

    def word(k: int) -> str:
        x = spots[k] + widths[k] / 2
        tag = ""
        if k < len(tags):
            about = f"<title>{escape(about_tag(tags[k]))}</title>" if about_tag(tags[k]) else ""
            tag = f'<text class="tag" x="{x:.1f}" y="{top + 36:.1f}">{escape(tags[k])}{about}</text>'
        return f'<text x="{x:.1f}" y="{top + 20.5:.1f}">{escape(words[k])}</text>{tag}'

    parts = [arc.svg(top) for arc in arcs]
    labels = list(_labels(arcs, top))
    covered = {k for segment in segments for k in range(segment.begin, segment.end)}
    parts += [f'<g class="left-out">{word(k)}</g>' for k in range(len(words)) if k not in covered]
    for k, (segment, text) in enumerate(zip(segments, shown, strict=True)):
        x0 = spots[segment.begin] + _GAP / 4
        x1 = max(spots[segment.end] - _GAP * 1.25, x0)
        y0 = target_left + target_starts[k]
        middle, target_middle = (x0 + x1) / 2, y0 + target_widths[k] / 2
        bend = _BETWEEN / 2
        parts.append(
            f'<g class="phrase {segment.kind}" tabindex="0" role="img" data-key="{_key(segment)}">'
            f"<title>{escape(_hover_text(segment, words))}</title>"
            f'<path class="tie" d="M{middle:.1f} {top + box:.1f}c0 {bend:.1f} {target_middle - middle:.1f} '
            f'{_BETWEEN - bend:.1f} {target_middle - middle:.1f} {_BETWEEN:.1f}"/>'
            f'<rect x="{x0:.1f}" y="{top:.1f}" width="{x1 - x0:.1f}" height="{box:.1f}" rx="4"/>'
            f'<rect x="{y0:.1f}" y="{below:.1f}" width="{target_widths[k]:.1f}" height="{_BOX:.1f}" rx="4"/>'
            + "".join(word(j) for j in range(segment.begin, segment.end))
            + f'<text x="{target_middle:.1f}" y="{below + 20.5:.1f}">{escape(text)}</text></g>'
        )
    parts += labels  # last: no arrow covers a number
    name = escape(f"{hypothesis.get('system', '')}: {' '.join(segment.target for segment in segments)}", quote=True)
    return (
        f'<svg class="sentence" role="group" aria-label="{name}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'width="{width:.0f}" height="{height:.0f}">{"".join(parts)}</svg>'
    )


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

    def svg(self, y: float) -> str:
        x, h = self.end - self.start, self.height
        return (
            f'<g class="jump {self.kind}"><path d="M{self.start:.1f} {y - 1:.1f}c0 {-h:.1f} {x:.1f} {-h:.1f} {x:.1f} -3"/>'
            f'<path class="head" d="M{self.end:.1f} {y - 1:.1f}l-3.5 -7h7z"/></g>'
        )


# Candidate positions of a number on its arrow; the first free one is used.
_PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8)
_LABEL_HEIGHT = 13.0


def _labels(arcs: Sequence[_Arc], y: float) -> Iterator[str]:
    """The distances on the arrows, each on its own background, with as little overlap as possible."""
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
        yield (
            f'<g class="distance {arc.kind}"><rect x="{x - width / 2:.1f}" y="{up - _LABEL_HEIGHT / 2:.1f}" '
            f'width="{width:.1f}" height="{_LABEL_HEIGHT:.0f}"/><text x="{x:.1f}" y="{up + 4:.1f}">{arc.label}</text></g>'
        )


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
        f"words {segment.begin + 1}–{segment.end}, d = {segment.distance:+d}" if segment.distance else _place(segment),
        *(f"{in_digits(float(value), 3):>9}  {name}" for name, value in segment.scores.items()),
    ]
    if segment.scores:
        lines.append(f"{in_digits(float(sum(segment.scores.values())), 3):>9}  all")
    return "\n".join(lines)


def _key(segment: PhraseSegment) -> str:
    """A key that is equal for equal phrases of two systems."""
    return escape(f"{segment.begin} {segment.end} {segment.target}", quote=True)


def _place(segment: PhraseSegment) -> str:
    return f"words {segment.begin + 1}–{segment.end}, monotone"


def _with_tags(words: Sequence[str], tags: Sequence[str]) -> Iterator[tuple[str, str]]:
    return ((word, tags[k] if k < len(tags) else "") for k, word in enumerate(words))
