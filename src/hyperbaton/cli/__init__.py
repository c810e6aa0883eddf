"""The program `hyperbaton`: one verb, one file of this folder, over a plain function of the package.

The file `cli/evaluate_links.py` is the verb `evaluate-links`; it defines one function of the same name. A parameter
whose type is an options class becomes one flag for each option. stdout is data, stderr is talk. Exit status: 0 done,
1 bad input or failure (one line says why), 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import dataclasses
import errno
import importlib
import logging
import os
import pkgutil
import sys
import typing
from collections.abc import Callable
from importlib import metadata
from inspect import Parameter, Signature, cleandoc, isfunction, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from hyperbaton.base.errors import Cancelled, HyperbatonError
from hyperbaton.base.options import from_mapping, options_of

# Arguments that mean the same for every verb.
Threads = Annotated[int, typer.Option("--threads", "-t", help="Processors to use; 0 means all.", min=0)]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.", min=0)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bars and no remarks.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]

ABOUT = """Learn how words and phrases move between languages, and translate with what was learned.

Files are tokenized text, one sentence per line, plain or compressed (.gz, .xz, .zst); - is stdin or stdout.
"""


def verbs() -> list[str]:
    """The names of all verbs, as typed."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return sorted(name.replace("_", "-") for name in names)


def build(only: str | None = None) -> typer.Typer:
    """Make the program; with `only`, of one verb, so that starting it imports no other."""
    app = typer.Typer(
        name="hyperbaton",
        help=ABOUT,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for verb in [only] if only else verbs():
        name = verb.replace("-", "_")
        module = importlib.import_module(f"hyperbaton.cli.{name}")
        function = next(f for n, f in vars(module).items() if n.rstrip("_") == name and isfunction(f))
        app.command(verb)(_with_flags(function))
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hyperbaton {metadata.version('hyperbaton')}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on stderr.")] = False,
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="hyperbaton: %(message)s")


def _with_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace each parameter whose type is an options class by one flag for each of its options."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters: list[Parameter] = []
    groups: dict[str, type] = {}
    for name, parameter in signature(function).parameters.items():
        kind = hints[name]
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            groups[name] = kind
            for opt in options_of(kind):
                help = opt.help + (f" ({', '.join(opt.choices)})" if opt.choices else "")
                is_switch = opt.type in (bool, bool | None)
                flags = [f"--{opt.flag}/--no-{opt.flag}"] if is_switch else [f"--{opt.flag}"]
                limits: dict[str, Any] = {"min": opt.minimum, "max": opt.maximum} if opt.type in (int, float) else {}
                annotation = Annotated[opt.type, typer.Option(*flags, help=help, **limits)]  # type: ignore[name-defined]
                parameters.append(Parameter(opt.name, Parameter.KEYWORD_ONLY, default=opt.default, annotation=annotation))
        else:
            parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    def call(**values: Any) -> Any:
        for name, kind in groups.items():
            values[name] = from_mapping(kind, {opt.name: values.pop(opt.name) for opt in options_of(kind)})
        try:
            return function(**values)
        except KeyboardInterrupt:
            raise Cancelled("interrupted") from None  # typer would swallow it without a word

    call.__name__, call.__doc__ = function.__name__, cleandoc(function.__doc__ or "")
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def main() -> None:
    """Run the program and turn failures into one line and an exit status."""
    known = verbs()
    first = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    completing = any(name.startswith(("_HYPERBATON_COMPLETE", "_TYPER")) for name in os.environ)
    try:
        build(only=first if first in known and not completing else None)()
        sys.stdout.flush()
    except (KeyboardInterrupt, Cancelled):
        _leave("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has gone, which is no fault; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except HyperbatonError as error:
        _leave(f"error: {error}", 1)
    except OSError as error:
        where = f"{Path(error.filename)}: " if isinstance(error.filename, str) else ""
        full = " (the disk is full)" if error.errno == errno.ENOSPC else ""
        _leave(f"error: {where}{error.strerror or error}{full}", 1)
    except MemoryError:
        _leave("error: not enough memory", 1)


def _leave(message: str, status: int) -> None:
    print(f"hyperbaton: {message}", file=sys.stderr)
    sys.exit(status)
