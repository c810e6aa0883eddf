"""The verb `inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Quiet
from hyperbaton.cli._common import say
from hyperbaton.corpus import Bitext


def inspect(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text.")],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text.")],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture to write: .svg, .png or .pdf.")],
    line: Annotated[int, typer.Option("--line", "-n", help="Which sentence pair, from 1.", min=1)] = 1,
    max_length: Annotated[int, typer.Option(help="Longest phrase, in words.", min=1, max=255)] = 8,
    every_box: Annotated[bool, typer.Option("--all", help="Draw every phrase pair, not only the smallest.")] = False,
    quiet: Quiet = False,
) -> None:
    """Draw one sentence pair: alignment matrix, phrase boxes and jumps.

    Example:

        hyperbaton inspect train.zh train.en train.links --line 12 -o pair.svg
    """
    from hyperbaton.report.figures import write_figure
    from hyperbaton.report.pair import draw_pair

    bitext = Bitext.read(source, target, links)
    if line > len(bitext):
        raise OptionError(f"--line {line}: {source} has {len(bitext)} lines")
    write_figure(draw_pair(bitext, line - 1, max_length=max_length, every_box=every_box), output)
    say(f"wrote {output}", quiet)
