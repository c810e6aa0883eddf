"""The process of one stage: `python -m hyperbaton.run.child`, with the task as one line of JSON on stdin.

It ends when stdin does, so that it never outlives a killed run. Its stderr is the stage's log, whose last line is the
reason for a failure.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import shutil
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import Executor
from pathlib import Path
from types import ModuleType

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.base.executors import open_executor
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.memory import peak_mib
from hyperbaton.base.workers import Workers, worker_name
from hyperbaton.base.writing import writing_folder
from hyperbaton.run.stage import STAGE_FILE, Work, write_json


def main() -> int:
    """Run the stage; the exit status is 0 on success."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run is interrupted as well, and ends this process
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    try:
        with open_executor(order["executor"]) as executor:
            if executor is None or getattr(_module(order), "DISTRIBUTED", None) in order["options"]:
                do(order, executor)
            else:  # a stage that does not distribute its work is one task
                list(Workers(executor).map(do, [order]))
        return 0
    except HyperbatonError as error:
        reason = str(error)
    except MemoryError:
        reason = "not enough memory"
    except OSError as error:
        traceback.print_exc()
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        reason = f"{where}{error.strerror or error}"
    except Exception as error:
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
    print(reason, file=sys.stderr)
    return 1


def _module(order: JsonObject) -> ModuleType:
    return importlib.import_module(f"hyperbaton.run.stages.{order['kind']}")


def do(order: JsonObject, executor: Executor | None = None) -> None:
    """Run a stage: its folder appears completely or not at all."""
    folder = Path(order["folder"])
    scratch = folder.with_name(f"{folder.name}.scratch")
    scratch.mkdir(parents=True, exist_ok=True)
    with writing_folder(folder, mark=STAGE_FILE) as aside:
        _write_stage(order, aside, scratch, executor)
    shutil.rmtree(scratch, ignore_errors=True)


def _write_stage(order: JsonObject, aside: Path, scratch: Path, executor: Executor | None) -> None:
    started, used = time.perf_counter(), time.process_time()
    inputs = {name: Path(path) for name, path in order["inputs"].items()}
    work = Work(inputs, order["options"], aside, scratch, order["threads"], order.get("memory"), executor)
    _module(order).run(work)
    record = {
        **{name: order[name] for name in ("name", "kind", "key", "options", "input_keys")},
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - used,
        "peak_mib": _peak_mib(),
        "output_mib": sum(file.stat().st_size for file in aside.rglob("*") if file.is_file()) / 2**20,
        "threads": order["threads"],
    }
    if order["executor"] is not None:
        record |= {"executor": order["executor"], "workers": sorted(work.names or {worker_name()})}
    write_json(aside / STAGE_FILE, record)


def _leave_with_parent() -> None:
    sys.stdin.read()
    if os.getpgrp() == os.getpid():  # end the processes that this stage started
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _peak_mib() -> float:
    """The peak memory of this process, or of one that it started."""
    try:  # /proc, if it exists: getrusage starts from the size of the parent process before the fork
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    peak_kib = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)
    return max(peak_mib(resource.RUSAGE_CHILDREN), peak_kib / 2**10 or peak_mib())


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Not sys.exit: the thread that waits for the end of stdin would block it.
    os._exit(status)
