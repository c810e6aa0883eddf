"""Common parts of the commands that run experiments."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import n_shards, open_executor
from hyperbaton.base.forms import is_text
from hyperbaton.base.progress import LiveLine, is_terminal
from hyperbaton.cli._common import say
from hyperbaton.cli._resources import ShardOptions
from hyperbaton.run.completion import finish
from hyperbaton.run.execution import MachineLimits, execute
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.status import write_plan
from hyperbaton.run.watch import Watch


def carry_out(
    experiment: Path,
    folder: Path,
    settings: Sequence[str],
    common: ShardOptions,
    *,
    jobs: int = 2,
    memory: str | None = None,
) -> None:
    """Run an experiment; print the findings and the path of the report."""
    if not is_text(str(folder)):
        raise OptionError(f"--output {folder}: the name is not UTF-8, so the report could not contain it; choose another")
    plan = make_plan(read_experiment(experiment, settings), memory)
    executor, quiet = common.executor, common.quiet
    if executor is None:
        limits = MachineLimits(jobs, common.n_threads, plan.memory)
    else:
        with open_executor(executor):
            limits = MachineLimits(jobs, common.threads or 1, plan.memory, executor, n_shards(common.shards, executor))
    write_plan(plan, folder)
    live = not quiet and is_terminal(sys.stderr)
    watch = Watch(plan, folder, limits, lambda line: say(line, quiet), says_starts=not live)
    with LiveLine(watch.line, quiet):
        execute(plan, folder, limits, watch)
    say("writing the report", quiet)
    finished = finish(plan, folder)
    for warning in finished.warnings:
        say(f"warning: {warning}", quiet)
    say(f"results: {finished.results}", quiet)
    print(f"report: {finished.report}")
    for finding in finished.findings:
        print(f"- {finding}")
