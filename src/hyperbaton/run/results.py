"""The results of an experiment, collected from its stages: `results.json`, the input of the report.

It also contains everything needed to reproduce the numbers: resolved options, versions, seeds, and hashes of inputs.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hyperbaton.base.forms import Json, JsonObject
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
SHORTEST, LONGEST = 6, 30  # words in a sentence shown in the report
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
    movement = read_json(plan.stages["movement"].folder(root) / "movement.json")
    results: JsonObject = {
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
        shown = read_json(plan.stages["score"].folder(root) / "shown.json")
        results |= {
            "translation": _translation(plan, root),
            "tuning": _tuning(plan, root),
            "tuned": _tuned(plan, root),
            "sentences": _sentences(plan, root, shown["limit"], shown["spread"]),
        }
        _add_translations_of_steps(results, plan, shown["limit"])
    results["warnings"] = list(_warnings(plan, root, results["costs"]))
    own = {kind: module.results(plan, root) for kind, module in stage_modules().items() if hasattr(module, "results")}
    results["stages"] = {kind: rows for kind, rows in own.items() if rows}
    for name, file in results["signature"]["inputs"].items():
        file["lines"] = sum(1 for _ in read_byte_lines(plan.inputs()[name].path))
    return results | {"findings": findings(results)}


def _warnings(plan: Plan, root: Path, costs: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Warnings for the reader: cleaning that drops much, tuning that did not help, a busy machine."""
    for stage in plan:
        if stage.kind == "corpus":
            for split, report in read_json(stage.folder(root) / "cleaning.json").items():
                yield from (f"cleaning {split}: {warning}" for warning in report.get("warnings", []))
        if stage.kind == "tune" and (reason := read_json(stage.folder(root) / "weights.json")["failure"]):
            yield f"{stage.name} failed: {reason}; the best weights found are used"
    yield from busy(costs)


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


def _add_evaluation(results: JsonObject, plan: Plan, root: Path, model: NamedModel, side: str) -> None:
    stage = plan.stages[plan.evaluate_name(model, side)]
    evaluation = read_json(stage.folder(root) / "evaluation.json")
    name = f"{model.name} (after)" if side == "after" and len(model.sides) > 1 else model.name
    trained = stage.inputs["model"].folder(root)  # type: ignore[union-attr]
    row = {"model": name, "kind": model.model, "is_distance": model.cls.is_distance, "path": str(trained), **evaluation}
    results.setdefault(evaluation["shape"], []).append(row)


def _add_translations_of_steps(results: JsonObject, plan: Plan, shown: int) -> None:
    """Translation scores of systems with only a step model, at the limit of the shown sentences."""
    limit = None if shown == NO_LIMIT else shown
    for row in results.get("step", []):
        for row_of_system in results["translation"]:
            if (
                plan.experiment.translation.systems[row_of_system["system"]] == (row["model"],)
                and row_of_system["limit"] == limit
            ):
                row["translation"] = {metric: score["value"] for metric, score in row_of_system["scores"].items()}


def _translation(plan: Plan, root: Path) -> list[JsonObject]:
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


def _seconds_of_a_thread(speeds: Sequence[Mapping[str, Json]]) -> float:
    """Mean over several runs, as time of a single thread: the last stages may have more threads than others.

    >>> _seconds_of_a_thread([{"seconds": 12.0, "threads": 1}, {"seconds": 3.0, "threads": 4}])
    12.0
    """
    return float(sum(speed["seconds"] * speed["threads"] for speed in speeds) / len(speeds))


def _tuning(plan: Plan, root: Path) -> JsonObject:
    """The history of the first tuning run of each system."""
    systems = plan.experiment.translation.systems
    return {s: read_json(plan.stages[plan.tune_name(s, 0)].folder(root) / "weights.json")["history"] for s in systems}


def _tuned(plan: Plan, root: Path) -> JsonObject:
    """The outcome of the first tuning run of each system: its score, the chosen iteration, and why it stopped."""
    outcomes = {}
    for system in plan.experiment.translation.systems:
        tuned = read_json(plan.stages[plan.tune_name(system, 0)].folder(root) / "weights.json")
        outcomes[system] = {
            "iteration": tuned["taken"],
            "averaged": tuned["averaged"] if tuned["taken"] == len(tuned["history"]) else [],
            "score": tuned["score"],
            "stopped": tuned["stopped"],
            "failure": tuned["failure"],
        }
    return outcomes


def _sentences(plan: Plan, root: Path, limit: int, spread: Sequence[float]) -> list[JsonObject]:
    """The test sentences where systems differ most, each with its derivations in the order of its words."""
    how = plan.experiment.translation
    corpus = plan.corpus["test"].folder(root)
    source, reference = (list(read_lines(corpus / f"test.{column}")) for column in ("source", "target"))
    tags = list(read_lines(corpus / "test.tags")) if (corpus / "test.tags").exists() else None
    named_limit = None if limit == NO_LIMIT else limit
    derivations = {}
    systems = [system for system in how.systems if system not in plan.preordered]
    for system in systems:
        folder = plan.stages[plan.translate_name(system, 0, limit)].folder(root)
        derivations[system] = [json.loads(line) for line in read_lines(folder / "segments.jsonl")]
    fit = [s for s, line in enumerate(source) if SHORTEST <= len(line.split()) <= LONGEST]
    differs = {s: difference([derivations[system][s] for system in systems]) for s in fit}
    shown = []
    for s in choose(differs, spread, how.counts.sentences):
        sentence: JsonObject = {"id": s + 1, "limit": named_limit, "differs": differs[s], "source": source[s].split()}
        sentence["reference"] = reference[s].split()
        if tags is not None:
            sentence["tags"] = tags[s].split()
        sentence["hypotheses"] = [{"system": system, **derivations[system][s]} for system in systems]
        shown.append(sentence)
    return shown


def difference(derivations: Sequence[Mapping[str, Json]]) -> str:
    """How the translations of a sentence differ: in order, words, both, only phrases, or not at all.

    >>> one, two = ({"segments": [{"source": [k, k + 1], "target": [w]} for k, w in row]} for row in (
    ...     [(0, "a"), (1, "b")], [(1, "b"), (0, "a")]))
    >>> difference([one, two]), difference([one, one])
    ('order', '')
    """
    orders, words, phrases = set(), set(), set()
    for derivation in derivations:
        segments = derivation["segments"]
        phrases.add(tuple(tuple(segment["source"]) for segment in segments))
        orders.add(tuple(i for segment in segments for i in range(*segment["source"])))
        words.add(tuple(sorted(word for segment in segments for word in segment["target"])))
    kinds = [name for name, values in (("order", orders), ("words", words)) if len(values) > 1]
    return " and ".join(kinds) or ("phrases" if len(phrases) > 1 else "")


def choose(differs: Mapping[int, str], spread: Sequence[float], n: int) -> list[int]:
    """Choose n sentences, from each kind of difference in turn, those with the largest score difference first.

    If nothing differs, as with a single system, the first sentences are chosen.

    >>> choose({0: "words", 1: "words", 2: "order", 3: ""}, [9.0, 8.0, 1.0, 0.0], 2)
    [0, 2]
    """
    if not any(differs.values()):
        return list(differs)[:n]
    rows: dict[str, list[int]] = {}
    for s in sorted(differs, key=lambda s: (-spread[s], s)):
        if differs[s]:
            rows.setdefault(differs[s], []).append(s)
    turns = itertools.chain.from_iterable(itertools.zip_longest(*rows.values()))
    return [s for s in turns if s is not None][:n]
