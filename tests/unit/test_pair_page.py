"""The page of linked sentence pairs: complete, escaped, usable in a browser, wide and narrow."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align import Aligner, StoredScores
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.report.pair_page import choose_shown, pair_page
from tests.clocks import PATIENCE
from tests.program import hyperbaton


def page(n: int = 4) -> tuple[Bitext, StoredScores, str]:
    bitext = generate(60, seed=1).bitext
    links = bitext.need_links()
    scores = Aligner().fit(bitext).score(bitext)
    pair_scores = StoredScores(scores.logprobs, scores.confidences, links.offsets)
    return bitext, pair_scores, pair_page(bitext, pair_scores, list(range(n)), "a < b")


def test_the_page_has_every_word_and_link_and_loads_nothing() -> None:
    bitext, _, text = page()
    assert text.count("<article>") == 4 and "a &lt; b" in text
    assert not re.search(r'(?:src|href)="', text)
    links = [json.loads(html.unescape(value)) for value in re.findall(r'data-links="([^"]*)"', text)]
    assert [[(i, j) for i, j, _ in rows] for rows in links] == [bitext.need_links()[s] for s in range(4)]
    assert text.count('<li class="word') == sum(len(bitext.source[s]) + len(bitext.target[s]) for s in range(4))


def test_odd_words_are_escaped_and_empty_sides_marked() -> None:
    bitext = Bitext.of(["</script> \"&'", ""], ["<b> x", "y"], [[(0, 0)], []])
    scores = StoredScores(np.array([[-1.0, -2.0], [np.nan, np.nan]]), np.array([0.5]), bitext.need_links().offsets)
    text = pair_page(bitext, scores, [0, 1], "t")
    assert text.count("</script>") == 1 and "<b> x" not in text and "&lt;b&gt;" in text
    assert "an empty line" in text and "no score" in text


def test_choice() -> None:
    gains = np.array([0.5, -2.0, np.nan, 0.1, 3.0])
    assert choose_shown(gains, 3, worst=True) == [2, 1, 3]
    drawn = choose_shown(gains, 3, seed=1)
    assert len(drawn) == 3 and drawn == choose_shown(gains, 3, seed=1)
    assert choose_shown(gains, 99) == [2, 1, 3, 0, 4]


def test_the_verb(tmp_path: Path) -> None:
    bitext = generate(40, seed=2).bitext
    for name, part in (("s", bitext.source), ("t", bitext.target), ("l", bitext.need_links())):
        (tmp_path / name).write_bytes(b"".join(part.pieces()))
    files = [tmp_path / name for name in "stl"]
    done = hyperbaton("inspect", *files, "--sample", "5", "--worst", "-o", tmp_path / "page.html")
    assert (done.returncode, done.stdout) == (0, "") and done.stderr == f"wrote {tmp_path}/page.html\n"
    lines = re.findall(r"line <b>(\d+)</b>", (tmp_path / "page.html").read_text())
    gains = re.findall(r"gain <b>([^<]*)</b>", (tmp_path / "page.html").read_text())
    values = [float(gain.replace("−", "-")) for gain in gains]
    assert len(lines) == 5 and values == sorted(values)


@pytest.mark.slow
def test_words_light_up_on_both_sides(tmp_path: Path, chromium: Any) -> None:
    _, _, text = page()
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    for width in (390, 1280):
        opened = chromium.new_page(viewport={"width": width, "height": 800})
        opened.set_default_timeout(1000 * PATIENCE)
        complaints: list[str] = []
        opened.on("pageerror", lambda error, errors=complaints: errors.append(str(error)))
        opened.goto((tmp_path / "page.html").as_uri())
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        first = opened.locator(".pair").first
        assert first.locator("path").count() == len(json.loads(first.get_attribute("data-links")))
        first.locator(".source .word:not(.unlinked)").first.hover()
        assert first.locator(".source .lit").count() == 1 and first.locator(".target .lit").count() >= 1
        assert first.locator("path.lit").count() == first.locator(".target .lit").count()
        assert complaints == []
        opened.close()
