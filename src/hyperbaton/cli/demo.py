"""The command `demo`."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.cli._paths import WRITES_FOLDER
from hyperbaton.cli._resources import ShardOptions, ThreadOptions
from hyperbaton.cli._run import carry_out

HELP_GROUP = "Start here"


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the run."), WRITES_FOLDER] = Path("demo"),
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the demo's experiment; may be repeated."),
    ] = None,
    *,
    common: ThreadOptions,
) -> None:
    """Run a small experiment on generated text, from text to report, in minutes.

    Trains every kind of model, translates with each, and reports what moves in the text, what predicts it, and how much
    that helps translation. After an interruption, the same command continues the run.

    Examples:

        hyperbaton demo

        hyperbaton demo --set corpus.generate.style=chinese -o chinese
    """
    with resources.as_file(resources.files("hyperbaton.run") / "demo.toml") as experiment:
        carry_out(experiment, output, settings or [], ShardOptions(common.threads, common.quiet))
