"""The start page of the service in a browser: a translator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from hyperbaton.decode import System
from hyperbaton.serve.engine import Engine
from tests.unit.services import running
from tests.unit.test_explore import opened


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_translator(chromium: Any, german: System, moses: System, width: int, scheme: str, tmp_path: Path) -> None:
    from playwright import sync_api  # there is a browser, so it is installed

    sync_api.expect.set_options(timeout=60_000)
    engines = [Engine("german", german, "de", "en"), Engine("moses", moses, "en", "de")]
    with running(engines) as service, opened(chromium, f"{service.url}/", width, scheme) as page:
        page.wait_for_selector("#source option[value=de]", state="attached")
        assert page.locator("#source").inner_text().split("\n") == ["English", "German", "Detect language"]
        page.select_option("#source", "de")
        page.keyboard.press("Tab")
        page.focus("#text")
        page.keyboard.type("Ja!\ndas Haus")  # translated without a button
        sync_api.expect(page.locator("#output")).to_have_text("Yes! the house")
        assert page.get_attribute("#output", "lang") == "en"
        box = page.locator("#output").bounding_box()
        assert box["y"] + box["height"] <= 844  # without scrolling
        asked = {"text": "Ja!\ndas Haus", "source": "de", "target": "en", "nbest": 6}
        answer = service.ask("/v1/translate", asked)[1]["translations"][0]
        texts = list(dict.fromkeys(path["text"] for path in answer["sentences"][1]["nbest"]))
        page.locator("#output .sentence").nth(1).press("Enter")
        page.wait_for_selector("#alternatives > *")
        assert page.locator("#alternatives li").all_inner_texts() == (texts if len(texts) > 1 else [])
        if len(texts) > 1:
            page.click(f"#alternatives li:nth-child({len(texts)}) button")
            sync_api.expect(page.locator("#output")).to_have_text(f"Yes! {texts[-1]}")
        page.keyboard.press("Escape")
        assert page.locator("#alternatives > *").count() == 0
        page.click("#copy")
        page.wait_for_selector("#copy:text-is('Copied')")
        (tmp_path / "a.txt").write_text("das Haus\n")
        with page.expect_download() as download:
            page.set_input_files("#file", tmp_path / "a.txt")
        assert download.value.suggested_filename == "a.en.txt"
        assert Path(download.value.path()).read_text() == "the house\n"
        text = page.locator("#output").inner_text()
        page.click("#swap")
        page.wait_for_selector("#output[lang=de]")
        assert page.input_value("#text") == text and page.input_value("#source") == "en"
        page.select_option("#source", "auto")
        page.select_option("#target", "en")
        page.fill("#text", "das Haus")
        page.wait_for_selector("text=Detected: German")
        page.fill("#text", "")
        sync_api.expect(page.locator("#output")).to_have_text("")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
