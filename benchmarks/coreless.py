"""Import the package on a machine that cannot build its core, to train networks with NumPy and PyTorch."""

from __future__ import annotations

import importlib.machinery
import sys
import types


def without_core() -> None:
    """Let the package be imported without its core; the training of networks needs only the errors defined there."""
    core = types.ModuleType("hyperbaton._core")
    core.__spec__ = importlib.machinery.ModuleSpec("hyperbaton._core", None)

    def missing(name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,), {})

    core.__getattr__ = missing  # type: ignore[method-assign]
    sys.modules["hyperbaton._core"] = core
