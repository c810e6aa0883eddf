"""No test compares a clock with anything: such a test fails on a busy machine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ALLOWED = {TESTS / "clocks.py"}  # what the tests use instead
CLOCKS = {f"{name}{end}" for name in ("monotonic", "perf_counter", "process_time", "thread_time") for end in ("", "_ns")}
# By the module: their names alone say little.
QUALIFIED = {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "timeit.timeit"}
SECONDS = {"ru_utime", "ru_stime"}  # fields of what getrusage returns


def clock_comparisons(source: str) -> list[int]:
    """Lines of comparisons with a clock, or with a variable computed from one."""
    if not any(name in source for name in CLOCKS | QUALIFIED | SECONDS):
        return []
    tree = ast.parse(source)
    scopes = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))]
    return sorted({line for scope in scopes for line in _in_scope(scope)})


def _in_scope(scope: ast.AST) -> Iterator[int]:
    times: set[str] = set()
    for _ in range(3):  # a variable may be computed from one that is computed from a clock
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    times.update(_timed_names(target, node.value, times))
            elif isinstance(node, ast.AugAssign | ast.NamedExpr | ast.AnnAssign) and node.value is not None:
                times.update(_timed_names(node.target, node.value, times))
    for node in ast.walk(scope):
        if isinstance(node, ast.Compare) and any(_is_time(side, times) for side in (node.left, *node.comparators)):
            yield node.lineno


def _timed_names(target: ast.expr, value: ast.expr, times: set[str]) -> Iterator[str]:
    """Names that an assignment gives a time."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from _timed_names(one, other, times)
    elif _is_time(value, times):
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _is_time(value: ast.expr, times: set[str]) -> bool:
    """Whether an expression is a time or arithmetic on one; what a call makes of a time is something else."""
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func)
        if name in QUALIFIED or name.rpartition(".")[2] in CLOCKS:
            return True
        return name in ("abs", "float", "int", "max", "min", "round", "sum") and any(_is_time(a, times) for a in value.args)
    if isinstance(value, ast.Name):
        return value.id in times
    if isinstance(value, ast.Attribute):
        return value.attr in SECONDS
    if isinstance(value, ast.Lambda):
        return False
    return any(_is_time(child, times) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr))


@pytest.mark.parametrize(
    "code",
    [
        "assert time.monotonic() - sent < 5",
        "sent = time.monotonic()\nassert perf_counter() - sent < 5",
        "before, started = 3, time.process_time()\nused = time.process_time() - started\nassert used < 30",
        "end = time.time() + 5\nwhile time.time() < end: pass",
        "spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime\nassert spent < 3",
        "def test(): assert (took := round(timeit.timeit(f), 1)) and took <= 1",
    ],
)
def test_comparisons_with_clocks_are_found(code: str) -> None:
    assert clock_comparisons(code)


@pytest.mark.parametrize(
    "code",
    [
        "job = Job(deadline=time.monotonic() - 1)\nassert job.result == 3",
        "assert processor_cost(call) < 1000",
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\nassert grown < 100",
        "process.wait(timeout=60)\nassert process.returncode == 0",
    ],
)
def test_other_code_is_left_alone(code: str) -> None:
    assert clock_comparisons(code) == []


def test_no_test_compares_a_clock() -> None:
    files = sorted(set(TESTS.rglob("*.py")) - ALLOWED)
    found = [f"{file.relative_to(TESTS)}:{line}" for file in files for line in clock_comparisons(file.read_text("utf-8"))]
    assert found == [], "wait for an event, count, or compare processor times: see tests/clocks.py"
