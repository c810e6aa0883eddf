"""Resources of a piece of work, and the options of commands that they come from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperbaton.base.errors import Cancelled
from hyperbaton.base.executors import Sharding
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.cli import verbs
from hyperbaton.cli._resources import MemoryOptions

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


def test_work_that_is_not_distributed_is_one_shard_in_memory(tmp_path: Path) -> None:
    here, sharding = Resources.of().split(), Sharding(tmp_path, 3)
    assert (here.shards, here.threads) == (1, n_threads(None)) and not isinstance(here.folder, Path)
    assert list(here.do(lambda job, shard: (job, shard), "job")) == [("job", 0)]
    assert Resources.of(sharding=sharding).split() is sharding


def test_commands_open_their_resources(tmp_path: Path) -> None:
    with MemoryOptions(threads=2, quiet=True, shards=3, memory="64M").open(tmp_path / "out") as resources:
        assert resources.threads == 2 and resources.scratch.limit == 64 << 20
        assert resources.sharding is not None and resources.sharding.folder.parent == tmp_path
        assert (resources.sharding.shards, resources.sharding.threads) == (3, 2)
    assert list(tmp_path.iterdir()) == []
    with MemoryOptions().open() as resources:
        assert resources.sharding is None and resources.scratch.memory is None


def test_commands_take_the_class_of_their_options() -> None:
    folder = Path(__file__).parents[2] / "src/hyperbaton/cli"
    declaring = [verb for verb in verbs() if re.search(r": (Threads|Shards|Memory)\b", _code(folder, verb))]
    assert not set(declaring) - OWN


def _code(folder: Path, verb: str) -> str:
    return (folder / f"{verb.replace('-', '_')}.py").read_text(encoding="utf-8")
