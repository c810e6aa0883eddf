"""The plan and progress of a run: as a table, and as `plan.json` in the folder of the run."""

from __future__ import annotations

from pathlib import Path

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Form, Json, JsonObject, form_fault
from hyperbaton.base.writing import writing_file
from hyperbaton.run.plan import Plan
from hyperbaton.run.results import signature
from hyperbaton.run.stage import STAGE_FILE, read_json, write_json

PLAN, RESOLVED = "plan.json", "experiment.json"


def json_field(path: Path, value: Json, form: Form, *keys: str) -> Json:
    """The value under keys of a JSON file, which must have a given form: the file may have been edited or truncated.

    >>> json_field(Path("a.json"), {"b": {"c": [1, 2]}}, list[int], "b", "c")
    [1, 2]
    >>> json_field(Path("results.json"), {"title": 3}, str, "title")
    Traceback (most recent call last):
    hyperbaton.base.errors.InputError: results.json: 'title' is a whole number, not text; run the experiment again
    """
    for key in reversed(keys):
        form = {key: form}
    if fault := form_fault(value, form):
        raise InputError(f"{fault}; run the experiment again", path)
    for key in keys:
        value = value[key]
    return value


def read_plan(root: Path) -> dict[str, Path]:
    """The stages in the plan of a run, with their output folders."""
    path = root / PLAN
    if not path.exists():
        raise InputError("the plan of the run is missing; run the experiment again", path)
    rows = json_field(path, read_json(path), [{"stage": str, "folder": str}])
    if not rows:
        raise InputError("the plan has no stages; run the experiment again", path)
    return {row["stage"]: root / "stages" / row["folder"] for row in rows}


def write_plan(plan: Plan, root: Path) -> None:
    """Write the resolved experiment (options, versions, seed, hashes of inputs) and the stages next to the results."""
    root.mkdir(parents=True, exist_ok=True)
    with writing_file(root / RESOLVED) as aside:
        write_json(aside, {"signature": signature(plan), "options": plan.experiment.resolved()})
    rows = [
        {
            "stage": stage.name,
            "kind": stage.kind,
            "folder": stage.folder_name,
            "needs": [before.name for before in stage.before],
            "estimated_seconds": round(stage.cost.seconds, 1),
            "estimated_mib": round(stage.cost.mib),
        }
        for stage in plan
    ]
    with writing_file(root / PLAN) as aside:
        write_json(aside, rows)


def plan_rows(plan: Plan, root: Path) -> list[JsonObject]:
    """The plan as rows of a table, the last one for the total."""
    rows: list[JsonObject] = [
        {
            "stage": stage.name,
            "state": "done" if stage.is_done(root) else "to do",
            "cpu s": round(plan.slowness * stage.cost.seconds),
            "MiB": round(stage.cost.mib),
            "needs": " ".join(before.name for before in stage.before) if len(stage.before) < 5 else "all outputs",
        }
        for stage in plan
    ]
    ahead = [stage.cost for stage in plan if not stage.is_done(root)]
    most = round(max((cost.mib for cost in ahead), default=0))
    total = {"cpu s": round(plan.slowness * sum(cost.seconds for cost in ahead)), "MiB": most, "needs": ""}
    return [*rows, {"stage": "together", "state": f"{len(ahead)} to do", **total}]


def status_rows(root: Path) -> list[JsonObject]:
    """The progress of the run in a folder: finished stages with their cost, and unfinished ones."""
    if not (root / PLAN).is_file():
        raise InputError(
            f"not the folder of a run (there is no {PLAN}); 'hyperbaton run EXPERIMENT.toml -o' makes one", root
        )
    rows = []
    for stage, folder in read_plan(root).items():
        row: JsonObject = {"stage": stage, "state": "to do", "seconds": "", "MiB": "", "output MiB": ""}
        file = folder / STAGE_FILE
        if file.is_file():
            record = json_field(file, read_json(file), {"seconds": float, "peak_mib": float, "output_mib": float})
            row |= {"state": "done", "seconds": round(record["seconds"], 1), "MiB": round(record["peak_mib"])}
            row["output MiB"] = round(record["output_mib"], 1)
            if "workers" in record:  # the run used an executor
                row["workers"] = len(json_field(file, record, [object], "workers"))
        elif any(folder.parent.glob(f"{folder.name}.*.incomplete")):
            row["state"] = "begun"
        rows.append(row)
    return rows
