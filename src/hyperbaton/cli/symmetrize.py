from __future__ import annotations

from typing import Annotated

from hyperbaton.align.link_files import read_links
from hyperbaton.align.symmetrization import METHODS
from hyperbaton.align.symmetrization import symmetrize as join
from hyperbaton.cli._common import need_as_many_lines
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag
from hyperbaton.cli._resources import ThreadOptions


def symmetrize(
    forward: Annotated[str, Argument("FORWARD", "Links with at most one target word for each source word."), READS],
    backward: Annotated[str, Argument("BACKWARD", "Links with at most one source word for each target word."), READS],
    method: Annotated[str, Flag("How the links are joined.", "-m", choices=METHODS)] = "grow-diag-final-and",
    format: Annotated[
        str,
        Flag(
            "Links as 0-0 1-2, source position first in both files, or A3 files, with the source sentence on the second "
            "line of FORWARD and on the third of BACKWARD.",
            choices=("pharaoh", "giza"),
        ),
    ] = "pharaoh",
    output: Annotated[str, Flag("File to write; - is stdout.", "-o"), WRITES_FILE] = "-",
    *,
    common: ThreadOptions,
) -> None:
    """Join the links of two directions into one set, as Moses' symal does.

    Examples:

        hyperbaton symmetrize forward.links backward.links > links
        hyperbaton symmetrize --format giza forward.A3.gz backward.A3.gz -o links.gz
    """
    ahead = read_links(forward, format="giza-inverse" if format == "giza" else format)
    back = read_links(backward, format=format)
    need_as_many_lines(backward, len(back), forward, len(ahead))
    with common.bars() as bars:
        joined = join(ahead, back, method, threads=common.n_threads, progress=bars.stage("symmetrize"))
    joined.write(output)
