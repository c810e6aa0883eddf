"""The program `hyperbaton`: one command, one file of this folder, over a plain function of the package.

The file `cli/evaluate_links.py` is the command `evaluate-links`; it defines one function of the same name, and HELP_GROUP,
the title (one of `GROUPS`) under which help lists it. A parameter whose type is an options class, or a class of options
that commands share (`SharedOptions`), becomes one flag for each option. stdout is for data, stderr for messages. Exit
status: 0 done, 1 bad input or failure (one line says why), 2 wrong usage, 130 interrupted, 143 and 129 ended by SIGTERM
and SIGHUP.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import errno
import importlib
import logging
import os
import pkgutil
import re
import sys
import typing
from collections.abc import Callable, Collection, Sequence
from functools import cache
from inspect import Parameter, Signature, cleandoc, get_annotations, isfunction, signature
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.models import ArgumentInfo, OptionInfo

from hyperbaton.base.errors import Cancelled, HyperbatonError, OptionError, one_line
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import Option, Plugins, from_mapping, options_of, plain_type
from hyperbaton.base.signals import Signals
from hyperbaton.cli._help import GROUPS, Program, Verb, value_name
from hyperbaton.cli._paths import READS, Reads, Role, check_encoding, check_paths


def check_amount(amount: str | None) -> str | None:
    """Reject invalid amounts of memory."""
    try:
        _ = None if amount is None else parse_memory(amount)
    except OptionError as error:
        raise typer.BadParameter(str(error).removeprefix("memory ")) from error
    return amount


# Arguments shared by all commands.
Threads = Annotated[int, typer.Option("--threads", "-t", help="Number of threads; 0 uses all processors.", min=0)]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        callback=check_amount,
        help="Memory limit, e.g. 512M or 4G; larger data goes to temporary files.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.", min=0)]
Force = Annotated[bool, typer.Option("--force", help="Replace an artefact of another kind or model.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress bars and remarks.")]
Verify = Annotated[bool, typer.Option("--verify", help="Check the artefacts against their checksums first.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
ExecutorAddress = Annotated[
    str | None,
    typer.Option(
        "--executor", help="Where tasks run: dask://HOST:PORT or processes:N; --threads then applies to each task."
    ),
]
Shards = Annotated[
    int,
    typer.Option(
        "--shards", help="Number of tasks to split the work into; 0 means 16 with --executor, otherwise 1.", min=0
    ),
]


@dataclasses.dataclass(frozen=True)
class SharedOptions:
    """Base of options that several commands have; its fields are declared like the parameters of a command."""

    @classmethod
    def parameters(cls) -> list[Parameter]:
        """The options as parameters; those of a derived class come first."""
        hints, fields = typing.get_type_hints(cls, include_extras=True), {f.name: f for f in dataclasses.fields(cls)}
        names = [name for owner in cls.__mro__ for name in get_annotations(owner) if name in fields]
        return [
            Parameter(name, Parameter.KEYWORD_ONLY, default=fields[name].default, annotation=hints[name]) for name in names
        ]


ABOUT = """Learn how words and phrases move between languages, and translate with the learned models.

