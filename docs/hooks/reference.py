"""Tables and pages that the program says about itself: commands and their options, plug-ins and theirs, exit statuses."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer

from hyperbaton.align.base import ALIGNERS
from hyperbaton.base.options import Option, options_of
from hyperbaton.base.registry import Registry
from hyperbaton.cli import build, verbs
from hyperbaton.cli._help import groups
from hyperbaton.data.style import STYLES
from hyperbaton.features import FEATURES
from hyperbaton.learn import LEARNERS
from hyperbaton.metrics import METRICS
from hyperbaton.models import MODELS
from hyperbaton.phrases import ORIENTATIONS
from hyperbaton.tune.optimizers import OPTIMIZERS

DOCS = Path(__file__).parents[1]
REGISTRIES: dict[str, Registry[Any]] = {
    "models": MODELS,
    "learners": LEARNERS,
    "features": FEATURES,
    "metrics": METRICS,
    "orientations": ORIENTATIONS,
    "aligners": ALIGNERS,
    "optimizers": OPTIMIZERS,
    "styles": STYLES,
}


# What the lists of some plug-ins tell besides.
_COLUMNS: dict[str, dict[str, Callable[[Any], str]]] = {
    "models": {"shape": lambda model: model.shape.replace("_", " ")},
    "orientations": {"classes": lambda orientations: ", ".join(orientations().names)},
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown; cells may hold any text."""
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def plugin_list(kind: str) -> str:
    """Every plug-in of a kind with what it says about itself; those that have a page in docs/KIND are linked to it."""
    registry = REGISTRIES[kind]
    rows = []
    for name in registry:
        shown = f"[{name}]({name}.md)" if (DOCS / kind / f"{name}.md").exists() else f"`{name}`"
        rows.append([shown, *(value(registry[name]) for value in _COLUMNS.get(kind, {}).values()), registry.describe(name)])
    return table(["name", *_COLUMNS.get(kind, {}), "about"], rows)


def plugin_options(path: str) -> str:
    """The options of a plug-in, `models/pair`, from its dataclass."""
    kind, _, name = path.partition("/")
    prefix = "--" if kind == "models" else ""
    rows = [_option_row(opt, prefix) for opt in options_of(REGISTRIES[kind][name])]
    return table(["option", "default", "what it does"], rows) if rows else "No options.\n"


def _option_row(opt: Option, prefix: str) -> list[str]:
    low, high = ("" if limit is None else f"{limit:g}" for limit in (opt.minimum, opt.maximum))
    limits = f"from {low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}" if high else ""
    values = ", ".join(f"`{choice}`" for choice in opt.choices) if opt.choices else limits
    return [f"`{prefix}{opt.flag}`", _default(opt.default), f"{opt.help} ({values})" if values else opt.help]


def _default(value: object) -> str:
    if value is None or value == "":
        return "–"
    return "yes" if value is True else "no" if value is False else f"`{value}`"


@cache
def _program() -> Any:
    return typer.main.get_command(build())


def command_pages() -> list[str]:
    """The pages that `command_page` makes, by their place among the sources."""
    return [f"commands/{verb}.md" for verb in verbs()]


def commands() -> str:
    """Every verb in its group, with a link to its page."""
    parts = []
    for group, names in groups(_program()).items():
        rows = [[f"[{verb}](commands/{verb}.md)", _summary(verb)] for verb in names]
        parts.append(f"## {group}\n\n{table(['command', 'what it does'], rows)}")
    return "\n".join(parts)


def _summary(verb: str) -> str:
    return inspect.cleandoc(_program().commands[verb].help or "").partition("\n\n")[0]


def command_page(path: str) -> str:
    """The page of a verb: what its help says, its arguments and its options."""
    verb = Path(path).stem
    command = _program().commands[verb]
    arguments = [p for p in command.params if p.param_type_name == "argument" and not p.hidden]
    flags = [p for p in command.params if p.param_type_name == "option"]
    words = " ".join(_shown(p) if p.required else f"[{_shown(p)}]" for p in arguments)
    needed = " ".join(f"{p.opts[-1]} {_shown(p)}" for p in flags if p.required)
    usage = f"hyperbaton {verb} {words} {needed}".split()
    parts = [f"# {verb}", f"```text\n{' '.join(usage)} [OPTIONS]\n```", *_help(command.help or "")]
    if arguments:
        parts.append(table(["argument", "what it is"], [[f"`{_shown(p)}`", p.help or ""] for p in arguments]))
    if flags:
        parts.append(table(["option", "default", "what it does"], [_flag_row(p) for p in flags]))
    return "\n\n".join([*parts, "[All commands](../commands.md)"]) + "\n"


def _help(text: str) -> Iterator[str]:
    """The paragraphs of a help text; its examples are one block that can be copied."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    for is_code, group in itertools.groupby(paragraphs, key=lambda paragraph: paragraph.startswith(" ")):
        lines = [inspect.cleandoc(paragraph) for paragraph in group]
        yield "```sh\n" + "\n".join(lines) + "\n```" if is_code else "\n\n".join(lines).replace("<", "&lt;")


def _shown(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper().replace("_", "-"))


def _flag_row(flag: Any) -> list[str]:
    names = ", ".join(f"`{name}`" for name in [*flag.opts, *flag.secondary_opts])
    default = flag.default() if callable(flag.default) else flag.default
    return [names, "needed" if flag.required else _default(default), flag.help or ""]
