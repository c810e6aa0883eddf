"""The command `import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli import Force, Json, Quiet
from hyperbaton.cli._paths import READS, WRITES_ARTEFACT
from hyperbaton.cli.system import tell
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.system import KIND

HELP_GROUP = "Artefacts"


def import_(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="Input format: moses.")],
    path: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with a moses.ini, or the file itself."), READS],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="System to write."), WRITES_ARTEFACT],
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Import a Moses system: moses.ini with text tables and ARPA language models.

    Examples:

        hyperbaton import moses model -o system
    """
    if form != "moses":
        raise OptionError(f"unknown format {form!r}; known: moses")
    check_artefact(output, KIND, force=force)
    made = import_moses(path)
    made.save(output)
    tell(made, quiet, as_json)
