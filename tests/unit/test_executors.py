"""Work in shards: the same bits from one process and from two, and tasks of lost workers done again."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align.shards import align_shards
from hyperbaton.base.errors import AnnotationError, HyperbatonError, InputError, MissingExtra, OptionError
from hyperbaton.base.executors import Sharding, WorkersLost, do_shards, open_executor, ordered_map
from hyperbaton.base.processes import Processes
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import join_arrays, map_arrays, open_arrays, remove_arrays, write_arrays
from hyperbaton.decode import System
from hyperbaton.decode.annotated import SourceText
from hyperbaton.decode.shards import translate_shards
from hyperbaton.phrases import ExtractedPhrases
from hyperbaton.tune.system import SystemDecoder
from tests.unit.sharded_work import (
    LINES,
    arrays_of,
    cluster_words,
    digest_of_classes,
    digest_of_lists,
    digest_of_model,
    estimate,
    every_kind,
    extract_phrases,
    learn,
    learned,
    linked,
    lists,
    quick_aligner,
)
from tests.worker_tasks import die, die_once, refuse


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.slow
def test_one_process_and_two_write_the_same(moses_system: System, pool: Executor, tmp_path: Path) -> None:
    for name, work in every_kind(moses_system).items():
        one = work(tmp_path / f"{name}1", 1, None)
        assert one
        assert work(tmp_path / f"{name}2", 7, None) == one
        assert work(tmp_path / f"{name}3", 5, pool) == one
    assert learned(quick_aligner()) == learn(tmp_path / "learn4", 2, None)
    assert arrays_of(ExtractedPhrases.of(linked()), linked(), tmp_path / "whole") == extract_phrases(
        tmp_path / "extract4", 2, None
    )
    assert digest_of_classes() == cluster_words(tmp_path / "classes4", 2, None)
    assert digest_of_model() == estimate(tmp_path / "lm4", 2, None)
    whole = SystemDecoder(moses_system, LINES, n_best=5, lattice=True, threads=2)
    assert digest_of_lists(whole) == lists(moses_system, tmp_path / "lists4", 20, None)  # more shards than sentences


def test_many_shards_need_few_open_files(tmp_path: Path) -> None:
    """A task that merges a range of all shards has the file of one of them open at a time."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    n_open = sum(1 for _ in Path("/dev/fd").iterdir())
    whole = extract_phrases(tmp_path / "one", 1, None), estimate(tmp_path / "lm1", 1, None)
    resource.setrlimit(resource.RLIMIT_NOFILE, (n_open + 25, hard))
    try:
        assert (extract_phrases(tmp_path / "many", 15, None), estimate(tmp_path / "lm15", 15, None)) == whole
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_arrays_of_a_shard_are_one_file(tmp_path: Path) -> None:
    arrays = {
        "numbers": np.arange(7, dtype=np.int16),
        "rows": np.arange(12.0).reshape(4, 3),
        "none": np.empty((0, 2), np.uint8),
        "true": np.ones(3, bool),
    }
    write_arrays(tmp_path, "shard.0", arrays)
    write_arrays(tmp_path, "shard.1", {name: array[1:] for name, array in arrays.items()})
    assert len(list(tmp_path.iterdir())) == 2
    mapped = map_arrays(tmp_path, "shard.0")
    for name, array in arrays.items():
        assert mapped[name].dtype == array.dtype and np.array_equal(mapped[name], array)
        joined = join_arrays(tmp_path, ["shard.0", "shard.1"], name, Scratch())
        assert np.array_equal(joined, np.concatenate([array, array[1:]]))
    with open_arrays(tmp_path, "shard.0") as stored:
        assert stored["rows"][1:3].tolist() == [[3, 4, 5], [6, 7, 8]]
        assert stored["numbers"][5] == 5 and len(stored["none"][:]) == 0
    remove_arrays(tmp_path, "shard.0")
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_a_lost_worker_is_a_task_done_again(tmp_path: Path) -> None:
    with Processes(2) as executor:
        assert [result.value for result in do_shards(executor, die_once, tmp_path, 5)] == [0, 1, 4, 9, 16]
        with pytest.raises(AnnotationError, match="tags:7: 2 tags for 3 words"):
            list(do_shards(executor, refuse, tmp_path, 3))
    with (
        Processes(1) as executor,
        pytest.raises(WorkersLost, match=r"killed 4 workers in a row \(out of memory"),
    ):
        list(do_shards(executor, die, tmp_path, 1))


