"""Pictures of model explanations, by the kind of answer."""

from __future__ import annotations

from functools import singledispatch

from matplotlib.figure import Figure

from hyperbaton.base.errors import OptionError
from hyperbaton.evaluate import Answer
from hyperbaton.evaluate.explain_blocks import TagAnswer
from hyperbaton.evaluate.explain_jumps import JumpExplanation
from hyperbaton.report.block_jumps import draw_tag_jumps
from hyperbaton.report.jumps import draw_jumps


@singledispatch
def figure_of(answer: Answer) -> Figure:
    """Draw an answer."""
    raise OptionError("there is no picture of this result; omit -o")


figure_of.register(JumpExplanation, draw_jumps)
figure_of.register(TagAnswer, draw_tag_jumps)
