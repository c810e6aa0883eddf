"""No regular expression of the package takes time that grows with the square of its text.

Every expression that a module compiles, and every literal one that it passes to `re`, is searched for in texts made from
its own parts to defeat it: each of its repetitions is repeated many times after what may stand before it, and followed by
what cannot follow it.
"""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import hyperbaton

SOURCES = Path(hyperbaton.__file__).parent
METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer")
LENGTHS = (1024, 8192)  # of texts, in characters
GROWTH = 24.0  # 8 if time grows with the length of the text, 64 if with its square
# Seconds of processor time: less for the short text is not looked at, more is not waited for.
FAST, LIMIT = 0.0001, 0.5
# One character of each kind that expressions tell apart.
KINDS = "aAzé0٣ \n\t\u00a0.,:;!?-+*/=<>\"'`&#@$%(){}[]|\\_“”„«»…。、「」（）漢あｱ한\ue000\uf000\x00"


@dataclass
class Found:
    """An expression, where it is, and how it is used."""

    where: str
    pattern: re.Pattern[str]
    methods: set[str] = field(default_factory=set)


class _TooSlow(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop a search that takes more processor time."""

    def stop(number: int, frame: object) -> None:
        raise _TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@cache
def sources() -> dict[Path, str]:
    """The text of every module."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(SOURCES.rglob("*.py"))}


@cache
def methods_by_name() -> dict[str, set[str]]:
    """The methods of expressions that are called on each name, in all modules."""
    called: dict[str, set[str]] = {}
    for text in sources().values():
        for name, method in re.findall(rf"\b(\w+)\.({'|'.join(METHODS)})\(", text):
            called.setdefault(name, set()).add(method)
    return called


def compiled() -> Iterator[Found]:
    """Expressions that modules keep, alone or in a table."""
    for path, text in sources().items():
        if "re.compile(" not in text:
            continue
        module = ".".join(["hyperbaton", *path.relative_to(SOURCES).with_suffix("").parts]).removesuffix(".__init__")
        try:
            loaded = importlib.import_module(module)
        except ImportError:  # of an extra that is not installed
            continue
        for name, value in vars(loaded).items():
            values = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            for one in values:
                if isinstance(one, re.Pattern) and isinstance(one.pattern, str):
                    yield Found(f"{module}.{name}", one, methods_by_name().get(name, set()))


def literal() -> Iterator[Found]:
    """Expressions used inline; a letter marks the place of the inserted text."""
    for path, source in sources().items():
        tree = ast.parse(source if "import re\n" in source else "")
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for node in {inner: None for outer in functions for inner in ast.walk(outer)}:
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
                continue
            function, text = node.func, _text(node.args[0])
            if text is None or not (isinstance(function.value, ast.Name) and function.value.id == "re"):
                continue
            if function.attr in (*METHODS, "compile"):
                flags = re.DOTALL if "DOTALL" in ast.unparse(node) else re.NOFLAG
                where = f"{path.relative_to(SOURCES)}:{node.lineno}"
                yield Found(where, re.compile(text, flags), {function.attr} & set(METHODS))


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "x" for part in node.values)
    return None


def expressions() -> dict[str, Found]:
    """All of them, each once."""
    found: dict[str, Found] = {}
    for one in (*compiled(), *literal()):
        known = found.setdefault(f"{one.pattern.pattern}\n{one.pattern.flags}", one)
        known.methods |= one.methods
    return {one.where: one for one in found.values()}


def samples(items: Any, pattern: re.Pattern[str]) -> list[str]:
    """A few short texts that the parts of an expression match."""
    texts = [""]
    for item in items:
        texts = [before + after for before in texts[:3] for after in _of(item, pattern)][:8]
    return texts


def _of(item: Any, pattern: re.Pattern[str]) -> list[str]:
    operator, value = item
    if operator is ops.LITERAL:
        return [chr(value)]
    if operator in (ops.IN, ops.ANY, ops.NOT_LITERAL):
        return _characters(item, pattern)[:6] or [""]
    if operator in _REPEATS:
        least, _, inside = value
        return [text * max(least, 1) for text in samples(inside, pattern)] + ([""] if least == 0 else [])
    if operator is ops.BRANCH:
        return [text for branch in value[1] for text in samples(branch, pattern)[:2]]
    if operator is ops.SUBPATTERN:
        return samples(value[3], pattern)
    if operator is ops.ATOMIC_GROUP:
        return samples(value, pattern)
    return [""]  # what looks around, and the ends of lines


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


_SETS = (ops.IN, ops.ANY, ops.LITERAL, ops.NOT_LITERAL)


def _characters(item: Any, pattern: re.Pattern[str]) -> list[str]:
    """Characters that match a set of an expression: one for each combination of its sets that have it."""
    one = _compiled(item, pattern)
    return [char for char in kinds(pattern) if one.fullmatch(char)]


