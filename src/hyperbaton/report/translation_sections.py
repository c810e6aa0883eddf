"""The sections `translation` and `tuning`: scores with intervals and tests by distortion limit, and tuning curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hyperbaton.base.counted import counted
from hyperbaton.base.forms import Json
from hyperbaton.report import prose
from hyperbaton.report.curves import draw_by_limit, draw_tuning
from hyperbaton.report.elements import (
    CaptionedFigure,
    Cell,
    Element,
    Group,
    Number,
    Paragraph,
    Section,
    SystemComparison,
    Table,
    TableColumn,
    is_number,
    number,
)
from hyperbaton.report.glossary import about_metrics, decimals_of, title_of, wanted

_DIGITS = "¹²³⁴⁵⁶⁷⁸⁹"
NO_LIMIT = "none"

Row = Mapping[str, Json]
ByLimit = Mapping[str, Sequence[Row]]


def mark(p: Json) -> str:
    """The mark of a significant difference.

    >>> mark(0.2), mark(0.03), mark(0.002)
    ('', '†', '‡')
    """
    return "" if not is_number(p) else "‡" if p < 0.01 else "†" if p < 0.05 else ""


def translation_section(results: Mapping[str, Json]) -> Section:
    """Scores of every system at every limit, and their differences from the baselines."""
    rows: list[Row] = results["translation"]
    metrics = list(dict.fromkeys(name for row in rows for name in row.get("scores") or {}))
    against = dict.fromkeys(name for row in rows for name in row.get("significance") or {})
    baselines = sorted(against, key=[*(row["system"] for row in rows), *against].index)  # in the order of the rows
    groups = _by_limit(rows)
    limits = list(groups)
    elements: list[Element] = [_scores(groups, metrics, baselines)]
    if metrics:
        main = metrics[0]  # as in the findings
        estimates: dict[str, dict[str, tuple[float, float, float]]] = {}
        for row in rows:
            main_score = _estimate(row, main)
            if is_number(main_score.get("value")):
                low, high = main_score.get("interval") or (main_score["value"],) * 2
                estimates.setdefault(str(row["system"]), {})[limit_of(row)] = (main_score["value"], low, high)
        if estimates:
            higher = wanted(main) == "high"
            better = "higher" if higher else "lower"
            figure = draw_by_limit(estimates, limits, f"{title_of(main)} ({better} is better)")
            caption = f"{title_of(main)} with 95% intervals" + (" by distortion limit." if len(limits) > 1 else ".")
            reading = _finding([row for row in rows if is_number(_estimate(row, main).get("value"))], main, baselines)
            numbers = [(name, limit, values[limit][0]) for name, values in estimates.items() for limit in values]
            elements.insert(0, CaptionedFigure("score-by-limit", caption, figure, reading, numbers))
    systems = len({str(row["system"]) for row in rows})
    at = f" at {counted(len(limits), 'distortion limit')}" if len(limits) > 1 else ""
    elements.insert(0, Paragraph(f"{counted(systems, 'system')} translated the test text{at}."))
    if (pair := first_pair(results)) is not None:
        elements.append(_comparison(groups, metrics, pair))
    if baselines:
        elements.append(_differences(groups, metrics))
    if any(is_number(_estimate(row, metric).get("deviation")) for row in rows for metric in metrics):
        elements.append(_deviations(groups, metrics))
    signatures = {
        title_of(metric): str(signature)
        for row in rows
        for metric in metrics
        if (signature := _estimate(row, metric).get("signature"))
    }
    if signatures:
        columns = [TableColumn("metric"), TableColumn("signature")]
        elements.append(
            Table("metrics", "Signatures of the metrics.", columns, [Group(list(signatures.items()))], folded=True)
        )
    return Section("translation", "Translation", elements)


def _finding(rows: Sequence[Row], metric: str, baselines: Sequence[str]) -> str:
    """Which system is best, and its paired test against the first baseline."""
    high = wanted(metric) == "high"
    best = (max if high else min)(rows, key=lambda row: float(_estimate(row, metric)["value"]))
    tests = best.get("significance") or {}
    against = next(((name, tests[name].get(metric) or {}) for name in baselines if name in tests), ("", {}))
    delta = against[1].get("delta")
    tested = f" ({delta:+.2f} against {against[0]}{_p(against[1].get('p'))})".replace("-", "−") if is_number(delta) else ""
    value = f"{'highest' if high else 'lowest'} {title_of(metric)}, {_estimate(best, metric)['value']:.2f}"
    return f"{best['system']} with {limit_text(limit_of(best))} has the {value}{tested}."


def first_pair(results: Mapping[str, Json]) -> tuple[str, str] | None:
    """The two systems to compare first: the first baseline, or else the first system, and the best of the others."""
    rows: Sequence[Row] = results.get("translation") or []
    systems = list(dict.fromkeys(str(row["system"]) for row in rows))
    if len(systems) < 2:
        return None
    tested = {str(name) for row in rows for name in row.get("significance") or {}}
    first = next((system for system in systems if system in tested), systems[0])
    metric = next((name for row in rows for name in row.get("scores") or {}), "")
    sign = 1 if wanted(metric) == "high" else -1
    values: dict[str, list[float]] = {system: [] for system in systems if system != first}
    for row in rows:
        value = _estimate(row, metric).get("value")
        if row["system"] != first and is_number(value):
            values[str(row["system"])].append(sign * value)
    return first, max(values, key=lambda system: max(values[system], default=-math.inf))


def limit_text(limit: str) -> str:
    """A limit as named in titles and sentences."""
    return "no distortion limit" if limit == NO_LIMIT else f"distortion limit {limit}"


def _comparison(by_limit: ByLimit, metrics: Sequence[str], pair: tuple[str, str]) -> SystemComparison:
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for limit, rows in by_limit.items():
        for row in rows:
            values = {m: _estimate(row, m).get("value") for m in metrics}
            named = {title_of(m): round(value, decimals_of(m)) for m, value in values.items() if is_number(value)}
            scores.setdefault(limit_text(limit), {})[str(row["system"])] = named
    return SystemComparison(scores, [title_of(m) for m in metrics if wanted(m) == "low"], pair)


def _scores(by_limit: ByLimit, metrics: Sequence[str], baselines: Sequence[str]) -> Table:
    speed = any(is_number(row.get("words_per_second")) for rows in by_limit.values() for row in rows)
    arrows = {"high": "↑", "low": "↓"}
    columns = [TableColumn("system"), *(TableColumn(f"{title_of(m)} {arrows[wanted(m)]}", wanted(m)) for m in metrics)]
    lengths = any(is_number(row.get("length")) for rows in by_limit.values() for row in rows)
    columns += [TableColumn("length")] if lengths else []
    columns += [TableColumn("words/s")] if speed else []
    groups = []
    for limit, rows in by_limit.items():
        cells: list[list[Cell]] = []
        for row in rows:
            line: list[Cell] = [str(row["system"]), *(_score(row, metric, baselines) for metric in metrics)]
            line += [number(row.get("length"), 3)] if lengths else []
            cells.append(line + ([number(row.get("words_per_second"))] if speed else []))
        groups.append(Group(cells, limit_text(limit)))
    note = "± is half the 95% interval. Bold: the best of its limit."
    if len(baselines) == 1:
        note += f" Better than {baselines[0]} with † p < 0.05, ‡ p < 0.01."
    elif baselines:
        named = ", ".join(f"{_DIGITS[k % len(_DIGITS)]} {name}" for k, name in enumerate(baselines))
        note += f" Better than {named} with † p < 0.05, ‡ p < 0.01."
    if lengths:
        note += " Length: words for each word of the reference; outside 0.95–1.05 it changes the scores by itself."
    return Table("translation", "Translation of the test text.", columns, groups, note, about=about_metrics(metrics))


def _score(row: Row, metric: str, baselines: Sequence[str]) -> Number | None:
    score = _estimate(row, metric)
    interval, notes, marks = score.get("interval"), [], ""
    if interval:
        notes.append(f"95% interval {interval[0]:.2f} … {interval[1]:.2f}")
    if is_number(score.get("deviation")):
        notes.append(f"deviation over {row.get('runs') or 'all'} runs {score['deviation']:.2f}")
    for k, baseline in enumerate(baselines):
        tested = ((row.get("significance") or {}).get(baseline) or {}).get(metric) or {}
        if is_number(delta := tested.get("delta")):
            notes.append(f"{delta:+.2f} against {baseline}" + _p(tested.get("p")))
            if (sign := mark(tested.get("p"))) and (delta > 0) == (wanted(metric) == "high"):
                marks += sign + (_DIGITS[k % len(_DIGITS)] if len(baselines) > 1 else "")
    spread = (interval[1] - interval[0]) / 2 if interval else None
    return number(score.get("value"), decimals_of(metric), spread=spread, marks=marks, note="; ".join(notes))


def _differences(by_limit: ByLimit, metrics: Sequence[str]) -> Table:
    tests = [row.get("significance") or {} for rows in by_limit.values() for row in rows]
    tested = [m for m in metrics if any(m in (differences or {}) for test in tests for differences in test.values())]
    groups = []
    for limit, rows in by_limit.items():
        cells: list[list[Cell]] = []
        for row in rows:
            for baseline, differences in (row.get("significance") or {}).items():
                line: list[Cell] = [str(row["system"]), str(baseline)]
                for metric in tested:
                    test = (differences or {}).get(metric) or {}
                    line += [
                        number(test.get("delta"), decimals_of(metric), marks=mark(test.get("p"))),
                        number(test.get("p"), 3),
                    ]
                cells.append(line)
        if cells:
            groups.append(Group(cells, limit_text(limit)))
    columns = [TableColumn("system"), TableColumn("against")]
    for metric in tested:
        columns += [TableColumn(f"Δ {title_of(metric)}"), TableColumn("p")]
    caption, note = "Differences from the baselines at the same limit.", "† p < 0.05, ‡ p < 0.01."
    about = {**about_metrics(tested), "p": "probability of a difference this large by chance"}
    return Table("differences", caption, columns, groups, note, folded=True, about=about)


def _deviations(by_limit: ByLimit, metrics: Sequence[str]) -> Table:
    groups = []
    for limit, rows in by_limit.items():
        cells = [
            [str(row["system"]), number(row.get("runs"))]
            + [number(_estimate(row, m).get("deviation"), decimals_of(m)) for m in metrics]
            for row in rows
        ]
        groups.append(Group(cells, limit_text(limit)))
    columns = [TableColumn("system"), TableColumn("runs"), *(TableColumn(title_of(m)) for m in metrics)]
    return Table("deviations", "Standard deviation over tuning runs.", columns, groups, folded=True)


def tuning_section(results: Mapping[str, Json]) -> Section | None:
    """The objective by iteration on the tuning text, and on text held out from it."""
    runs: Mapping[str, Sequence[Row]] = results.get("tuning") or {}
    elements: list[Element] = []
    for key, name, caption in (
        ("objective", "tuning", "Objective on the tuning text by iteration."),
        ("held_out", "tuning-held-out", "Score on held-out text by iteration."),
    ):
        curves = {
            system: [(int(step["iteration"]), step[key]) for step in steps if is_number(step.get(key))]
            for system, steps in runs.items()
        }
        if curves := {system: points for system, points in curves.items() if points}:
            figure = draw_tuning(curves, "objective" if key == "objective" else "held out")
            elements.append(CaptionedFigure(name, caption, figure, prose.tuning(curves)))
    if outcomes := results.get("tuned"):
        elements.append(_outcomes(outcomes, runs))
    if elements:
        last = max((len(steps) for steps in runs.values()), default=0)
        systems = counted(len({*runs, *(outcomes or {})}), "system")
        elements.insert(0, Paragraph(f"{systems} tuned, with at most {counted(last, 'iteration')} each."))
    return Section("tuning", "Tuning", elements) if elements else None


def _outcomes(outcomes: Mapping[str, Row], runs: Mapping[str, Sequence[Row]]) -> Table:
    """Which weights were chosen, and why tuning ended."""
    rows: list[list[Cell]] = []
    for system, outcome in outcomes.items():
        start = next((step.get("objective") for step in runs.get(system) or []), None)
        failure = outcome.get("failure")
        ended = f"failed: {failure}" if failure else outcome.get("stopped")
        scores: list[Cell] = [number(value, 2) for value in (start, outcome.get("score"))]
        scores.append(number(outcome.get("length"), 3))
        averaged = outcome.get("averaged")
        taken = f"mean of {averaged[0]}–{averaged[-1]}" if averaged else number(outcome.get("iteration"))
        rows.append([system, taken, *scores, None if ended is None else str(ended)])
    columns = [*map(TableColumn, ("system", "iteration taken", "at the start", "taken", "length", "ended by"))]
    note = "The weights taken are the mean of the last iterations, or those with the best translations of the tuning text."
    return Table("tuned", "How tuning ended.", columns, [Group(rows)], note)


def limit_of(row: Row) -> str:
    limit = row.get("limit")
    return NO_LIMIT if limit is None or int(limit) < 0 else str(int(limit))


def _by_limit(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by their limits, the smallest first; no limit comes last."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(limit_of(row), []).append(row)
    return dict(sorted(groups.items(), key=lambda group: math.inf if group[0] == NO_LIMIT else int(group[0])))


def _estimate(row: Row, metric: str) -> Mapping[str, Json]:
    """A system's score by a metric, and what is known about it."""
    score = (row.get("scores") or {}).get(metric)
    return score if isinstance(score, dict) else {"value": score}


def _p(p: Json) -> str:
    return f", p = {p:.3f}" if is_number(p) else ""
