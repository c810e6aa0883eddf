"""Resources of a piece of work, and the options of commands that they come from."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperbaton.base.errors import Cancelled
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Workers
from hyperbaton.cli import verbs
from hyperbaton.cli._resources import ExecutorAndMemoryOptions, MemoryOptions

OWN = {"translate", "serve", "perplexity"}  # commands that declare their options themselves


def test_parts_follow_one_another_and_stages_have_their_own_progress() -> None:
    seen: list[tuple[str, int, int]] = []

    def stage(name: str) -> Progress:
        return lambda done, total: seen.append((name, done, total))

    resources = Resources(1, stages=stage)
    for number in range(2):
        resources.stage("learn").part(number, of=2).report(3, 5)
    resources.stage("link").report(1, 1)
    resources.report(1, 1)  # no stage, no progress
    assert seen == [("learn", 3, 10), ("learn", 8, 10), ("link", 1, 1)]


def test_a_progress_can_cancel() -> None:
    with pytest.raises(Cancelled):
        Resources.of(progress=lambda done, total: False).part(0, of=2).report(1, 2)


def test_tasks_have_the_threads_of_a_worker(tmp_path: Path) -> None:
    here = Resources.of(8)
    assert here.tasks() is here
    with ThreadPoolExecutor(1) as executor:
        there = Resources(8, progress=lambda done, total: None, workers=Workers(executor, tmp_path, threads=2))
        assert (there.tasks().threads, there.tasks().progress) == (2, None)


def test_commands_open_their_resources(tmp_path: Path) -> None:
    how = {"threads": 2, "quiet": True, "memory": "64M"}
    with ExecutorAndMemoryOptions(**how, executor="processes:1").open(tmp_path / "out") as resources:
        workers = resources.workers
        assert resources.threads == 2 and resources.scratch.limit == 64 << 20
        assert workers.folder is not None and workers.folder.parent == tmp_path and workers.threads == 2
    assert list(tmp_path.iterdir()) == []
    with MemoryOptions().open() as resources:
        assert resources.workers.executor is None and resources.scratch.memory is None


def test_commands_take_the_class_of_their_options() -> None:
    folder = Path(__file__).parents[2] / "src/hyperbaton/cli"
    declaring = [verb for verb in verbs() if re.search(r": (Threads|Memory|ExecutorAddress)\b", _code(folder, verb))]
    assert not set(declaring) - OWN


def _code(folder: Path, verb: str) -> str:
    return (folder / f"{verb.replace('-', '_')}.py").read_text(encoding="utf-8")
