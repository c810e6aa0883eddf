"""The arguments and flags of commands, declared in the annotations of their functions.

    source: Annotated[str, Argument("SRC", "Source text."), READS]
    output: Annotated[Path, Flag("Artefact to write.", "-o"), WRITES_ARTEFACT]

A parameter without default is required; one of type `list` may be repeated. A third part says how files and folders are
used. The program then refuses, before the command starts, outputs that would destroy an input or each other, or that
cannot be written (`check_places`).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, get_annotations
from pathlib import Path
from typing import Annotated, Any

from hyperbaton.base.errors import OptionError
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import Arguments, options_of
from hyperbaton.base.outputs import AnyPath, Destination, Kind, check_places, is_stdout
from hyperbaton.base.registry import Registry


class Flag:
    """An option of the command line.

    Arguments:
        help: one sentence.
        names: short and long names; without a long one, that of the parameter is used.
        metavar: what help shows for the value; `NAME...` takes all words up to the next flag.
        choices: the valid values, if there are few.
        minimum: of a number, as `maximum`.
        check: raises OptionError for invalid values.
    """

    def __init__(
        self,
        help: str,
        *names: str,
        metavar: str | None = None,
        choices: Sequence[str] | None = None,
        minimum: float | None = None,
        maximum: float | None = None,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self.help, self.names, self.metavar, self.choices = help, names, metavar, choices
        self.minimum, self.maximum, self.check = minimum, maximum, check

    def flags(self, name: str) -> list[str]:
        """The flags for a parameter, the long one last.

        >>> Flag("File to write.", "-o").flags("output"), Flag("Change a key.", "--set").flags("settings")
        (['-o', '--output'], ['--set'])
        """
        given = sorted(self.names, key=lambda flag: flag.startswith("--"))
        if given and given[-1].startswith("--"):
            return given
        return [*given, f"--{name.rstrip('_').replace('_', '-')}"]


class Argument(Flag):
    """A word of the command line, known by its position."""

    def __init__(self, metavar: str, help: str, choices: Sequence[str] | None = None) -> None:
        super().__init__(help, metavar=metavar, choices=choices)

    def flags(self, name: str) -> list[str]:
        return []


# Flags that many commands have.
Threads = Annotated[int, Flag("Number of threads; 0 uses all processors.", "-t", minimum=0)]
Memory = Annotated[
    str | None,
    Flag("Memory limit, e.g. 512M or 4G; larger data goes to temporary files.", metavar="AMOUNT", check=parse_memory),
]
Seed = Annotated[int, Flag("Random seed.", minimum=0)]
Force = Annotated[bool, Flag("Replace an artefact of another kind or model.")]
Quiet = Annotated[bool, Flag("Hide progress bars and remarks.", "-q")]
Verify = Annotated[bool, Flag("Check the artefacts against their checksums first.")]
Json = Annotated[bool, Flag("Print the result as JSON.", "--json")]
ExecutorAddress = Annotated[
    str | None,
    Flag(
        "Where tasks run: dask://HOST:PORT or processes:N; --threads then applies to each task.",
        "--executor",
        metavar="ADDRESS",
    ),
]


@dataclass(frozen=True)
class SharedOptions:
    """Base of options that several commands have; its fields are declared like the parameters of a command."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """The options as parameters; those of a derived class come first."""
        hints, fields = typing.get_type_hints(cls, include_extras=True), {f.name: f for f in dataclasses.fields(cls)}
        names = [name for owner in cls.__mro__ for name in get_annotations(owner) if name in fields]
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=fields[name].default, annotation=hints[name]) for name in names
        ]


def _itself(value: AnyPath) -> Iterable[AnyPath]:
    return [value]


@dataclass(frozen=True)
class Reads:
    """A parameter that names inputs; `paths` extracts them from a value that is not just a path.

    `plugins` is where the plug-ins come from if the value names one; help lists them, and shells complete them.
    """

    paths: Callable[[Any], Iterable[AnyPath]] = _itself
    plugins: Registry[Any] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a value is just a path."""
        return self.paths is _itself


@dataclass(frozen=True)
class Writes:
    """A parameter that names an output.

    Arguments:
        updates: the parameter of an input artefact that this output may replace, as its new version.
        destinations: a function from all values of the command, by parameter, to the paths that are written, with
        their kind, for outputs that are not simply the value.
    """

    kind: Kind
    updates: str = ""
    destinations: Callable[[Arguments], Mapping[AnyPath, Kind]] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a value is just a path."""
        return True


Role = Reads | Writes

READS = Reads()
# NAME=PATH, or a path alone.
READS_NAMED = Reads(lambda value: [value.rpartition("=")[2]])
WRITES_FILE, WRITES_ARTEFACT, WRITES_FOLDER = Writes("file"), Writes("artefact"), Writes("folder")


def names_plugin(registry: Registry[Any]) -> Reads:
    """The role of a parameter NAME:OPTION=VALUE that names a plug-in, some of whose options may name files."""

    def files(value: str) -> list[str]:
        name, *settings = value.split(":")
        # An unknown name is reported when the plug-in is made.
        paths = {opt.flag for opt in options_of(registry[name]) if opt.path} if name in registry else set()
        pairs = (setting.partition("=") for setting in settings)
        return [path for key, _, path in pairs if key.replace("_", "-") in paths]

    return Reads(files, registry)


def check_paths(roles: Mapping[str, Role], names: Mapping[str, str], values: Arguments) -> None:
    """Check the paths of a command line; `names` are those of the parameters in messages."""
    inputs: list[AnyPath] = []
    outputs: list[Destination] = []
    for name, role in roles.items():
        value = values[name]
        if value is None and (isinstance(role, Reads) or role.destinations is None):
            continue
        if isinstance(role, Reads):
            inputs += [
                path for each in (value if isinstance(value, list | tuple) else [value]) for path in role.paths(each)
            ]
            continue
        # As the prefix of files, a folder would name hidden ones.
        if role.destinations and role.kind == "file" and value is not None and not Path(value).name:
            raise OptionError(f"{names[name]} '{value}': is not the name of a file; choose another")
        written = {value: role.kind} if role.destinations is None else role.destinations(values)
        updated = values.get(role.updates)  # some plug-ins have no such option
        outputs += [Destination(names[name], path, kind, updated) for path, kind in written.items()]
    if not any(is_stdout(output.path) for output in outputs):
        outputs.append(Destination("standard output", "-"))
    check_places(outputs, inputs)
