"""The results of an experiment, collected from its stages: `results.json`, the input of the report.

It also contains everything needed to reproduce the numbers: resolved options, versions, seeds, and hashes of inputs.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.store import writing_file
from hyperbaton.corpus.files import read_byte_lines
from hyperbaton.run.commands import commands
from hyperbaton.run.findings import findings
from hyperbaton.run.plan import Plan
from hyperbaton.run.stages import stage_modules

LIBRARIES = ("numpy", "scipy", "matplotlib", "sacrebleu", "zstandard")
RESULTS = "results.json"
LONG, BUSY = 5.0, 0.7  # seconds of the stages considered; the least fraction of processor time on an idle machine


def write_results(plan: Plan, root: Path) -> Path:
    """Collect the results of a plan whose stages are all done."""
    results = gather(plan, root)
    with writing_file(root / RESULTS) as aside:
        aside.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return root / RESULTS


def gather(plan: Plan, root: Path) -> JsonObject:
    """The results as plain values."""
    experiment = plan.experiment
    results: JsonObject = {
        "title": experiment.title,
        "signature": signature(plan),
        "options": experiment.resolved(),
        "commands": commands(plan, root),
        "costs": costs(plan, root),
    }
    for figures in _each("figures").values():
        results |= figures(plan, root)
    _add_translations_of_steps(results, plan)
    results["warnings"] = [warning for warnings in _each("warnings").values() for warning in warnings(plan, root)]
    results["warnings"] += busy(results["costs"])
    results["stages"] = {kind: rows for kind, own in _each("results").items() if (rows := own(plan, root))}
    for name, file in results["signature"]["inputs"].items():
        file["lines"] = sum(1 for _ in read_byte_lines(plan.inputs()[name].path))
    return results | {"findings": findings(results)}


def _each(function: str) -> dict[str, Callable[[Plan, Path], Any]]:
    """A function of every kind of stage that has it."""
    return {kind: getattr(module, function) for kind, module in stage_modules().items() if hasattr(module, function)}


def busy(costs: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Warn if stages had to wait for a processor: their times then say little about other machines.

    >>> list(busy([{"seconds": 100.0, "cpu_seconds": 40.0}, {"seconds": 2.0, "cpu_seconds": 0.1}]))
    ['the machine was busy: stages took 100 s, but used 40 s of processor time; compare processor times, not seconds']
    >>> list(busy([{"seconds": 100.0, "cpu_seconds": 95.0}]))
    []
    """
    long = [row for row in costs if row["seconds"] >= LONG]  # shorter ones wait for the disk
    seconds, used = (sum(float(row[key]) for row in long) for key in ("seconds", "cpu_seconds"))
    if used < BUSY * seconds:
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
        "inputs": {name: {"path": str(file.path), "sha256": file.key} for name, file in plan.inputs().items()},
    }


def costs(plan: Plan, root: Path) -> list[JsonObject]:
    """The cost of each stage."""
    rows = []
    for stage in plan:
        record = stage.record(root)
        row = {"stage": stage.name, "kind": stage.kind}
        rows.append(row | {name: record[name] for name in ("seconds", "peak_mib", "output_mib", "cpu_seconds", "threads")})
    return rows


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _add_translations_of_steps(results: JsonObject, plan: Plan) -> None:
    """Translation scores of systems with only a step model, at the limit of the shown sentences."""
    for row in results.get("step", []):
        for row_of_system in results.get("translation", []):
            if (
                plan.experiment.translation.systems[row_of_system["system"]] == (row["model"],)
                and row_of_system["limit"] == results["shown_limit"]
            ):
                row["translation"] = {metric: score["value"] for metric, score in row_of_system["scores"].items()}
