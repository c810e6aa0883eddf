"""Options are declared once, as dataclass fields, and become arguments, flags and experiment keys.

>>> from dataclasses import dataclass
>>> @dataclass
... class Cleaning:
...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
...     ratio: float = option(2.0, "largest ratio of the two lengths", minimum=1)
>>> Cleaning(max_length=80)
Cleaning(max_length=80, ratio=2.0)
>>> from_mapping(Cleaning, {"max-length": 50})
Cleaning(max_length=50, ratio=2.0)
>>> from_mapping(Cleaning, {"length": 50})
Traceback (most recent call last):
    ...
hyperbaton.base.errors.OptionError: unknown option 'length' (did you mean max-length?); known: max-length, ratio
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import EnumType
from functools import cache
from typing import Any, Protocol, Self, TypeVar

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import LARGEST as LARGEST
from hyperbaton.base.forms import NAMES, Limited, form_fault, number_text

T = TypeVar("T")

Arguments = dict[str, Any]  # arguments by name, passed on with **

_SWITCHES = {"yes": True, "true": True, "no": False, "false": False}
_LONGEST_SHOWN = 80  # characters of a value in a message


class Plugins(Protocol):
    """Where an option's plug-ins come from: a registry."""

    def make(self, plugin: Any, default: str = "") -> Any:
        """A plug-in from text, `name:option=value`; options that `default` sets apply too if the plug-in has them."""

    def text(self, plugin: Any, default: str = "") -> str:
        """A plug-in as text, from which `make` with this default makes the same one."""

    def names(self) -> list[str]:
        """Every name."""


def option(
    default: Any,
    help: str,
    *,
    choices: Sequence[str] | Callable[[], Sequence[str]] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    plugins: Plugins | None = None,
    path: bool = False,
    metavar: str = "",
) -> Any:
    """Declare an option: its default, one line of help, and the valid values.

    A function as `choices` is called when the choices are first needed: the names of a registry are slow to find.

    With `path` the value names a file or folder that is read, which no output of a command may replace. `metavar` is what
    help shows for the value of a text option.

    With `plugins` the value is a plug-in with its options, `name:option=value:option=value`, or in Python an instance.
    Options set by the default apply to any plug-in that has them, unless they are given.
    """
    metadata = {name: value for name, value in locals().items() if name != "default"}
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Option:
    """One option of an options class."""

    name: str
    type: Any
    default: Any = None
    help: str = ""
    choices: Sequence[str] | None = None
    minimum: float | None = None
    maximum: float | None = None
    plugins: Plugins | None = None
    path: bool = False
    metavar: str = ""

    @property
    def flag(self) -> str:
        """The option's name on the command line and in experiment files; a field `for_` is the option `for`."""
        return self.name.rstrip("_").replace("_", "-")

    @property
    def range(self) -> str:
        """The limits in words, for the end of a help text; empty for ordinary limits."""
        if self.maximum is not None:
            low = "at most" if self.minimum is None else f"{number_text(self.minimum)} to"
            return f" [{low} {number_text(self.maximum)}]"
        return f" [at least {number_text(self.minimum)}]" if self.minimum else ""

    def check(self, value: Any) -> Any:
        """Return the value in the option's type, or raise OptionError naming the option."""
        kind, optional = _unwrap(self.type)
        if value is None and optional:
            return value
        if self.plugins is not None:
            try:
                self.plugins.make(value, self.default)
            except OptionError as error:
                raise OptionError(f"{self.flag} {value}: {error}") from error
            return value
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value) if abs(value) < 10**300 else math.inf
        form = Limited(kind, self.choices, self.minimum, self.maximum)
        if (fault := form_fault(value, form, self.flag)) is not None:
            raise OptionError(fault.demand)
        return value

    def parse(self, value: Any) -> Any:
        """The value of a text, checked; values other than text are only checked."""
        try:
            value = parse_value(plain_type(self.type), value)
        except ValueError as error:
            raise OptionError(f"{self.flag} {error}") from error
        return self.check(value)


