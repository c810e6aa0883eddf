"""Scores of all systems at all limits: values with intervals, deviations across runs, and tests against the baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.metrics import Metric, compare, estimate, higher_is_better, make_metric
from hyperbaton.report.metric_names import title_of
from hyperbaton.run.commands import run_again, shell
from hyperbaton.run.cost import Rate
from hyperbaton.run.models import RULES
from hyperbaton.run.plan import Plan
from hyperbaton.run.sentences import shown_sentences
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import NO_LIMIT, Translation, output_name, translate_name

AFTER = ("measure",)
RATES = {"": Rate(5, 0, 100, 0)}


def plan(plan: Plan) -> None:
    """Plan the comparison of all systems."""
    how = plan.experiment.options(Translation)
    if not how.systems:
        return
    options = {
        "systems": list(how.systems),
        "limits": list(how.limits),
        "outputs": {str(limit): [output_name(run, limit) for run in how.runs] for limit in how.limits},
        "metrics": list(how.metrics),
        "baselines": list(how.baselines),
        "samples": how.counts.samples,
        "seed": plan.experiment.seed,
    }
    plan.add("score", "score", options, {system: plan.stages[f"measure.{system}"] for system in how.systems})


def run(work: Work) -> None:
    options = work.options
    chosen = [make_metric(name) for name in options["metrics"]]
    titles = [title_of(name) for name in options["metrics"]]
    rows = []
    for system in options["systems"]:
        for limit in options["limits"]:
            row: JsonObject = {"system": system, "limit": limit, "scores": {}, "significance": {}}
            for i, (title, metric) in enumerate(zip(titles, chosen, strict=True)):
                own = _runs(work, i, system, limit)
                score = estimate(metric, own, samples=options["samples"], seed=options["seed"])
                row["scores"][title] = {
                    "value": score.value,
                    "interval": list(score.interval),
                    "deviation": score.deviation if score.n_runs > 1 else None,
                    "signature": metric.signature(1),
                }
                for baseline in options["baselines"]:
                    if baseline != system:
                        against = row["significance"].setdefault(baseline, {})
                        against[title] = _compared(work, metric, own, _runs(work, i, baseline, limit))
            rows.append(row)
    work.write_json("scores.json", rows)
    limit = _limit_of_best(rows, titles[0], higher=chosen[0].higher_is_better)
    work.write_json("shown.json", {"limit": limit, "spread": _spread(work, chosen, limit)})


def figures(plan: Plan, root: Path) -> JsonObject:
    """The scores and speeds of all systems, and sentences that they translate differently."""
    if "score" not in plan.stages:
        return {}
    shown = read_json(plan.stages["score"].folder(root) / "shown.json")
    return {
        "translation": _translation(plan, root),
        "sentences": shown_sentences(plan, root, shown["limit"], shown["spread"]),
        "shown_limit": None if shown["limit"] == NO_LIMIT else shown["limit"],
    }


def _translation(plan: Plan, root: Path) -> list[JsonObject]:
    how = plan.experiment.options(Translation)
    rows = []
    for row in read_json(plan.stages["score"].folder(root) / "scores.json"):
        system, limit = row["system"], row["limit"]
        speeds = [read_json(folder / "speed.json") for folder in _outputs(plan, root, system, limit)]
        seconds = _seconds_of_a_thread(speeds)
        rows.append(
            row
            | {
                "model": " + ".join(how.systems[system]) or "distance alone",
                "limit": None if limit == NO_LIMIT else limit,
                "runs": len(speeds),
                "words_per_second": speeds[0]["words"] / max(seconds, 1e-9),
                "seconds": seconds,
            }
        )
    return rows


def _outputs(plan: Plan, root: Path, system: str, limit: int) -> list[Path]:
    """The folders of the translations of a system, one for each tuning run."""
    runs = plan.experiment.options(Translation).runs
    return [plan.stages[translate_name(system, run, limit)].folder(root) for run in runs]


def commands(plan: Plan, root: Path) -> dict[str, list[str]]:
    """The run, and one command for each system at each limit, against the first baseline."""
    how = plan.experiment.options(Translation)
    if not how.systems:
        return {}
    rows = [_command(plan, root, system, limit) for system in how.systems for limit in how.limits]
    return {"translation": [run_again(plan, root), *rows]}


def _command(plan: Plan, root: Path, system: str, limit: int) -> str:
    how, texts = plan.experiment.options(Translation), Texts(plan.folders(root))
    outputs = _outputs(plan, root, system, limit)
    words: list[object] = ["hyperbaton", "score", outputs[0] / "hypotheses", texts.path("test", "target")]
    for output in outputs[1:]:
        words += ["--run", output / "hypotheses"]
    for output in outputs:
        words += ["--source-links", output / "links"]
    words += ["--reference-links", texts.path("test", "links")]
    for baseline in [b for b in how.baselines[:1] if b != system]:
        for other in _outputs(plan, root, baseline, limit):
            words += ["--against", other / "hypotheses", "--against-links", other / "links"]
    words += ["--metrics", ",".join(how.metrics), "--samples", how.counts.samples, "--seed", plan.experiment.seed]
    return shell(*words, "--json")


def finding(results: JsonObject) -> str:
    """The best system, and how much better it is than the baselines."""
    rows = results.get("translation") or []
    if not rows:
        return "Nothing was translated."
    metric = next(iter(rows[0]["scores"]))
    choose, better = (max, "") if higher_is_better(metric) else (min, " (lower is better)")
    best = choose(rows, key=lambda row: row["scores"][metric]["value"])
    kind = "span limit" if _has_rules(results, best["system"]) else "distortion limit"
    limit = f"no {kind}" if best["limit"] is None else f"{kind} {best['limit']}"
    score = f"{metric} {best['scores'][metric]['value']:.2f}{better}"
    text = f"The best translations are those of {best['system']} with {limit}, {score}"
    for baseline, test in best["significance"].items():
        text += f", {test[metric]['delta']:+.2f} against {baseline} (p = {test[metric]['p']:.3f})"
    return text + "."


def _has_rules(results: JsonObject, system: str) -> bool:
    """Whether a system uses hierarchical rules: its limit is then the longest span."""
    options = results.get("options", {})
    named = options.get("translation", {}).get("systems", {}).get(system, [])
    return any(options.get("models", {}).get(name, {}).get("model") == RULES for name in named)


def _seconds_of_a_thread(speeds: Sequence[Mapping[str, Json]]) -> float:
    """Mean over several runs, as time of a single thread: the last stages may have more threads than others.

    >>> _seconds_of_a_thread([{"seconds": 12.0, "threads": 1}, {"seconds": 3.0, "threads": 4}])
    12.0
    """
    return float(sum(speed["seconds"] * speed["threads"] for speed in speeds) / len(speeds))


def _runs(work: Work, metric: int, system: str, limit: int) -> list[npt.NDArray[np.float64]]:
    folder, names = work.inputs[system], work.options["outputs"][str(limit)]
    return [np.load(folder / f"{metric}.{name}.npy", allow_pickle=False) for name in names]


def _compared(work: Work, metric: Metric, own: list[Any], others: list[Any]) -> dict[str, float]:
    comparison = compare(metric, own, others, samples=work.options["samples"], seed=work.options["seed"])
    return {"delta": comparison.delta, "p": comparison.p}


def _limit_of_best(rows: list[JsonObject], title: str, *, higher: bool) -> int:
    """The limit at which the best system has its best score; sentences are shown at this limit.

    >>> rows = [{"limit": 6, "scores": {"BLEU": {"value": 20.0}}}, {"limit": -1, "scores": {"BLEU": {"value": 21.0}}}]
    >>> _limit_of_best(rows, "BLEU", higher=True), _limit_of_best(rows, "BLEU", higher=False)
    (-1, 6)
    """
    best = (max if higher else min)(rows, key=lambda row: float(row["scores"][title]["value"]))
    return int(best["limit"])


def _spread(work: Work, chosen: list[Metric], limit: int) -> list[float]:
    """The spread of the systems' scores for each test sentence, by the first metric suitable for single sentences."""
    fair = ("TER", "WER", "METEOR", "chrF")
    at = next((i for name in fair for i, metric in enumerate(chosen) if metric.title == name), 0)
    scores = np.stack([chosen[at].score(_runs(work, at, system, limit)[0]) for system in work.options["systems"]])
    spread: list[float] = (scores.max(axis=0) - scores.min(axis=0)).tolist()
    return spread
