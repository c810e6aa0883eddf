"""Shell commands that reproduce the numbers of a run."""

from __future__ import annotations

import shlex
from pathlib import Path

from hyperbaton.run.plan import Plan


def shell(*words: object) -> str:
    """A command of these words."""
    return shlex.join(map(str, words))


def run_again(plan: Plan, root: Path) -> str:
    """The command that runs the experiment again."""
    return shell("hyperbaton", "run", plan.experiment.file, "-o", root)