Files are tokenized text, one sentence per line, plain or compressed (.gz, .xz, .zst); - is stdin or stdout.
"""


def verbs() -> list[str]:
    """The names of all commands, as typed."""
    names = (module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_"))
    return sorted(name.replace("_", "-") for name in names)


def build(loaded: Collection[str] | None = None, words: Sequence[str] = (), *, alone: bool = False) -> typer.Typer:
    """Make the program with all commands; only those in `loaded` are imported, the others are names with a help text.

    `words` is the rest of the command line after the command, for commands whose options depend on it. Help texts of the
    others are read from their files. With `alone` there are no others, unless a command in `loaded` does not exist: the
    message then names a similar one.
    """
    app = typer.Typer(
        name="hyperbaton",
        help=ABOUT,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=Program,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    known = verbs()
    alone = alone and loaded is not None and set(loaded) <= set(known)
    for verb in known:
        if loaded is None or verb in loaded:
            app.command(verb, cls=Verb, rich_help_panel=_group(verb))(_with_flags(_function(verb), words))
        elif not alone:
            app.command(verb, cls=Verb, help=_help_text(verb), rich_help_panel=_group(verb))(_unloaded)
    return app


def _function(verb: str) -> Callable[..., Any]:
    name = verb.replace("-", "_")
    module = importlib.import_module(f"hyperbaton.cli.{name}")
    return next(f for n, f in vars(module).items() if n.rstrip("_") == name and isfunction(f))


@cache
def _file(verb: str) -> str:
    """The source of a command: importing or parsing all of them would take seconds."""
    return Path(__path__[0], f"{verb.replace('-', '_')}.py").read_text(encoding="utf-8")


def _help_text(verb: str) -> str:
    """The docstring of a command."""
    pattern = rf'^def {verb.replace("-", "_")}_?\(.*?^    """(.*?)"""'
    found = re.search(pattern, _file(verb), re.DOTALL | re.MULTILINE)
    return "" if found is None else cleandoc(found[1])


def _group(verb: str) -> str:
    """The title under which help lists a command."""
    if (found := re.search(r'^HELP_GROUP = "(.*)"$', _file(verb), re.MULTILINE)) is None:
        raise TypeError(f"cli/{verb.replace('-', '_')}.py does not define HELP_GROUP, one of {', '.join(GROUPS)}")
    return found[1]


def _unloaded() -> None:
    """Placeholder for a command that was not requested."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # slow to import

        print(f"hyperbaton {version('hyperbaton')}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print more details to stderr.")] = False,
) -> None:
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, format="hyperbaton: %(message)s")


def _with_flags(function: Callable[..., Any], words: Sequence[str]) -> Callable[..., Any]:
    """Replace each parameter whose type is an options class by one flag for each of its options.

    A command's file may define `chosen_options`: a function from the words of the command line to options classes by
    parameter, which replace those of the signature. `PLUGINS` is then the registry of these classes, in which messages
    about unknown options look for them.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    if chosen := function.__globals__.get("chosen_options"):
        hints |= chosen(words)
    parameters: list[Parameter] = []
    groups: dict[str, type] = {}
    checks: dict[str, Option] = {}  # by parameter name; typer itself accepts inf, nan and numbers of any size
    roles: dict[str, Role] = {}  # of parameters that name files and folders
    names: dict[str, str] = {}  # of parameters, in messages
    plugins: dict[str, Plugins] = {}  # of parameters that name one
    shared: dict[str, type[SharedOptions]] = {}
    declared: list[Parameter] = []
    for name, parameter in signature(function).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and issubclass(kind, SharedOptions):
            shared[name] = kind
            declared += kind.parameters()
        else:
            declared.append(parameter.replace(annotation=kind))
    for parameter in declared:
        name, kind = parameter.name, parameter.annotation
        if dataclasses.is_dataclass(kind) and isinstance(kind, type):
            groups[name] = kind
            for opt in options_of(kind):
                checks[opt.name], names[opt.name] = opt, f"--{opt.flag}"
                if opt.path:
                    roles[opt.name] = READS
                if opt.plugins is not None:
                    plugins[opt.name] = opt.plugins
                annotation = Annotated[opt.type, _flag(opt)]  # type: ignore[name-defined]
                parameters.append(Parameter(opt.name, Parameter.KEYWORD_ONLY, default=opt.default, annotation=annotation))
            continue
        kind, info, *metadata = typing.get_args(kind)
        names[name] = _shown_name(name, info)
        if metadata:
            (roles[name],) = metadata
            if (registry := getattr(roles[name], "plugins", None)) is not None:
                plugins[name] = registry
        if Path in (plain_type(kind), *typing.get_args(plain_type(kind))) and name not in roles:
            raise TypeError(f"{function.__name__}: the parameter {name} does not say whether it reads or writes")
        kind, check = _declared(name, kind, info, roles.get(name))
        if check is not None:
            checks[name] = check
        parameters.append(parameter.replace(annotation=kind, kind=Parameter.KEYWORD_ONLY))

    def call(**values: Any) -> Any:
        try:
            for name, opt in checks.items():
                values[name] = opt.check(values[name])
        except OptionError as error:
            raise typer.BadParameter(one_line(f"--{error}")) from None
        check_encoding(roles, names, values)
        try:
            check_paths(roles, names, values)
            for name, kind in groups.items():
                values[name] = from_mapping(kind, {opt.flag: values.pop(opt.name) for opt in options_of(kind)})
            for name, options in shared.items():
                values[name] = options(**{parameter.name: values.pop(parameter.name) for parameter in options.parameters()})
            return function(**values)
        except KeyboardInterrupt:
            raise Cancelled("interrupted") from None  # typer would swallow it silently

    call.__name__, call.__doc__ = function.__name__, cleandoc(function.__doc__ or "")
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.roles = roles  # type: ignore[attr-defined]
    call.options_of = function.__globals__.get("PLUGINS")  # type: ignore[attr-defined]
    call.plugins = plugins  # type: ignore[attr-defined]
    return call


def _flag(opt: Option) -> Any:
    """Convert an option to typer's form."""
    is_switch = plain_type(opt.type) is bool
    names = [f"--{opt.flag}/--no-{opt.flag}"] if is_switch else [f"--{opt.flag}"]
    help = opt.help + (f" ({', '.join(opt.choices)})" if opt.choices else "") + opt.range
    completion = None if opt.choices is None else _completion(opt.choices)
    if opt.plugins is not None:
        completion = opt.plugins.names
    return typer.Option(*names, help=help, autocompletion=completion, metavar="PATH" if opt.path else value_name(opt.type))


