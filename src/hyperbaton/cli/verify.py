from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from hyperbaton.base.errors import one_line
from hyperbaton.base.store import MANIFEST, Verification, audit
from hyperbaton.cli._common import print_table, say
from hyperbaton.cli._parameters import READS, Argument, Json


def verify(
    artefacts: Annotated[list[Path], Argument("ARTEFACT...", "Phrases, models, systems, …"), READS],
    *,
    as_json: Json = False,
) -> None:
    """Check every file of an artefact against its checksum.

    A system is checked together with the models inside it. Damaged files are listed on stderr, and the exit status is 1.

    Example:

        hyperbaton verify phrases lm system
    """
    rows: list[dict[str, object]] = []
    for path in artefacts:
        findings = audit(path)
        for fault in findings.faults:
            say(f"hyperbaton: {one_line(fault)}")
        rows.append(
            {
                "artefact": str(path),
                "state": _state(path, findings),
                "arrays": findings.n_arrays,
                "MiB": round(findings.n_bytes / 2**20, 1),
            }
        )
    print_table(rows, as_json)
    if any(row["state"] != "sound" for row in rows):
        sys.exit(1)


def _state(path: Path, findings: Verification) -> str:
    if not findings.faults:
        return "sound"
    if not os.path.lexists(path):
        return "missing"
    if not os.access(path, os.R_OK | os.X_OK):
        return "unreadable"
    manifest = path / MANIFEST
    return "unreadable" if manifest.exists() and not os.access(manifest, os.R_OK) else "damaged"
