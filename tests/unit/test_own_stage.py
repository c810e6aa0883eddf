"""The stage in the documentation is one file: options, place in the plan, cost, and its part of the report."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.phrases import Extraction
from hyperbaton.report import write_report
from hyperbaton.run import stages
from hyperbaton.run.experiment import Experiment, parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import gather, write_results
from tests.docs.cells import DOCS, blocks
from tests.stages import do_stages

STAGE = next(block.text for block in blocks(DOCS / "run.md") if block.title == "long_words.py")
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
    assert "Results of the stage long" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("long_words")
def test_a_stage_can_have_options_in_every_experiment_and_add_to_the_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = stages.stage_modules()["long_words"]
    monkeypatch.setattr(module, "ALWAYS", True, raising=False)
    monkeypatch.setattr(module, "figures", lambda plan, root: {"words": 7}, raising=False)
    monkeypatch.setattr(module, "warnings", lambda plan, root: iter(["long words"]), raising=False)
    monkeypatch.setattr(module, "commands", lambda plan, root: {"words": ["wc -w"]}, raising=False)
    monkeypatch.setattr(module, "finding", lambda results: f"{results['words']} words.", raising=False)
    plan = make_plan(parsed())
    assert plan.experiment.options(module.Options).longer == 3 and "preorder" not in plan.experiment.tables
    do_stages(plan, tmp_path / "run")
    results = gather(plan, tmp_path / "run")
    assert results["words"] == 7 and "long words" in results["warnings"]
    assert results["commands"]["words"] == ["wc -w"] and "7 words." in results["findings"]


@pytest.mark.usefixtures("long_words")
def test_a_stage_can_be_planned_before_one_that_does_not_know_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages.stage_modules()["long_words"], "BEFORE", ("movement",), raising=False)
    stages.stage_modules.cache_clear()
    kinds = list(stages.stage_modules())
    assert kinds.index("align") < kinds.index("long_words") < kinds.index("movement")


def test_a_stage_is_removed_with_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {kind: module for kind, module in stages.stage_modules().items() if kind != "preorder"}
    monkeypatch.setattr(stages, "stage_modules", lambda: others)
    assert {"extract", "system.linear", "score"} <= set(make_plan(parsed(translation={})).stages)
    with pytest.raises(OptionError, match="key 'preorder': unknown; allowed: title, seed, memory, corpus"):
        parsed(preorder={"model": "linear"})


def test_options_are_found_by_their_class() -> None:
    experiment = parsed(extract={"max-length": 5})
    assert experiment.options(Extraction).max_length == 5
    with pytest.raises(LookupError, match="no table of the experiment has options of the class Path"):
        experiment.options(Path)
    with pytest.raises(LookupError, match="tables have options of the class object; derive a class for each"):
        experiment.find(object)


@pytest.mark.usefixtures("long_words")
def test_its_options_are_checked() -> None:
    with pytest.raises(OptionError, match=r"key 'long_words\.longer': must be at least 0, not -1"):
        parsed(long_words={"longer": -1})
