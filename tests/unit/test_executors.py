"""Work in shards: the same bits from one process, from two, and from Dask, whose workers may be killed on the way."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align import Aligner
from hyperbaton.align.shards import LinkOutputs, align_shards
from hyperbaton.base.errors import AnnotationError, HyperbatonError, InputError, MissingExtra, OptionError
from hyperbaton.base.executors import Sharding, WorkersLost, do_shards, open_executor, ordered_map, worker_name
from hyperbaton.base.processes import Processes
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import join_arrays, map_arrays, open_arrays, remove_arrays, write_arrays
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.classes import word_classes
from hyperbaton.decode import System
from hyperbaton.decode.annotated import SourceText
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.shards import translate_shards
from hyperbaton.decode.writing import TranslationOutputs
from hyperbaton.lm import LanguageModel
from hyperbaton.models.pair import Pair
from hyperbaton.phrases import ExtractedPhrases
from hyperbaton.phrases.shards import extract_phrases as extract
from hyperbaton.run.child import do
from hyperbaton.run.execution import MachineLimits, Observer, execute
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import Plan, make_plan
from hyperbaton.run.stage import Stage
from hyperbaton.run.status import status_rows, write_plan
from hyperbaton.tune.system import SystemDecoder
from tests import clocks
from tests.stages import do_stages
from tests.worker_tasks import die, die_once, refuse

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
EXPERIMENT = """
title = "small"
[corpus.generate]
style = "japanese"
sentences = 200
dev = 20
test = 20
[lm]
order = 2
[models.msd]
model = "lexicalized"
orientations = "msd"
[translation]
metrics = ["bleu"]
samples = 20
[translation.tuning]
iterations = 1
[translation.decoding]
pop-limit = 20
stack = 20
"""

CLASSES = """
[classes]
classes = 5
runs = 3
[models.pair]
annotations = ["source_classes"]
"""

RULES = """
[models.hiero]
model = "rules"
"""

LINES = (GOLDEN / "test.src").read_text(encoding="utf-8").splitlines()[:12]
PAIRS = [(GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:400] for side in ("src", "tgt")]

KillOne = Callable[[], None]


@pytest.fixture(scope="module")
def system() -> System:
    return import_moses(GOLDEN / "decode" / "hier-mslr.moses.ini")


@pytest.fixture(scope="module")
def aligner() -> Aligner:
    return Aligner(model1_iterations=1, hmm_iterations=1).fit(Bitext.of(*PAIRS), threads=1)


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


def nothing() -> None:
    """Kills no worker."""


def after_one(kill: KillOne) -> Progress:
    """A progress that kills when the first task is done."""
    kills = iter([kill])

    def progress(done: int, total: int) -> None:
        next(kills, nothing)()

    return progress


def translate(system: System, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All outputs of a translation, one after the other; a worker may be killed after the first shard."""
    folder.mkdir()
    outputs = TranslationOutputs(("output", "links", "trace"), nbest=3, distinct=True, alignment=True)
    parts: dict[str, bytes] = dict.fromkeys(outputs.names, b"")
    (folder / "text").write_text("\n".join(LINES), encoding="utf-8")
    text = SourceText(folder / "text")
    for written in translate_shards(system, text, outputs, sharding=Sharding(folder, shards, executor)):
        for name, path in written.files.items():
            parts[name] += path.read_bytes()
        kill()
        kill = nothing
    return b"".join(parts.values())


