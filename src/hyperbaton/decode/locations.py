"""Locations of parts: a system refers to its phrase table, language models and reordering models on disk.

A part is an artefact, or some arrays of one: `table.*` of the output of `hyperbaton extract`. A system stores the path
and a digest of the content, so that a different artefact under this path is refused. The path is relative to the system's
folder, so that both can be moved together; it is absolute if they have only the root folder in common.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.store import Arrays, Artefact, digest_of, read_artefact

T = TypeVar("T")


@dataclass(frozen=True)
class Location:
    """An artefact, or the arrays of one that start with `arrays.`, and its content as it was read."""

    path: Path
    arrays: str
    content: str

    @classmethod
    def of(cls, path: str | PathLike[str], arrays: str = "") -> Location:
        """The location of a part that was just read."""
        where = Path(os.path.realpath(path))
        return cls(where, arrays, Artefact(where).content(arrays))

    @property
    def digest(self) -> str:
        return digest_of(self.content)

    @classmethod
    def from_json(cls, entry: dict[str, str], system: Path, part: str) -> Location:
        """The location of a part of a stored system; an error if its content has changed."""
        path = Path(os.path.normpath(Path(os.path.realpath(system)) / entry["path"]))
        advice = "or build the system again, with --copy if its parts may be moved or deleted"
        try:
            location = cls.of(path, entry["arrays"])
        except ArtefactError as error:
            raise ArtefactError(f"{system}: cannot open its part {part}: {error}; put it back, {advice}") from error
        if location.digest != entry["digest"]:
            raise ArtefactError(
                f"{system}: its part {part} ({path}) is no longer what the system was built with; put it back, {advice}"
            )
        return location

    def as_json(self, system: Path) -> dict[str, str]:
        """The location in the form stored by a system in that folder."""
        home = os.path.realpath(system)
        apart = os.path.commonpath([home, self.path]) == os.path.sep
        path = str(self.path) if apart else os.path.relpath(self.path, home)
        return {"path": path, "arrays": self.arrays, "digest": self.digest}

    def open(self, layout: Layout, make: Callable[[Arrays], T]) -> T:
        """The object that is made of its arrays, memory-mapped, which are as declared."""
        declared = within(self.arrays, layout)
        return read_artefact(self.path, None, lambda artefact: make(artefact.require(declared).group(self.arrays)))

    def is_inside(self, folder: Path) -> bool:
        """Whether a folder contains the artefact."""
        return self.path.is_relative_to(os.path.realpath(folder))


class SystemPart(NamedTuple):
    """A part of a system, and the location it was read from."""

    part: Any
    location: Location
