"""The command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.progress import Bars
from hyperbaton.cli import Json, Quiet, Verify
from hyperbaton.cli._common import print_json, say, verify_artefacts
from hyperbaton.cli._paths import READS, WRITES_FOLDER
from hyperbaton.decode import System
from hyperbaton.decode.moses import export_moses

HELP_GROUP = "Artefacts"


def export(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="Output format: moses.")],
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="A translation system."), READS],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write to."), WRITES_FOLDER],
    *,
    verify: Verify = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a translation system in the format of Moses: moses.ini, text tables, ARPA language models.

    Examples:

        hyperbaton export moses system model
    """
    if form != "moses":
        raise OptionError(f"unknown format {form!r}; known: moses")
    verify_artefacts(verify, system)
    with Bars(quiet) as bars:
        ini = export_moses(System.load(system), folder, bars.stage("export"))
    if as_json:
        print_json({"ini": str(ini), "files": sorted(file.name for file in folder.iterdir())})
    else:
        say(f"wrote {ini}", quiet)
