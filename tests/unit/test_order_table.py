"""The Markdown of benchmarks.order: which system of a run is best, and what it is compared with."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.order.__main__ import Comparison, page


def row(system: str, limit: int | None, bleu: float, speed: float, against: dict[str, Any]) -> dict[str, Any]:
    scores = {"BLEU": {"value": bleu, "deviation": 0.25}, "TER": {"value": 80.0, "deviation": None}}
    significance = {name: {"BLEU": {"delta": delta, "p": p}} for name, (delta, p) in against.items()}
    return {"system": system, "limit": limit, "scores": scores, "significance": significance, "words_per_second": speed}


RESULTS: dict[str, Any] = {
    "title": "Some–Other",
    "corpus": {"train": {"pairs": 2000}, "test": {"pairs": 60}},
    "options": {
        "translation": {
            "tune-limit": 10,
            "systems": {"distance": [], "msd": ["msd"], "osm": ["osm"], "osm_mira": ["osm"], "both": ["msd", "osm"]},
        }
    },
    "translation": [
        row("distance", 10, 9, 1000, {"msd": (-1, 0.01)}),
        row("msd", 10, 10, 900, {}),
        row("msd", None, 20, 500, {}),
        row("osm", 10, 11, 700, {"msd": (1, 0.02)}),
        row("osm_mira", 10, 12, 700, {"msd": (2, 0.02), "osm": (1, 0.03)}),
        row("both", 10, 13, 650, {"msd": (3, 0.001), "osm": (2, 0.004)}),
    ],
}


def test_the_best_is_compared_with_the_best_single_model_at_the_limit_of_tuning() -> None:
    lines = page([Comparison(RESULTS)]).splitlines()
    assert lines[2] == "| Some–Other | `both` | 13.00 ± 0.25 | – | 80.00 | +3.00, 0.001 | – | +2.00, 0.004 | 0.65 |"
    assert "Some–Other: 2,000 pairs, 60 test sentences, distortion limit 10." in lines
    assert [line.split(" | ")[0] for line in lines[-5:]] == ["| **both**", "| osm_mira", "| osm", "| msd", "| distance"]
    assert "best single (osm)" in lines[-7]


def test_a_run_without_the_limit_of_tuning_is_refused() -> None:
    without = RESULTS | {"translation": RESULTS["translation"][2:3]}
    with pytest.raises(SystemExit, match="no translations at limit 10"):
        Comparison(without)
