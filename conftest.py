"""Modules that cannot be imported fail the tests, except those of an optional extra that is not installed."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parent


def importing(library: str) -> list[str]:
    """The modules of the package that cannot be imported without a library."""
    imports = re.compile(rf"^(?:import|from) {library}\b", re.MULTILINE)
    return [str(file) for file in ROOT.glob("src/**/*.py") if imports.search(file.read_text(encoding="utf-8"))]


# By the library that they need: the only files that may be passed over.
OPTIONAL = {
    "starlette": ["src/hyperbaton/serve/*", "tests/unit/test_serve*.py", "tests/unit/services.py"],
    "torch": ["src/hyperbaton/align/neural/training.py"],
    "machine": ["src/hyperbaton/integrations/*", "tests/unit/test_sil_machine.py"],
}
collect_ignore_glob = [file for library, files in OPTIONAL.items() if find_spec(library) is None for file in files]
collect_ignore = [] if find_spec("torch") else importing("torch")
