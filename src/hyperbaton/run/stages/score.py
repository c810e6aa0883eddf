"""Scores of all systems at all limits: values with intervals, deviations across runs, and tests against the baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.metrics import Metric, compare, estimate, higher_is_better, length_warning, make_metric
from hyperbaton.report.glossary import title_of
from hyperbaton.run.cost import Rate
from hyperbaton.run.models import RULES
from hyperbaton.run.plan import Plan, shell
from hyperbaton.run.sentences import shown_sentences
from hyperbaton.run.stage import Work, read_json
from hyperbaton.run.texts import Texts
from hyperbaton.run.translation import NO_LIMIT, Translation, output_name, translate_name

AFTER = ("measure",)
RATES = {"": Rate(2, 0, 70, 0)}


def plan(plan: Plan) -> None:
    """Plan the comparison of all systems."""
    translation = plan.experiment.options(Translation)
    if not translation.systems:
        return
    options = {
        "systems": list(translation.systems),
        "limits": list(translation.limits),
        "outputs": {str(limit): [output_name(run, limit) for run in translation.runs] for limit in translation.limits},
        "metrics": list(translation.metrics),
        "baselines": list(translation.baselines),
        "samples": translation.counts.samples,
        "seed": plan.experiment.seed,
    }
    plan.add("score", "score", options, {system: plan.stages[f"measure.{system}"] for system in translation.systems})


def run(work: Work) -> None:
    options = work.options
    metrics = [make_metric(name) for name in options["metrics"]]
    titles = [title_of(name) for name in options["metrics"]]
    rows = []
    for system in options["systems"]:
        for limit in options["limits"]:
            row: JsonObject = {"system": system, "limit": limit, "scores": {}, "significance": {}}
            lengths = read_json(work.inputs[system] / "lengths.json")
            row["length"] = float(np.mean([lengths[name] for name in options["outputs"][str(limit)]]))
            for i, (title, metric) in enumerate(zip(titles, metrics, strict=True)):
                runs = _runs(work, i, system, limit)
                score = estimate(metric, runs, samples=options["samples"], seed=options["seed"])
                row["scores"][title] = {
                    "value": score.value,
                    "interval": list(score.interval),
                    "deviation": score.deviation if score.n_runs > 1 else None,
                    "signature": metric.signature(1),
                }
                for baseline in options["baselines"]:
                    if baseline != system:
                        others = _runs(work, i, baseline, limit)
                        test = compare(metric, runs, others, samples=options["samples"], seed=options["seed"])
                        against = row["significance"].setdefault(baseline, {})
                        against[title] = {"delta": test.delta, "p": test.p}
            rows.append(row)
    work.write_json("scores.json", rows)
    choose = max if metrics[0].higher_is_better else min
    # Sentences are shown at the limit at which the best system has its best score.
    limit = choose(rows, key=lambda row: float(row["scores"][titles[0]]["value"]))["limit"]
    work.write_json("shown.json", {"limit": limit, "spread": _spread(work, metrics, limit)})


def figures(plan: Plan, root: Path) -> JsonObject:
    """The scores and speeds of all systems, and sentences that they translate differently."""
    if "score" not in plan.stages:
        return {}
    shown = read_json(plan.stages["score"].folder(root) / "shown.json")
    from hyperbaton.report.translation_sections import first_pair  # imported here: it draws, and the stage does not

    translation = _translation(plan, root)
    pair = first_pair({"translation": translation})
    return {
        "translation": translation,
        "sentences": shown_sentences(plan, root, shown["limit"], shown["spread"], pair),
        "shown_limit": None if shown["limit"] == NO_LIMIT else shown["limit"],
    }


def _translation(plan: Plan, root: Path) -> list[JsonObject]:
    translation = plan.experiment.options(Translation)
    rows = []
    for row in read_json(plan.stages["score"].folder(root) / "scores.json"):
        system, limit = row["system"], row["limit"]
        speeds = [read_json(folder / "speed.json") for folder in _outputs(plan, root, system, limit)]
        seconds = _seconds_of_a_thread(speeds)
        row |= {"model": " + ".join(translation.systems[system]) or "distance alone"}
        row |= {"limit": None if limit == NO_LIMIT else limit, "runs": len(speeds)}
        rows.append(row | {"words_per_second": speeds[0]["words"] / max(seconds, 1e-9), "seconds": seconds})
    return rows


def _outputs(plan: Plan, root: Path, system: str, limit: int) -> list[Path]:
    """The folders of the translations of a system, one for each tuning run."""
    runs = plan.experiment.options(Translation).runs
    return [plan.stages[translate_name(system, run, limit)].folder(root) for run in runs]


def warnings(plan: Plan, root: Path) -> Iterator[str]:
    """Systems whose translations are much shorter or longer than the references."""
    if "score" in plan.stages:
        for row in read_json(plan.stages["score"].folder(root) / "scores.json"):
            if remark := length_warning(row["length"]):
                yield f"{row['system']}: {remark}"


def commands(plan: Plan, root: Path) -> dict[str, list[str]]:
    """The run, and one command for each system at each limit, against the first baseline."""
    translation = plan.experiment.options(Translation)
    if not translation.systems:
        return {}
    rows = [_command(plan, root, system, limit) for system in translation.systems for limit in translation.limits]
    return {"translation": [plan.command(root), *rows]}


def _command(plan: Plan, root: Path, system: str, limit: int) -> str:
    translation, texts = plan.experiment.options(Translation), Texts(plan.folders(root))
    outputs = _outputs(plan, root, system, limit)
    words: list[object] = ["hyperbaton", "score", outputs[0] / "hypotheses", texts.path("test", "target")]
    for output in outputs[1:]:
        words += ["--run", output / "hypotheses"]
    for output in outputs:
        words += ["--source-links", output / "links"]
    words += ["--reference-links", texts.path("test", "links")]
    for baseline in [b for b in translation.baselines[:1] if b != system]:
        for other in _outputs(plan, root, baseline, limit):
            words += ["--against", other / "hypotheses", "--against-links", other / "links"]
    words += ["--metrics", ",".join(translation.metrics), "--samples", translation.counts.samples]
    return shell(*words, "--seed", plan.experiment.seed, "--json")


def finding(results: JsonObject) -> str:
    """The best system, and how much better it is than the baselines."""
    rows = results.get("translation") or []
    if not rows:
        return "Nothing was translated."
    metric = next(iter(rows[0]["scores"]))
    choose, better = (max, "") if higher_is_better(metric) else (min, " (lower is better)")
    best = choose(rows, key=lambda row: row["scores"][metric]["value"])
    options = results.get("options", {})
    members = options.get("translation", {}).get("systems", {}).get(best["system"], [])
    has_rules = any(options.get("models", {}).get(name, {}).get("model") == RULES for name in members)
    kind = "span limit" if has_rules else "distortion limit"
    limit = f"no {kind}" if best["limit"] is None else f"{kind} {best['limit']}"
    score = f"{metric} {best['scores'][metric]['value']:.2f}{better}"
    text = f"The best translations are those of {best['system']} with {limit}, {score}"
    for baseline, test in best["significance"].items():
        text += f", {test[metric]['delta']:+.2f} against {baseline} (p = {test[metric]['p']:.3f})"
    return text + "."


def _seconds_of_a_thread(speeds: Sequence[Mapping[str, Json]]) -> float:
    """Mean over several runs, as time of a single thread: the last stages may have more threads than others.

    >>> _seconds_of_a_thread([{"seconds": 12.0, "threads": 1}, {"seconds": 3.0, "threads": 4}])
    12.0
    """
    return float(sum(speed["seconds"] * speed["threads"] for speed in speeds) / len(speeds))


def _runs(work: Work, metric: int, system: str, limit: int) -> list[npt.NDArray[np.float64]]:
    folder, names = work.inputs[system], work.options["outputs"][str(limit)]
    return [np.load(folder / f"{metric}.{name}.npy", allow_pickle=False) for name in names]


def _spread(work: Work, metrics: list[Metric], limit: int) -> list[float]:
    """The spread of the systems' scores for each test sentence, by the first metric suitable for single sentences."""
    fair = ("TER", "WER", "METEOR", "chrF")
    at = next((i for name in fair for i, metric in enumerate(metrics) if metric.title == name), 0)
    scores = np.stack([metrics[at].score(_runs(work, at, system, limit)[0]) for system in work.options["systems"]])
    return (scores.max(axis=0) - scores.min(axis=0)).tolist()
