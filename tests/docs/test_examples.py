"""The examples that need no download run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperbaton.run import make_plan, read_experiment
from hyperbaton.run.results import write_results
from hyperbaton.run.status import write_plan
from tests.stages import do_stages

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
def test_rules(tmp_path: Path) -> None:
    small = [
        "corpus.generate.sentences=300",
        "corpus.generate.dev=10",
        "corpus.generate.test=10",
        "translation.tuning.iterations=1",
    ]
    plan = make_plan(read_experiment(EXAMPLES / "rules.toml", small))
    write_plan(plan, tmp_path)
    do_stages(plan, tmp_path)
    results = json.loads(write_results(plan, tmp_path).read_text(encoding="utf-8"))["translation"]
    assert [row["system"] for row in results] == ["msd", "sequence", "rules", "rules-sequence"]
    assert all(row["scores"]["BLEU"]["value"] > 2 for row in results)
