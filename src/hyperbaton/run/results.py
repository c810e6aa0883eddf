"""The end of a run: collect the results of its stages in `results.json`, and write the report from it.

`results.json` also contains everything needed to reproduce the numbers: options, versions, seeds, and hashes of inputs.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.writing import writing_file
from hyperbaton.corpus.files import read_byte_lines
from hyperbaton.report.results import RESULTS
from hyperbaton.run.plan import Plan, shell
from hyperbaton.run.stage import read_json, write_json
from hyperbaton.run.stages import functions

LIBRARIES = ("numpy", "scipy", "matplotlib", "sacrebleu")
LONG, BUSY = 5.0, 0.7  # seconds of the stages considered; the least fraction of processor time on an idle machine


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


def write_results(plan: Plan, root: Path) -> Path:
    """Collect the results of a plan whose stages are all done."""
    results = gather(plan, root)
    with writing_file(root / RESULTS) as aside:
        write_json(aside, results)
    return root / RESULTS


def gather(plan: Plan, root: Path) -> JsonObject:
    """The results as plain values."""
    experiment = plan.experiment
    results: JsonObject = {
        "title": experiment.title,
        "signature": signature(plan),
        "options": experiment.resolved(),
        "commands": {"costs": [shell("hyperbaton", "status", root)]},
        "costs": costs(plan, root),
    }
    for commands in functions("commands").values():
        results["commands"] |= commands(plan, root)
    for figures in functions("figures").values():
        results |= figures(plan, root)
    _add_translations_of_steps(results)
    results["warnings"] = [warning for warnings in functions("warnings").values() for warning in warnings(plan, root)]
    results["warnings"] += busy(results["costs"])
    results["stages"] = {kind: rows for kind, of in functions("results").items() if (rows := of(plan, root))}
    files = plan.files()
    for name, file in results["signature"]["inputs"].items():
        file["lines"] = sum(1 for _ in read_byte_lines(files[name].path))
    return results | {"findings": findings(results)}


def findings(results: JsonObject) -> list[str]:
    """Summarise the results in plain sentences: what moves, what predicts it, and how much that helps translation."""
    return [finding(results) for finding in functions("finding").values()]


def busy(costs: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Warn if stages had to wait for a processor: their times then say little about other machines.

    >>> list(busy([{"seconds": 100.0, "cpu_seconds": 40.0}, {"seconds": 2.0, "cpu_seconds": 0.1}]))
    ['the machine was busy: stages took 102 s, but used 40 s of processor time; compare processor times, not seconds']
    >>> list(busy([{"seconds": 100.0, "cpu_seconds": 95.0}]))
    []
    """
    long = [row for row in costs if row["seconds"] >= LONG]  # shorter ones wait for the disk
    if sum(row["cpu_seconds"] for row in long) < BUSY * sum(row["seconds"] for row in long):
        seconds, used = (sum(float(row[key]) for row in costs) for key in ("seconds", "cpu_seconds"))
        took = f"stages took {seconds:,.0f} s, but used {used:,.0f} s of processor time"
        yield f"the machine was busy: {took}; compare processor times, not seconds"


def signature(plan: Plan) -> JsonObject:
    """Everything that the results depend on: versions, seed, options and inputs."""
    experiment = plan.experiment
    resolved = json.dumps(experiment.resolved(), sort_keys=True, ensure_ascii=False).encode()
    return {
        "package": version("hyperbaton"),
        "python": platform.python_version(),
        "libraries": {name: installed for name in LIBRARIES if (installed := _version(name))},
        "seed": experiment.seed,
        "experiment": hashlib.sha256(resolved).hexdigest(),
        "inputs": {name: {"path": str(file.path), "sha256": file.key} for name, file in plan.files().items()},
    }


def costs(plan: Plan, root: Path) -> list[JsonObject]:
    names = ("seconds", "peak_mib", "output_mib", "cpu_seconds", "threads")
    records = ((stage, stage.record(root)) for stage in plan)
    return [{"stage": s.name, "kind": s.kind, **{name: record[name] for name in names}} for s, record in records]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _add_translations_of_steps(results: JsonObject) -> None:
    """Add the scores of the system that has a step model alone to the results of the model."""
    shown = [row for row in results.get("translation", []) if row["limit"] == results["shown_limit"]]
    scores = {row["model"]: {metric: score["value"] for metric, score in row["scores"].items()} for row in shown}
    for row in results.get("step", []):
        row |= {"translation": scores[row["model"]]} if row["model"] in scores else {}