def link(aligner: Aligner, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Links and scores of a bitext."""
    folder.mkdir()
    paths, outputs = (folder / "src", folder / "tgt"), LinkOutputs(("output", "scores"), "json")
    for path, lines in zip(paths, PAIRS, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = b""
    for result in align_shards(aligner, *paths, outputs, sharding=Sharding(folder, shards, executor)):
        whole += b"".join(path.read_bytes() for path in result.value.values())
        kill()
        kill = nothing
    return b"".join(sorted(whole.splitlines()))


def learn(aligner: Aligner, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Everything that an aligner learns, by the options of another one."""
    folder.mkdir()
    sharding = Sharding(folder, shards, executor)
    return learned(replace(aligner).fit(Bitext.of(*PAIRS), threads=1, sharding=sharding, progress=after_one(kill)))


def learned(aligner: Aligner) -> bytes:
    arrays = [*aligner.__getstate__()["model_"].values(), aligner.logprobs_]
    return sha256(b"".join(array.tobytes() for array in arrays)).digest()


def extract_phrases(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All arrays of the phrase pairs of a bitext."""
    folder.mkdir()
    bitext = linked()
    how = Resources.of(progress=after_one(kill), sharding=Sharding(folder, shards, executor))
    extracted = extract(bitext, how)
    return arrays_of(extracted, bitext, folder / "phrases")


def estimate(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All arrays of a language model of the target sentences; each task has little memory, and sorts in runs."""
    folder.mkdir()
    how = {"memory": 1 << 15, "sharding": Sharding(folder, shards, executor), "progress": after_one(kill)}
    return digest_of_model(threads=1, **how)


def digest_of_model(**how: Any) -> bytes:
    model = LanguageModel.estimate(Text.of(PAIRS[1]), 3, prune="0 0 1", discount_fallback=True, **how)
    return sha256(b"".join(array.tobytes() for array in model.arrays().values())).digest()


def cluster_words(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Classes, the best of eight runs."""
    folder.mkdir()
    sharding = Sharding(folder, shards, executor)
    return digest_of_classes(progress=after_one(kill), sharding=sharding)


def digest_of_classes(**how: Any) -> bytes:
    classes = word_classes(Text.of(PAIRS[1]), 12, runs=8, seed=2, **how)
    return classes.classes.tobytes() + classes.history.tobytes()


def do_stage(
    name: str, section: str, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing
) -> bytes:
    """The output of a stage of a run that distributes its work; a section of the experiment file asks for the stage."""
    folder.mkdir()
    (folder / "small.toml").write_text(EXPERIMENT + section)
    plan = make_plan(read_experiment(folder / "small.toml"))
    stage = plan.stages[name]
    for before in plan:
        if before.folder_name in stage.needs:
            do(before.order(folder, 1))
    kill()
    do(stage.order(folder, 1, executor=None if executor is None else "of the test", shards=shards), executor)
    if executor is not None:
        record = stage.record(folder)
        assert record["shards"] == shards and record["workers"] and worker_name() not in record["workers"]
    output = stage.folder(folder)
    files = [output / "classes"] if (output / "classes").exists() else sorted(output.glob("rules/*.npy"))
    return b"".join(sha256(file.read_bytes()).digest() for file in files)


def train_jumps(folder: Path, _shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """The weights of a jump model, which depend on the number of shards: always the same here."""
    folder.mkdir()
    sharding = Sharding(folder, 6, executor)
    model = Pair(min_count=2, learner="lbfgs:max-passes=4", threads=1).fit(
        linked(), progress=after_one(kill), sharding=sharding
    )
    return model.weights_.tobytes() + model.objective_.tobytes()


def linked() -> Bitext:
    sides = [GOLDEN / f"train.{side}" for side in ("src", "tgt")]
    return Bitext.read(*sides, GOLDEN / "train.links").select(range(300))


def arrays_of(extracted: ExtractedPhrases, bitext: Bitext, path: Path) -> bytes:
    extracted.save(path, bitext)
    return b"".join(sha256(file.read_bytes()).digest() for file in sorted(path.glob("*.npy")))


def lists(system: System, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """N-best lists that tuning sees."""
    sharding = Sharding(folder, shards, executor)
    decoder = SystemDecoder(system, LINES, sharding=sharding, progress=after_one(kill), n_best=5, lattice=True)
    return digest_of_lists(decoder)


def digest_of_lists(decoder: SystemDecoder) -> bytes:
    nbest = decoder(decoder.start * np.float64(1.1))
    return sha256(nbest.sentence.tobytes() + nbest.features.tobytes() + repr(nbest.hypotheses).encode()).digest()


def every_kind(system: System, aligner: Aligner) -> dict[str, Callable[..., Any]]:
    """All distributed work: each function takes a folder, a number of shards and an executor, and returns its
    output."""
    return {
        "translate": partial(translate, system),
        "link": partial(link, aligner),
        "learn": partial(learn, aligner),
        "extract": extract_phrases,
        "lm": estimate,
        "classes": cluster_words,
        "classes of a run": partial(do_stage, "classes.source", CLASSES),
        "rules of a run": partial(do_stage, "extract.hiero", RULES),
        "train": train_jumps,
        "lists": partial(lists, system),
    }


@pytest.mark.slow
def test_one_process_and_two_write_the_same(system: System, aligner: Aligner, pool: Executor, tmp_path: Path) -> None:
    for name, work in every_kind(system, aligner).items():
        one = work(tmp_path / f"{name}1", 1, None)
        assert one
        assert work(tmp_path / f"{name}2", 7, None) == one
        assert work(tmp_path / f"{name}3", 5, pool) == one
    assert learned(aligner) == learn(aligner, tmp_path / "learn4", 2, None)
    assert arrays_of(ExtractedPhrases.of(linked()), linked(), tmp_path / "whole") == extract_phrases(
        tmp_path / "extract4", 2, None
    )
    assert digest_of_classes() == cluster_words(tmp_path / "classes4", 2, None)
    assert digest_of_model() == estimate(tmp_path / "lm4", 2, None)
    whole = SystemDecoder(system, LINES, n_best=5, lattice=True, threads=2)
    assert digest_of_lists(whole) == lists(system, tmp_path / "lists4", 20, None)  # more shards than sentences


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


def test_bad_input_is_reported_before_tasks_start(system: System, aligner: Aligner, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="give a file, not standard input"):
        list(translate_shards(system, SourceText("-"), sharding=Sharding(tmp_path, 2)))
    (tmp_path / "src").write_text("a b\nc\n")
    (tmp_path / "tags").write_text("A B\n")
    with pytest.raises(AnnotationError, match="only 1 line of tags"):
        list(translate_shards(system, SourceText(tmp_path / "src", tmp_path / "tags"), sharding=Sharding(tmp_path, 2)))
    with pytest.raises(InputError, match=r"tags:2: the file ends after 1 line; .*src has 2"):
        list(align_shards(aligner, tmp_path / "src", tmp_path / "tags", sharding=Sharding(tmp_path, 2)))
    (tmp_path / "long").write_text("a\nb\nc\n")
    with pytest.raises(InputError, match=r"src:3: the file ends after 2 lines; .*long has 3"):
        list(align_shards(aligner, tmp_path / "src", tmp_path / "long", sharding=Sharding(tmp_path, 2)))


def hyperbaton(*arguments: object) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from hyperbaton.__main__ import main; main()"]
    return subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_verbs(system: System, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    system.save(tmp_path / "system")
    (tmp_path / "text").write_text("\n".join(LINES), encoding="utf-8")
    work = ["translate", tmp_path / "system", tmp_path / "text", "--threads", 1, "-o"]
    assert hyperbaton(*work, tmp_path / "one").returncode == 0
    done = hyperbaton(*work, tmp_path / "two", "--executor", "processes:2", "--shards", 3, "--links", tmp_path / "links")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert not list(tmp_path.glob(".hyperbaton-shards-*"))
    done = hyperbaton(*work, tmp_path / "three", "--executor", "dask://127.0.0.1:9")
    assert done.returncode == 1 and "no Dask scheduler answers at 127.0.0.1:9: start one" in done.stderr


@dataclass
class Cluster:
    """A Dask scheduler on this machine, and its workers."""

    address: str
    start_worker: Callable[[], subprocess.Popen[bytes]]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def grow(self, n: int) -> None:
        """Start workers until there are n."""
        self.workers += [self.start_worker() for _ in range(n - len(self.workers))]

    def replace_one(self) -> None:
        """Kill a worker, and start one that takes its place a while later."""
        self.kill(self.workers[0].pid)
        self.workers.append(self.start_worker())

    def kill(self, number: int) -> None:
        (worker,) = (worker for worker in self.workers if worker.pid == number)
        self.workers.remove(worker)
        worker.kill()
        worker.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("dask")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{free.getsockname()[1]}"
    processes = []

    def start(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
        with (folder / "dask.log").open("ab") as log:
            processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=folder))
        return processes[-1]

    port = host.partition(":")[2]
    start("scheduler", "--host", "127.0.0.1", "--port", port)
    options = ["--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--local-directory", str(folder)]
    cluster = Cluster(f"dask://{host}", lambda: start("worker", f"tcp://{host}", *options))
    try:
        wait_for_port(int(port))
        yield cluster
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_lost_scheduler_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "text").write_text("a b\n", encoding="utf-8")
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)]
    work = [sys.executable, "-m", "hyperbaton", "align", "text", "text", "--executor", f"dask://127.0.0.1:{port}"]
    with (
        (tmp_path / "dask.log").open("wb") as log,
        subprocess.Popen([*scheduler, "--no-dashboard"], stdout=log, stderr=log) as dask,
    ):
        wait_for_port(port)
        patience = os.environ | {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}
        with subprocess.Popen(work, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=patience) as process:
            assert process.stderr is not None
            assert "has no workers yet" in process.stderr.readline()
            dask.kill()
            lines = process.stderr.read().splitlines()
    assert process.returncode == 1
    assert lines == ["hyperbaton: error: the executor has given up its tasks: is its scheduler gone?"]


def wait_for_port(port: int) -> None:
    """Wait until the scheduler listens: a busy machine takes a while to start a program."""

    def listens() -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", port)) == 0

    clocks.wait_for(listens)


def wait_for(n: int, executor: Executor | None) -> Executor:
    """Wait until a Dask executor has n workers."""
    assert executor is not None
    client = executor._client  # type: ignore[attr-defined]
    client.wait_for_workers(n, timeout=120)
    return executor


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Dask
def test_dask_loses_workers_and_writes_the_same(system: System, aligner: Aligner, cluster: Cluster, tmp_path: Path) -> None:
    cluster.grow(2)
    with open_executor(cluster.address) as opened:
        executor = wait_for(2, opened)
        assert list(ordered_map(executor, 8, str, range(8))) == [str(i) for i in range(8)]
        for name, work in every_kind(system, aligner).items():
            one = work(tmp_path / f"{name}1", 1, None)
            assert work(tmp_path / f"{name}2", 12, executor, cluster.replace_one) == one
        cluster.kill(cluster.workers[0].pid)
        assert translate(system, tmp_path / "last", 3, executor) == translate(system, tmp_path / "own", 3, None)


class KillInTheMiddle(Observer):
    """Kill the worker of the first stage while it runs; the name of its output contains its process id."""

    def __init__(self, cluster: Cluster, root: Path) -> None:
        self.cluster, self.root, self.killed = cluster, root, 0

    def started(self, stage: Stage) -> None:
        while not self.killed and not stage.is_done(self.root):
            for aside in self.root.glob(f"stages/{stage.folder_name}.*.incomplete"):
                self.killed = int(aside.name.removeprefix(f"{stage.folder_name}.").partition("-")[0])
                self.cluster.kill(self.killed)
            time.sleep(0.001)


def artefacts(plan: Plan, root: Path) -> dict[str, str]:
    """The hash of every file that stages left, but for what says how long they took."""
    return {
        f"{stage.name}/{path.relative_to(stage.folder(root))}": sha256(_without_times(path)).hexdigest()
        for stage in plan
        for path in sorted(stage.folder(root).rglob("*"))
        if path.is_file() and path.name not in ("stage.json", "speed.json")
    }


def _without_times(path: Path) -> bytes:
    lines = path.read_bytes().splitlines()
    times = (b'"train_seconds"', b'"train_peak_mib"', b'"checksum"') if path.suffix == ".json" else ()
    return b"\n".join(line for line in lines if not any(name in line for name in times))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_experiment_on_dask_is_the_same_as_here(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(EXPERIMENT)
    plan = make_plan(read_experiment(tmp_path / "small.toml"))
    do_stages(plan, tmp_path / "here")
    cluster.grow(3)
    limits = MachineLimits(jobs=3, threads=1, executor=cluster.address, shards=3)
    write_plan(plan, tmp_path / "there")
    observer = KillInTheMiddle(cluster, tmp_path / "there")
    execute(plan, tmp_path / "there", limits, observer)
    assert observer.killed
    assert artefacts(plan, tmp_path / "there") == artefacts(plan, tmp_path / "here")
    rows = {row["stage"]: row for row in status_rows(tmp_path / "there")}
    tuned = next(row for name, row in rows.items() if name.startswith("tune."))
    assert tuned["shards"] == 3 and 1 <= tuned["workers"] <= 3
    assert rows["extract"]["shards"] == 3 and 1 <= rows["extract"]["workers"] <= 3
    assert rows["lm"]["shards"] == 3
    assert all(row["workers"] == 1 for name, row in rows.items() if not name.startswith(("tune.", "extract", "lm")))
