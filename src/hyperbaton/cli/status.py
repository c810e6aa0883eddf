"""The command `status`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.cli import Json
from hyperbaton.cli._common import print_table
from hyperbaton.cli._paths import READS
from hyperbaton.run.status import status_rows

HELP_GROUP = "Experiments"


def status(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run."), READS],
    as_json: Json = False,
) -> None:
    """Show the progress of an experiment started by 'hyperbaton run'.

    Example:

        hyperbaton status kyoto-ja-en
    """
    print_table(status_rows(folder), as_json)
