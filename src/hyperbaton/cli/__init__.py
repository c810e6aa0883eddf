"""The program `hyperbaton`: one command, one file of this folder, over a plain function of the package.

The file `cli/evaluate_links.py` is the command `evaluate-links`; it defines one function of the same name, whose annotated
parameters are the arguments and flags (`_parameters`). Only the requested command is imported: help lists the others from
`commands.txt`. stdout is for data, stderr for messages. Exit status: 0 done, 1 bad input or failure, 2 wrong usage (one
line says why), 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import logging
import os
import sys
from collections.abc import Callable
from inspect import isfunction
from pathlib import Path
from typing import Any, NoReturn

import click

from hyperbaton.base.errors import Cancelled, HyperbatonError, one_line
from hyperbaton.base.options import hint_at
from hyperbaton.base.signals import Signals
from hyperbaton.cli._command import Command, usage_message
from hyperbaton.cli._help import program_help

ABOUT = """Learn how words and phrases move between languages, and translate with the learned models.

Files are tokenized text, one sentence per line, plain or compressed (.gz, .xz, .zst); - is stdin or stdout.
"""


def _read_commands() -> dict[str, dict[str, str]]:
    """Every command, under the title where help lists it, with the first line of its help text."""
    groups: dict[str, dict[str, str]] = {}
    commands: dict[str, str] = {}
    for line in Path(__file__).with_name("commands.txt").read_text(encoding="utf-8").splitlines():
        name, _, summary = line.strip().partition("  ")
        if line.startswith(" "):
            commands[name] = summary.strip()
        else:
            commands = groups[line] = {}
    return groups


COMMANDS = _read_commands()
# Former commands, which `list` replaces.
LISTS = ("features", "learners", "metrics", "models", "orientations")

COMPLETE = "_HYPERBATON_COMPLETE"  # where the shell says what to complete


def verbs() -> list[str]:
    """The names of all commands, as typed."""
    return sorted(verb for commands in COMMANDS.values() for verb in commands)


def _function(verb: str) -> Callable[..., object]:
    name = verb.replace("-", "_")
    module = importlib.import_module(f"{__name__}.{name}")
    return next(f for n, f in vars(module).items() if n.rstrip("_") == name and isfunction(f))


class Program(click.Group):
    """The program, which imports a command when it is requested."""

    def __init__(self) -> None:
        version = click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, help="Print the version.")
        version.callback = _print_version
        verbose = click.Option(["--verbose", "-v"], is_flag=True, help="Print more details to stderr.")
        settings = {"help_option_names": ["-h", "--help"]}
        super().__init__(
            "hyperbaton", help=ABOUT, params=[version, verbose], callback=_start_log, context_settings=settings
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return verbs()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return self.load(cmd_name) if cmd_name in verbs() else None

    def load(self, verb: str) -> Command:
        """The command of that name."""
        command = self.commands.get(verb)
        if not isinstance(command, Command):
            command = self.commands[verb] = Command(verb, _function(verb))
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        verb = args[0]
        if verb in verbs() or verb.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        if verb in LISTS:
            raise click.UsageError(f"unknown command {verb!r}; use 'hyperbaton list {verb}'")
        raise click.UsageError(f"unknown command {verb!r}{hint_at(verb, verbs())}", ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(program_help(self, ctx, COMMANDS))


def _print_version(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # slow to import

        print(f"hyperbaton {version('hyperbaton')}")
        ctx.exit()


def _start_log(verbose: bool) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="hyperbaton: %(message)s")


def start() -> Program:
    """Make the program, and import the command of the command line."""
    program = Program()
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    if verb in verbs():
        program.load(verb)
    return program


NO_THREADS = "error: the system cannot start more threads or processes; use fewer --threads, or raise the limit (ulimit -u)"


def run_program(program: click.Command, signals: Signals) -> None:
    """Run the program and turn failures into one line and an exit status."""
    try:
        status = _status_of(program)
        sys.stdout.flush()
    except (KeyboardInterrupt, Cancelled):
        _leave(signals.message, signals.status)
    except BrokenPipeError:
        # The reader of our output has closed it, which is not an error.
        _drop_output()
        sys.exit(1)
    except click.ClickException as error:
        _leave(f"error: {usage_message(error)}", error.exit_code)
    except HyperbatonError as error:
        _leave(f"error: {error}", 1)
    except UnicodeEncodeError as error:
        around = error.object[max(error.start - 20, 0) : error.end + 20]
        _leave(f"error: {around!r} cannot be written as {error.encoding}: {error.reason}", 1)
    except OSError as error:
        where = f"{Path(error.filename)}: " if isinstance(error.filename, str) else ""
        if not where and error.errno == errno.EAGAIN:
            _leave(NO_THREADS, 1)
        if not where and error.errno in (errno.EBADF, errno.ENOSPC, errno.EIO):
            where = "standard output: cannot be written: "  # all other writers name their file
        full = " (the disk is full)" if error.errno == errno.ENOSPC else ""
        _leave(f"error: {where}{error.strerror or error}{full}", 1)
    except MemoryError:
        _leave("error: not enough memory", 1)
    except RuntimeError as error:
        if str(error) != "can't start new thread":  # Python has no class for it
            raise
        _leave(NO_THREADS, 1)
    sys.exit(status)


def _status_of(program: click.Command) -> Any:
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(program, {}, "hyperbaton", COMPLETE, instruction)
    try:
        with program.make_context("hyperbaton", sys.argv[1:] or ["--help"]) as context:
            program.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except SystemExit as end:
        return end.code
    return 0


def _drop_output() -> None:
    """Keep Python from reporting unwritable output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _leave(message: str, status: int) -> NoReturn:
    try:
        sys.stdout.flush()
    except OSError:  # the message says why
        _drop_output()
    with contextlib.suppress(OSError):  # stderr is closed: only the exit status is left
        print(f"hyperbaton: {one_line(message)}", file=sys.stderr, flush=True)
    sys.exit(status)
