"""The table of docs/results/translation.md: which reordering model to use for each language pair, and its cost.

    python -m benchmarks.order twlaw-order/results.json kyoto-baselines/results.json

Reads results.json of `hyperbaton run` and prints Markdown: one row for each pair first, then a table of all its systems, at
the distortion limit of tuning. Scores are means over tuning runs ± their standard deviation. p is the p-value of a paired
bootstrap test on BLEU against msd, hier and the best single-model system by BLEU; – if the run did not compare them. Words
per second are relative to the first system of the run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from benchmarks._measure import existing_path

METRICS = ("BLEU", "RIBES", "TER")
BASELINES = ("msd", "hier")
NONE = "–"


class Comparison:
    """The systems of one run, at the limit that they were tuned with."""

    def __init__(self, results: dict[str, Any]) -> None:
        how = results["options"]["translation"]
        limit = None if how["tune-limit"] == "none" else how["tune-limit"]
        self.title: str = results["title"]
        self.pairs: int = results["corpus"]["train"]["pairs"]
        self.sentences: int = results["corpus"]["test"]["pairs"]
        self.limit = limit
        self.models: dict[str, list[str]] = how["systems"]
        self.rows: dict[str, dict[str, Any]] = {
            row["system"]: row for row in results["translation"] if row["limit"] == limit
        }
        if not self.rows:
            raise SystemExit(f"{self.title}: no translations at limit {how['tune-limit']}, that of tuning")

    def bleu(self, system: str) -> float:
        return float(self.rows[system]["scores"]["BLEU"]["value"])

    @property
    def best(self) -> str:
        return max(self.rows, key=self.bleu)

    @property
    def best_single(self) -> str | None:
        """The best single-model system; of systems that differ only in their tuning, the first counts."""
        seen: dict[tuple[str, ...], str] = {}
        for system in self.rows:
            seen.setdefault(tuple(self.models[system]), system)
        single = [system for models, system in seen.items() if len(models) == 1]
        return max(single, key=self.bleu, default=None)

    def score(self, system: str, metric: str) -> str:
        score = self.rows[system]["scores"].get(metric)
        if score is None:
            return NONE
        deviation = "" if score["deviation"] is None else f" ± {score['deviation']:.2f}"
        return f"{score['value']:.2f}{deviation}"

    def p(self, system: str, baseline: str | None) -> str:
        against = self.rows[system]["significance"].get(baseline, {}).get("BLEU")
        if against is None:
            return NONE
        return f"{against['delta']:+.2f}, {against['p']:.3f}"

    def speed(self, system: str) -> str:
        first = next(iter(self.rows.values()))
        return f"{self.rows[system]['words_per_second'] / first['words_per_second']:.2f}"

    def cells(self, system: str) -> list[str]:
        """Scores, p against each baseline, and relative speed."""
        against = [self.p(system, baseline) for baseline in (*BASELINES, self.best_single)]
        return [*(self.score(system, metric) for metric in METRICS), *against, self.speed(system)]

    def detail(self) -> list[str]:
        """A table of all systems, best first."""
        limit = "no distortion limit" if self.limit is None else f"distortion limit {self.limit}"
        heads = ["system", "models", *METRICS, *(f"Δ, p: {name}" for name in BASELINES)]
        heads += [f"Δ, p: best single ({self.best_single})", "speed"]
        lines = [f"{self.title}: {self.pairs:,} pairs, {self.sentences:,} test sentences, {limit}.", ""]
        lines += table_head(heads)
        for system in sorted(self.rows, key=self.bleu, reverse=True):
            name = f"**{system}**" if system == self.best else system
            lines.append(table_row([name, " + ".join(self.models[system]) or "distance alone", *self.cells(system)]))
        return lines


def table_head(heads: Sequence[str]) -> list[str]:
    return [table_row(heads), "|" + "---|" * len(heads)]


def table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def page(comparisons: Sequence[Comparison]) -> str:
    """The recommended model for each pair, then the table of each pair."""
    heads = ["text", "use", *METRICS, *(f"Δ BLEU, p against {name}" for name in BASELINES)]
    lines = table_head([*heads, "against the best single model", "relative words per second"])
    for each in comparisons:
        lines.append(table_row([each.title, f"`{each.best}`", *each.cells(each.best)]))
    for each in comparisons:
        lines += ["", *each.detail()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=existing_path, metavar="RESULTS.json")
    options = parser.parse_args()
    print(page([Comparison(json.loads(file.read_text(encoding="utf-8"))) for file in options.results]))


if __name__ == "__main__":
    main()
