"""Repeat the tables and figures of a paper, by the paper's protocol.

The work is divided into cells, for example one model on one text. Each result is stored, so the same command continues an
interrupted run. The page, OUTPUT/page, has every table and figure of the paper with the paper's numbers next to ours, from
the finished cells.

    python -m papers ni11 --quick -o ni11
    python -m papers ni11 --data corpora -o ni11 --cells 'random-20000-*' --cells statistics
    python -m papers go13 --data corpora -o go13 --jobs 16 --threads 16
    python -m papers go13 --data corpora --list
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import Cancelled, HyperbatonError, one_line
from hyperbaton.base.progress import n_threads
from hyperbaton.base.signals import Signals
from papers.protocol import Setting, silent
from papers.running import PAPERS, cell_states, reproduce


def natural(text: str) -> int:
    """A number that is 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    options = argparse.ArgumentParser(
        "python -m papers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = options.add_argument
    add("paper", choices=PAPERS, help="a folder of papers/")
    add("-o", "--output", type=Path, metavar="DIR", help="folder of the results and the page; --list needs none")
    add("--data", type=Path, metavar="DIR", help="folder of the corpora (docs/reproduce.md); default: generated text")
    add("--quick", action="store_true", help="run everything small, in minutes; so it is without --data")
    add("--cells", action="append", default=[], metavar="PATTERN", help="only cells whose names match; may be repeated")
    add("--list", action="store_true", help="print the cells, with -o whether they are done, and stop")
    add("--tuning-lines", type=natural, default=0, metavar="N", help="tune on N lines; default: the protocol's")
    add("--pop-limit", type=natural, default=0, metavar="N", help="largest pop limit; default: the protocol's")
    add("--no-page", action="store_true", help="do not write the page when the cells are done")
    add(
        "--jobs",
        type=natural,
        default=1,
        metavar="N",
        help="cells, or stages of cells, to run at once; they share --threads",
    )
    add("--seed", type=natural, default=1, metavar="N", help="seed of generated text, samples and training")
    add("-t", "--threads", type=natural, default=0, metavar="N", help="default: all processors")
    add("-q", "--quiet", action="store_true", help="print no progress")
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    words = sys.argv[1:] if words is None else words
    options = parser().parse_args(words)
    if options.output is None and not options.list:
        parser().error("give a folder for the results: -o DIR")
    setting = Setting(
        output=options.output or Path(options.paper),
        data=options.data,
        quick=options.quick or options.data is None,
        seed=options.seed,
        threads=n_threads(options.threads),
        tuning_lines=options.tuning_lines,
        pop_limit=options.pop_limit,
        jobs=max(options.jobs, 1),
        say=silent if options.quiet else say,
    )
    try:
        if options.list:
            list_cells(options.paper, setting, options.output is not None)
            return 0
        command = shlex.join(["python", "-m", "papers", *words])
        done = reproduce(options.paper, setting, cells=options.cells, command=command, page=not options.no_page)
    except Cancelled:
        raise
    except HyperbatonError as error:
        say(f"papers: error: {one_line(str(error))}")
        return 1
    except OSError as error:
        say(f"papers: error: {f'{error.filename}: ' if error.filename else ''}{error.strerror}")
        return 1
    setting.say(f"{done.n_done:,} of {counted(done.n_cells, 'cell')} done")
    if done.page is not None:
        print(f"page: {done.page}")
    return 0


def say(line: str) -> None:
    """Print a remark to stderr."""
    print(line, file=sys.stderr, flush=True)


def list_cells(paper: str, setting: Setting, with_states: bool) -> None:
    """Print the cells of a paper, tab-separated, with whether they are done."""
    print("cell\tdone" if with_states else "cell")
    for name, done in cell_states(paper, setting).items():
        print(f"{name}\t{'yes' if done else 'no'}" if with_states else name)


if __name__ == "__main__":
    signals = Signals()
    signals.interrupt()
    try:
        sys.exit(main())
    except (KeyboardInterrupt, Cancelled):
        say(f"papers: {signals.message}; the same command continues")
        sys.exit(signals.status)
