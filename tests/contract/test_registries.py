"""The contract of plug-ins of every registry: a name, a description, options that can be stored and restored."""

from __future__ import annotations

import dataclasses
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import hyperbaton
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import options_of
from hyperbaton.base.registry import Registry

LIBRARIES = {"serve": "starlette"}  # by the folder that needs one
DECLARATION = re.compile(r"^([A-Z]+): Registry\[", re.MULTILINE)


def registries() -> list[Registry[Any]]:
    """All registries of the package, found where they are declared."""
    root = Path(hyperbaton.__file__).parent
    found = []
    for file in sorted(root.rglob("*.py")):
        for name in DECLARATION.findall(file.read_text(encoding="utf-8")):
            parts = file.relative_to(root).with_suffix("").parts
            if parts[0] in LIBRARIES and importlib.util.find_spec(LIBRARIES[parts[0]]) is None:
                continue
            module = ".".join(["hyperbaton", *(part for part in parts if part != "__init__")])
            found.append(getattr(importlib.import_module(module), name))
    return found


REGISTRIES = {registry.kind: registry for registry in registries()}
PLUGINS = [(kind, name) for kind, registry in REGISTRIES.items() for name in registry]
WITH_OPTIONS = [(kind, name) for kind, name in PLUGINS if dataclasses.is_dataclass(REGISTRIES[kind][name])]


def test_registries_are_found_and_not_empty() -> None:
    assert {
        "model",
        "learner",
        "metric",
        "aligner",
        "optimizer",
        "smoothing",
        "minimizer",
        "tokenizer",
    } <= REGISTRIES.keys()
    assert {kind for kind, _ in PLUGINS} == REGISTRIES.keys()


@pytest.mark.parametrize(("kind", "name"), PLUGINS)
def test_a_name_is_a_documented_class(kind: str, name: str) -> None:
    registry = REGISTRIES[kind]
    cls = registry[name]
    assert issubclass(cls, registry.base) and cls is registry[name.replace("_", "-").upper()]
    assert cls.__doc__ != registry.base.__doc__ and len(registry.describe(name)) > 10
    assert registry.describe(name).endswith((".", ":", ")")), registry.describe(name)


@pytest.mark.parametrize("kind", REGISTRIES)
def test_unknown_names_are_refused_with_the_nearest_one(kind: str) -> None:
    registry = REGISTRIES[kind]
    name = max(registry.names(), key=len)
    with pytest.raises(OptionError, match=rf"unknown {kind} '{name}x' \(did you mean {name}\?\); known: "):
        registry[f"{name}x"]


@pytest.mark.parametrize(("kind", "name"), WITH_OPTIONS)
def test_options_are_explained_checked_and_come_back_from_text(kind: str, name: str) -> None:
    registry = REGISTRIES[kind]
    options = options_of(registry[name])
    assert len({opt.flag for opt in options}) == len(options)
    for opt in options:
        assert opt.help and not opt.help.endswith("."), opt
        assert opt.check(opt.default) == opt.default
    plugin = registry.make(name)
    assert registry.text(plugin) == name and registry.name_of(plugin) == name
    copied = registry.make(plugin)
    assert copied is not plugin and registry.text(copied) == name
    with pytest.raises(OptionError, match="unknown option 'no-such-option'"):
        registry.make(f"{name}:no-such-option=1")
    for opt in options:
        if opt.type is int and opt.plugins is None:
            other = opt.default + 1 if opt.maximum is None or opt.default < opt.maximum else opt.default - 1
            text = f"{name}:{opt.flag}={other}"
            assert registry.text(registry.make(text)) == text
            if opt.minimum is not None:
                with pytest.raises(OptionError, match=f"{opt.flag} must be at least"):
                    registry.make(f"{name}:{opt.flag}={int(opt.minimum) - 1}")
