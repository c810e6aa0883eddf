"""The content of help, and progress bars that start again."""

from __future__ import annotations

import io
import pkgutil
import re
import shlex
from collections.abc import Iterator

import click
import pytest
from rich.console import Console
from rich.progress import Progress

from hyperbaton import cli
from hyperbaton.align import ALIGNERS
from hyperbaton.base.progress import Bar
from hyperbaton.cli import COMMANDS, Program, verbs
from hyperbaton.cli._command import Command
from hyperbaton.data import generate
from hyperbaton.learn.minimizers import MINIMIZERS
from hyperbaton.metrics import METRICS
from hyperbaton.models import MODELS
from hyperbaton.tune import OPTIMIZERS
from tests.program import hyperbaton


def test_every_file_is_a_listed_command_with_the_same_help() -> None:
    """Help lists the commands without importing them."""
    files = {module.name.replace("_", "-") for module in pkgutil.iter_modules(cli.__path__) if module.name[0] != "_"}
    assert sorted(files) == verbs()
    program = Program()
    for verb, about in ((verb, about) for commands in COMMANDS.values() for verb, about in commands.items()):
        assert " ".join((program.load(verb).help or "").partition("\n\n")[0].split()) == about, verb


def test_commands_are_listed_in_groups() -> None:
    printed = hyperbaton("--help").stdout
    titles = [printed.index(f"\n{group}:\n") for group in COMMANDS]
    assert titles == sorted(titles)
    assert {"align", "run", "translate"} <= COMMANDS["Start here"].keys()
    assert all(list(commands) == sorted(commands) for commands in COMMANDS.values())
    assert hyperbaton().stdout == printed


def test_files_are_called_paths() -> None:
    """A parameter that names a file and nothing else shows it, unless it has a better name."""
    for verb in verbs():
        command = Program().load(verb)
        for parameter in command.params:
            role = command.roles.get(str(parameter.name))
            if role is not None and role.is_plain:
                assert parameter.metavar != "TEXT" or verb in ("classes", "lm", "perplexity", "tag"), (verb, parameter.opts)
    assert "--source-tags PATH" in hyperbaton("translate", "--help").stdout
    assert "--drop-source PATH" in hyperbaton("align", "--help").stdout


def every_help() -> Iterator[tuple[str, Command]]:
    """Every command, and those whose options depend on a plug-in with each of them."""
    for verb in verbs():
        yield verb, Program().load(verb)
    for verb, flag, registry in (
        ("train", "", MODELS),
        ("align", "--aligner", ALIGNERS),
        ("tune", "--optimizer", OPTIMIZERS),
    ):
        for name in registry:
            words = [word for word in (flag, name) if word]
            (command := Program().load(verb)).declare(words)
            yield shlex.join([verb, *words]), command


def test_help_has_one_style_and_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every argument is described: a capital, no full stop, and choices or a name of the value instead of TEXT."""
    monkeypatch.setenv("COLUMNS", "80")
    for verb, command in every_help():
        for parameter in command.params:
            _, remark = parameter.get_help_record(click.Context(command)) or ("", "")
            assert re.fullmatch(r"[^a-z ].*[^. ]", remark.partition(" [")[0]), (verb, parameter.name, remark)
            is_flag = isinstance(parameter, click.Option)
            assert not (is_flag and (parameter.metavar or "").startswith("TEXT")), (verb, parameter.opts)
        text = command.get_help(click.Context(command, info_name=f"hyperbaton {verb}"))
        assert not [line for line in text.splitlines() if len(line) > 80 or line.rstrip() != line], verb


def test_choices_are_shown() -> None:
    for verb, shown in (
        ("translate", "--search stack|cube|refine "),
        ("align", "--format pharaoh|json|giza "),
        ("align", "--for links|phrases "),
        ("project", "--split largest|cover|repeat "),
        ("translate", "--weight NAME=VALUE "),
        (
            "align",
            "[intersection, union, grow, grow-diag, grow-diag-final, grow-diag-final-and; default: grow-diag-final-and]",
        ),
    ):
        assert shown in " ".join(hyperbaton(verb, "--help").stdout.split()), verb


def test_plugins_are_listed() -> None:
    """Those of options classes and of commands, from the registry."""
    for verb, names in (("tune", OPTIMIZERS), ("train sequence", MINIMIZERS), ("align", ALIGNERS), ("score", METRICS)):
        printed = " ".join(hyperbaton(*verb.split(), "--help").stdout.split())
        assert f"[{', '.join(names)}" in printed


def test_times_of_a_bar_start_again_with_its_stage() -> None:
    bars = Progress(console=Console(file=io.StringIO()))
    bar = Bar(bars, "translate")
    bar(5, 5)
    (task,) = bars.tasks
    assert task.finished_time is not None
    bar(1, 5)
    assert task.finished_time is None and task.completed == 1
    bar.rename("again")
    assert task.description == "again"


@pytest.mark.parametrize("model", ["dpr", "pair", "nine_class", "lexicalized"])
def test_one_bar_names_the_phases_of_training(model: str) -> None:
    """`done` never falls, so that the time left is that of all phases."""
    seen: list[tuple[str, int, int]] = []

    class SeenBar(Bar):
        def __call__(self, done: int, total: int) -> None:
            super().__call__(done, total)
            seen.append((bars.tasks[0].description, done, total))

    bars = Progress(console=Console(file=io.StringIO()))
    text = generate(60, style="japanese", seed=2).bitext
    MODELS[model]().fit(text, progress=SeenBar(bars, "train"))
    names = list(dict.fromkeys(name for name, _, _ in seen))
    phases = list(MODELS[model]().phases)
    assert {"dpr": 4, "pair": 2, "nine_class": 4, "lexicalized": 2}[model] == len(phases)
    expected = [f"train {number}/{len(phases)}: {phase}" for number, phase in enumerate(phases, start=1)]
    assert names == expected[: 1 if model == "lexicalized" else None]
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert {total for _, _, total in seen} == {1000}
