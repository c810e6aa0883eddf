"""The end of a run: collect the results and write the report."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hyperbaton.base.forms import JsonObject
from hyperbaton.run.plan import Plan
from hyperbaton.run.results import write_results
from hyperbaton.run.stage import read_json


class RunSummary(NamedTuple):
    """The paths of the results, the three findings, and the warnings."""

    results: Path
    report: Path
    findings: list[str]
    warnings: list[str]


def finish(plan: Plan, root: Path) -> RunSummary:
    """Write `results.json` and the report of a plan whose stages are all done."""
    from hyperbaton.report import write_report  # slow to load, and not needed before

    path = write_results(plan, root)
    results: JsonObject = read_json(path)
    return RunSummary(path, write_report(path, root / "report"), results["findings"], results["warnings"])
