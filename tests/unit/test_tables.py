"""Tables for people never lose a digit, however narrow the terminal is."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest

from hyperbaton.cli._common import print_table

ROWS: list[dict[str, Any]] = [
    {"model": "lexicalized", "path": "a/b/c", "n": 1234567, "F1 d<0": 11.7, "F1 d≥5": 9.12345, "log p": -1.10447, "s": 0.1},
    {"model": "dpr", "path": "[x]", "n": 7654321, "F1 d<0": 36.6, "log p": -1.21549, "s": 1234.5},
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(rows: list[dict[str, Any]], columns: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stdout", terminal)
    print_table(rows)
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()


@pytest.mark.parametrize("columns", [200, 80, 60, 45, 30, 10])
def test_values_are_whole(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(ROWS, columns, monkeypatch)
    for row in ROWS:
        for name, value in row.items():
            assert any(name in line for line in lines) and any(str(value) in line for line in lines), (name, value, lines)
    if columns in (60, 45):  # still side by side
        assert any("1234567" in line and "7654321" in line for line in lines)


def test_long_texts_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    signature = "|".join(f"option{i}:value{i}" for i in range(9))
    lines = printed([{"metric": "BLEU", "value": 12.34, "signature": signature}], 60, monkeypatch)
    assert max(map(len, lines)) <= 60
    assert "".join(line.split("│")[3].strip() for line in lines if "│" in line) == signature


def test_rows_of_different_columns_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"a": 1, "b": 2}, {"a": 3, "c": 4}])
    assert capsys.readouterr().out == "a\tb\tc\n1\t2\t\n3\t\t4\n"
