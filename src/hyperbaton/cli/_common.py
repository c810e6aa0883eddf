"""What several verbs share."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from hyperbaton.base.progress import default_threads

log = logging.getLogger("hyperbaton")


def n_threads(threads: int) -> int:
    """The number of threads that a --threads value stands for."""
    return threads or default_threads()


def say(message: str, quiet: bool = False) -> None:
    """A remark for people, on stderr."""
    if not quiet:
        with contextlib.suppress(OSError):  # nobody listens
            print(message, file=sys.stderr)


def print_json(value: Any) -> None:
    """A result for programs, on stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def print_table(rows: Sequence[Mapping[str, Any]], title: str | None = None) -> None:
    """A result for people, on stdout: a drawn table on a terminal, tab-separated otherwise."""
    if not rows:
        return
    columns = list(rows[0])
    if not sys.stdout.isatty():
        print("\t".join(columns))
        for row in rows:
            print("\t".join(str(row[c]) for c in columns))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for column in columns:
        numeric = all(isinstance(row[column], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left")
    for row in rows:
        table.add_row(*(str(row[c]) for c in columns))
    Console().print(table)
