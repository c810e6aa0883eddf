"""Commands of click, made from functions with annotated parameters.

A parameter whose type is an options class, or a class of options that commands share (`SharedOptions`), becomes one flag
for each option. The file of a command may define `chosen_options`: a function from the words of the command line to
options classes by parameter, which replace those of the signature. `PLUGINS` is then the registry of these classes, in
which messages about unknown options look for them.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Option, hint_at, options_of, plain_type
from hyperbaton.base.registry import Registry
from hyperbaton.cli._help import command_help, remark
from hyperbaton.cli._parameters import READS, Role, SharedOptions, Writes, check_paths

_LONGEST = 40  # choices that help shows in place of a value, in characters
_VALUES: Mapping[Any, str] = {int: "N", float: "X", Path: "PATH"}


class ValueType(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.5
    """Converts words to the type of an option, checks them, and completes them; messages call it `shown`."""

    name = "value"

    def __init__(self, opt: Option, shown: str, role: Role | None, check: Callable[[Any], object] | None = None) -> None:
        self.opt, self.shown, self.role, self._check = opt, shown, role, check
        self.plugins = opt.plugins or getattr(role, "plugins", None)
        self._is_path = role is not None and role.is_plain

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not self._is_path and any("\ud800" <= character <= "\udfff" for character in value):
            raise click.BadParameter(f"{self.shown} {value!r}: is not valid UTF-8", ctx, param)
        if value == "" and isinstance(self.role, Writes):  # as a path it would be the current folder
            raise OptionError(f"{self.shown} '': is not the name of a file; choose another")
        try:
            value = self.opt.parse(value)
            if self._check is not None:
                self._check(value)
        except OptionError as error:  # an OptionError begins with the name of the option
            message = str(error).removeprefix(f"{self.opt.flag} ")
            raise click.BadParameter(f"{self.shown} {message}", ctx, param) from None
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if self._is_path:
            return [CompletionItem(incomplete, type="file")]
        names = self.plugins.names() if self.plugins else self.opt.choices or ()
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    def placeholder(self) -> str:
        """What help shows for the value."""
        if self._is_path:
            return "PATH"
        if self.plugins or self.opt.choices:
            choices = "|".join(self.opt.choices or ())
            return choices if 0 < len(choices) <= _LONGEST else "NAME"
        return self.opt.metavar or _VALUES.get(plain_type(self.opt.type), "TEXT")


class _Flag(click.Option):
    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        names = ", ".join(self.opts)
        if self.secondary_opts:
            names = names.replace("--", "--[no-]")
        return f"{names} {self.metavar or ''}".rstrip(), remark(self)


class _Argument(click.Argument):
    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return str(self.metavar), remark(self)


def _of_option(opt: Option) -> click.Parameter:
    flag = f"--{opt.flag}"
    if plain_type(opt.type) is bool:
        return _switch([opt.name, f"{flag}/--no-{opt.flag}"], opt.help, default=opt.default)
    value = ValueType(opt, flag, READS if opt.path else None)
    return _Flag([opt.name, flag], type=value, default=opt.default, help=opt.help, metavar=value.placeholder())


def _switch(names: list[str], help: str, **given: Any) -> click.Parameter:
    return _Flag(names, is_flag=True, type=click.BOOL, help=help, **given)


def _declared(name: str, kind: Any, default: Any) -> click.Parameter:
    """The parameter of an annotated parameter of a function."""
    kind, info, *roles = typing.get_args(kind)
    role: Role | None = roles[0] if roles else None
    members, several = typing.get_args(plain_type(kind)), typing.get_origin(plain_type(kind)) is list
    kind, n_words = members[0] if members else kind, 1 if several else max(len(members), 1)
    if plain_type(kind) is Path and role is None:
        raise TypeError(f"the parameter {name} does not say whether it reads or writes")
    given: dict[str, Any] = {"required": True} if default is Parameter.empty else {"required": False, "default": default}
    flags = info.flags(name)
    if plain_type(kind) is bool:
        return _switch([name, *flags], info.help, **given)
    shown = flags[-1] if flags else info.metavar
    opt = Option(shown.removeprefix("--"), kind, choices=info.choices, minimum=info.minimum, maximum=info.maximum)
    value = ValueType(opt, shown, role, info.check)
    if flags:
        given |= {"multiple": several, "nargs": n_words, "help": info.help}
        return _Flag([name, *flags], type=value, metavar=info.metavar or value.placeholder(), **given)
    made = _Argument([name], type=value, nargs=-1 if several else 1, metavar=info.metavar, **given)
    made.help = info.help
    return made


class Command(click.Command):
    """A command made from a function."""

    allow_extra_args = True  # until we refuse them, in our own words

    def __init__(self, name: str, function: Callable[..., object]) -> None:
        super().__init__(name, help=cleandoc(function.__doc__ or ""), callback=self._run)
        self.function = function
        self.declare(())

    @property
    def plugins(self) -> Registry[Any] | None:
        """The registry of the options classes that the command line chooses."""
        return self.function.__globals__.get("PLUGINS")

    @property
    def roles(self) -> dict[str, Role]:
        """How parameters that name files and folders use them."""
        values = {str(p.name): p.type for p in self.params if isinstance(p.type, ValueType)}
        return {name: value.role for name, value in values.items() if value.role is not None}

    def declare(self, words: Sequence[str]) -> None:
        """Make the parameters, and `_groups`: the options classes by parameter, with the names of their options."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        if chosen := self.function.__globals__.get("chosen_options"):
            hints |= chosen(words)
        self.params, self._groups = [], {}
        for name, parameter in signature(self.function).parameters.items():
            kind = hints[name]
            if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
                self.params.append(_declared(name, kind, parameter.default))
                continue
            if issubclass(kind, SharedOptions):
                members = [_declared(p.name, p.annotation, p.default) for p in kind.parameters()]
            else:
                members = [_of_option(opt) for opt in options_of(kind)]
            self.params += members
            self._groups[name] = (kind, [str(member.name) for member in members])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "chosen_options" in self.function.__globals__:
            self.declare(args)
        many = {flag for p in self.params if isinstance(p, _Flag) and (p.metavar or "").endswith("...") for flag in p.opts}
        rest = super().parse_args(ctx, _repeated(args, many))
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"unexpected argument {rest[0]!r}", ctx)
        return rest

    def _run(self, **values: Any) -> None:
        for param in self.params:
            name = str(param.name)
            if param.multiple or param.nargs == -1:
                values[name] = list(values[name]) or (None if param.default is None else [])
        names = {str(p.name): p.type.shown for p in self.params if isinstance(p.type, ValueType)}
        check_paths(self.roles, names, values)
        for name, (kind, members) in self._groups.items():
            values[name] = kind(**{member: values.pop(member) for member in members})
        self.function(**values)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        flags = [f"{p.opts[-1]} {p.metavar}" for p in self.params if isinstance(p, click.Option) and p.required]
        words = [str(p.metavar) if p.required else f"[{p.metavar}]" for p in self.params if isinstance(p, click.Argument)]
        return ["[OPTIONS]", *flags, *words]

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(command_help(self, ctx))


