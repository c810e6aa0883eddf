"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.cli import Quiet
from hyperbaton.cli._common import say
from hyperbaton.cli._paths import READS, WRITES_FOLDER

HELP_GROUP = "Experiments"


def report(
    results: Annotated[Path, typer.Argument(metavar="DIR", help="A run's folder, or its results.json."), READS],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the report; default: report/ next to results.json."),
        WRITES_FOLDER,
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write the results of a run as one HTML page, Markdown, LaTeX tables and pictures.

    Prints the path of the page, which needs no other file and no network.

    Examples:

        hyperbaton report experiment

        hyperbaton report experiment/results.json -o paper/appendix
    """
    from hyperbaton.report import write_report

    out = output or (results if results.is_dir() else results.parent) / "report"
    print(write_report(results, out))
    say(f"also in {out}: report.md, tables/*.tex, figures/*.svg and *.png", quiet)
