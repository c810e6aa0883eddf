"""The help of the program and of its commands: plain text at the width of the terminal, without cutting any name.

Help texts are printed as they are written: `<unk>`, `[x]` and `*` mean themselves. Examples are printed one to a line,
unwrapped, so that they can be copied.
"""

from __future__ import annotations

import shutil
import textwrap
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from hyperbaton.base.options import Plugins, plain_type
from hyperbaton.base.registry import Registry
from hyperbaton.cli._values import convert_values

MAX_WIDTH = 100
# The commands are listed under these titles, in this order.
GROUPS = ("Start here", "Links and words", "Phrases and models", "Translate", "Experiments", "Artefacts")


class Verb(TyperCommand):
    """A command with our help; an option shown as NAME... takes all words up to the next option."""

    def get_params(self, ctx: Any) -> list[Any]:
        return convert_values(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        many = {flag for p in self.params if (p.metavar or "").endswith("...") for flag in p.opts if flag.startswith("-")}
        try:
            return super().parse_args(ctx, _repeated(args, many))
        except typer.Exit:
            raise
        except Exception as error:
            self._name_owners(error)
            raise

    def _name_owners(self, error: Any) -> None:
        """Add to an error about an unknown option which plug-ins have it, if the command's options depend on a plug-in."""
        plugins: Registry[Any] | None = getattr(self.callback, "options_of", None)
        flag = getattr(error, "option_name", None)  # of errors about options alone
        if plugins is None or flag is None or any(flag in (*p.opts, *p.secondary_opts) for p in self.params):
            return
        if owners := plugins.with_option(flag.removeprefix("--")):
            nouns = plugins.kind if len(owners) == 1 else f"{plugins.kind}s"
            error.message += f" (an option of the {nouns} {', '.join(owners)})"
            error.possibilities = None

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("\n".join(_verb_lines(self, ctx)) + "\n")

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(self)


class Program(TyperGroup):
    """The program, whose help lists the commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        return convert_values(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write("\n".join(_program_lines(self, ctx)) + "\n")


def _repeated(words: Sequence[str], flags: Collection[str]) -> list[str]:
    """Repeat a flag that takes many words before each of its words.

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


def _width() -> int:
    return max(40, min(shutil.get_terminal_size().columns, MAX_WIDTH))


def _usage(command: Any) -> list[str]:
    """The required options, and the arguments."""
    flags = [p for p in command.params if p.param_type_name == "option" and p.required]
    arguments = [p for p in command.params if p.param_type_name == "argument" and not p.hidden]
    return [
        "[OPTIONS]",
        *(f"{p.opts[-1]} {_value(p)}" for p in flags),
        *(_name(p) if p.required else f"[{_name(p)}]" for p in arguments),
    ]


def _verb_lines(command: Any, ctx: Any) -> Iterator[str]:
    width = _width()
    usage = " ".join([ctx.command_path, *_usage(command)])
    yield from textwrap.wrap(
        usage,
        width,
        initial_indent="Usage: ",
        subsequent_indent=" " * 7,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield ""
    yield from _paragraphs(command.help or "", width)
    arguments = [p for p in command.params if p.param_type_name == "argument" and not p.hidden]
    options = [p for p in command.get_params(ctx) if p.param_type_name == "option" and not p.hidden]
    plugins: Mapping[str, Plugins] = getattr(command.callback, "plugins", {})
    yield from _section("Arguments:", [(_name(p), _remark(p, ctx)) for p in arguments], width)
    yield from _section("Options:", [(_flags(p), _remark(p, ctx, plugins.get(p.name))) for p in options], width)


def _program_lines(program: Any, ctx: Any) -> Iterator[str]:
    width = _width()
    yield f"Usage: {ctx.command_path} [OPTIONS] COMMAND [ARGUMENTS]"
    yield ""
    yield from _paragraphs(program.help or "", width)
    options = [p for p in program.get_params(ctx) if p.param_type_name == "option" and not p.hidden]
    yield from _section("Options:", [(_flags(p), _remark(p, ctx)) for p in options], width)
    column = 4 + max(map(len, program.commands))
    for group, verbs in groups(program).items():
        rows = [(verb, _sentence(program.commands[verb].help or "")) for verb in verbs]
        yield from _section(f"{group}:", rows, width, column)


def groups(program: Any) -> dict[str, list[str]]:
    """The names of the commands under their titles."""
    panels = {verb: command.rich_help_panel for verb, command in sorted(program.commands.items())}
    return {group: [verb for verb, panel in panels.items() if panel == group] for group in GROUPS}


def _sentence(help: str) -> str:
    """The first paragraph of a help text, in one line."""
    return " ".join(help.strip().partition("\n\n")[0].split())


def _paragraphs(help: str, width: int) -> Iterator[str]:
    """The text of the help; indented paragraphs are examples."""
    examples = False
    for paragraph in help.strip().split("\n\n"):
        if paragraph.startswith(" "):
            examples = True
            yield from (f"  {line.strip()}" for line in paragraph.splitlines())
            continue
        if examples:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), width, break_long_words=False, break_on_hyphens=False)
        examples = paragraph.rstrip().endswith(":")
        if not examples:
            yield ""
    if examples:
        yield ""