def flags_of(name: str, info: OptionInfo) -> list[str]:
    """The flags of an option of a command; of several names, typer keeps the first as the default.

    >>> flags_of("for_", typer.Option("--for", "-f")), flags_of("max_length", typer.Option())
    (['--for', '-f'], ['--max-length'])
    """
    names = [flag for flag in (info.default, *(info.param_decls or ())) if isinstance(flag, str)]
    return [flag for each in names for flag in each.split("/")] or [f"--{name.replace('_', '-')}"]


def _shown_name(name: str, info: OptionInfo | ArgumentInfo) -> str:
    """The name of a parameter in messages: its long flag, or the name of the argument."""
    if not isinstance(info, OptionInfo):
        return str(info.metavar or name.upper())
    return next(flag for flag in flags_of(name, info) if flag.startswith("--"))


def _declared(name: str, kind: Any, info: Any, role: Role | None) -> tuple[Any, Option | None]:
    """A parameter declared by its command: its annotation without limits, and the option that checks them for numbers."""
    info, opt = copy.copy(info), None
    if plain_type(kind) in (int, float):
        opt = Option(_shown_name(name, info).removeprefix("--"), kind, minimum=info.min, maximum=info.max)
        info.help = f"{info.help or ''}{opt.range}"
        info.min = info.max = None
    if isinstance(role, Reads) and role.plugins is not None:
        info.autocompletion = role.plugins.names
    if isinstance(info, OptionInfo) and info.metavar is None:
        info.metavar = "PATH" if role is not None and role.is_plain else value_name(kind)
    return Annotated[kind, info], opt


def _completion(choices: Sequence[str]) -> Callable[[], list[str]]:
    """The completions a shell offers for an option with choices."""

    def complete() -> list[str]:
        return list(choices)

    return complete


def start() -> typer.Typer:
    """Make the program for the command line: only the requested command is imported."""
    # When completing, a shell passes the line in a variable: COMP_WORDS for bash, typer's own for zsh and fish.
    line = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")
    completing = "_HYPERBATON_COMPLETE" in os.environ
    words = line.split()[1:] if completing else sys.argv[1:]
    first = next((i for i, word in enumerate(words) if not word.startswith("-")), None)
    if first is None:
        return build([])
    # Options before the command may ask for the help of the program.
    return build([words[first]], words[first + 1 :], alone=not completing and first == 0)


NO_THREADS = "error: the system cannot start more threads or processes; use fewer --threads, or raise the limit (ulimit -u)"


def run_program(program: typer.Typer, signals: Signals) -> None:
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
    if status == 130:  # typer exits silently with this status when interrupted between commands
        _leave(signals.message, signals.status)
    sys.exit(status)


def _status_of(program: typer.Typer) -> Any:
    try:
        program()
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
