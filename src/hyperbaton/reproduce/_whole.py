"""Reproduce a paper: run the unfinished cells, then write the page from all results."""

from __future__ import annotations

import fnmatch
import importlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.outputs import check_text_folder
from hyperbaton.base.writing import writing_file
from hyperbaton.reproduce._paper import Cell, Paper, Result, Setting
from hyperbaton.reproduce._side_by_side import Cells
from hyperbaton.run.stage import read_json

CELLS = "cells"
MARK = "paper.json"  # names the paper of the folder


class CellFailed(HyperbatonError):
    """A cell failed; the message contains the reason."""


@dataclass(frozen=True)
class Reproduction:
    """The page, if it was written, and the number of the paper's cells that are done."""

    page: Path | None
    n_done: int
    n_cells: int


def reproduce(
    name: str, setting: Setting, *, cells: Sequence[str] = (), command: str = "", page: bool = True
) -> Reproduction:
    """Run the unfinished cells of a paper, and write its page.

    If a cell fails, the others are still run and stored, but no page is written.

    Arguments:
        cells: patterns of names, as in `random-20000-*`; only these cells are run. The page contains all finished ones.
        command: the command shown on the page for reproducing it.
        page: whether to write it; the cells suffice if the page is written on another machine.
    """
    paper = open_paper(name, setting)
    every = paper.cells()
    chosen = [cell for cell in every if not cells or any(fnmatch.fnmatch(cell.name, pattern) for pattern in cells)]
    if not chosen:
        raise OptionError(f"no cell of {name} is called {' or '.join(cells)}; there are {', '.join(_shown(every))}")
    check_text_folder(setting.output)
    _check_own(setting.output, name)
    undone = [cell for cell in chosen if stored(setting, cell) is None]
    with _marked(setting.output, name):
        failures = Cells(name, paper, lambda *result: _store(setting, *result)).work(undone)
    if failures:
        (first, reason), *others = failures.items()
        more = f" (and {len(others)} more: {', '.join(cell for cell, _ in others)})" if others else ""
        raise CellFailed(f"cell {first} failed: {reason}{more}; finished cells are kept, but no page was written")
    results = {cell.name: result for cell in every if (result := stored(setting, cell)) is not None}
    written = None
    if page:
        from hyperbaton.reproduce._page import write_page  # pictures are slow to load, and not needed before

        written = write_page(paper, results, len(every), command)
    return Reproduction(written, len(results), len(every))


def _check_own(folder: Path, name: str) -> None:
    """Refuse a folder that belongs to something else, or to another paper."""
    if (folder / MARK).exists():
        owner = read_json(folder / MARK)
        if owner != {"paper": name}:
            found = owner.get("paper") if isinstance(owner, dict) else owner
            raise InputError(f"expected {name!r} under 'paper', found {found!r}; choose another folder", folder / MARK)
    elif folder.is_dir() and any(folder.iterdir()) and not (folder / CELLS).is_dir():
        raise InputError("not a folder of 'hyperbaton reproduce'; choose one that is empty or new", folder)


@contextmanager
def _marked(folder: Path, name: str) -> Iterator[None]:
    """Mark the folder with its paper; on exit, an unused folder is restored to its previous state."""
    was_there = folder.exists()
    with writing_file(folder / MARK) as aside:
        aside.write_text(json.dumps({"paper": name}) + "\n", encoding="utf-8")
    try:
        yield
    finally:
        if [path.name for path in folder.iterdir()] == [MARK]:
            (folder / MARK).unlink()
            if not was_there:
                folder.rmdir()


def open_paper(name: str, setting: Setting) -> Paper:
    """The paper of that name."""
    papers = importlib.import_module("hyperbaton.reproduce").PAPERS
    if setting.data is not None and not setting.data.is_dir():
        raise InputError("there is no such folder of corpora", setting.data)
    paper: Paper = papers[name](setting)
    return paper


def cell_states(name: str, setting: Setting) -> dict[str, bool]:
    """The cells of a paper, and whether each is done."""
    return {cell.name: stored(setting, cell) is not None for cell in open_paper(name, setting).cells()}


def stored(setting: Setting, cell: Cell) -> Result | None:
    """The result of a cell, if it was computed with the same options and the same text."""
    file = _file(setting, cell)
    if not file.exists():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return dict(record["result"]) if record["identity"] == _identity(setting, cell) else None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("this is not a result of a cell; delete it to run the cell again", file) from error


def _store(setting: Setting, cell: Cell, result: Result, seconds: float) -> None:
    record = {
        "cell": cell.name,
        "identity": _identity(setting, cell),
        "seconds": round(seconds, 1),
        "hyperbaton": version("hyperbaton"),
        "result": result,
    }
    with writing_file(_file(setting, cell)) as aside:
        aside.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _identity(setting: Setting, cell: Cell) -> JsonObject:
    text = "generated" if setting.data is None else "corpora"
    plain = {"options": cell.options, "quick": setting.quick, "seed": setting.seed, "text": text}
    return dict(json.loads(json.dumps(plain)))


def _file(setting: Setting, cell: Cell) -> Path:
    return setting.output / CELLS / f"{cell.name}.json"


def _shown(cells: Sequence[Cell], most: int = 8) -> list[str]:
    names = [cell.name for cell in cells]
    return names if len(names) <= most else [*names[:most], "…"]
