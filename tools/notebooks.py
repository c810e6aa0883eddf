"""Run notebooks and write their outputs into them: `python -m tools.notebooks examples/movements.ipynb`.

A cell has the outputs that Jupyter would give it: what it prints, and every form of its last value. Only the standard
library is needed, so the tests can run notebooks as well.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_", "image/png": "_repr_png_"}


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does; returns the value of its last line if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # type: ignore[attr-defined]


def outputs(source: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Run a cell and return its outputs, in the format of notebooks."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        value = run(source, names)
    shown: list[dict[str, Any]] = []
    if text := printed.getvalue():
        shown.append({"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        forms = {form: getattr(value, method)() for form, method in FORMS.items() if hasattr(value, method)}
        data = {"text/plain": repr(value), **{form: text for form, text in forms.items() if text is not None}}
        lines = {form: text.splitlines(keepends=True) for form, text in sorted(data.items())}
        shown.append({"data": lines, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return shown


def write(path: Path) -> None:
    """Run the cells of a notebook and store their outputs."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, start=1):
        cell |= {"execution_count": number, "outputs": outputs("".join(cell["source"]), names, number)}
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write(Path(name))
