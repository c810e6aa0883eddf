from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import Kind
from hyperbaton.cli._common import print_json, say
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Writes
from hyperbaton.cli._resources import ThreadOptions


def _page(values: Arguments) -> dict[Path, Kind]:
    return {} if values["as_json"] else {values["output"]: "file"}


def explore(
    run: Annotated[Path, Argument("RUN", "The folder of a finished run."), READS],
    *,
    output: Annotated[Path, Flag("The page.", "-o"), Writes("file", destinations=_page)] = Path("page.html"),
    system: Annotated[list[str] | None, Flag("Show this system only; may be repeated.", metavar="NAME")] = None,
    sentences: Annotated[int, Flag("Number of test sentences to show, from the first; 0 shows all.", minimum=0)] = 100,
    limit: Annotated[
        int | None, Flag("Show translations with this distortion limit, -1 for none [default: the report's].")
    ] = None,
    nbest: Annotated[int, Flag("Number of translations of each sentence.", minimum=0, maximum=100)] = 3,
    errors: Annotated[
        bool, Flag("Distinguish model errors from search errors, which takes longer.", "--errors/--no-errors")
    ] = True,
    others: Annotated[
        list[Path] | None,
        Flag("Another run, for comparing its jumps with those of this one; may be repeated.", "--with"),
        READS,
    ] = None,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Write a page for exploring the translations of a finished run: one file that needs no server.

    The page shows sentences with their phrases, links and jumps, what each reordering model expected at every step and
    why, lists of sentences to sort and filter, jumps by distance and tag, and two systems side by side. --json prints its
    data instead of writing it.

    Examples:

        hyperbaton explore demo -o page.html
        hyperbaton explore kyoto --system msd --system sequence --sentences 300
        hyperbaton explore japanese --with chinese
    """
    from hyperbaton.explore import PageSelection, Run, collect, write_page

    selection = PageSelection(tuple(system or ()), sentences, limit, nbest, errors)
    with common.bars() as bars:
        data = collect(
            Run(run),
            selection,
            others=[Run(other) for other in others or ()],
            threads=common.n_threads,
            progress=bars.stage("translate"),
        )
    if as_json:
        print_json(data)
        return
    write_page(output, data)
    print(output)
    say(
        f"{counted(len(data['sentences']), 'sentence')} of {counted(len(data['systems']), 'system')}; open it in a browser",
        common.quiet,
    )
