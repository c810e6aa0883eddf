"""The command `pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.store import stored_bytes
from hyperbaton.cli._common import print_table, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_ARTEFACT, Argument, Flag, Force, Json, Verify
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.decode import System
from hyperbaton.decode.packing import pack as pack_system
from hyperbaton.decode.system import KIND


def pack(
    system: Annotated[Path, Argument("SYSTEM", "A translation system, usually a tuned one."), READS],
    *,
    output: Annotated[Path, Flag("Artefact to write.", "-o"), WRITES_ARTEFACT],
    exact: Annotated[bool, Flag("Change no translation and no score; the system is larger.")] = False,
    force: Force = False,
    verify: Verify = False,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Make a small system for translating, in one folder that can be copied to any machine.

    It has only the translations that the search can take with the system's weights and table limit, and only their rows
    of reordering tables. Its language models are sorted, quantised, and without n-grams that no translation can contain;
    --exact only sorts them. Sizes before and after are printed.

    A packed system is used like any other. Its weights are fixed, except those of reordering, and the table limit can
    only be lowered; 'tune' and 'diagnose' need the original.

    Examples:

        hyperbaton pack tuned -o small
        hyperbaton pack tuned -o small --exact
    """
    check_artefact(output, KIND, force=force)
    verify_artefacts(verify, system)
    loaded = System.load(system)
    rows = [_row("before", loaded, system)]
    with common.bars() as bars:
        packed = pack_system(loaded, exact=exact, threads=common.n_threads, progress=bars.stage("rank"))
    packed.save(output)
    print_table([*rows, _row("after", packed, output)], as_json)


def _row(name: str, system: System, path: Path) -> dict[str, object]:
    return {
        "system": name,
        "rules" if system.is_hierarchical else "phrase pairs": len(system.table),
        "n-grams": sum(sum(lm.n_ngrams) for lm in system.lms.values()),
        "MiB": round(stored_bytes(path) / 2**20, 1),
    }
