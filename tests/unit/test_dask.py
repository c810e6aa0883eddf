"""Distributed work on Dask, whose workers may be killed on the way: the same bits as from one process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest

from hyperbaton.base.executors import open_executor
from hyperbaton.base.ordered import ordered_map
from hyperbaton.decode import System
from hyperbaton.run.execution import MachineLimits, Observer, execute
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import Plan, make_plan
from hyperbaton.run.stage import Stage
from hyperbaton.run.status import status_rows, write_plan
from tests import clocks
from tests.stages import do_stages
from tests.unit.distributed_work import EXPERIMENT, every_kind, translate


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
def test_dask_loses_workers_and_writes_the_same(moses_system: System, cluster: Cluster, tmp_path: Path) -> None:
    cluster.grow(2)
    with open_executor(cluster.address) as opened:
        executor = wait_for(2, opened)
        assert list(ordered_map(executor, 8, str, range(8))) == [str(i) for i in range(8)]
        for name, work in every_kind(moses_system).items():
            one = work(tmp_path / f"{name}1", None)
            assert work(tmp_path / f"{name}2", executor, cluster.replace_one) == one
        cluster.kill(cluster.workers[0].pid)
        assert translate(moses_system, tmp_path / "last", executor) == translate(moses_system, tmp_path / "own", None)


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
    limits = MachineLimits(jobs=3, threads=1, executor=cluster.address)
    write_plan(plan, tmp_path / "there")
    observer = KillInTheMiddle(cluster, tmp_path / "there")
    execute(plan, tmp_path / "there", limits, observer)
    assert observer.killed
    assert artefacts(plan, tmp_path / "there") == artefacts(plan, tmp_path / "here")
    rows = {row["stage"]: row for row in status_rows(tmp_path / "there")}
    tuned = next(row for name, row in rows.items() if name.startswith("tune."))
    assert 1 <= tuned["workers"] <= 3 and all(row["workers"] == 1 for name, row in rows.items() if "tune." not in name)