def _unwrap(kind: Any) -> tuple[Any, bool]:
    """(T, True) for T | None, else (T, False)."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        rest = [part for part in typing.get_args(kind) if part is not type(None)]
        return (rest[0] if len(rest) == 1 else tuple(rest)), type(None) in typing.get_args(kind)
    return kind, False


def plain_type(kind: Any) -> Any:
    """T for T and for T | None."""
    return _unwrap(kind)[0]


def options_of(cls: type) -> list[Option]:
    """List the options that a dataclass declares with `option`."""
    return list(_options_of(cls))


@cache
def _options_of(cls: type) -> tuple[Option, ...]:
    return tuple(
        Option(f.name, _hint(cls, f.name) if f.metadata["plugins"] is None else str, f.default, **_resolved(f.metadata))
        for f in dataclasses.fields(cls)
        if "help" in f.metadata
    )


def _resolved(metadata: Mapping[str, Any]) -> dict[str, Any]:
    choices = metadata["choices"]
    return {**metadata, "choices": choices() if callable(choices) else choices}


def _hint(cls: type, name: str) -> Any:
    """The type of one field. The types of other fields may name classes that are imported only where they are used."""
    home = next(base for base in cls.__mro__ if name in inspect.get_annotations(base))
    field = type(home.__name__, (), {"__annotations__": {name: home.__annotations__[name]}, "__module__": home.__module__})
    return typing.get_type_hints(field, localns=dict(vars(home)))[name]


def check_options(instance: object) -> None:
    """Check every option of an instance; meant for `__post_init__` or the start of `fit`."""
    for opt in options_of(type(instance)):
        opt.check(getattr(instance, opt.name))


class CheckedOptions:
    """Base of option classes and plug-ins that are checked on construction, where unknown names are refused too.

    >>> @dataclasses.dataclass
    ... class Cleaning(CheckedOptions):
    ...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
    >>> Cleaning(max_length=0)
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: max-length must be at least 1, not 0
    >>> Cleaning(max_len=5)
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: Cleaning: unknown option 'max_len' (did you mean max_length?); known: max_length
    """

    def __new__(cls, *args: Any, **options: Any) -> Self:
        if options:
            parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
            names = [parameter.name for parameter in parameters]
            takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
            for name in () if takes_any else options:
                if name not in names:
                    raise OptionError(f"{cls.__name__}: {unknown('option', name, names)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        check_options(self)


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for an unknown name: the nearest known name, and all known names."""
    known = list(known)
    return f"unknown {kind} {name!r}{hint_at(name, known)}; known: {', '.join(known)}"


def hint_at(name: str, known: Iterable[str]) -> str:
    """The nearest known name, for a message about an unknown one; empty if none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def from_mapping(cls: type[T], values: Mapping[str, object]) -> T:
    """Build an options class from keys as in an experiment file."""
    return _built(cls, values, Option.check)


def _built(cls: type[T], values: Mapping[str, object], read: Callable[[Option, Any], Any]) -> T:
    options = {opt.flag: opt for opt in options_of(cls)}
    arguments: Arguments = {}
    for key, value in values.items():
        opt = options.get(key.replace("_", "-"))
        if opt is None:
            raise OptionError(unknown("option", key, options))
        arguments[opt.name] = read(opt, value)
    return cls(**arguments)


def parse_settings(cls: type[T], settings: Sequence[str]) -> T:
    """Build an options class from settings as text, `option=value`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Cleaning:
    ...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
    >>> parse_settings(Cleaning, ["max-length=50"])
    Cleaning(max_length=50)
    """
    values = {}
    for setting in settings:
        key, equals, values[key] = setting.partition("=")
        if not equals:
            raise OptionError(f"options are written option=value, not {setting!r}")
    return _built(cls, values, Option.parse)


def settings_of(instance: object, usual: object = None) -> list[str]:
    """The options of an instance that differ from their defaults or from `usual`, as `parse_settings` reads them.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Cleaning:
    ...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
    ...     ratio: float = option(2.0, "largest ratio of the two lengths", minimum=1)
    >>> settings_of(Cleaning(max_length=50))
    ['max-length=50']
    """
    settings = []
    for opt in options_of(type(instance)):
        value = getattr(instance, opt.name)
        if value != opt.default or (usual is not None and value != getattr(usual, opt.name)):
            settings.append(f"{opt.flag}={_written(value)}")
    return settings


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


def parse_value(kind: Any, value: Any) -> Any:
    """A value of a type from its text; ValueError says what it must be. Values other than text are returned unchanged.

    >>> parse_value(int, "12"), parse_value(bool, "no"), parse_value(float, 0.5)
    (12, False, 0.5)
    >>> parse_value(int, "many")
    Traceback (most recent call last):
        ...
    ValueError: must be a whole number, not 'many'
    """
    if not isinstance(value, str) or kind is str:
        return value
    try:
        return _SWITCHES[value.lower()] if kind is bool else kind(value)
    except (KeyError, ValueError):
        names = "one of " + ", ".join(kind) if isinstance(kind, EnumType) else NAMES[kind]
        shown = repr(value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}…")
        raise ValueError(f"must be {names}, not {shown}") from None


def plugin(instance: object, name: str) -> Any:
    """A new plug-in from an option of an instance."""
    opt = next(opt for opt in options_of(type(instance)) if opt.name == name)
    if opt.plugins is None:
        raise OptionError(f"the option {opt.flag} takes no plug-in")
    return opt.plugins.make(getattr(instance, name), opt.default)


def to_mapping(instance: object) -> dict[str, object]:
    """The options of an instance as plain values, for manifests and experiment files."""
    return {opt.flag: _plain(opt, getattr(instance, opt.name)) for opt in options_of(type(instance))}


def _plain(opt: Option, value: Any) -> Any:
    """A plug-in is written with all options that differ from its own defaults."""
    return value if opt.plugins is None else opt.plugins.text(opt.plugins.make(value, opt.default), opt.default)
