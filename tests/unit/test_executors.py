"""Distributed work: the same bits from one process and from two, and tasks of lost workers done again."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align.linking import LinkOutputs
from hyperbaton.align.pair_text import PairText
from hyperbaton.base.errors import AnnotationError, HyperbatonError, InputError, MissingExtra, OptionError, SentenceError
from hyperbaton.base.executors import Processes, open_executor
from hyperbaton.base.ordered import WorkersLost, ordered_map
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Shared, Workers, load_arrays, save_arrays, worker_name
from hyperbaton.decode import System, TokenTranslator, Translations, translating
from hyperbaton.decode.annotated import AnnotatedLines, SourceText
from hyperbaton.decode.translating import TranslationOutputs, translate_groups
from hyperbaton.tune import system as tune_system
from hyperbaton.tune.system import SystemDecoder
from tests.unit.distributed_work import LINES, every_kind, quick_aligner
from tests.worker_tasks import die, die_once, refuse


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.mark.slow
def test_one_process_and_two_write_the_same(moses_system: System, pool: Executor, tmp_path: Path) -> None:
    for name, work in every_kind(moses_system).items():
        one = work(tmp_path / f"{name}1", None)
        assert one
        assert work(tmp_path / f"{name}2", pool) == one
        assert [path.name for path in (tmp_path / f"{name}1").iterdir() if path.name.startswith("tmp")] == []


def test_an_object_that_tasks_share_is_saved_only_for_other_workers(tmp_path: Path) -> None:
    arrays = {"a": np.arange(3), "b.c": np.ones((2, 2), np.uint8), "none": np.empty((0, 2))}

    def share(workers: Workers) -> Shared[dict[str, Any]]:
        return workers.share(arrays, partial(save_arrays, arrays=arrays), load_arrays)

    assert share(Workers()).value is arrays and not list(tmp_path.iterdir())
    with ThreadPoolExecutor(1) as executor:
        sent = pickle.dumps(share(Workers(executor, tmp_path)))
    assert len(sent) < 1000
    again = pickle.loads(sent).value
    assert again.keys() == arrays.keys() and all(np.array_equal(again[name], array) for name, array in arrays.items())


def test_arrays_of_tasks_pass_through_files_that_are_removed(tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        workers = Workers(executor, tmp_path)
        assert workers.ranges(5, 2) == [(0, 2), (2, 4), (4, 5)]
        results = [part["numbers"].tolist() for part in workers.map_arrays(lambda n: {"numbers": np.arange(n)}, range(4))]
    assert results == [[], [0], [0, 1], [0, 1, 2]] and not list(tmp_path.iterdir())
    assert workers.names == {worker_name()}


@pytest.mark.slow
def test_a_lost_worker_is_a_task_done_again(tmp_path: Path) -> None:
    with Processes(2) as executor:
        assert list(ordered_map(executor, 5, partial(die_once, tmp_path), range(5))) == [0, 1, 4, 9, 16]
        with pytest.raises(AnnotationError, match="tags:7: 2 tags for 3 words"):
            list(ordered_map(executor, 3, refuse, range(3)))
    with (
        Processes(1) as executor,
        pytest.raises(WorkersLost, match=r"killed 4 workers in a row \(out of memory"),
    ):
        list(ordered_map(executor, 1, die, [0]))


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
            # In another thread: a browser's test leaves an event loop running in this one.
            with ThreadPoolExecutor(1) as thread:
                thread.submit(asyncio.run, hand_over(future)).result()
            return future

    with Forgetful(1) as executor:
        assert list(ordered_map(executor, 2, abs, [-1, -2, -3])) == [1, 2, 3] and not executor.lost
        with pytest.raises(TypeError, match="bad operand"):
            list(ordered_map(executor, 2, abs, ["x"]))


def test_a_pool_of_the_caller_is_not_restarted(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as executor, pytest.raises(WorkersLost, match="and with it the pool"):
        list(ordered_map(executor, 1, die, [0]))


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


def test_a_fault_in_a_part_is_reported_with_its_place_in_the_text(
    moses_system: System, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "src").write_text("a b\nc\n")
    (tmp_path / "tags").write_text("A B\n")
    with ThreadPoolExecutor(1) as executor:
        resources = Resources.of(1, workers=Workers(executor, tmp_path))
        how = (TranslationOutputs(), moses_system.options, None, resources)
        with pytest.raises(AnnotationError, match="only 1 line of tags"):
            list(translate_groups(moses_system, SourceText(tmp_path / "src", tmp_path / "tags").groups(1), *how))
        with pytest.raises(InputError, match=r"tags:2: the file ends after 1 line; .*src has 2"):
            list(LinkOutputs().write(quick_aligner(), PairText(tmp_path / "src", tmp_path / "tags").groups(1), resources))

        def search(self: TokenTranslator, text: AnnotatedLines, *_: object, **__: object) -> Translations:
            if "bad" in text.lines:
                raise SentenceError("is bad", text.lines.index("bad") + 1)
            return whole(self, text, *_, **__)

        whole = TokenTranslator.search
        monkeypatch.setattr(TokenTranslator, "search", search)
        monkeypatch.setattr(tune_system, "PART", 3)
        decoder = SystemDecoder(moses_system, ["a", "b", "c", "d", "bad"], first=10, workers=resources.workers)
        with pytest.raises(SentenceError, match="sentence 15: is bad"):
            decoder(decoder.start)
        (tmp_path / "src").write_text("a\nb\nc\nd\nbad\n")
        monkeypatch.setattr(translating, "PART", 1)
        with pytest.raises(SentenceError, match="sentence 5: is bad"):
            list(translate_groups(moses_system, SourceText(tmp_path / "src").groups(2), *how))


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
    done = hyperbaton(*work, tmp_path / "two", "--executor", "processes:2", "--links", tmp_path / "links")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert not list(tmp_path.glob(".hyperbaton-work-*"))
    impatient = "from hyperbaton.base import executors; executors.CONNECTING = 1"
    done = hyperbaton(*work, tmp_path / "three", "--executor", "dask://127.0.0.1:9", first=impatient)
    assert done.returncode == 1 and "no Dask scheduler answers at 127.0.0.1:9: start one" in done.stderr
