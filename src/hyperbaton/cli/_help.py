"""The help of the program and of its commands: plain text at the width of the terminal, without cutting any name.

Help texts are printed as they are written: `<unk>`, `[x]` and `*` mean themselves. Examples are printed one to a line,
unwrapped, so that they can be copied.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

MAX_WIDTH = 100


def command_help(command: click.Command, ctx: click.Context) -> str:
    """The help of one command."""
    flags = [p for p in command.get_params(ctx) if isinstance(p, click.Option)]
    arguments = [p for p in command.params if isinstance(p, click.Argument)]
    usage = " ".join([ctx.command_path, *command.collect_usage_pieces(ctx)])
    return _lines(
        *_wrapped(usage, "Usage: ", " " * 7),
        *("", *_paragraphs(command.help or "")),
        *_section("Arguments:", _records(arguments, ctx)),
        *_section("Options:", _records(flags, ctx)),
    )


def program_help(program: click.Group, ctx: click.Context, groups: Mapping[str, Mapping[str, str]]) -> str:
    """The help of the program, with its commands and their descriptions in groups."""
    column = 4 + max(len(name) for commands in groups.values() for name in commands)
    return _lines(
        *(f"Usage: {ctx.command_path} [OPTIONS] COMMAND [ARGUMENTS]", ""),
        *_paragraphs(program.help or ""),
        *_section("Options:", _records(program.get_params(ctx), ctx)),
        *(line for title, commands in groups.items() for line in _section(f"{title}:", [*commands.items()], column)),
    )


def remark(param: Any) -> str:
    """The help of a parameter, beginning with a capital, with its limits, plug-ins and default in brackets."""
    sentence, _, note = str(param.help or "").rstrip(".").partition(" [")
    notes, value = [], param.type
    if hasattr(value, "opt"):
        named = value.plugins.names() if value.plugins else value.opt.choices or ()
        notes = [value.opt.range.strip(" []"), "" if "|" in (param.metavar or "") else ", ".join(named)]
    notes.append(note.removesuffix("]"))
    if param.required:
        notes.append("required" if isinstance(param, click.Option) else "")
    elif not note.startswith("default: ") and param.default not in (None, False, "", [], ()):
        notes.append(f"default: {'on' if param.default is True else param.default}")
    shown = "; ".join(filter(None, notes))
    return f"{sentence[:1].upper()}{sentence[1:].rstrip('.')}" + (f" [{shown}]" if shown else "")


def _records(params: Sequence[click.Parameter], ctx: click.Context) -> list[tuple[str, str]]:
    records = (param.get_help_record(ctx) for param in params)
    return [record for record in records if record is not None]


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _width() -> int:
    return max(40, min(shutil.get_terminal_size().columns, MAX_WIDTH))


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Lines of the terminal's width, in which no word is broken."""
    text = " ".join(text.split())
    return textwrap.wrap(
        text, _width(), initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _paragraphs(help: str) -> list[str]:
    """The text of the help; indented paragraphs are examples."""
    lines: list[str] = []
    for paragraph in help.strip().split("\n\n"):
        if paragraph.startswith(" "):
            lines += [f"  {example.strip()}" for example in paragraph.splitlines()]
        else:
            lines += ["", *_wrapped(paragraph)]
    return [*lines[1:], ""]


def _section(title: str, rows: Sequence[tuple[str, str]], column: int = 0) -> Iterator[str]:
    """Names and remarks in two columns; a name that is too long for its column gets a separate line, and so does one whose
    remark has a word that is too long for the second column.

    `column` is where remarks start; by default it is found from the names.
    """
    if not rows:
        return
    widest = max(12, (2 * _width()) // 5 - 4)
    column = column or 4 + max([len(name) for name, _ in rows if len(name) <= widest], default=widest)
    yield title
    for name, text in rows:
        indent = " " * min(column, max(4, _width() - max(map(len, text.split()))))
        first = f"  {name:<{column - 2}}"
        if len(name) + 4 > column or len(indent) < column:
            yield first.rstrip()
            first = indent
        yield from _wrapped(text.removesuffix("."), first, indent)
    yield ""
