"""Stages: steps of an experiment that are pure functions of files and options and run once.

A stage is a function in `hyperbaton/run/stages`, named by its file, applied to inputs (files, or outputs of other stages)
and options. Its key is a hash of all of that: the code (`code.py`), the options, the content of files and the keys of
other stages. Its output is the folder `stages/NAME-KEY`, written under a temporary name and renamed when it is complete,
so that a folder with that name contains exactly what the stage would produce again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import limited
from hyperbaton.base.workers import Workers
from hyperbaton.run.code import code_key

STAGE_FILE = "stage.json"
SPLITS = ("train", "dev", "test")
CORPUS = "corpus."  # prefix of the names of stages and inputs that are a split
KEY_LENGTH = 12


@dataclass(frozen=True)
class File:
    """A file as the input of a stage, identified by its content."""

    path: Path

    @cached_property
    def key(self) -> str:
        digest = hashlib.sha256()
        with self.path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()


@dataclass(frozen=True)
class Cost:
    """The estimated cost of a stage: processor seconds and MiB."""

    seconds: float
    mib: float


@dataclass(frozen=True)
class Stage:
    """One step: `kind` is the file of `hyperbaton/run/stages` that implements it."""

    name: str
    kind: str
    options: Mapping[str, Json] = field(default_factory=dict)
    inputs: Mapping[str, Stage | File] = field(default_factory=dict)
    cost: Cost = field(default=Cost(1, 200), compare=False)

    @cached_property
    def key(self) -> str:
        """A hash of the code, the options and the inputs: everything that the result depends on."""
        identity = {
            "kind": self.kind,
            "code": code_key(f"hyperbaton.run.stages.{self.kind}", self.options),
            "options": self.options,
            "inputs": {name: source.key for name, source in sorted(self.inputs.items())},
        }
        return hashlib.sha256(json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()).hexdigest()

    @property
    def folder_name(self) -> str:
        """The name of the stage's output folder."""
        return f"{self.name}-{self.key[:KEY_LENGTH]}"

    @property
    def before(self) -> list[Stage]:
        """The stages that must run before."""
        return [source for source in self.inputs.values() if isinstance(source, Stage)]

    @cached_property
    def needs(self) -> frozenset[str]:
        """The names of the folders of all direct and indirect inputs: a system refers to outputs of other stages."""
        return frozenset(name for stage in self.before for name in (stage.folder_name, *stage.needs))

    def folder(self, root: Path) -> Path:
        """The output folder of the stage."""
        return root / "stages" / self.folder_name

    def is_done(self, root: Path) -> bool:
        """Whether the output folder of the stage exists."""
        return (self.folder(root) / STAGE_FILE).is_file()

    def record(self, root: Path) -> JsonObject:
        """The record of a finished stage: seconds, peak_mib, output_mib and so on."""
        return dict(read_json(self.folder(root) / STAGE_FILE))

    def order(self, root: Path, threads: int, memory: int | None = None, executor: str | None = None) -> JsonObject:
        """The data that the stage's process needs; it may run on another machine if there is an executor."""
        inputs = {n: g.folder(root) if isinstance(g, Stage) else g.path for n, g in self.inputs.items()}
        folder = self.folder(root)
        if executor is not None:
            inputs, folder = {n: path.absolute() for n, path in inputs.items()}, folder.absolute()
        return {
            "name": self.name,
            "kind": self.kind,
            "key": self.key,
            "options": dict(self.options),
            "inputs": {name: str(path) for name, path in inputs.items()},
            "input_keys": {name: source.key for name, source in self.inputs.items()},
            "folder": str(folder),
            "threads": threads,
            "memory": memory,
            "executor": executor,
        }


Inputs = dict[str, Stage | File]  # of a stage, by name


@dataclass(frozen=True)
class Work:
    """The argument of a stage's function.

    `out` is the folder to write to; `scratch` is a folder that survives an interruption: its files are from an earlier
    attempt at exactly this stage. `memory` is the number of bytes that a stage should try not to exceed, None if there is
    no limit; the output must depend neither on it nor on `threads`. A stage that distributes its own
    work, if it has the option that `DISTRIBUTED` in its file names, has the `executor` of the run; `names` collects those
    of workers.
    """

    inputs: Mapping[str, Path]
    options: Mapping[str, Json]
    out: Path
    scratch: Path
    threads: int
    memory: int | None = None
    executor: Executor | None = None
    names: set[str] = field(default_factory=set)

    def resources(self) -> Resources:
        """What the stage may use; with an executor, the folder for the files of tasks is empty."""
        workers = Workers()
        if self.executor is not None:
            folder = self.scratch / "tasks"
            shutil.rmtree(folder, ignore_errors=True)  # from an interrupted attempt
            folder.mkdir()
            workers = Workers(self.executor, folder, self.threads, self.names)
        return Resources(self.threads, scratch=limited(self.memory), workers=workers)

    def write_json(self, name: str, value: object) -> None:
        """Write plain values to a file of the output."""
        write_json(self.out / name, value)


def write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> Json:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"damaged ({error}); remove it and run the experiment again", path) from error
