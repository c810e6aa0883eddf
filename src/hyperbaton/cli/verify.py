"""The command `verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hyperbaton.base.store import audit
from hyperbaton.cli import Json
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._paths import READS


def verify(
    artefacts: Annotated[list[Path], typer.Argument(metavar="ARTEFACT...", help="Phrases, models, systems, …"), READS],
    *,
    as_json: Json = False,
) -> None:
    """Check every file of an artefact against its checksum.

    A system is checked together with the models inside it. Damaged files are listed on stderr, and the exit status is 1.

    Example:

        hyperbaton verify phrases lm system
    """
    rows: list[dict[str, Any]] = []
    for path in artefacts:
        findings = audit(path)
        for fault in findings.faults:
            say(f"hyperbaton: {fault}")
        rows.append(
            {
                "artefact": str(path),
                "state": "damaged" if findings.faults else "sound",
                "arrays": findings.n_arrays,
                "MiB": round(findings.n_bytes / 2**20, 1),
            }
        )
    if as_json:
        print_json(rows)
    else:
        print_table(rows)
    if any(row["state"] != "sound" for row in rows):
        raise typer.Exit(1)
