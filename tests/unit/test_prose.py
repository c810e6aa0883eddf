"""The prose check finds tics in the prose of pages and sources, at their lines, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.prose import MAX_WORDS, TICS, check, main

PAGE = r"""# Of its own

A paragraph that ends behind
the line, so
many words.

- An item with `code of its own`
- What is left is a clause

| a cell, that one | a [link](of-its-own.md) |
|---|---|

```sh
echo behind
```
"""
PYTHON = r'''"""Whoever reads this.

>>> print("behind")
behind
"""
PATTERN = r"so many"
DATA = """
so many
"""
# The same, for
# another.
raise ValueError(f"{so} many of its own: {behind}")  # nobody
'''
CPP = r"""// The same, once more.
constexpr char kQuote = '"';  // behind
throw Error("whoever did it");
throw Error("is " + a + ", that" + so + many + " is of its own");
int behind = so(many);
"""


def findings(tmp_path: Path, name: str, text: str) -> list[str]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return [finding.removeprefix(f"{path}:").partition(";")[0] for finding in check(path)]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "page.md",
            PAGE,
            ["3: 'behind'", "4: 'so many'", "8: 'What is left is a clause'", "10: ', that '"],
        ),
        ("code.py", PYTHON, ["1: 'Whoever'", "10: 'The same'", "12: 'of its own'", "12: 'nobody'"]),
        ("code.cc", CPP, ["1: 'The same'", "2: 'behind'", "3: 'whoever'", "4: 'of its own'"]),
    ],
)
def test_tics_are_found_in_prose_alone(tmp_path: Path, name: str, text: str, expected: list[str]) -> None:
    assert findings(tmp_path, name, text) == expected


def test_long_sentences(tmp_path: Path) -> None:
    sentence = "word " * MAX_WORDS
    assert findings(tmp_path, "page.md", f"Short. {sentence}\n\n{sentence}") == []
    assert findings(tmp_path, "page.md", f"Short.\n{sentence} more.") == [f"1: a sentence of {MAX_WORDS + 1} words"]
    branches = "├── Name   a few words\n" * MAX_WORDS
    assert findings(tmp_path, "code.py", f'"""A tree.\n\n{branches}"""') == []


def test_each_finding_has_a_suggestion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "page.md").write_text("It comes behind.\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{tmp_path}/page.md:1: 'behind'; {TICS[0][1]}\n"
    (tmp_path / "page.md").write_text("It comes after. The service runs behind a proxy.\n", encoding="utf-8")
    assert main([str(tmp_path)]) == 0 and not capsys.readouterr().out
