"""The Python reference has every public class and function, and each of them says what it does."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs" / "hooks"), *sys.path])
    return importlib.import_module("api")


def test_every_public_name_has_its_entry(api: ModuleType) -> None:
    for folder, module in api.folders().items():
        text = api.page(f"api/{folder}.md")
        for name, value in api.public(module).items():
            assert f"\n## {name} {{: #{name} }}" in text, f"{folder}.{name}"
            assert not inspect.isclass(value) or value.__doc__, f"{folder}.{name}"
    models = api.page("api/models.md")
    for method in ("fit", "predict_proba", "sample_logprobs", "classes_"):
        assert f"### OrientationModel.{method} " in models, method
    index = api.index()
    for name in api.public(importlib.import_module("hyperbaton")):
        assert name.startswith("__") or f"#{name})" in index, name


def test_every_folder_of_the_interface_has_a_page(api: ModuleType) -> None:
    assert {"align", "corpus", "decode", "explore", "integrations", "models", "run", "serve", "tune"} <= set(api.folders())


def test_every_entry_says_what_it_does(api: ModuleType) -> None:
    silent = []
    for folder in api.folders():
        _, *entries = api.page(f"api/{folder}.md").split("\n## ")
        for part in (part for entry in entries for part in entry.split("\n### ")):
            heading, _, text = part.partition("\n")
            name = heading.partition(" ")[0]
            words = "".join(text.split("```")[::2])  # what is no code
            is_constant = f"\n{name} = " in text
            if not is_constant and not any(line and not line.startswith("|") for line in words.splitlines()):
                silent.append(f"{folder}.{name}")
    assert silent == []
