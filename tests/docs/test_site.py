"""The documentation builds without a warning, and has a place for everything that the program knows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hyperbaton.cli import verbs
from hyperbaton.features import FEATURES
from hyperbaton.learn import LEARNERS
from hyperbaton.metrics import METRICS
from hyperbaton.models import MODELS
from hyperbaton.phrases import ORIENTATIONS

pytest.importorskip("mkdocs", reason="pip install 'hyperbaton[docs]'")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def page(site: Path, name: str) -> str:
    return (site / f"{name}.html").read_text(encoding="utf-8")


def test_every_plugin_has_its_page_or_row(site: Path) -> None:
    index = page(site, "models/index")
    for name in MODELS:
        assert f'href="{name}.html"' in index, name
        assert "<th>option</th>" in page(site, f"models/{name}"), name
    for name in LEARNERS:
        assert re.search(rf"<h3[^>]*>[^<]*\b{name}\b", page(site, "learners")), name
    for kind, where in ((FEATURES, "features"), (METRICS, "metrics"), (ORIENTATIONS, "extract")):
        for name in kind:
            assert f"<td><code>{name}</code></td>" in page(site, where), name


def test_every_verb_is_in_the_reference_with_its_options(site: Path) -> None:
    reference = page(site, "commands")
    for verb in verbs():
        assert f'<h2 id="{verb}">' in reference, verb
    for flag in ("--json", "--distortion-limit", "--orientations"):
        assert f"<code>{flag}</code>" in reference, flag


def test_pages_load_nothing_from_elsewhere_and_hold_no_unfinished_formula(site: Path) -> None:
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|<link[^>]* href)="https?://', text), file
        assert "arithmatex" not in text and "<!-- @" not in text, file
    assert "<math" in page(site, "models/sequence")


def test_every_page_can_be_reached(site: Path) -> None:
    index = page(site, "index")
    for source in (ROOT / "docs").rglob("*.md"):
        name = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in index or name == "index.html", name