def _repeated(words: Sequence[str], flags: Collection[str]) -> list[str]:
    """Expand `--flag a b` to `--flag a --flag b`.

    >>> _repeated(["ref", "--systems", "a", "b", "--json"], {"--systems"})
    ['ref', '--systems', 'a', '--systems', 'b', '--json']
    """
    line: list[str] = []
    flag = ""
    for word in words:
        if word.startswith("-") and word != "-":
            flag = word if word in flags else ""
        elif flag and line[-1] != flag:
            line.append(flag)
        line.append(word)
    return line


def usage_message(error: click.ClickException) -> str:
    """Describe a usage error in the words of our other errors."""
    ctx: click.Context | None = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption):
        message = f"unknown option {error.option_name}{_place_of(error.option_name, ctx)}"
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        message = f"missing {error.param.param_type_name} {getattr(error.param.type, 'shown', error.param.name)}"
    elif isinstance(error, click.BadOptionUsage):
        message = f"{error.option_name} {'takes no' if ' not take ' in error.message else 'needs a'} value"
    else:
        message = error.message
    if ctx is None or type(error) is click.BadParameter:
        return message
    return f"{message}; see '{ctx.command_path} --help'"


def _place_of(flag: str, ctx: click.Context | None) -> str:
    """Where an unknown option belongs: to plug-ins that were not chosen, or to a similar name."""
    if ctx is None:
        return ""
    flags = [name for p in ctx.command.get_params(ctx) for name in (*p.opts, *p.secondary_opts)]
    plugins: Registry[Any] | None = getattr(ctx.command, "plugins", None)
    if plugins is not None and (owners := plugins.with_option(flag.removeprefix("--"))):
        return f" (an option of the {plugins.kind if len(owners) == 1 else f'{plugins.kind}s'} {', '.join(owners)})"
    return hint_at(flag, flags)
