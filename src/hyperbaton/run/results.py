"""What an experiment found, gathered from its stages: `results.json`, which the report is made from.

It also says everything that is needed to get the same numbers: resolved options, versions, seeds, and hashes of inputs.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from hyperbaton.base.store import writing_file
from hyperbaton.corpus.files import read_byte_lines, read_lines
from hyperbaton.run.commands import commands
from hyperbaton.run.findings import findings
from hyperbaton.run.models import NamedModel
from hyperbaton.run.plan import Plan
from hyperbaton.run.stage import read_json
from hyperbaton.run.stages import stage_modules
from hyperbaton.run.translation import NO_LIMIT

LIBRARIES = ("numpy", "scipy", "matplotlib", "sacrebleu", "zstandard")
RESULTS = "results.json"
SHORTEST, LONGEST = 6, 30  # words of sentences that are shown


def write_results(plan: Plan, root: Path) -> Path:
    """Gather the results of a plan whose stages are all done."""
    results = gather(plan, root)
    with writing_file(root / RESULTS) as aside:
        aside.write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return root / RESULTS


def gather(plan: Plan, root: Path) -> dict[str, Any]:
    """The results as plain values."""
    experiment = plan.experiment
    movement = read_json(plan.stages["movement"].folder(root) / "movement.json")
    results: dict[str, Any] = {
        "title": experiment.title,
        "signature": signature(plan),
        "options": experiment.resolved(),
        "commands": commands(plan, root),
        "corpus": movement["corpus"],
        "movement": movement["movement"],
        "costs": costs(plan, root),
    }
    for model in experiment.models.values():
        for side in model.sides:
            _add_evaluation(results, plan, root, model, side)
    if experiment.translation.systems:
        results |= {
            "translation": _translation(plan, root),
            "tuning": _tuning(plan, root),
            "sentences": _sentences(plan, root),
        }
        _add_translations_of_steps(results, plan)
    own = {kind: module.results(plan, root) for kind, module in stage_modules().items() if hasattr(module, "results")}
    results["stages"] = {kind: rows for kind, rows in own.items() if rows}
    for name, file in results["signature"]["inputs"].items():
        file["lines"] = sum(1 for _ in read_byte_lines(plan.inputs()[name].path))
    return results | {"findings": findings(results)}


def signature(plan: Plan) -> dict[str, Any]:
    """What the results depend on: versions, seed, options and inputs."""
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


def costs(plan: Plan, root: Path) -> list[dict[str, Any]]:
    """What each stage took."""
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


def _add_evaluation(results: dict[str, Any], plan: Plan, root: Path, model: NamedModel, side: str) -> None:
    stage = plan.stages[plan.evaluate_name(model, side)]
    evaluation = read_json(stage.folder(root) / "evaluation.json")
    name = f"{model.name} (after)" if side == "after" and len(model.sides) > 1 else model.name
    trained = stage.inputs["model"].folder(root)  # type: ignore[union-attr]
    row = {"model": name, "kind": model.model, "is_distance": model.cls.is_distance, "path": str(trained), **evaluation}
    results.setdefault(evaluation["shape"], []).append(row)


def _add_translations_of_steps(results: dict[str, Any], plan: Plan) -> None:
    """Scores of the translations of systems that have a step model alone, at the limit of the shown sentences."""
    shown = plan.shown_limit
    limit = None if shown == NO_LIMIT else shown
    for row in results.get("step", []):
        for row_of_system in results["translation"]:
            if (
                plan.experiment.translation.systems[row_of_system["system"]] == (row["model"],)
                and row_of_system["limit"] == limit
            ):
                row["translation"] = {metric: score["value"] for metric, score in row_of_system["scores"].items()}


def _translation(plan: Plan, root: Path) -> list[dict[str, Any]]:
    how = plan.experiment.translation
    rows = []
    for row in read_json(plan.stages["score"].folder(root) / "scores.json"):
        system, limit = row["system"], row["limit"]
        runs = range(how.counts.tuning_runs)
        speeds = [read_json(plan.stages[plan.translate_name(system, r, limit)].folder(root) / "speed.json") for r in runs]
        seconds = _seconds_of_a_thread(speeds)
        rows.append(
            row
            | {
                "model": " + ".join(how.systems[system]) or "distance alone",
                "limit": None if limit == NO_LIMIT else limit,
                "runs": len(runs),
                "words_per_second": speeds[0]["words"] / max(seconds, 1e-9),
                "seconds": seconds,
            }
        )
    return rows


def _seconds_of_a_thread(speeds: Sequence[Mapping[str, Any]]) -> float:
    """Mean of several runs; the last stages have more threads to themselves than others.

    >>> _seconds_of_a_thread([{"seconds": 12.0, "threads": 1}, {"seconds": 3.0, "threads": 4}])
    12.0
    """
    return float(sum(speed["seconds"] * speed["threads"] for speed in speeds) / len(speeds))


def _tuning(plan: Plan, root: Path) -> dict[str, Any]:
    """The course of the first tuning run of each system."""
    systems = plan.experiment.translation.systems
    return {s: read_json(plan.stages[plan.tune_name(s, 0)].folder(root) / "weights.json")["history"] for s in systems}


def _sentences(plan: Plan, root: Path) -> list[dict[str, Any]]:
    """The test sentences where systems differ most, with the derivation of each that has the words in this order."""
    how = plan.experiment.translation
    corpus = plan.corpus["test"].folder(root)
    source, reference = (list(read_lines(corpus / f"test.{column}")) for column in ("source", "target"))
    tags = list(read_lines(corpus / "test.tags")) if (corpus / "test.tags").exists() else None
    spread = read_json(plan.stages["score"].folder(root) / "spread.json")
    limit = plan.shown_limit
    named_limit = None if limit == NO_LIMIT else limit
    derivations = {}
    systems = [system for system in how.systems if system not in plan.preordered]
    for system in systems:
        folder = plan.stages[plan.translate_name(system, 0, limit)].folder(root)
        derivations[system] = [json.loads(line) for line in read_lines(folder / "segments.jsonl")]
    fit = [s for s, line in enumerate(source) if SHORTEST <= len(line.split()) <= LONGEST]
    chosen = sorted(fit, key=lambda s: (-spread[s], s))[: how.counts.sentences]
    shown = []
    for s in sorted(chosen):
        sentence: dict[str, Any] = {"id": s + 1, "limit": named_limit, "source": source[s].split()}
        sentence["reference"] = reference[s].split()
        if tags is not None:
            sentence["tags"] = tags[s].split()
        sentence["hypotheses"] = [{"system": system, **derivations[system][s]} for system in systems]
        shown.append(sentence)
    return shown
