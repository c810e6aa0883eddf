"""Interpreters that start fast: forks of a process that has already imported the package.

Most of the time of a small command or stage is the start of its interpreter. `forks()` makes a program to use in place of
`sys.executable`: for `-m hyperbaton …` and `-P -m hyperbaton.run.child` it asks a server to fork, and for everything else
it runs the real interpreter. A forked command uses the program for its own processes, too, such as the stages of a run.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType

_CLIENT = """#!{real} -IS
import json, os, socket, sys
given = sys.argv[1 + (sys.argv[1:2] == ["-P"]):]
command, name, words = given[:1], given[1:2], given[2:]
# Completion asks which shell has called the program.
completes = any(word.endswith("-completion") for word in words)
if command != ["-m"] or name not in (["hyperbaton"], ["hyperbaton.run.child"]) or completes:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    asked = json.dumps([[*name, *words], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    status = server.recv(1)
os._exit(status[0] if status else 1)
"""


@contextlib.contextmanager
def forks() -> Iterator[Path]:
    """A program that stands in for the interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        program, address = Path(folder, "python"), f"{folder}/socket"
        program.write_text(_CLIENT.format(real=sys.executable, address=address), encoding="utf-8")
        program.chmod(0o755)
        command = [sys.executable, __file__, str(program), address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            try:
                assert server.stdout is not None and server.stdout.readline()  # it listens
                yield program
            finally:
                server.kill()


def _serve(program: str, address: str) -> None:
    """Fork a process for each command that a client sends."""
    _import_everything()
    signal.signal(signal.SIGCHLD, _reap)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("listening", flush=True)
        # The end of stdin is the end of the tests.
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    sys.executable = program
                    _answer(connection)


def _reap(number: int, frame: FrameType | None) -> None:
    """Wait for the forks that have ended: their processor time is that of the tests."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _import_everything() -> None:
    import matplotlib.pyplot  # noqa: F401

    from hyperbaton import cli
    from hyperbaton.run import stages

    for verb in cli.verbs():
        cli._function(verb)
    for module in pkgutil.iter_modules(stages.__path__):
        importlib.import_module(f"{stages.__name__}.{module.name}")
    # The first command imports what click needs to read arguments.
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
        cli.Program()(["list", "features"])


def _answer(connection: socket.socket) -> None:
    """Run one command in place of the client, and send it the exit status."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as file:
        (name, *words), folder, environment = json.loads(file.read(int.from_bytes(size, "big")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Whether they are terminals is decided when they are opened.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.setpgid(0, 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    _find_plugins(environment.get("PYTHONPATH", ""))
    main: ModuleType = importlib.import_module("hyperbaton.__main__" if name == "hyperbaton" else name)
    sys.argv = [name, *words]
    status: object = 0
    try:
        status = main.main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    connection.sendall(bytes([status if isinstance(status, int) else int(status is not None)]))
    os._exit(0)


def _find_plugins(path: str) -> None:
    """Search folders that the server did not know when it started: they may contain plug-ins."""
    added = [folder for folder in path.split(os.pathsep) if folder and folder not in sys.path]
    if added:
        from hyperbaton.base import registry  # here: not all tests need the package

        sys.path[1:1] = added
        registry._entry_points.cache_clear()


if __name__ == "__main__":
    _serve(*sys.argv[1:])
