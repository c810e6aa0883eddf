from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.describe import describe, description_rows
from hyperbaton.cli._common import print_result
from hyperbaton.cli._parameters import READS, Argument, Flag, Json


def show(
    artefact: Annotated[Path, Argument("ARTEFACT", "Phrases, a model, a system, …"), READS],
    *,
    arrays: Annotated[bool, Flag("List every array with its type, shape and size.")] = False,
    as_json: Json = False,
) -> None:
    """Describe an artefact: its kind, options, counts, weights, size and inputs.

    Examples:

        hyperbaton show system
        hyperbaton show phrases --arrays
        hyperbaton show lm --json
    """
    description = describe(artefact)
    rows = description_rows(description, arrays=arrays)
    if not description["parts"]:
        rows = [{name: value for name, value in row.items() if name != "part"} for row in rows]
    print_result(description, rows, as_json)
