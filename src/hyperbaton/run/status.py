"""The plan and progress of a run: as a table, and as `plan.json` in the folder of the run."""

from __future__ import annotations

from pathlib import Path

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.store import writing_file
from hyperbaton.run.plan import Plan
from hyperbaton.run.records import PLAN, json_field, read_plan
from hyperbaton.run.results import signature
from hyperbaton.run.stage import STAGE_FILE, read_json, write_json

RESOLVED = "experiment.json"


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
            "cpu s": round(stage.cost.seconds),
            "MiB": round(stage.cost.mib),
            "needs": " ".join(before.name for before in stage.before) if len(stage.before) < 5 else "all outputs",
        }
        for stage in plan
    ]
    ahead = [stage.cost for stage in plan if not stage.is_done(root)]
    most = round(max((cost.mib for cost in ahead), default=0))
    total = {"cpu s": round(sum(cost.seconds for cost in ahead)), "MiB": most, "needs": ""}
    return [*rows, {"stage": "together", "state": f"{len(ahead)} to do", **total}]


def status_rows(root: Path) -> list[JsonObject]:
    """The progress of the run in a folder: finished stages with their cost, and unfinished ones."""
    if not (root / PLAN).is_file():
        raise InputError(
            f"not the folder of a run (there is no {PLAN}); 'hyperbaton run EXPERIMENT.toml -o' makes one", root
        )
    rows = []
    for stage in read_plan(root):
        folder = root / "stages" / stage["folder"]
        row: JsonObject = {"stage": stage["stage"], "state": "to do", "seconds": "", "MiB": "", "output MiB": ""}
        if (folder / STAGE_FILE).is_file():
            file = folder / STAGE_FILE
            record = json_field(file, read_json(file), {"seconds": float, "peak_mib": float, "output_mib": float})
            seconds, peak, output = record["seconds"], record["peak_mib"], record["output_mib"]
            row |= {"state": "done", "seconds": round(seconds, 1), "MiB": round(peak), "output MiB": round(output, 1)}
            if "workers" in record:  # the run used an executor
                row["shards"] = json_field(file, record, int, "shards")
                row["workers"] = len(json_field(file, record, [object], "workers"))
        elif any(folder.parent.glob(f"{folder.name}.*.incomplete")):
            row["state"] = "begun"
        rows.append(row)
    return rows
