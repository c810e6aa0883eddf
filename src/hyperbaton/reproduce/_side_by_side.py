"""Several cells at once: experiments as one set of stages, the others in separate processes.

Results do not depend on how many cells run at once. A failing cell does not stop the others.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from time import perf_counter

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.reproduce._experiments import Experiments
from hyperbaton.reproduce._paper import Cell, Paper, Result, Setting, silent
from hyperbaton.reproduce._processes import end_processes, in_process

log = logging.getLogger(__name__)

Keep = Callable[[Cell, Result, float], None]


@dataclass
class Cells:
    """The unfinished cells of a paper; `keep` is called with each result and its duration in seconds."""

    name: str
    paper: Paper
    keep: Keep

    def __post_init__(self) -> None:
        self.failures: dict[str, str] = {}

    def work(self, cells: Sequence[Cell]) -> dict[str, str]:
        """Run cells; returns the reasons of those that failed."""
        setting = self.paper.setting
        if setting.jobs > 1:
            experiments = [cell for cell in cells if cell.experiment]
            self._in_processes([cell for cell in cells if cell not in experiments])
            self._as_stages(experiments)
            return self.failures
        for number, cell in enumerate(cells, start=1):
            setting.say(f"cell {number} of {len(cells)}: {cell.name}")
            if cell.experiment:
                self._as_stages([cell])
                continue
            started = perf_counter()
            try:
                self.keep(cell, self.paper.work(cell), perf_counter() - started)
            except HyperbatonError as error:
                self._fail(cell, str(error))
            except Exception as error:  # a bug; it may not affect the other cells
                log.exception("cell %s", cell.name)
                self._fail(cell, f"{type(error).__name__}: {error}")
        return self.failures

    def _in_processes(self, cells: Sequence[Cell]) -> None:
        if not cells:
            return
        setting = self.paper.setting
        n_workers = min(setting.jobs, len(cells))
        own = replace(setting, say=silent, jobs=1, threads=max(1, setting.threads // n_workers))
        with ThreadPoolExecutor(n_workers) as pool:
            futures = {pool.submit(_timed, self.name, own, cell): cell for cell in cells}
            try:
                for number, future in enumerate(as_completed(futures), start=1):
                    cell = futures[future]
                    try:
                        result, seconds = future.result()
                    except HyperbatonError as error:
                        self._fail(cell, str(error))
                        continue
                    self.keep(cell, result, seconds)
                    setting.say(f"cell {number} of {len(cells)}: {cell.name}, {seconds:.0f} s")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                end_processes()
                raise

    def _as_stages(self, cells: Sequence[Cell]) -> None:
        experiments = Experiments(self.paper.setting, self.keep, self._fail)
        for cell in cells:
            try:
                experiments.add(cell, self.paper.experiment(cell))
            except HyperbatonError as error:
                self._fail(cell, str(error))
        experiments.execute()

    def _fail(self, cell: Cell, reason: str) -> None:
        self.failures[cell.name] = reason
        self.paper.setting.say(f"cell {cell.name} failed: {reason}")


def _timed(name: str, setting: Setting, cell: Cell) -> tuple[Result, float]:
    started = perf_counter()
    return in_process(_work, name, setting, cell), perf_counter() - started


def _work(name: str, setting: Setting, cell: Cell) -> Result:
    paper: Paper = importlib.import_module("hyperbaton.reproduce").PAPERS[name](setting)
    return paper.work(cell)