@cache
def kinds(pattern: re.Pattern[str]) -> list[str]:
    """One character for each combination of the sets of an expression that have it."""
    sets = [_compiled(item, pattern) for item in _all_sets(parser.parse(pattern.pattern, pattern.flags))]
    chars = dict.fromkeys(KINDS + re.sub(r"\\.", "", pattern.pattern))
    return list({tuple(one.fullmatch(char) is not None for one in sets): char for char in reversed(chars)}.values())


def _all_sets(items: Any) -> Iterator[Any]:
    for operator, value in items:
        if operator in _SETS:
            yield operator, value
        for part in value if isinstance(value, tuple | list) else [value]:
            for inside in part if isinstance(part, list) else [part]:
                if isinstance(inside, parser.SubPattern):
                    yield from _all_sets(inside)


_known_sets: dict[tuple[str, re.Pattern[str]], re.Pattern[str]] = {}


def _compiled(item: Any, pattern: re.Pattern[str]) -> re.Pattern[str]:
    if (repr(item), pattern) in _known_sets:
        return _known_sets[repr(item), pattern]
    state = parser.State()
    state.flags, state.str = pattern.flags, ""
    made: re.Pattern[str] = re._compiler.compile(parser.SubPattern(state, [item]))  # type: ignore[attr-defined]
    return _known_sets.setdefault((repr(item), pattern), made)


def attacks(items: Any, pattern: re.Pattern[str], before: str = "") -> Iterator[tuple[str, str]]:
    """The first part, and the repeated part: for each repetition of an expression, and for its beginnings."""
    for item in items:
        operator, value = item
        if operator in _REPEATS:
            inside = value[2]
            for pump in (
                _characters(inside[0], pattern) if len(inside) == 1 and inside[0][0] in _SETS else samples(inside, pattern)
            ):
                if pump:
                    yield before, pump
                    yield "", before + pump
            yield from attacks(inside, pattern, before)
        elif operator is ops.SUBPATTERN:
            yield from attacks(value[3], pattern, before)
        elif operator is ops.ATOMIC_GROUP:
            yield from attacks(value, pattern, before)
        elif operator is ops.BRANCH:
            for branch in value[1]:
                yield from attacks(branch, pattern, before)
        own = [text for text in _of(item, pattern) if text] or [""]
        before += own[0]
        if before:
            yield "", before


def seconds(use: Callable[[str], object], text: str, repeats: int = 1) -> float:
    """The processor time of a use: the least of several."""
    times = []
    for _ in range(repeats):
        with at_most(LIMIT):
            start = time.thread_time()
            use(text)
            times.append(time.thread_time() - start)
    return min(times)


def slow_text(found: Found) -> str | None:
    """A text on which the time of an expression grows faster than its length, shown by its parts."""
    pattern = found.pattern
    uses: list[Callable[[str], object]] = [
        getattr(pattern, name) for name in ("match", "fullmatch") if name in found.methods
    ]
    if not found.methods or found.methods - {"match", "fullmatch"}:
        uses = [lambda text: sum(1 for _ in pattern.finditer(text))]
    parsed = parser.parse(pattern.pattern, pattern.flags)
    for first, pump in dict.fromkeys(attacks(parsed, pattern)):
        for last in ("\x00", ""):
            short, long = (first + pump * (n // len(pump) + 1) + last for n in LENGTHS)
            for use in uses:
                if _grows(use, short, long):
                    return f"{first!r} + {pump!r} * n + {last!r}"
    return None


def _grows(use: Callable[[str], object], short: str, long: str) -> bool:
    """Whether the time of a use grows faster than its text."""
    try:
        before = seconds(use, short)
        if before < FAST or seconds(use, long) < GROWTH / 2 * before:
            return False
        # On a busy machine one figure says little.
        return seconds(use, long, 3) > GROWTH * seconds(use, short, 5)
    except _TooSlow:
        return True


@pytest.mark.parametrize("found", [pytest.param(one, id=where) for where, one in expressions().items()])
def test_time_grows_with_the_length_of_the_text(found: Found) -> None:
    text = slow_text(found)
    assert text is None, f"{found.where}: {found.pattern.pattern!r} is slow on {text}"


@pytest.mark.parametrize(
    ("pattern", "method", "is_slow"),
    [
        ("a+b", "search", True),
        ("a+b", "match", False),
        (r"(?<!a)a++b", "search", False),
        (r"\s+[\s(]*x", "match", True),
        (r"\s++[\s(]*x", "match", False),
        ("<!--.*?-->", "sub", True),
        ("<[^<>]*>", "sub", False),
        (r"(?:a|a\w)+$", "match", True),
    ],
)
def test_slow_expressions_are_found(pattern: str, method: str, is_slow: bool) -> None:
    assert (slow_text(Found("here", re.compile(pattern), {method})) is not None) == is_slow