def _section(title: str, rows: Sequence[tuple[str, str]], width: int, column: int = 0) -> Iterator[str]:
    """Names and remarks in two columns; a name that is too long for its column gets a separate line.

    `column` is where remarks start; by default it is found from the names.
    """
    if not rows:
        return
    widest = max(12, (2 * width) // 5 - 4)
    column = column or 2 + max([len(name) for name, _ in rows if len(name) <= widest], default=widest) + 2
    yield title
    for name, remark in rows:
        lines = textwrap.wrap(remark, max(20, width - column), break_long_words=False, break_on_hyphens=False)
        if not lines:
            yield f"  {name}"
            continue
        if len(name) + 4 <= column:
            yield f"  {name:<{column - 2}}{lines.pop(0)}"
        else:
            yield f"  {name}"
        yield from (" " * column + line for line in lines)
    yield ""


def _name(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper().replace("_", "-"))


def _flags(option: Any) -> str:
    """The names of an option: short ones first, a switch that can be turned off as --[no-]name."""
    names = sorted(option.opts, key=lambda name: (name.startswith("--"), name))
    for name in option.secondary_opts:
        positive = f"--{name.removeprefix('--no-')}"
        names = [f"--[no-]{positive[2:]}" if shown == positive else shown for shown in names]
    value = _value(option)
    return f"{', '.join(names)} {value}".rstrip()


def _value(option: Any) -> str:
    """The placeholder for an option's value."""
    return "" if option.is_flag else str(option.metavar or "TEXT")


def value_name(kind: Any) -> str | None:
    """The placeholder for a value of a type in help, or None for a switch.

    >>> value_name(int | None), value_name(list[str] | None), value_name(bool)
    ('N', 'TEXT', None)
    """
    kind = plain_type(kind)
    if typing.get_origin(kind) is list:
        return value_name(typing.get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(member.value) for member in kind)
    return None if kind is bool else {int: "N", float: "X", Path: "PATH"}.get(kind, "TEXT")


def _remark(parameter: Any, ctx: Any, plugins: Plugins | None = None) -> str:
    """The help of a parameter, the plug-ins that it can name, and its default if informative."""
    if parameter.required:
        note = " [required]" if parameter.param_type_name == "option" else ""
    else:
        default = parameter.get_default(ctx)
        shown = "on" if default is True else default
        note = "" if default in (None, False, "", [], ()) else f" [default: {shown}]"
    help = " ".join((parameter.help or "").split())
    if plugins is not None:
        help += f" [{', '.join(plugins.names())}]"
    return f"{help}{note}".strip().replace("] [", "; ")
