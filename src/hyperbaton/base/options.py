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

T = TypeVar("T")

Arguments = dict[str, Any]  # arguments by name, passed on with **

# The largest whole number of an option that declares no maximum: the core takes numbers of 32 bits.
LARGEST = 2**31 - 1
_SWITCHES = {"yes": True, "true": True, "no": False, "false": False}
_LONGEST_SHOWN = 80  # characters of a value in a message
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


class Plugins(Protocol):
    """Where an option's plug-ins come from: a registry."""

    def make(self, plugin: Any, default: str = "") -> Any:
        """A plug-in from text, `name:option=value`; options that `default` sets apply too if the plug-in has them."""

    def text(self, plugin: Any) -> str:
        """A plug-in as text."""

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
) -> Any:
    """Declare an option: its default, one line of help, and the valid values.

    A function as `choices` is called when the choices are first needed: the names of a registry are slow to find.

    With `path` the value names a file or folder that is read, which no output of a command may replace.

    With `plugins` the value is a plug-in with its options, `name:option=value:option=value`, or in Python an instance.
    Options set by the default apply to any plug-in that has them, unless they are given.
    """
    metadata = {"help": help, "choices": choices, "minimum": minimum, "maximum": maximum, "plugins": plugins, "path": path}
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

    @property
    def flag(self) -> str:
        """The option's name on the command line and in experiment files; a field `for_` is the option `for`."""
        return self.name.rstrip("_").replace("_", "-")

    @property
    def range(self) -> str:
        """The limits in words, for the end of a help text; empty for ordinary limits."""
        if self.maximum is not None:
            low = "at most" if self.minimum is None else f"{_number(self.minimum)} to"
            return f" [{low} {_number(self.maximum)}]"
        return f" [at least {_number(self.minimum)}]" if self.minimum else ""

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
        is_switch = isinstance(value, bool) and kind in (int, float)
        if is_switch or (isinstance(kind, type) and not isinstance(value, kind)):
            raise OptionError(f"{self.flag} must be {_NAMES.get(kind, kind.__name__)}, not {value!r}")
        if self.choices is not None and value not in self.choices:
            raise OptionError(f"{self.flag} must be one of {', '.join(self.choices)}, not {value!r}")
        if kind in (int, float):
            self._check_range(value)
        return value

    def _check_range(self, value: float) -> None:
        low, high = self.minimum, self.maximum
        if isinstance(value, int):
            low, high = -LARGEST if low is None else low, LARGEST if high is None else high
        elif not math.isfinite(value):
            raise OptionError(f"{self.flag} must be a finite number, not {value}")
        if low is not None and value < low:
            raise OptionError(f"{self.flag} must be at least {_number(low)}, not {_number(value)}")
        if high is not None and value > high:
            raise OptionError(f"{self.flag} must be at most {_number(high)}, not {_number(value)}")


def _number(value: float) -> str:
    """A number as text; Python refuses to write whole numbers of thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "a number of more than 40 digits"
    return str(value) if isinstance(value, int) or abs(value) < 1e-4 else f"{value:.10g}"


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
    """The metadata of an option with its choices as a list."""
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
            known = [parameter.name for parameter in parameters]
            takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
            for name in () if takes_any else options:
                if name not in known:
                    raise OptionError(f"{cls.__name__}: {unknown('option', name, known)}")
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
    known = {opt.flag: opt for opt in options_of(cls)}
    chosen = {}
    for key, value in values.items():
        flag = key.replace("_", "-")
        if flag not in known:
            raise OptionError(unknown("option", key, known))
        chosen[known[flag].name] = known[flag].check(value)
    return cls(**chosen)


def parse_settings(cls: type[T], settings: Sequence[str]) -> T:
    """Build an options class from settings as text, `option=value`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Cleaning:
    ...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
    >>> parse_settings(Cleaning, ["max-length=50"])
    Cleaning(max_length=50)
    """
    known = {opt.flag: opt for opt in options_of(cls)}
    values: Arguments = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise OptionError(f"options are written option=value, not {setting!r}")
        opt = known.get(key.replace("_", "-"))
        values[key] = value if opt is None else _parsed(opt, value)
    return from_mapping(cls, values)


def settings_of(instance: object) -> list[str]:
    """The options of an instance that differ from their defaults, as `parse_settings` reads them.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Cleaning:
    ...     max_length: int = option(100, "longest sentence kept, in words", minimum=1)
    ...     ratio: float = option(2.0, "largest ratio of the two lengths", minimum=1)
    >>> settings_of(Cleaning(max_length=50))
    ['max-length=50']
    """
    values = {opt.flag: (getattr(instance, opt.name), opt.default) for opt in options_of(type(instance))}
    return [f"{flag}={_written(value)}" for flag, (value, default) in values.items() if value != default]


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


def _parsed(opt: Option, value: str) -> Any:
    try:
        return parse_value(plain_type(opt.type), value)
    except ValueError as error:
        raise OptionError(f"{opt.flag} {error}") from error


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
        names = "one of " + ", ".join(kind) if isinstance(kind, EnumType) else _NAMES[kind]
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
    return value if opt.plugins is None else opt.plugins.text(opt.plugins.make(value, opt.default))
