"""Pictures of the report: directions, arrows, and drawings of translations."""

from __future__ import annotations

import re

from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from hyperbaton.report.corpus_section import movement_section
from hyperbaton.report.elements import CaptionedFigure
from hyperbaton.report.figures import FORWARD
from hyperbaton.report.sentences import draw_translation, segments_of


def test_forward_is_to_the_left_in_every_picture() -> None:
    """Distortions j − i − 1 > 0 and jumps > 1 go forward, and are drawn at d < 0."""
    movement = {"distances": {"-1": 5}, "word_distortions": {"3": 7}, "jumps_by_tag": {"NN": {"5": 2}}}
    section = movement_section({"movement": movement})
    assert section is not None
    drawn = {element.name: element.figure.axes[0] for element in section.elements if isinstance(element, CaptionedFigure)}
    for name, d in (("distances", -1), ("word-distortions", -3), ("jumps-by-tag", -4)):
        (bar,) = [patch for patch in drawn[name].patches if isinstance(patch, Rectangle) and patch.get_height() > 0]
        assert round(bar.get_x() + bar.get_width() / 2) == d, name
        assert to_hex(bar.get_facecolor()) == FORWARD


def test_numbers_on_arrows_are_above_all_arrows_and_apart() -> None:
    places = [4, 0, 5, 1, 6, 2, 7, 3]  # there and back all the time
    hypothesis = {"system": "x", "segments": [{"source": [k, k + 1], "target": [f"w{k}"]} for k in places]}
    svg = draw_translation({"source": [f"word{k}" for k in range(8)]}, hypothesis)
    assert svg.rindex('class="jump') < svg.index('class="distance')
    sizes = r'class="distance \w+"><rect x="([\d.]+)" y="(-?[\d.]+)" width="([\d.]+)" height="(\d+)"'
    boxes = [tuple(map(float, box)) for box in re.findall(sizes, svg)]
    assert len(boxes) == len(places)
    for k, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[:k]:
            apart = x + width <= other_x or other_x + other_width <= x
            assert apart or y + height <= other_y or other_y + other_height <= y


def test_drawing_follows_the_order_of_translation() -> None:
    sentence = {"source": ["a", "b", "c", "d"]}
    hypothesis = {
        "system": "x",
        "segments": [
            {"source": [2, 4], "target": ["C", "D"], "scores": {"lm": -1.5}},
            {"source": [0, 1], "target": ["A"]},
            {"source": [1, 2], "target": []},
        ],
    }
    segments = segments_of(hypothesis, 4)
    assert [(segment.distance, segment.kind) for segment in segments] == [(-2, "forward"), (4, "back"), (0, "monotone")]
    svg = draw_translation(sentence, hypothesis)
    assert re.findall(r'class="phrase (\w+)"', svg) == ["forward", "back", "monotone"]
    assert re.findall(r'class="jump (\w+)"', svg) == ["forward", "back"]
    assert "−1.500  lm" in svg and "∅" in svg and 'tabindex="0"' in svg
    # Ties start under the source words and end above the target phrases, each in its own row's order.
    ties = [list(map(float, tie)) for tie in re.findall(r'class="tie" d="M([\d.]+) [\d.]+c0 [\d.]+ ([-\d.]+)', svg)]
    assert ties[1][0] < ties[2][0] < ties[0][0]
    assert sorted(begin + shift for begin, shift in ties) == [begin + shift for begin, shift in ties]
