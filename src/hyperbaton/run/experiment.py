"""The experiment file: one TOML file defines the corpus, the models, and how they are compared.

Stages declare its tables and their options (`TABLES`, see `stages`), which are read in planning order and checked before
any work starts. `docs/experiment-file.md` describes every table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import Json, JsonObject
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import to_mapping
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.stages import declared_tables

T = TypeVar("T")

LARGEST = 16 << 20  # bytes of an experiment file: a device may have no end


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment file, checked, with all defaults filled in."""

    file: str
    folder: Path  # that file names are relative to
    title: str
    seed: int
    memory: str | None = None  # for all stages together; results do not depend on it
    tables: JsonObject = field(default_factory=dict)  # the options of each table

    def options(self, cls: type[T]) -> T:
        """The options of this class, which a stage declares for one of its tables."""
        if (options := self.find(cls)) is None:
            raise LookupError(f"no table of the experiment has options of the class {cls.__name__}")
        return options

    def find(self, cls: type[T]) -> T | None:
        """The options of this class; None if they are those of a table that the experiment does not have."""
        tables = [options for options in self.tables.values() if isinstance(options, cls)]
        if len(tables) > 1:
            raise LookupError(f"{len(tables)} tables have options of the class {cls.__name__}; derive a class for each")
        return tables[0] if tables else None

    def resolved(self) -> JsonObject:
        """The experiment as plain values, in the form of an experiment file."""
        values: JsonObject = {"title": self.title, "seed": self.seed, "memory": self.memory}
        for table, options in self.tables.items():
            values[table] = options.resolved() if hasattr(options, "resolved") else without_none(to_mapping(options))
        return without_none(values)


def read_experiment(path: Path, settings: Sequence[str] = ()) -> Experiment:
    """Read and check an experiment file.

    Arguments:
        settings: `key=value`, to replace or add values of the file; keys are written like `corpus.root`.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise InputError(f"an experiment file has at most {LARGEST >> 20} MiB", path)
        values = tomllib.loads(content.decode("utf-8"))
    except FileNotFoundError as error:
        raise InputError("no such file", path) from error
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
    except ValueError as error:  # from TOML, from UTF-8, or from a number with thousands of digits
        raise InputError(f"not a TOML file: {error}", path) from error
    except RecursionError as error:
        raise InputError("tables or lists are nested too deeply", path) from error
    for setting in settings:
        _set(values, setting)
    return parse_experiment(values, str(path), path.parent)


def parse_experiment(values: JsonObject, file: str, folder: Path) -> Experiment:
    """Check the values of an experiment file; relative file names are relative to `folder`."""
    top = KeyTable(file, "", values)
    title = top.take("title", str, Path(file).stem)
    seed = top.take("seed", int, 1, minimum=0)
    memory = top.take("memory", str, "") or None
    if memory is not None:
        top.trying(lambda: parse_memory(memory, "it"), "memory")
    experiment = Experiment(file, folder, title, seed, memory)
    declared = declared_tables()
    for name, table in declared.items():
        if table.always or name in top:
            reads: Any = table.options  # a class reads its table itself, or is a dataclass of options
            part = top.table(name)
            experiment.tables[name] = reads.read(part, experiment) if hasattr(reads, "read") else part.options(reads)
    top.done(["title", "seed", "memory", *declared])
    return experiment


def _set(values: JsonObject, setting: str) -> None:
    name, equals, text = setting.partition("=")
    if not equals or not name:
        raise OptionError(f"--set expects KEY=VALUE, for example corpus.train.lines=2000, not {setting!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except RecursionError:
        raise OptionError(f"--set {name}: tables or lists are nested too deeply") from None
    except ValueError:
        value = text  # a string whose quotes were removed by the shell
    *tables, key = name.split(".")
    for part in tables:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise OptionError(f"--set {setting}: {part} is not a table")
    values.pop(key.replace("_", "-"), None)
    values.pop(key.replace("-", "_"), None)
    values[key] = value


def without_none(values: Mapping[str, Json]) -> JsonObject:
    """The values of an experiment file that are written: those that are not None."""
    return {key: value for key, value in values.items() if value is not None}
