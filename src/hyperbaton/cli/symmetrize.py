"""The command `symmetrize`."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperbaton.align.reading import read_links
from hyperbaton.align.symmetrization import METHODS
from hyperbaton.align.symmetrization import symmetrize as join
from hyperbaton.cli._common import need_as_many_lines
from hyperbaton.cli._paths import READS, WRITES_FILE
from hyperbaton.cli._resources import ThreadOptions

HELP_GROUP = "Links and words"


def symmetrize(
    forward: Annotated[str, typer.Argument(help="Links with at most one target word for each source word."), READS],
    backward: Annotated[str, typer.Argument(help="Links with at most one source word for each target word."), READS],
    method: Annotated[str, typer.Option("--method", "-m", help=", ".join(METHODS))] = "grow-diag-final-and",
    format: Annotated[
        str,
        typer.Option(
            help="pharaoh (0-0 1-2, source position first in both files), or giza: A3 files, the source sentence on "
            "the second line of FORWARD and on the third of BACKWARD."
        ),
    ] = "pharaoh",
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout."), WRITES_FILE] = "-",
    *,
    common: ThreadOptions,
) -> None:
    """Join the links of two directions into one set, as Moses' symal does.

    Examples:

        hyperbaton symmetrize forward.links backward.links > links

        hyperbaton symmetrize --format giza forward.A3.final.gz backward.A3.final.gz -m intersection -o links.gz
    """
    ahead = read_links(forward, format="giza-inverse" if format == "giza" else format)
    back = read_links(backward, format=format)
    need_as_many_lines(backward, len(back), forward, len(ahead))
    with common.bars() as bars:
        joined = join(ahead, back, method, threads=common.n_threads, progress=bars.stage("symmetrize"))
    joined.write(output)
