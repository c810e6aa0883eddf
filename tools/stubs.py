"""Write the stubs of registries, so that type checkers know the class of each plug-in by its name.

`make stubs` after a plug-in of one of these registries was added, renamed or removed. A program that says
`MODELS["dpr"](orientations="five")` is then checked against the options of that model.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
# Where each registry is made, and its name there.
REGISTRIES = {"hyperbaton.learn._registry": "LEARNERS", "hyperbaton.models._registry": "MODELS"}


def path_of(module: str) -> Path:
    """Where the stub of a module is."""
    return SOURCES / f"{module.replace('.', '/')}.pyi"


def stub(module: str, name: str) -> str:
    """The text of the stub of a registry: one overload for each name, and one for any other."""
    registry = getattr(importlib.import_module(module), name)
    own = [plugin for plugin in registry.names() if registry[plugin].__module__ == f"{registry.package}.{plugin}"]
    classes = [registry[plugin] for plugin in own]
    base = registry.base
    kind = f"_{name.capitalize()}"
    lines = [
        '"""Written by `make stubs`."""',
        "",
        "from typing import Literal, overload",
        "",
        "from hyperbaton.base.registry import Registry",
        *sorted(f"from {cls.__module__} import {cls.__name__}" for cls in [base, *classes]),
        "",
        f"class {kind}(Registry[{base.__name__}]):",
    ]
    for plugin, cls in zip(own, classes, strict=True):
        spellings = sorted({plugin, plugin.replace("_", "-")}, reverse=True)
        literal = ", ".join(f'"{spelling}"' for spelling in spellings)
        lines += ["    @overload", f"    def __getitem__(self, name: Literal[{literal}]) -> type[{cls.__name__}]: ..."]
    lines += ["    @overload", f"    def __getitem__(self, name: str) -> type[{base.__name__}]: ...", ""]
    return "\n".join([*lines, f"{name}: {kind}", ""])


def main() -> None:
    """Write all stubs."""
    for module, name in REGISTRIES.items():
        path_of(module).write_text(stub(module, name), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
