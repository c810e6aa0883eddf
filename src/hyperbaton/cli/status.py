from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.cli._common import print_table
from hyperbaton.cli._parameters import READS, Argument, Json
from hyperbaton.run.status import status_rows


def status(
    folder: Annotated[Path, Argument("DIR", "Folder of a run."), READS],
    as_json: Json = False,
) -> None:
    """Show the progress of an experiment started by 'hyperbaton run'.

    Example:

        hyperbaton status kyoto-ja-en
    """
    print_table(status_rows(folder), as_json)
