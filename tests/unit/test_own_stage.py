"""A stage of `run` is one file: options in the experiment file, its place in the plan, its cost, its part of the report."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.report import write_report
from hyperbaton.run import stages
from hyperbaton.run.experiment import Experiment, parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import gather, write_results
from tests.stages import do_stages

STAGE = """
from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option, to_mapping
from hyperbaton.run.cost import Rate
from hyperbaton.run.stage import read_json
from hyperbaton.run.texts import Texts

AFTER = ("align",)
RATES = {"": Rate(1, 0.01, 50, 0)}


@dataclass(frozen=True)
class Options:
    longer: int = option(3, "words that count are longer than this", minimum=0)


def plan(plan):
    options = plan.experiment.own.get("long_words")
    if options is not None:
        plan.add("long_words", "long_words", to_mapping(options), splits=["train"])


def run(work):
    words = [word for line in Texts(work.inputs).lines("train", "source") for word in line.split()]
    long = [word for word in words if len(word) > work.options["longer"]]
    work.write_json("words.json", [{"words": len(words), "long": len(long)}])


def results(plan, root):
    stage = plan.stages.get("long_words")
    return stage and read_json(stage.folder(root) / "words.json")
"""
VALUES = {"corpus": {"generate": {"sentences": 60, "dev": 10, "test": 10}}, "models": {"linear": {}}}


@pytest.fixture
def long_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "long_words.py").write_text(STAGE, encoding="utf-8")
    monkeypatch.setattr(stages, "__path__", [*stages.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    stages.stage_modules.cache_clear()
    yield
    stages.stage_modules.cache_clear()
    sys.modules.pop("hyperbaton.run.stages.long_words", None)


def parsed(**tables: object) -> Experiment:
    values = {**VALUES, "translation": {"systems": {}}, **tables}
    return parse_experiment(values, "exp.toml", Path())


@pytest.mark.usefixtures("long_words")
def test_a_stage_is_one_file(tmp_path: Path) -> None:
    assert "long_words" not in make_plan(parsed()).stages
    experiment = parsed(long_words={"longer": 2})
    assert experiment.resolved()["long_words"] == {"longer": 2}
    plan = make_plan(experiment)
    names = list(plan.stages)
    assert names.index("corpus") < names.index("long_words") and plan.stages["long_words"].cost.mib == 50
    do_stages(plan, tmp_path / "run")
    (row,) = gather(plan, tmp_path / "run")["stages"]["long_words"]
    assert 0 < row["long"] < row["words"]
    write_report(write_results(plan, tmp_path / "run"), tmp_path / "report")
    assert "What the stage long" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("long_words")
def test_its_options_are_checked() -> None:
    with pytest.raises(OptionError, match=r"key 'long_words\.longer': must be at least 0, not -1"):
        parsed(long_words={"longer": -1})
