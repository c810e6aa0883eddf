"""Stages are keyed by the code they run: a change repeats the stages that run the changed code, and no others."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest

import hyperbaton
from hyperbaton.run import code
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan

DEMO = Path(str(resources.files("hyperbaton.run") / "demo.toml"))
SOURCES = Path(hyperbaton.__file__).parent


def keys() -> dict[str, str]:
    return {stage.name: stage.key for stage in make_plan(read_experiment(DEMO))}


@pytest.fixture(scope="module")
def before() -> dict[str, str]:
    return keys()


def changed(file: str, before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The stages with other keys when a source file has other content."""
    content = code._content
    path = SOURCES / file
    assert path.is_file()
    with monkeypatch.context() as patch:
        patch.setattr(code, "_content", lambda f: "changed" if f == path else content(f))
        after = keys()
    return {name.partition(".")[0] for name in before if before[name] != after[name]}


def test_a_changed_model_is_trained_again(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    content = code._content
    monkeypatch.setattr(code, "_content", lambda f: "changed" if f.name == "sequence.py" else content(f))
    after = keys()
    assert before["train.sequence"] != after["train.sequence"] and before["train.pair"] == after["train.pair"]
    assert before["translate.sequence.1.6"] != after["translate.sequence.1.6"]
    assert before["translate.msd.1.6"] == after["translate.msd.1.6"]


def test_a_change_of_tuning_repeats_tuning(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    stages = changed("tune/loop.py", before, monkeypatch)
    assert stages == {"tune", "translate", "measure", "score"}


def test_a_change_of_an_optimizer_counts_where_it_is_named(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed("tune/optimizers/mira.py", before, monkeypatch) == {"tune", "translate", "measure", "score"}
    assert changed("tune/optimizers/pro.py", before, monkeypatch) == set()


def test_names_of_packages_count_where_they_are_imported(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed("decode/request.py", before, monkeypatch) == {"tune", "translate", "measure", "score"}
    assert changed("corpus/text.py", before, monkeypatch) == {name.partition(".")[0] for name in before}


def test_planning_is_not_part_of_any_stage(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("translation", "corpus", "models", "cost", "plan"):
        assert changed(f"run/{file}.py", before, monkeypatch) == set()
    assert changed("run/sentences.py", before, monkeypatch) == set()
    assert changed("run/stages/system.py", before, monkeypatch) >= {"system", "tune"}


def test_the_pages_of_the_report_are_not_part_of_any_stage(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed("report/page.py", before, monkeypatch) == set()
    assert changed("cli/train.py", before, monkeypatch) == set()


def test_the_compiled_core_is_part_of_all(before: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "_core_key", lambda: "changed")
    assert not set(keys().values()) & set(before.values())
