"""Do the stages of an experiment inside the process of the tests, for tests of their results."""

from __future__ import annotations

from pathlib import Path

from hyperbaton.run.child import do
from hyperbaton.run.plan import Plan


def do_stages(plan: Plan, root: Path) -> None:
    """Do all stages, one after the other; `execute` starts a process for each."""
    for stage in plan:
        if not stage.is_done(root):
            do(stage.order(root, 1))
