"""The end of a run: results gathered, report written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hyperbaton.run.plan import Plan
from hyperbaton.run.results import write_results
from hyperbaton.run.stage import read_json


class Finished(NamedTuple):
    """Where things are, the three findings, and what a reader of the numbers must know besides."""

    results: Path
    report: Path
    findings: list[str]
    warnings: list[str]


def finish(plan: Plan, root: Path) -> Finished:
    """Write `results.json` and the report of a plan whose stages are all done."""
    from hyperbaton.report import write_report  # slow to load, and not needed before

    path = write_results(plan, root)
    results: dict[str, Any] = read_json(path)
    return Finished(path, write_report(path, root / "report"), results["findings"], list(_warnings(plan, root)))


def _warnings(plan: Plan, root: Path) -> Iterator[str]:
    """Cleaning that drops much of the text, and tunings that did not help."""
    for stage in plan:
        if stage.kind == "corpus":
            for split, report in read_json(stage.folder(root) / "cleaning.json").items():
                yield from (f"cleaning {split}: {warning}" for warning in report.get("warnings", []))
        if stage.kind == "tune" and (reason := read_json(stage.folder(root) / "weights.json")["failure"]):
            yield f"{stage.name} failed: {reason}; the best weights found are used"
