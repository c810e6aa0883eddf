"""Tables and pages that the program says about itself: commands and their options, plug-ins and theirs, exit statuses."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from hyperbaton.base.options import Option, options_of
from hyperbaton.cli import COMMANDS, Program
from hyperbaton.cli.list import KINDS, registry_of

DOCS = Path(__file__).parents[1]
REGISTRIES = {kind: registry_of(kind) for kind in KINDS}


# What the lists of some plug-ins tell besides.
_COLUMNS: dict[str, dict[str, Callable[[Any], str]]] = {
    "models": {"shape": lambda model: model.shape.replace("_", " ")},
    "orientations": {"classes": lambda orientations: ", ".join(orientations().names)},
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; cells may hold any text."""
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def plugin_list(kind: str) -> str:
    """Every plug-in of a kind with what it says about itself; those that have a page in docs/KIND are linked to it."""
    registry = REGISTRIES[kind]
    rows = []
    for name in registry:
        if not registry[name].__module__.startswith("hyperbaton."):
            continue  # of another package that happens to be installed
        shown = f"[{name}]({name}.md)" if (DOCS / kind / f"{name}.md").exists() else f"`{name}`"
        rows.append([shown, *(value(registry[name]) for value in _COLUMNS.get(kind, {}).values()), registry.describe(name)])
    return table(["name", *_COLUMNS.get(kind, {}), "about"], rows)


def plugin_options(path: str) -> str:
    """The options of a plug-in, `models/pair`, from its dataclass."""
    kind, _, name = path.partition("/")
    prefix = "--" if kind == "models" else ""
    rows = [_option_row(opt, prefix) for opt in options_of(REGISTRIES[kind][name])]
    return table(["option", "default", "what it does"], rows) if rows else "No options."


def _option_row(opt: Option, prefix: str) -> list[str]:
    low, high = ("" if limit is None else f"{limit:g}" for limit in (opt.minimum, opt.maximum))
    limits = f"from {low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}" if high else ""
    values = ", ".join(f"`{choice}`" for choice in opt.choices) if opt.choices else limits
    return [f"`{prefix}{opt.flag}`", _default(opt.default), f"{opt.help} ({values})" if values else opt.help]


def _default(value: object) -> str:
    if value is None or value == "":
        return "–"
    return "yes" if value is True else "no" if value is False else f"`{value}`"


def commands() -> str:
    """Every verb in its group, with a link to its page."""
    parts = []
    for group, described in COMMANDS.items():
        rows = [[f"[{verb}](commands/{verb}.md)", about] for verb, about in described.items()]
        parts.append(f"## {group}\n\n{table(['command', 'what it does'], rows)}")
    return "\n\n".join(parts)


def command(verb: str) -> str:
    """What the help of a verb says, its arguments and its options."""
    loaded = Program().load(verb)
    context = click.Context(loaded, info_name=f"hyperbaton {verb}")
    usage = " ".join([f"hyperbaton {verb}", *loaded.collect_usage_pieces(context)])
    parts = [f"```text\n{usage}\n```", *_help(loaded.help or "")]
    for kind in ("argument", "option"):
        records = [p.get_help_record(context) for p in loaded.params if p.param_type_name == kind]
        rows = [[f"`{names}`", remark] for names, remark in filter(None, records)]
        if rows:
            parts.append(table([kind, "what it does"], rows))
    return "\n\n".join([*parts, "[All commands](../commands.md)"])


def _help(text: str) -> Iterator[str]:
    """The paragraphs of a help text; its examples are one block that can be copied."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    for is_code, group in itertools.groupby(paragraphs, key=lambda paragraph: paragraph.startswith(" ")):
        lines = [inspect.cleandoc(paragraph) for paragraph in group]
        yield "```sh\n" + "\n".join(lines) + "\n```" if is_code else "\n\n".join(lines).replace("<", "&lt;")
