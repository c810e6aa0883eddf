"""Commands that reproduce the numbers of each part of the results from the outputs of the stages."""

from __future__ import annotations

import shlex
from pathlib import Path

from hyperbaton.run.models import FROM_CORPUS
from hyperbaton.run.plan import Plan


def commands(plan: Plan, root: Path) -> dict[str, list[str]]:
    """Shell commands by section of the report."""
    experiment, how = plan.experiment, plan.experiment.translation
    again = _shell("hyperbaton", "run", experiment.file, "-o", root)

    def column(split: str, name: str) -> Path:
        stages = [plan.stages["align"]] if name == "links" and "align" in plan.stages else []
        paths = [stage.folder(root) / f"{split}.{name}" for stage in (*stages, plan.corpus[split])]
        return next((path for path in paths if path.exists()), paths[-1])

    def columns(split: str) -> list[object]:
        return [column(split, name) for name in ("source", "target", "links")]

    commands = {"corpus": [again], "costs": [_shell("hyperbaton", "status", root)]}
    evaluating = experiment.own["evaluate"]
    for shape in dict.fromkeys(model.cls.shape for model in experiment.models.values()):
        models = [model for model in experiment.models.values() if model.cls.shape == shape]
        folders = [plan.stages[plan.train_name(m, side)].folder(root) / "model" for m in models for side in m.sides]
        options: list[object] = ["--max-length", evaluating.max_length, "--max-distance", evaluating.max_distance]
        for annotation, name in FROM_CORPUS.items():
            if any(annotation in m.annotations for m in models):
                options += [f"--{annotation.replace('_', '-')}", column(evaluating.split, name)]
        commands[shape] = [_shell("hyperbaton", "evaluate", *folders, *columns(evaluating.split), "--json", *options)]
    if how.systems:
        commands["translation"] = [again, *_scoring(plan, root, columns("test"))]
    return commands


def _scoring(plan: Plan, root: Path, columns: list[object]) -> list[str]:
    """One command for each system at each limit, against the first baseline."""
    how = plan.experiment.translation
    commands = []
    for system in how.systems:
        for limit in how.limits:
            outputs = [
                plan.stages[plan.translate_name(system, r, limit)].folder(root) for r in range(how.counts.tuning_runs)
            ]
            words: list[object] = ["hyperbaton", "score", outputs[0] / "hypotheses", columns[1]]
            for output in outputs[1:]:
                words += ["--run", output / "hypotheses"]
            for output in outputs:
                words += ["--source-links", output / "links"]
            words += ["--reference-links", columns[2]]
            for baseline in [b for b in how.baselines[:1] if b != system]:
                for r in range(how.counts.tuning_runs):
                    other = plan.stages[plan.translate_name(baseline, r, limit)].folder(root)
                    words += ["--against", other / "hypotheses", "--against-links", other / "links"]
            words += ["--metrics", ",".join(how.metrics), "--samples", how.counts.samples, "--seed", plan.experiment.seed]
            commands.append(_shell(*words, "--json"))
    return commands


def _shell(*words: object) -> str:
    return shlex.join(map(str, words))
