"""Run the unfinished cells of a paper, store their results, and write the page from all results.

With `jobs`, several cells run at once: experiments as one set of stages, computations in separate processes. Results do
not depend on how many run at once. A failing cell does not stop the others.
"""

from __future__ import annotations

import fnmatch
import importlib
import json
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from hyperbaton.base.errors import Cancelled, HyperbatonError, InputError, OptionError
from hyperbaton.base.options import unknown
from hyperbaton.base.outputs import check_text_folder
from hyperbaton.base.writing import writing_file
from hyperbaton.run.stage import read_json
from papers.corpora import check_corpora
from papers.experiments import Experiment, Experiments
from papers.processes import end_processes, in_process
from papers.protocol import Cell, Computation, Paper, R, Result, Results, Setting, silent

log = logging.getLogger(__name__)

PAPERS = ("ni11", "al14", "go13", "xi11")
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


def open_paper(name: str, setting: Setting) -> Paper:
    """The paper of that name, from the folder of that name."""
    if name not in PAPERS:
        raise OptionError(unknown("paper", name, PAPERS))
    paper: Paper = importlib.import_module(f"papers.{name}").PAPER(setting)
    return paper


def cell_states(name: str, setting: Setting) -> dict[str, bool]:
    """The cells of a paper, and whether each is done."""
    return {cell.name: stored(setting, cell) is not None for cell in open_paper(name, setting).cells()}


def reproduce(
    name: str, setting: Setting, *, cells: Sequence[str] = (), command: str = "", page: bool = True
) -> Reproduction:
    """Run the unfinished cells of a paper, and write its page.

    The corpora are checked before anything is written. If a cell fails, the others are still run and stored, but no page
    is written.

    Arguments:
        cells: patterns of names, as in `random-20000-*`; only these cells are run. The page contains all finished ones.
        command: the command shown on the page for reproducing it.
        page: whether to write it; the cells suffice if the page is written on another machine.
    """
    paper = open_paper(name, setting)
    protocol = paper.cells()
    chosen = [cell for cell in protocol if not cells or any(fnmatch.fnmatch(cell.name, pattern) for pattern in cells)]
    if not chosen:
        names = [cell.name for cell in protocol[:8]] + ["…"] * (len(protocol) > 8)
        raise OptionError(f"no cell of {name} is called {' or '.join(cells)}; there are {', '.join(names)}")
    check_text_folder(setting.output)
    _check_owner(setting.output, name)
    unfinished = [cell for cell in chosen if stored(setting, cell) is None]
    if setting.data is not None:
        check_corpora(setting.data, [file for cell in unfinished for file in cell.corpus_files(setting.data)])
    with _marked(setting.output, name):
        failures = Workshop(setting).run(unfinished)
    if failures:
        (first, reason), *others = failures.items()
        more = f" (and {len(others)} more: {', '.join(cell for cell, _ in others)})" if others else ""
        raise CellFailed(f"cell {first} failed: {reason}{more}; finished cells are kept, but no page was written")
    results = Results({cell.name: result for cell in protocol if (result := stored(setting, cell)) is not None})
    written = None
    if page:
        from papers.page import write_page  # pictures are slow to load, and not needed before

        written = write_page(paper, results, len(protocol), command)
    return Reproduction(written, len(results), len(protocol))


def _check_owner(folder: Path, name: str) -> None:
    """Refuse a folder that belongs to something else, or to another paper."""
    if (folder / MARK).exists():
        mark = read_json(folder / MARK)
        if mark != {"paper": name}:
            owner = mark.get("paper") if isinstance(mark, dict) else mark
            raise InputError(f"expected {name!r} under 'paper', found {owner!r}; choose another folder", folder / MARK)
    elif folder.is_dir() and any(folder.iterdir()) and not (folder / CELLS).is_dir():
        raise InputError("not a folder of results of a paper; choose one that is empty or new", folder)


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


class Workshop:
    """Runs cells and stores their results."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.failures: dict[str, str] = {}

    def run(self, cells: Sequence[Cell[Result]]) -> dict[str, str]:
        """Run cells; returns the reasons of those that failed."""
        if self.setting.jobs > 1:
            self._in_processes([cell for cell in cells if isinstance(cell, Computation)])
            self._as_stages([cell for cell in cells if isinstance(cell, Experiment)])
            return self.failures
        for number, cell in enumerate(cells, start=1):
            self.setting.say(f"cell {number} of {len(cells)}: {cell.name}")
            if isinstance(cell, Experiment):
                self._as_stages([cell])
            elif isinstance(cell, Computation):
                self._compute(cell)
        return self.failures

    def _compute(self, cell: Computation[Result]) -> None:
        try:
            self._store(cell, *_timed(cell, self.setting))
        except Cancelled:
            raise
        except HyperbatonError as error:
            self._fail(cell, str(error))
        except Exception as error:  # a bug; it may not affect the other cells
            log.exception("cell %s", cell.name)
            self._fail(cell, f"{type(error).__name__}: {error}")

    def _in_processes(self, cells: Sequence[Computation[Result]]) -> None:
        if not cells:
            return
        n_workers = min(self.setting.jobs, len(cells))
        share = replace(self.setting, say=silent, jobs=1, threads=max(1, self.setting.threads // n_workers))
        with ThreadPoolExecutor(n_workers) as pool:
            futures = {pool.submit(in_process, _timed, cell, share): cell for cell in cells}
            try:
                for number, future in enumerate(as_completed(futures), start=1):
                    cell = futures[future]
                    try:
                        result, seconds = future.result()
                    except HyperbatonError as error:
                        self._fail(cell, str(error))
                        continue
                    self._store(cell, result, seconds)
                    self.setting.say(f"cell {number} of {len(cells)}: {cell.name}, {seconds:.0f} s")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_processes()
                raise

    def _as_stages(self, cells: Sequence[Experiment]) -> None:
        experiments = Experiments(self.setting, self._store, self._fail)
        for cell in cells:
            try:
                experiments.add(cell)
            except HyperbatonError as error:
                self._fail(cell, str(error))
        experiments.execute()

    def _fail(self, cell: Cell[Result], reason: str) -> None:
        self.failures[cell.name] = reason
        self.setting.say(f"cell {cell.name} failed: {reason}")

    def _store(self, cell: Cell[Result], result: Result, seconds: float) -> None:
        record = {
            "cell": cell.name,
            "identity": cell.identity(self.setting),
            "seconds": round(seconds, 1),
            "hyperbaton": version("hyperbaton"),
            "result": asdict(result),
        }
        with writing_file(_file(self.setting, cell)) as aside:
            aside.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _timed(cell: Computation[R], setting: Setting) -> tuple[R, float]:
    started = perf_counter()
    return cell.work(setting), perf_counter() - started


def stored(setting: Setting, cell: Cell[Result]) -> Result | None:
    """The result of a cell, if it was computed with the same options and the same text."""
    file = _file(setting, cell)
    if not file.exists():
        return None
    identity = json.loads(json.dumps(cell.identity(setting)))
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        return cell.result_type.from_json(record["result"]) if record["identity"] == identity else None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("this is not a result of a cell; delete it to run the cell again", file) from error


def _file(setting: Setting, cell: Cell[Result]) -> Path:
    return setting.output / CELLS / f"{cell.name}.json"
