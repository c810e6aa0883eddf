"""Every command that a page or a help text shows is one that the program takes: verb, options and their values."""

from __future__ import annotations

import inspect
import re
import shlex
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperbaton import cli
from hyperbaton.base.options import options_of
from hyperbaton.cli import Program, verbs
from hyperbaton.models import MODELS

ROOT = Path(__file__).parents[2]
# The pages of commands show their help, which is read from the commands.
PAGES = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "commands"),
]
OF_PAGES = {"by_place", "first_words", "by_feature", "dice"}  # plug-ins that pages define
COMMAND = re.compile(r"^\s*hyperbaton ([a-z][a-z-]*)( [^`\n]*)", re.MULTILINE)
MENTION = re.compile(r"`hyperbaton ([a-z][a-z-]*)( [^`\n]*)`")


def commands(pattern: re.Pattern[str]) -> Iterator[tuple[str, str, str]]:
    """The location of a command, its verb, and the words after it as written."""
    for page in PAGES:
        for verb, rest in pattern.findall(page.read_text(encoding="utf-8").replace("\\\n", " ")):
            if verb in verbs():  # else a sentence that begins with the name
                yield page.name, verb, rest
    for verb in verbs():
        for _, rest in pattern.findall(inspect.getdoc(cli._function(verb)) or ""):
            yield f"help of {verb}", verb, rest


def words_of(rest: str) -> list[str]:
    """The words of a command, up to a pipe, a redirection or a remark."""
    rest = re.split(r" \| | [<>]+ |\s{3,}|\s#\s|\)", rest, maxsplit=1)[0]
    return shlex.split(re.sub(r"\s…(?=\s|$)", " ", rest.rstrip(";,:")))


def without_work(function: Callable[..., Any]) -> Callable[..., Any]:
    """A verb that takes the same arguments and does nothing."""
    nothing = types.FunctionType((lambda **_: None).__code__, function.__globals__, function.__name__)
    nothing.__wrapped__, nothing.__annotations__ = function, function.__annotations__  # type: ignore[attr-defined]
    return nothing


def test_flags_of_mentioned_commands_exist() -> None:
    program = Program()
    for place, verb, rest in commands(MENTION):
        params = program.load(verb).params
        known = {flag for param in params for flag in (*param.opts, *param.secondary_opts)} | {"--help"}
        if verb == "train":
            known |= {f"--{opt.flag}" for model in MODELS for opt in options_of(MODELS[model])}
        for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", rest):
            assert flag in known, f"{place}: hyperbaton {verb} has no option {flag}"


def test_commands_in_pages_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    function_of = cli._function
    monkeypatch.setattr(cli, "_function", lambda verb: without_work(function_of(verb)))
    program, seen, refused = Program(), set(), []
    for place, verb, rest in sorted(set(commands(COMMAND))):
        words = words_of(rest)
        if OF_PAGES.intersection(word.partition(":")[0] for word in words) or not any(
            re.match(r"-|\w+\.\w", word) for word in words
        ):
            continue  # a plug-in of a page, or a sentence
        try:
            program.main([verb, *words], standalone_mode=False)
        except Exception as error:
            refused.append(f"{place}: hyperbaton {verb} {shlex.join(words)}: {error}")
        seen.add(verb)
    assert not refused, "\n".join(refused)
    assert len(seen) > len(verbs()) // 2
