"""The documentation builds without a warning, and covers every plug-in and command."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.cli import verbs
from hyperbaton.features import FEATURES
from hyperbaton.learn import LEARNERS
from hyperbaton.metrics import METRICS
from hyperbaton.models import MODELS
from hyperbaton.phrases import ORIENTATIONS
from tests.clocks import PATIENCE
from tests.once import made_once

pytest.importorskip("mkdocs", reason="pip install 'hyperbaton[docs]'")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
        settings = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=settings)
        assert done.returncode == 0, done.stdout + done.stderr

    return made_once(tmp_path_factory, "site", build)


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
        assert f'href="commands/{verb}.html"' in reference, verb
        assert f'<h1 id="{verb}">' in page(site, f"commands/{verb}"), verb
    for flag in ("--nbest", "--distortion-limit", "--source-trees"):
        assert f"<code>{flag} " in page(site, "commands/translate"), flag


def test_pages_load_nothing_from_elsewhere_and_hold_no_unfinished_formula(site: Path) -> None:
    for file in site.rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|<link[^>]* href)="https?://', text), file
        assert "arithmatex" not in text, file
    assert "<math" in page(site, "models/sequence")


def test_every_page_can_be_reached(site: Path) -> None:
    index = page(site, "index")
    for source in (ROOT / "docs").rglob("*.md"):
        name = source.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert f'href="{name}"' in index or name == "index.html", name


def test_navigation_has_every_page_once(site: Path) -> None:
    links = re.findall(r'href="([^"#]+\.html)" class="md-nav__link"', page(site, "index"))
    assert len(links) > 100 and len(links) == len(set(links))


def test_search_box_works_on_pages_opened_from_disk(site: Path, chromium: Any) -> None:
    opened = chromium.new_page(viewport={"width": 1280, "height": 900})
    opened.set_default_timeout(1000 * PATIENCE)
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    opened.goto((site / "models" / "pair.html").as_uri())
    opened.locator(".md-search__input").click()
    opened.keyboard.type("perplexity")
    opened.locator(".md-search-result__link").first.wait_for(timeout=1000 * PATIENCE)
    addresses = [link.get_attribute("href") for link in opened.locator(".md-search-result__link").all()]
    assert any("lm.html" in address for address in addresses)
    assert complaints == []
    opened.close()


def test_no_page_is_wider_than_a_phone(site: Path, chromium: Any) -> None:
    """One page is opened, and shows the content of each of them."""
    show = """html => {
        const page = new DOMParser().parseFromString(html, "text/html");
        document.querySelector(".md-main__inner").replaceWith(page.querySelector(".md-main__inner"));
        for (const table of document.querySelectorAll(".md-content table:not([class])")) {
            const [scrolled, inner] = [document.createElement("div"), document.createElement("div")];
            [scrolled.className, inner.className] = ["md-typeset__scrollwrap", "md-typeset__table"];
            table.replaceWith(scrolled);  // as the site's script does
            scrolled.append(inner);
            inner.append(table);
        }
        return document.documentElement.scrollWidth;
    }"""
    opened = chromium.new_page(viewport={"width": 390, "height": 844})
    opened.set_default_timeout(1000 * PATIENCE)
    opened.goto((site / "index.html").as_uri())
    files = sorted(site.rglob("*.html"))
    wide = {file.name for file in files if opened.evaluate(show, file.read_text(encoding="utf-8")) > 390}
    assert not wide
    assert opened.evaluate(show, '<div class="md-main__inner"><div style="min-width: 900px">wide</div></div>') > 390
    opened.close()


def test_pictures_follow_the_page_into_the_dark(site: Path, chromium: Any) -> None:
    """The corner of a picture is paper: light on a light page, dark on a dark one."""
    corner = """picture => {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = 1;
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0);
        return [...context.getImageData(0, 0, 1, 1).data];
    }"""
    for scheme in ("light", "dark"):
        opened = chromium.new_page(color_scheme=scheme)
        opened.set_default_timeout(1000 * PATIENCE)
        # From disk, canvases may not be read: each picture is put into a separate page.
        for file in sorted((site / "pictures").glob("*.svg")):
            opened.set_content('<meta name="color-scheme" content="light dark"><img>')
            address = "data:image/svg+xml;base64," + base64.b64encode(file.read_bytes()).decode()
            opened.evaluate(
                "async address => { const i = document.images[0]; i.src = address; await i.decode(); }", address
            )
            red, green, blue, _ = opened.locator("img").evaluate(corner)
            assert (red + green + blue > 384) == (scheme == "light"), file.name
        opened.close()
