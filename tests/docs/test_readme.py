"""What the README shows, works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hyperbaton.cli import verbs
from hyperbaton.data import generate

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_five_lines_of_python_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bitext = generate(100, seed=1).bitext
    for name, part in (("zh", bitext.source), ("en", bitext.target), ("links", bitext.need_links())):
        (tmp_path / f"train.{name}").write_bytes(b"".join(part.pieces()))
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line]) <= 5
    seen: dict[str, object] = {}
    exec(code, seen)
    assert len(seen["samples"]) == len(seen["classes"]) > 1000  # type: ignore[arg-type]


def test_commands_and_links_exist() -> None:
    for verb in re.findall(r"^hyperbaton ([a-z-]+)", README, re.MULTILINE):
        assert verb in verbs(), verb
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target
    for target in re.findall(r"^make ([a-z]+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
