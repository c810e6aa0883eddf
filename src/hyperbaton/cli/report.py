from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.cli._common import say
from hyperbaton.cli._parameters import READS, WRITES_FOLDER, Argument, Flag, Quiet


def report(
    results: Annotated[Path, Argument("DIR", "A run's folder, or its results.json."), READS],
    output: Annotated[
        Path | None, Flag("Folder for the report [default: report/ next to results.json].", "-o"), WRITES_FOLDER
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
