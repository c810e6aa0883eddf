from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli._parameters import READS, WRITES_ARTEFACT, Argument, Flag, Force, Json, Quiet
from hyperbaton.cli.system import tell
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.system import KIND


def import_(
    form: Annotated[str, Argument("FORMAT", "Input format.", choices=("moses",))],
    path: Annotated[Path, Argument("DIR", "Folder with a moses.ini, or the file itself."), READS],
    *,
    output: Annotated[Path, Flag("System to write.", "-o"), WRITES_ARTEFACT],
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Import a Moses system: moses.ini with text tables and ARPA language models.

    Examples:

        hyperbaton import moses model -o system
    """
    check_artefact(output, KIND, force=force)
    system = import_moses(path)
    system.save(output)
    tell(system, quiet, as_json)
