"""Pages whose code is run: cells of shell and Python in order, with the output on the page.

`python -m tests.docs.cells docs/tutorial.md` runs a page and writes the current output below each cell.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.docs.shell import Shell, shell
from tests.forks import forks

DOCS = Path(__file__).parents[2] / "docs"

_FENCE = re.compile(r'^```(\w*)(?: title="([^"]*)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


class Block(NamedTuple):
    """A fenced block: its language, its title ("" if it has none), its text."""

    language: str
    title: str
    text: str


class Cell(NamedTuple):
    """A cell of code, and the output below it; None if there is none."""

    code: Block
    output: str | None


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    return [Block(*match) for match in _FENCE.findall(page.read_text(encoding="utf-8"))]


def cells(page: Path) -> Iterator[Cell]:
    """The cells of a page; a block of text is the output of the cell above it."""
    in_page = blocks(page)
    for block, below in zip(in_page, [*in_page, None][1:], strict=True):
        if block.language in ("sh", "python") and not block.title:
            yield Cell(block, below.text if below and below.language == "text" else None)


def write_files(page: Path, folder: Path) -> None:
    """Write the files that a page shows: the blocks whose title is a name."""
    for block in blocks(page):
        if block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")


def run(cell: Cell, folder: Path, names: dict[str, object], bash: Shell) -> str:
    """Run a cell in a folder, Python with the names of the cells before it; returns what it printed."""
    if cell.code.language == "sh":
        return bash.run(cell.code.text, folder)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(_with_checks(cell.code.text), "cell", "exec"), names)
    return printed.getvalue()


def _with_checks(code: str) -> ast.Module:
    """Code whose expressions are compared with the comment after them, if that is a value: `len(text)  # 12`."""
    tree, lines = ast.parse(code), code.splitlines()
    for i, statement in enumerate(tree.body):
        if isinstance(statement, ast.Expr):
            comment = lines[(statement.end_lineno or 0) - 1][statement.end_col_offset :].strip().removeprefix("# ")
            with contextlib.suppress(ValueError, SyntaxError):
                ast.literal_eval(comment)
                written = ast.unparse(statement.value)
                check = f"assert ({written}) == ({comment}), ({written})"
                tree.body[i] = ast.copy_location(ast.parse(check).body[0], statement)
    return ast.fix_missing_locations(tree)


def alike(output: str, printed: str, tolerance: float = 0.05) -> bool:
    """Whether two texts are equal except for numbers, which may differ slightly between machines.

    >>> alike("BLEU 20.1", "BLEU 20.2"), alike("BLEU 20.1", "BLEU 30.2"), alike("BLEU 20.1", "TER 20.1")
    (True, False, False)
    """
    if _NUMBER.sub("#", output.strip()) != _NUMBER.sub("#", printed.strip()):
        return False
    pairs = zip(_NUMBER.findall(output), _NUMBER.findall(printed), strict=True)
    values = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= max(tolerance * abs(a), 0.05) for a, b in values)


def refresh(page: Path) -> None:
    """Write the current output of a page's cells below each of them."""
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), forks() as python, shell(python) as bash:
        write_files(page, Path(folder))
        for cell in cells(page):
            printed = run(cell, Path(folder), names, bash)
            code = f"```{cell.code.language}\n{cell.code.text}```\n"
            old = code if cell.output is None else f"{code}\n```text\n{cell.output}```\n"
            text = text.replace(old, f"{code}\n```text\n{printed}```\n" if printed else code, 1)
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        refresh(Path(name).resolve())
