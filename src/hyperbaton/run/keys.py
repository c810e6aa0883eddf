"""Read tables of an experiment file: every error is one line that names the key and the allowed values.

>>> from dataclasses import dataclass
>>> from hyperbaton.base.options import option
>>> @dataclass
... class Cleaning:
...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
>>> KeyTable("exp.toml", "corpus.clean", {"max-length": 50}).options(Cleaning)
Cleaning(max_length=50)
>>> KeyTable("a.toml", "clean", {"length": 50}).options(Cleaning)
Traceback (most recent call last):
    ...
hyperbaton.base.errors.OptionError: a.toml: key 'clean.length': unknown (did you mean max-length?); allowed: max-length
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.forms import Json, JsonObject, Limited, form_fault
from hyperbaton.base.options import Option, hint_at, options_of

T = TypeVar("T")

_PARAMETER = re.compile(r"\$\{(\w+)\}")


class KeyTable:
    """One table of the file: its values are taken out one by one, and any key left over is unknown.

    Keys may be written with - or _.
    """

    def __init__(self, file: str, path: str, values: Json, *, given: bool = True) -> None:
        self.file, self.path, self.given = file, path, given
        if fault := form_fault(values, Limited(dict)):
            raise OptionError(f"{file}: key '{path}': {fault.demand}")
        self.rest: JsonObject = {key.replace("-", "_"): value for key, value in values.items()}
        self.written = {key.replace("-", "_"): key for key in values}
        for key in values:
            if self.written[key.replace("-", "_")] != key:
                raise self.error(key, "given twice, with - and with _")

    def error(self, key: str, what: str) -> OptionError:
        """An error in the value of a key."""
        name = self.written.get(key, key)
        return OptionError(f"{self.file}: key '{self.path}.{name}': {what}".replace("'.", "'"))

    def __contains__(self, key: str) -> bool:
        return key in self.rest

    def take(self, key: str, kind: type[T], default: T, minimum: float | None = None) -> T:
        """The value of a key, with its type and range checked."""
        if key not in self.rest:
            return default
        return self._checked(Option(key, kind, minimum=minimum), self.rest.pop(key))

    def _checked(self, opt: Option, value: Json) -> Json:
        try:
            return opt.check(value)
        except OptionError as error:
            raise self.error(opt.flag.replace("-", "_"), str(error).removeprefix(f"{opt.flag} ")) from error

    def take_list(self, key: str, kind: type[T], default: list[T]) -> list[T]:
        """A list, each member checked for its type."""
        values = self.take(key, list, default)
        if fault := form_fault(values, [kind]):
            raise self.error(key, f"must be a list of {kind.__name__}, but contains {fault.value!r}")
        return values

    def take_names(self, key: str, default: list[str], allowed: Collection[str]) -> list[str]:
        """A list of names, each one of the given ones."""
        return [self.choice(key, name, allowed) for name in self.take_list(key, str, default)]

    def table(self, key: str) -> KeyTable:
        """A table inside this one; empty, and not `given`, if it is missing."""
        name, given = self.written.get(key, key), key in self
        return KeyTable(self.file, f"{self.path}.{name}".lstrip("."), self.rest.pop(key, {}), given=given)

    def options(self, cls: type[T], also: Collection[str] = ()) -> T:
        """All remaining values as an options class; `also` lists further keys that are allowed here, for the message."""
        options = {opt.flag.replace("-", "_"): opt for opt in options_of(cls)}
        arguments: JsonObject = {}
        for key, value in self.rest.items():
            if key not in options:
                self._check_inner(key, options.values())
                raise self._unknown(key, [*also, *(opt.flag for opt in options.values())])
            arguments[options[key].name] = self._checked(options[key], value)
        self.rest.clear()
        return self.trying(lambda: cls(**arguments))

    def some_options(self, cls: type[T]) -> T:
        """The values that an options class declares; the others stay."""
        flags = {opt.flag.replace("-", "_") for opt in options_of(cls)}
        return KeyTable(
            self.file, self.path, {self.written[key]: self.rest.pop(key) for key in flags & {*self.rest}}
        ).options(cls)

    def trying(self, make: Callable[[], T], key: str | None = None) -> T:
        """Call a function that may reject a value, and add the location in the file to its error."""
        try:
            return make()
        except HyperbatonError as error:
            if key is not None:
                raise self.error(key, str(error)) from error
            raise OptionError(f"{self.file}: key '{self.path}': {error}") from error

    def choice(self, key: str, value: str, allowed: Iterable[str]) -> str:
        """A value that must be one of the given ones."""
        names = list(allowed)
        if value.replace("-", "_") not in names and value not in names:
            raise self.error(key, f"unknown value {value!r}{hint_at(value, names)}; allowed: {', '.join(names)}")
        return value

    def name(self, key: str, what: str) -> str:
        """A key that names something of the experiment, and so is part of the names of files."""
        name: str = self.written[key]
        if not name.strip(".") or not all(c.isalnum() or c in "-_+." for c in name):
            raise self.error(key, f"a {what}'s name may contain only letters, digits and -_+., and must not be only dots")
        return name

    def text(self, key: str) -> str | None:
        """A string in which ${NAME} is replaced by an environment variable; None if it is missing."""
        if key not in self.rest:
            return None

        def value(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise self.error(key, f"the environment variable {match[1]} is not set")
            return os.environ[match[1]]

        return _PARAMETER.sub(value, self.take(key, str, ""))

    def file_of(self, key: str, root: Path, *, needed: bool = False) -> Path | None:
        """A file that exists, relative to `root`."""
        name = self.text(key)
        if name is None and needed:
            raise self.error(key, "missing; give the name of a file")
        path = None if name is None else root / name
        if path is not None and not path.is_file():
            raise self.error(key, f"there is no file {path}")
        return path

    def done(self, allowed: Collection[str]) -> None:
        """Reject keys that were not taken."""
        for key in self.rest:
            raise self._unknown(key, allowed)

    def _check_inner(self, key: str, options: Iterable[Option]) -> None:
        """Reject a key that is an option of a plug-in named by another key."""
        for opt in options:
            usual = None if opt.plugins is None else opt.plugins.make(opt.default)
            if usual is not None and key in {inner.name for inner in options_of(type(usual))}:
                name = opt.default.partition(":")[0]
                raise self.error(key, f'an option of the {opt.flag}: {opt.flag} = "{name}:{self.written[key]}=…"')

    def _unknown(self, key: str, allowed: Collection[str]) -> OptionError:
        names = list(dict.fromkeys(name.replace("_", "-") for name in allowed))
        return self.error(key, f"unknown{hint_at(key.replace('_', '-'), names)}; allowed: {', '.join(names)}")
