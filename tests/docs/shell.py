"""Bash for the blocks of pages, with programs that cost little.

`hyperbaton` is forked from a process that has imported all commands, since most of the time of a small command is the start
of the interpreter. `pip install .` builds the package in the folder with setuptools and puts it beside, as pip does, but
without pip's isolated environment, which needs a network. For `pip install 'hyperbaton[EXTRA]'` the extras must exist.
`make` looks its targets up and does nothing. The folder of the page is the user's home.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Files of `pip install` in the folder of a page.
INSTALLED = ".installed"

_PROGRAM = f"""#!{sys.executable} -IS
import json, os, socket, sys
# Plug-ins are found when hyperbaton is imported; completion asks which shell the program was called from.
if os.path.isdir("{INSTALLED}") or sys.argv[-1].endswith("-completion"):
    os.execv({sys.executable!r}, [{sys.executable!r}, "-m", "hyperbaton", *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect(ADDRESS)
    asked = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(asked)
    sys.exit((server.recv(1) or b"\\x01")[0])
"""


class Shell:
    """Runs scripts of bash in a folder, with the program of this interpreter's environment."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs

    def run(self, script: str, folder: Path) -> str:
        """Run a script; returns what it printed to stdout."""
        path = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        settings = {
            "PATH": path,
            "HOME": str(folder),  # blocks may change the settings of the user who runs them
            "PYTHONPATH": str(folder / INSTALLED),
        }
        env = {**os.environ, **settings}
        # Without a trap, bash replaces itself by its last command.
        arguments = ["bash", "-euo", "pipefail", "-c", f"trap : EXIT\n{script}"]
        done = subprocess.run(arguments, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{script}\n{done.stderr}"
        return done.stdout


@contextlib.contextmanager
def shell() -> Iterator[Shell]:
    """A shell whose `hyperbaton` is already imported."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/socket"
        scripts = {
            "hyperbaton": _PROGRAM.replace("ADDRESS", repr(address)),
            "pip": f'#!/bin/sh\nexec {sys.executable} {__file__} pip "$@"\n',
            "make": f'#!/bin/sh\nexec {shutil.which("make")} --dry-run --directory {ROOT} "$@" > /dev/null\n',
        }
        for name, text in scripts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
            Path(folder, name).chmod(0o755)
        server = subprocess.Popen([sys.executable, __file__, "serve", address], stdout=subprocess.PIPE)
        try:
            assert server.stdout is not None and server.stdout.readline()  # it listens
            yield Shell(Path(folder))
        finally:
            server.kill()
            server.communicate()


def _serve(address: str) -> None:
    """Fork a process for each command that asks."""
    from hyperbaton import cli

    for verb in cli.verbs():
        cli._function(verb)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the forks are not waited for
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("listening", flush=True)
        while True:
            connection, _ = listening.accept()
            with connection:
                if os.fork() == 0:
                    listening.close()
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    _command(connection)


def _command(connection: socket.socket) -> None:
    """Do one command in place of the client, and tell it the exit status."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as file:
        words, folder, environment = json.loads(file.read(int.from_bytes(size, "big")))
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    from hyperbaton.__main__ import main

    sys.argv = ["hyperbaton", *words]
    status: object = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    connection.sendall(bytes([status if isinstance(status, int) else int(status is not None)]))
    os._exit(0)


def _pip(words: list[str]) -> None:
    """Stand in for pip, as the module says."""
    command, *requirements = words
    assert command == "install", words
    known = set(metadata.metadata("hyperbaton").get_all("Provides-Extra") or [])
    for requirement in requirements:
        if requirement == ".":
            from setuptools import setup

            Path(INSTALLED).mkdir()
            setup(script_args=["-q", "egg_info", "--egg-base", INSTALLED, "build_py", "--build-lib", INSTALLED])
            continue
        named = re.fullmatch(r"(?:hyperbaton|\.)\[([\w,]+)\]", requirement)
        extras = set(named[1].split(",")) if named else {requirement}
        assert extras <= known, f"pip install {requirement}: no such extra; there are {', '.join(sorted(known))}"


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        _serve(sys.argv[2])
    else:
        _pip(sys.argv[2:])
