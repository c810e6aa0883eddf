"""How the parameters of commands use paths.

A parameter that names files or folders says so in its annotation, after typer's part:

    source: Annotated[str, typer.Argument(metavar="SRC"), READS]
    output: Annotated[Path, typer.Option("-o"), WRITES_ARTEFACT]

The program then refuses, before the command starts, outputs that would destroy an input or each other, or that cannot
be written (`check_places`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import typer

from hyperbaton.base.options import Arguments, options_of
from hyperbaton.base.outputs import AnyPath, Destination, Kind, check_places, is_stdout
from hyperbaton.base.registry import Registry


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
    """Check the paths of a command line.

    Arguments:
        roles: of the parameters that name paths.
        names: the name of each parameter in messages.
        values: of all parameters.
    """
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
        written = {value: role.kind} if role.destinations is None else role.destinations(values)
        updated = values.get(role.updates)  # some plug-ins have no such option
        outputs += [Destination(names[name], path, kind, updated) for path, kind in written.items()]
    if not any(is_stdout(output.path) for output in outputs):
        outputs.append(Destination("standard output", "-"))
    check_places(outputs, inputs)


def check_encoding(roles: Mapping[str, Role], names: Mapping[str, str], values: Arguments) -> None:
    """Refuse text that is not UTF-8; only file names may contain arbitrary bytes."""
    for name, value in values.items():
        role = roles.get(name)
        if role is not None and role.is_plain:
            continue
        for text in value if isinstance(value, list | tuple) else [value]:
            if isinstance(text, str) and any("\ud800" <= character <= "\udfff" for character in text):
                raise typer.BadParameter(f"{names[name]} {text!r}: is not valid UTF-8")
