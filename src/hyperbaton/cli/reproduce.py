"""The command `reproduce`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.cli import Json, Seed
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._paths import READS, WRITES_FOLDER
from hyperbaton.cli._resources import ThreadOptions

HELP_GROUP = "Experiments"


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help="ni11, al14, go13 or xi11.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the results and the page; --list needs none."),
        WRITES_FOLDER,
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of the corpora: twlaw-zh-en, kyoto-ja-en, tatoeba-ar-en, trees. Without it, text is generated.",
        ),
        READS,
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Run everything small, on generated text: takes minutes.")] = False,
    cells: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only cells whose names match, as in 'random-20000-*'; may be repeated."),
    ] = None,
    list_cells: Annotated[
        bool, typer.Option("--list", help="Print the cells, with -o whether they are done, and stop.")
    ] = False,
    tuning_lines: Annotated[
        int, typer.Option(help="Number of lines of the development text to tune on; 0: the protocol's.", min=0)
    ] = 0,
    pop_limit: Annotated[int, typer.Option(help="Largest pop limit of the search; 0: the protocol's.", min=0)] = 0,
    device: Annotated[
        str | None,
        typer.Option(
            help="PyTorch device for training pair and sequence, e.g. cuda; default: processors, without PyTorch."
        ),
    ] = None,
    page: Annotated[bool, typer.Option("--page/--no-page", help="Write the page when the cells are done.")] = True,
    jobs: Annotated[
        int, typer.Option(help="Cells, or stages of cells, to run at the same time; they share --threads.", min=1)
    ] = 1,
    seed: Seed = 1,
    *,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Reproduce the tables and figures of a paper, by the paper's protocol.

    The work is divided into cells, for example one model on one text. Each result is stored, so the same command
    continues an interrupted run. The page, OUTPUT/page, has every table and figure of the paper with the paper's numbers
    next to ours, from the finished cells.

    Examples:

        hyperbaton reproduce ni11 --quick -o ni11

        hyperbaton reproduce ni11 --data corpora -o ni11 --cells 'random-20000-*' --cells statistics

        hyperbaton reproduce go13 --data corpora -o go13 --jobs 16 --threads 16

        hyperbaton reproduce go13 --data corpora --list
    """
    from hyperbaton.reproduce import Setting, cell_states
    from hyperbaton.reproduce import reproduce as carry_out

    if output is None and not list_cells:
        raise typer.BadParameter("give a folder for the results", param_hint="'--output' / '-o'")
    place = output or Path(paper)
    setting = Setting(
        place,
        data,
        quick or data is None,
        seed,
        common.n_threads,
        tuning_lines,
        pop_limit,
        device,
        jobs,
        lambda line: say(line, common.quiet),
    )
    if list_cells:
        rows = [{"cell": name, "done": "yes" if done else "no"} for name, done in cell_states(paper, setting).items()]
        if output is None:
            rows = [{"cell": row["cell"]} for row in rows]
        print_table(rows, json)
        return
    words = ["hyperbaton", "reproduce", paper, "-o", str(place), *(["--data", str(data)] if data else [])]
    words += [*(["--quick"] if quick else []), *(["--seed", str(seed)] if seed != 1 else [])]
    for name, value in (("--tuning-lines", tuning_lines), ("--pop-limit", pop_limit)):
        words += [name, str(value)] if value else []
    words += [word for pattern in cells or [] for word in ("--cells", pattern)]
    done = carry_out(paper, setting, cells=cells or [], command=shlex.join(words), page=page)
    if json:
        print_json({"page": done.page and str(done.page), "done": done.n_done, "cells": done.n_cells})
        return
    say(f"{done.n_done:,} of {counted(done.n_cells, 'cell')} done", common.quiet)
    if done.page is not None:
        print(f"page: {done.page}")
