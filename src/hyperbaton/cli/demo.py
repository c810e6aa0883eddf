from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated

from hyperbaton.cli._parameters import WRITES_FOLDER, Flag
from hyperbaton.cli._resources import ExecutorOptions, ThreadOptions
from hyperbaton.cli.run import carry_out


def demo(
    output: Annotated[Path, Flag("Folder for the run.", "-o"), WRITES_FOLDER] = Path("demo"),
    settings: Annotated[
        list[str] | None, Flag("Change a key of the demo's experiment; may be repeated.", "--set", metavar="KEY=VALUE")
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
        carry_out(experiment, output, settings or [], ExecutorOptions(common.threads, common.quiet))
