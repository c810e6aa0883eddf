"""The content of help, and progress bars that start again."""

from __future__ import annotations

import io

import typer
from rich.console import Console
from rich.progress import Progress

from hyperbaton.align import ALIGNERS
from hyperbaton.base.progress import Bar
from hyperbaton.cli import build, verbs
from hyperbaton.cli._help import GROUPS, groups
from hyperbaton.learn.minimizers import MINIMIZERS
from hyperbaton.metrics import METRICS
from hyperbaton.tune import OPTIMIZERS
from tests.program import hyperbaton


def test_commands_are_listed_in_groups() -> None:
    printed = hyperbaton("--help").stdout
    titles = [printed.index(f"\n{group}:\n") for group in GROUPS]
    assert titles == sorted(titles)
    listed = groups(typer.main.get_command(build([])))
    assert sorted(verb for of_group in listed.values() for verb in of_group) == verbs()
    assert "generate" in listed["Start here"] and "translate" in listed["Translate"]


def test_files_are_called_paths() -> None:
    """A parameter that names a file and nothing else shows it, unless it has a better name."""
    program = typer.main.get_command(build())
    for verb in verbs():
        command = program.commands[verb]  # type: ignore[attr-defined]
        roles = command.callback.__wrapped__.roles if hasattr(command.callback, "__wrapped__") else {}
        for parameter in command.params:
            role = roles.get(parameter.name)
            if parameter.param_type_name == "option" and role is not None and role.is_plain:
                assert parameter.metavar != "TEXT", f"{verb} {parameter.opts}"
    assert "--source-tags PATH" in hyperbaton("translate", "--help").stdout
    assert "--drop-source PATH" in hyperbaton("align", "--help").stdout


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