def test_a_result_that_dask_loses_is_a_task_done_again() -> None:
    cascade = pytest.importorskip("distributed.cfexecutor")._cascade_future

    class Lost:
        """Dask's future of a result whose worker went when it was about to be handed over."""

        status = "lost"

        async def _result(self, raiseit: bool) -> int:
            return 1

    async def hand_over(future: Future[int]) -> None:
        await cascade(Lost(), future)

    class Forgetful(ThreadPoolExecutor):
        lost = 2

        def submit(self, *args: Any, **options: Any) -> Future[Any]:
            if not self.lost:
                return super().submit(*args, **options)
            self.lost -= 1
            future: Future[int] = Future()
            asyncio.run(hand_over(future))
            return future

    with Forgetful(1) as executor:
        assert list(ordered_map(executor, 2, abs, [-1, -2, -3])) == [1, 2, 3] and not executor.lost
        with pytest.raises(TypeError, match="bad operand"):
            list(ordered_map(executor, 2, abs, ["x"]))


def test_a_pool_of_the_caller_is_not_restarted(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as executor, pytest.raises(WorkersLost, match="and with it the pool"):
        list(do_shards(executor, die, tmp_path, 1))


def test_addresses() -> None:
    for address in ("dask://", "dask://host", "processes:0", "mpi"):
        with pytest.raises(OptionError, match=r"expected dask://HOST:PORT or processes:N"), open_executor(address):
            pass
    with open_executor(None) as executor:
        assert executor is None


def test_dask_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "distributed", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "distributed.py").write_text("import a_library_that_it_needs")
    message = "distributed is installed but cannot be imported"
    with pytest.raises(HyperbatonError, match=message), open_executor("dask://127.0.0.1:9"):
        pass


def test_errors_come_back_from_workers_as_they_were() -> None:
    for error in (InputError("bad", "file", 3), AnnotationError("tags", "bad", 7), MissingExtra("jieba", "chinese")):
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is type(error) and str(back) == str(error) and vars(back) == vars(error)


def test_bad_input_is_reported_before_tasks_start(moses_system: System, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="give a file, not standard input"):
        list(translate_shards(moses_system, SourceText("-"), sharding=Sharding(tmp_path, 2)))
    (tmp_path / "src").write_text("a b\nc\n")
    (tmp_path / "tags").write_text("A B\n")
    with pytest.raises(AnnotationError, match="only 1 line of tags"):
        list(
            translate_shards(moses_system, SourceText(tmp_path / "src", tmp_path / "tags"), sharding=Sharding(tmp_path, 2))
        )
    with pytest.raises(InputError, match=r"tags:2: the file ends after 1 line; .*src has 2"):
        list(align_shards(quick_aligner(), tmp_path / "src", tmp_path / "tags", sharding=Sharding(tmp_path, 2)))
    (tmp_path / "long").write_text("a\nb\nc\n")
    with pytest.raises(InputError, match=r"src:3: the file ends after 2 lines; .*long has 3"):
        list(align_shards(quick_aligner(), tmp_path / "src", tmp_path / "long", sharding=Sharding(tmp_path, 2)))


def hyperbaton(*arguments: object, first: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program, after a line of Python."""
    program = [sys.executable, "-c", f"{first}\nfrom hyperbaton.__main__ import main; main()"]
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_verbs(moses_system: System, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    moses_system.save(tmp_path / "system")
    (tmp_path / "text").write_text("\n".join(LINES), encoding="utf-8")
    work = ["translate", tmp_path / "system", tmp_path / "text", "--threads", 1, "-o"]
    assert hyperbaton(*work, tmp_path / "one").returncode == 0
    done = hyperbaton(*work, tmp_path / "two", "--executor", "processes:2", "--shards", 3, "--links", tmp_path / "links")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert not list(tmp_path.glob(".hyperbaton-shards-*"))
    impatient = "from hyperbaton.base import executors; executors.CONNECTING = 1"
    done = hyperbaton(*work, tmp_path / "three", "--executor", "dask://127.0.0.1:9", first=impatient)
    assert done.returncode == 1 and "no Dask scheduler answers at 127.0.0.1:9: start one" in done.stderr
