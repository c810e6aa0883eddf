"""The command `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.describe import describe, description_rows
from hyperbaton.cli import Json
from hyperbaton.cli._common import print_json, print_table
from hyperbaton.cli._paths import READS

HELP_GROUP = "Artefacts"


def show(
    artefact: Annotated[Path, typer.Argument(metavar="ARTEFACT", help="Phrases, a model, a system, …"), READS],
    *,
    arrays: Annotated[bool, typer.Option("--arrays", help="List every array with its type, shape and size.")] = False,
    as_json: Json = False,
) -> None:
    """Describe an artefact: its kind, options, counts, weights, size and inputs.

    Examples:

        hyperbaton show system

        hyperbaton show phrases --arrays

        hyperbaton show lm --json
    """
    description = describe(artefact)
    if as_json:
        print_json(description)
        return
    rows = description_rows(description, arrays=arrays)
    if not description["parts"]:
        rows = [{name: value for name, value in row.items() if name != "part"} for row in rows]
    print_table(rows)
