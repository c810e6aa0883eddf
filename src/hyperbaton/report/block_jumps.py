"""How far blocks of one source word jump, by their tag (XI11 Fig. 1 and 2)."""

from __future__ import annotations

from matplotlib.figure import Figure

from hyperbaton.base.errors import OptionError
from hyperbaton.models._block_table import JUMPS
from hyperbaton.models.block_me import BlockMe
from hyperbaton.report.figures import BACK, FORWARD, MONOTONE, style


def draw_tag_jumps(model: BlockMe, tag: str) -> Figure:
    """Counts of the jumps −5 … 5 of one-word blocks with a tag, in the training text; 5 stands for farther ones too."""
    if model.tag_vocabulary_ is None:
        raise OptionError(f"the model {model.name} was trained without tags")
    number = model.tag_vocabulary_.number(tag)
    if number < 0:
        raise OptionError(
            f"the model never saw the tag {tag!r}; it knows {', '.join(model.tag_vocabulary_.words()[:20])}, …"
        )
    counts = model.table_.tag_jumps[number]
    with style():
        figure = Figure(figsize=(5.2, 3.2), layout="constrained")
        axes = figure.subplots()
        colours = [MONOTONE if j == 1 else FORWARD if j > 1 else BACK for j in JUMPS]
        axes.bar(JUMPS, counts, color=colours)
        axes.set_xticks(JUMPS)
        axes.set_xlabel("jump")
        axes.set_ylabel("count")
        axes.set_title(f"{tag} ({int(counts.sum()):,})", loc="left")
    return figure
