"""Generated parts of pages are up to date, and the Python reference says something about every public name."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

for library in ("starlette", "machine"):
    pytest.importorskip(library, reason="pip install '.[dev]'")


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(DOCS / "hooks")
    return DOCS / "hooks"


@pytest.fixture
def write(hooks: Path) -> ModuleType:
    return importlib.import_module("write")


def test_generated_parts_are_current(write: ModuleType) -> None:
    stale = [path.relative_to(ROOT).as_posix() for path in write.stale()]
    assert not stale, f"run 'make docs-write': it changes {', '.join(stale)}"


def test_parts_are_replaced_whatever_is_in_them(write: ModuleType) -> None:
    page = write.filled("# T\n\n<!-- @list smoothings -->\n\nafter\n")
    assert page.startswith("# T\n\n<!-- @list smoothings -->\n\n| name |") and page.endswith("|\n\n<!-- /@ -->\n\nafter\n")
    assert write.filled(page) == page
    assert write.filled(page.replace("| name |", "<<<<<<< HEAD\n| name |\n=======")) == page
    assert write.filled(f"<!-- @list smoothings -->\n{page}").count("| name |") == 2  # the first has no end yet
    with pytest.raises(SystemExit, match=r"p\.md: nothing is called @lists; there are api, "):
        write.filled("<!-- @lists models -->\n", "p.md")


@pytest.mark.slow
def test_pictures_are_current(hooks: Path) -> None:
    pictures = importlib.import_module("pictures")
    drawn = pictures.draw()
    assert [name for name, text in drawn.items() if not pictures.is_current(name, text)] == [], "run 'make docs-write'"
    moved = drawn["pair"].replace('width="', 'width="9', 1)
    assert not pictures.is_current("pair", moved) and not pictures.is_current("pair", drawn["jumps"])


def test_pictures_are_small_and_the_same_on_every_machine() -> None:
    for path in (DOCS / "pictures").glob("*.svg"):
        text = path.read_text(encoding="utf-8")
        ElementTree.fromstring(text)
        assert len(text) < 32_000 and "prefers-color-scheme:dark" in text, path.name
        assert "Matplotlib v" not in text and "Noto" not in text, path.name


def entries(folder: str) -> dict[str, str]:
    """Heading and text of each entry on the page of a folder."""
    _, *parts = (DOCS / "api" / f"{folder}.md").read_text(encoding="utf-8").replace("\n### ", "\n## ").split("\n## ")
    return {heading.removeprefix("class "): text for heading, _, text in (part.partition("\n") for part in parts)}


def test_every_public_name_has_an_entry_that_says_what_it_does() -> None:
    for folder in ("align", "corpus", "decode", "explore", "integrations", "models", "run", "serve", "tune"):
        written = entries(folder)
        for name in importlib.import_module(f"hyperbaton.{folder}").__all__:
            assert name in written, f"{folder}.{name}"
        for name, text in written.items():
            words = "".join(text.split("```")[::2])  # what is not code
            is_constant = f"\n{name} = " in text
            assert is_constant or any(line and line[0] not in "|<" for line in words.splitlines()), f"{folder}.{name}"
    assert {f"OrientationModel.{name}" for name in ("fit", "predict_proba", "classes_")} <= set(entries("models"))
    index = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    for name in importlib.import_module("hyperbaton").__all__:
        assert name.startswith("__") or f"[`{name}`](" in index, name
