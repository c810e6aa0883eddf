"""Functions shared by several commands."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Collection, Mapping, Sequence
from os import PathLike

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, one_line
from hyperbaton.base.progress import is_terminal
from hyperbaton.base.store import is_artefact, verify
from hyperbaton.corpus.files import shown

log = logging.getLogger("hyperbaton")


def say(message: str, quiet: bool = False) -> None:
    """Print a remark for people to stderr."""
    if not quiet:
        with contextlib.suppress(OSError):  # stderr is closed
            print(message, file=sys.stderr)


def need_as_many_lines(path: str, n_lines: int, beside: str, n_beside: int) -> None:
    """Raise InputError unless a file has as many lines as the file parallel to it."""
    if n_lines != n_beside:
        what = f"has {counted(n_lines, 'line')}, but {shown(beside)} has {n_beside}; every sentence needs a line"
        raise InputError(what, shown(path), min(n_lines, n_beside) + 1)


def verify_artefacts(wanted: bool, *paths: str | PathLike[str]) -> None:
    """Implement --verify: check the content of those paths that are artefacts."""
    for path in paths if wanted else ():
        if is_artefact(path):
            verify(path)


def at_terminal(source: str, outputs: Collection[str]) -> bool:
    """Whether lines are typed or read at a terminal, where a progress bar would disturb them."""
    return (source == "-" and is_terminal(sys.stdin)) or ("-" in outputs and is_terminal(sys.stdout))


def print_json(value: object) -> None:
    """Print a result for programs to stdout."""
    print(json.dumps(value, ensure_ascii=False, indent=1))


def print_result(value: object, shown: str | Sequence[Mapping[str, object]], as_json: bool, quiet: bool = False) -> None:
    """Print a result: as JSON for programs; for people, rows as a table on stdout, a sentence on stderr."""
    if as_json:
        print_json(value)
    elif isinstance(shown, str):
        say(shown, quiet)
    else:
        print_table(shown)


NEVER_WRAPPED = 24  # columns of narrower cells, including all numbers, are never wrapped
WRAPPED = 20  # least width of the others


def print_table(rows: Sequence[Mapping[str, object]], as_json: bool = False) -> None:
    """Print a result for people to stdout: a drawn table on a terminal, tab-separated otherwise; for programs as JSON.

    A table that is too wide for the terminal is drawn transposed or, if that is too wide as well, as a list of names and
    values: nothing is ever cut off.
    """
    if as_json:
        print_json(rows)
    if as_json or not rows:
        return
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[one_line(str(row.get(column, ""))) for column in columns] for row in rows]
    if not sys.stdout.isatty():
        for line in (columns, *cells):
            print("\t".join(line))
        return
    numeric = [all(isinstance(row.get(column, 0), int | float) for row in rows) for column in columns]
    if _draw(columns, cells, numeric):
        return
    by_column = [list(line) for line in zip(columns, *cells, strict=True)]
    if len(rows) > 1 and _draw(by_column[0], by_column[1:], [False, *(True for _ in rows)]):
        return
    width = max(map(len, columns))
    for n, line in enumerate(cells):
        print(
            *([""] if n else []), *(f"{name:<{width}}  {cell}" for name, cell in zip(columns, line, strict=True)), sep="\n"
        )


def _draw(head: Sequence[str], cells: Sequence[Sequence[str]], numeric: Sequence[bool]) -> bool:
    """Draw a table if the terminal is wide enough for it."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    widths = [max(map(cell_len, column)) for column in zip(head, *cells, strict=True)]
    least = [width if width <= NEVER_WRAPPED else WRAPPED for width in widths]
    if sum(least) + 3 * len(head) + 1 > console.width:
        return False
    table = Table()
    for i, name in enumerate(head):
        table.add_column(
            Text(name),
            justify="right" if numeric[i] else "left",
            min_width=least[i],
            no_wrap=least[i] == widths[i],
            overflow="fold",
        )
    for line in cells:
        table.add_row(*map(Text, line))
    console.print(table)
    return True
