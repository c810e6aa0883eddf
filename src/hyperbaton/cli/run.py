"""The command `run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.cli import check_amount
from hyperbaton.cli._common import print_table
from hyperbaton.cli._paths import READS, WRITES_FOLDER
from hyperbaton.cli._resources import ShardOptions
from hyperbaton.cli._run import carry_out
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.status import plan_rows

HELP_GROUP = "Experiments"


def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml", help="Experiment file; see docs/run.md."), READS],
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the run; default: the file's name without .toml."),
        WRITES_FOLDER,
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the file; may be repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the stages and their estimated cost, and stop.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Stages to run at the same time, if memory allows.", min=1)] = 2,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT",
            callback=check_amount,
            help="Memory limit for all stages together, e.g. 4G; default: key of the file, or 80% of the machine's.",
        ),
    ] = None,
    common: ShardOptions,
) -> None:
    """Run an experiment: corpus, links, phrases, models, systems, tuning, translations, scores, report.

    Mistakes in the file are reported before anything starts. Finished stages are not run again: the same command
    continues an interrupted run, and after a change to the file only the stages that depend on it are repeated. With
    --executor, stages run as tasks on other machines, --jobs at a time, and tuning translates in --shards tasks; the
    folder must be on a disk shared by all machines.

    Examples:

        hyperbaton run examples/tatoeba-de-en.toml -o tatoeba

        hyperbaton run examples/kyoto-ja-en.toml --dry-run

        hyperbaton run examples/kyoto-ja-en.toml --set corpus.train.lines=2000

        hyperbaton run examples/kyoto-ja-en.toml --executor dask://10.0.0.1:8786 --jobs 20 --shards 40
    """
    folder = output or Path(experiment.stem)
    if dry_run:
        print_table(plan_rows(make_plan(read_experiment(experiment, settings or []), memory), folder))
    else:
        carry_out(experiment, folder, settings or [], common, jobs=jobs, memory=memory)
