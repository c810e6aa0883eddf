"""Take the screenshots of the documentation's first page: report, explorer and translator, from a finished run.

    hyperbaton demo
    python tools/screenshots.py demo

Needs Chromium and the extra `dev`. The pictures are written to docs/pictures, as WebP, light and in the size of a column.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
HYPERBATON = [sys.executable, "-m", "hyperbaton"]
WIDTH, SHOWN = 1280, 960
# Japanese punctuation is a box where no font has it.
PUNCTUATION = """() => {
  const plain = text => text.replaceAll("、", ",").replaceAll("。", ".");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = plain(texts.currentNode.data);
  for (const area of document.querySelectorAll("textarea")) area.value = plain(area.value);
}"""


def main(run: Path) -> None:
    """Take all screenshots from the folder of a run."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    system = next(run.glob("stages/tune.dpr.1-*/system"))
    source = next(run.glob("stages/corpus-*/test.source")).read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        page = Path(name) / "explore.html"
        subprocess.run([*HYPERBATON, "explore", run, "-o", page, "--sentences", "30", "--quiet"], check=True)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, "report", (run / "report" / "index.html").as_uri(), show_results)
        take(browser, "explore", page.as_uri())
        command = [*HYPERBATON, "serve", f"ja-en={system}", "--port", "0", "--quiet"]
        with subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True) as server:
            try:  # its first line: listening at http://…
                address = next(word for line in server.stdout or () for word in line.split() if word.startswith("http"))
                long = next(line for line in source if 9 <= len(line.split()) <= 12)
                take(browser, "translator", address, lambda opened: translate(opened, long), height=440)
            finally:
                server.terminate()
        browser.close()


def take(browser: Any, name: str, address: str, prepare: Callable[[Any], None] = lambda _: None, height: int = 800) -> None:
    """Open a page, prepare it, and write what its window shows."""
    opened = browser.new_page(viewport={"width": WIDTH, "height": height})
    opened.goto(address)
    prepare(opened)
    opened.wait_for_timeout(1000)
    opened.evaluate(PUNCTUATION)
    picture = Image.open(io.BytesIO(opened.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.webp"
    picture.resize((SHOWN, SHOWN * height // WIDTH), Image.Resampling.LANCZOS).save(path, quality=80, method=6)
    print(path, path.stat().st_size)


def show_results(opened: Any) -> None:
    """Scroll to the main result of a report."""
    opened.evaluate("document.querySelector('#translation')?.scrollIntoView()")


def translate(opened: Any, sentence: str) -> None:
    """Type a sentence into the translator, and wait for its translation."""
    opened.locator("textarea").first.fill(sentence)
    opened.wait_for_timeout(4000)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
