from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.progress import Bars
from hyperbaton.cli._common import print_result, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FOLDER, Argument, Json, Quiet, Verify
from hyperbaton.decode import System
from hyperbaton.decode.moses import export_moses


def export(
    form: Annotated[str, Argument("FORMAT", "Output format.", choices=("moses",))],
    system: Annotated[Path, Argument("SYSTEM", "A translation system."), READS],
    folder: Annotated[Path, Argument("DIR", "Folder to write to."), WRITES_FOLDER],
    *,
    verify: Verify = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a translation system in the format of Moses: moses.ini, text tables, ARPA language models.

    Examples:

        hyperbaton export moses system model
    """
    verify_artefacts(verify, system)
    with Bars(quiet) as bars:
        ini = export_moses(System.load(system), folder, bars.stage("export"))
    files = sorted(file.name for file in folder.iterdir())
    print_result({"ini": str(ini), "files": files}, f"wrote {ini}", as_json, quiet)
