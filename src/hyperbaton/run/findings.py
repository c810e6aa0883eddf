"""Three sentences that summarise an experiment: what moves, what predicts it, and how much that helps translation."""

from __future__ import annotations

from hyperbaton.base.counted import counted
from hyperbaton.base.forms import JsonObject
from hyperbaton.metrics import higher_is_better
from hyperbaton.run.models import RULES


def findings(results: JsonObject) -> list[str]:
    """Summarise the results in plain sentences."""
    return [_movement(results), _prediction(results), _translation(results)]


def _movement(results: JsonObject) -> str:
    distances = {int(d): n for d, n in results["movement"]["distances"].items()}
    total = max(sum(distances.values()), 1)
    moved = sum(n for d, n in distances.items() if d)
    far = sum(n for d, n in distances.items() if abs(d) >= 5)
    pairs = results["corpus"]["train"]["pairs"]
    return (
        f"In {counted(pairs, 'sentence pair')} {100 * moved / total:.0f}% of the phrase pairs move, "
        f"{100 * far / total:.0f}% of all by five words or more."
    )


def _prediction(results: JsonObject) -> str:
    """The best model of each shape, and the distance baseline if it was included."""
    said = []
    for rows in results.values():
        if not (isinstance(rows, list) and rows and isinstance(rows[0], dict) and "shape" in rows[0]):
            continue
        rows = _comparable(rows)
        figure, what = rows[0]["figure"], rows[0]["predicts"]
        best = max(rows, key=lambda row: row[figure])
        plain = next((row for row in rows if row["is_distance"]), None)
        worst = plain or min(rows, key=lambda row: row[figure])
        text = f"{best['model']} predicts {best[figure]:.1f}% of the held-out {what}"
        if worst is not best:
            text += f", {worst['model']} {worst[figure]:.1f}%"
        said.append(text)
    return "; ".join(said) + "." if said else "No model was evaluated separately."


def _comparable(rows: list[JsonObject]) -> list[JsonObject]:
    """The models that are comparable with most others: figures of different orientation sets are not comparable."""
    kinds = [row["comparable"] for row in rows]
    common = max(kinds, key=kinds.count)
    return [row for row, kind in zip(rows, kinds, strict=True) if kind == common]


def _translation(results: JsonObject) -> str:
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
