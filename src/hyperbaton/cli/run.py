from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import open_executor
from hyperbaton.base.forms import is_text
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.progress import is_terminal, live_line
from hyperbaton.cli._common import print_table, say
from hyperbaton.cli._parameters import READS, WRITES_FOLDER, Argument, Flag
from hyperbaton.cli._resources import ExecutorOptions
from hyperbaton.run.cost import slowness
from hyperbaton.run.execution import MachineLimits, execute
from hyperbaton.run.plan import plan_file
from hyperbaton.run.results import finish
from hyperbaton.run.status import plan_rows, write_plan
from hyperbaton.run.watch import Watch


def run(
    experiment: Annotated[Path, Argument("EXPERIMENT.toml", "Experiment file; see docs/run.md."), READS],
    *,
    output: Annotated[
        Path | None, Flag("Folder for the run [default: the file's name without .toml].", "-o"), WRITES_FOLDER
    ] = None,
    settings: Annotated[
        list[str] | None, Flag("Change a key of the file; may be repeated.", "--set", metavar="KEY=VALUE")
    ] = None,
    dry_run: Annotated[bool, Flag("Print the stages and their estimated cost, and stop.")] = False,
    jobs: Annotated[int, Flag("Stages to run at the same time, if memory allows.", minimum=1)] = 2,
    memory: Annotated[
        str | None,
        Flag(
            "Memory limit for all stages together, e.g. 4G [default: key of the file, or 80% of the machine's].",
            metavar="AMOUNT",
            check=parse_memory,
        ),
    ] = None,
    common: ExecutorOptions,
) -> None:
    """Run an experiment: corpus, links, phrases, models, systems, tuning, translations, scores, report.

    Mistakes in the file are reported before anything starts. Finished stages are not run again: the same command
    continues an interrupted run, and after a change to the file only the stages that depend on it are repeated. With
    --executor, stages run as tasks on other machines, --jobs at a time, and extraction and tuning distribute their
    work; the folder must be on a disk shared by all machines.

    Examples:

        hyperbaton run examples/tatoeba-de-en.toml -o tatoeba
        hyperbaton run examples/kyoto-ja-en.toml --dry-run
        hyperbaton run examples/kyoto-ja-en.toml --set corpus.train.lines=2000
        hyperbaton run kyoto-ja-en.toml --executor dask://HOST:8786 --jobs 20
    """
    folder = output or Path(experiment.stem)
    if dry_run:
        plan = plan_file(experiment, settings or [], memory, folder)
        plan.slowness = slowness()
        print_table(plan_rows(plan, folder))
    else:
        carry_out(experiment, folder, settings or [], common, jobs=jobs, memory=memory)


def carry_out(
    experiment: Path,
    folder: Path,
    settings: Sequence[str],
    common: ExecutorOptions,
    *,
    jobs: int = 2,
    memory: str | None = None,
) -> None:
    """Run an experiment; print the findings and the path of the report."""
    if not is_text(str(folder)):
        raise OptionError(f"--output {folder}: the name is not UTF-8, so the report could not contain it; choose another")
    plan = plan_file(experiment, settings, memory, folder)
    executor, quiet = common.executor, common.quiet
    if executor is None:
        limits = MachineLimits(jobs, common.n_threads, plan.memory)
    else:
        with open_executor(executor):
            limits = MachineLimits(jobs, common.threads or 1, plan.memory, executor)
    write_plan(plan, folder)
    live = not quiet and is_terminal(sys.stderr)
    if live and executor is None:
        plan.slowness = slowness()
    watch = Watch(plan, folder, limits, lambda line: say(line, quiet), says_starts=not live)
    with live_line(watch.line, quiet):
        execute(plan, folder, limits, watch)
    say("writing the report", quiet)
    finished = finish(plan, folder)
    for warning in finished.warnings:
        say(f"warning: {warning}", quiet)
    say(f"results: {finished.results}", quiet)
    print(f"report: {finished.report}")
    for finding in finished.findings:
        print(f"- {finding}")
