"""The page that explores a run: its data, every view of it in a real browser, and the same page in front of the service."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hyperbaton.__main__ import main
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.corpus import Annotations, Text
from hyperbaton.evaluate.expectations import Visits, jump_reasons
from hyperbaton.explore import PageSelection, Run, collect, page, write_page
from hyperbaton.phrases import orientation_set
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import write_results
from hyperbaton.run.status import read_plan, write_plan
from tests.clocks import PATIENCE
from tests.stages import do_stages

EXPERIMENT: dict[str, Any] = {
    "title": "A run & <its> page",
    "corpus": {"generate": {"style": "japanese", "sentences": 260, "dev": 20, "test": 12}},
    "lm": {"order": 2},
    "models": {
        "msd": {"model": "lexicalized", "orientations": "msd", "direction": "bidirectional"},
        "dpr": {"orientations": "three"},
        "pair": {"learner": "lbfgs:max-passes=3"},
    },
    "translation": {
        "limits": [4],
        "metrics": ["bleu", "wer"],
        "samples": 10,
        "systems": {"both": ["msd", "pair"], "dpr": ["dpr"]},
        "tuning": {"iterations": 1},
        "decoding": {"pop-limit": 10, "stack": 10},
    },
}
VIEWS = ["sentence", "decisions", "what-if", "list", "corpus", "compare"]


# Most tests need a run of every stage, and a browser.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored")
    plan = make_plan(parse_experiment(EXPERIMENT, "explored.toml", folder))
    write_plan(plan, folder)
    do_stages(plan, folder)
    write_results(plan, folder)
    return folder


@pytest.fixture(scope="module")
def data(run: Path) -> dict[str, Any]:
    return collect(Run(run), PageSelection(sentences=8), others=[Run(run)])


@pytest.fixture(scope="module")
def page_address(data: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "page.html"
    write_page(path, data)
    return path.as_uri()


def test_data_are_those_of_the_run(run: Path, data: dict[str, Any]) -> None:
    output = Run(run).output("both")
    lines = (output.folder / "hypotheses").read_text(encoding="utf-8").splitlines()
    segments = [json.loads(line) for line in (output.folder / "segments.jsonl").read_text(encoding="utf-8").splitlines()]
    for sentence, line, derivation in zip(data["sentences"], lines, segments, strict=False):
        translation = sentence["translations"]["both"]
        assert " ".join(translation["target"]) == line
        assert [phrase["source"] for phrase in translation["phrases"]] == [
            part["source"] for part in derivation["segments"]
        ]
        assert abs(sum(translation["weighted"].values()) - translation["score"]) < 1e-3
        assert len(translation["expectations"]) == len(translation["phrases"])
        assert translation["nbest"][0]["target"] == translation["target"]
        assert sentence["reference"]["order"] and len(sentence["tags"]) == len(sentence["source"])
        assert 0 <= translation["order_loss"] <= 1 and set(translation["scores"]) == {"BLEU", "WER"}
    # msd looks both ways where it knows the phrases, before the first one there is none; pair says which word is next.
    steps = [sentence["translations"]["both"]["expectations"] for sentence in data["sentences"]]
    assert {tuple(one["model"] for one in step) for way in steps for step in way[1:]} >= {("msd", "msd", "pair"), ("pair",)}
    for way in steps:
        assert [one.get("side") for one in way[0]] in ([None], ["before", None])
        assert abs(sum(way[0][-1]["words"]) - 1) < 1e-4 and way[0][-1]["reference"] is not None
    assert all(expectation["reasons"] for way in steps for *_, expectation in way[:1])
    dpr = [one for step in data["sentences"][0]["translations"]["dpr"]["expectations"] for one in step]
    assert all(abs(sum(one["classes"].values()) - 1) < 1e-4 for one in dpr)
    names = ["training text", "test reference", "both", "dpr"]
    assert [row["name"] for row in data["corpora"]] == [*names, *(f"{run.name}: {name}" for name in names)]
    # d = 0 is the next word and forward is negative; a distortion is forward and positive.
    distortions = json.loads((run / "results.json").read_text(encoding="utf-8"))["movement"]["word_distortions"]
    assert data["corpora"][0]["distances"] == {str(-int(distortion)): n for distortion, n in distortions.items()}


def test_what_the_reference_did() -> None:
    visits = Visits([2, 0, 1, 4], 5)
    assert [visits.after(word) for word in (-1, 2, 4, 3)] == [2, 0, 5, None]
    three, mslr = orientation_set("three"), orientation_set("mslr")
    assert visits.orientation((0, 2), "before", three) == "d>0"  # the phrase before it ended at 3, it begins at 0
    assert visits.orientation((0, 2), "before", mslr) == "swap" and visits.orientation((2, 3), "after", mslr) == (
        "discontinuous left"
    )
    assert visits.orientation((1, 2), "before", mslr) == "monotone"
    assert visits.orientation((4, 5), "before", mslr) == "discontinuous right"
    assert visits.orientation((3, 4), "before", three) is None and visits.orientation((4, 5), "after", three) is None


def test_reasons_of_a_jump_are_the_words_that_matter() -> None:
    def jump_logprobs(source: Text, annotations: Annotations) -> list[Any]:
        """Word 2 is likely where the second word is b."""
        matrices = []
        for s in range(len(source)):
            row = np.log([0.1, 0.1, 0.7, 0.1] if source[s][1] == "b" else [0.25] * 4)
            matrices.append(np.tile(row, (4, 1)))
        return matrices

    expectation: dict[str, Any] = {"from": -1, "words": [0.1, 0.1, 0.7, 0.1], "chosen": 0}
    model = SimpleNamespace(jump_logprobs=jump_logprobs, needs=("source_tags",))
    jump_reasons(model, Text.of(["a b c"]), Annotations(), [expectation], 3)
    assert expectation["reasons"] == {"0": [["b (2)", -0.9163]], "2": [["b (2)", 1.0296]]}


def test_a_missing_run(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"no finished run of an experiment \(there is no results.json\)"):
        Run(tmp_path)
    (tmp_path / "plan.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="the run is not finished"):
        Run(tmp_path)
    (tmp_path / "plan.json").unlink()
    with pytest.raises(InputError, match=r"plan\.json: the plan of the run is missing; run the experiment again"):
        read_plan(tmp_path)
    with pytest.raises(OptionError, match="the run has no system 'none'; it has: both, dpr"):
        Run(run).output("none")
    with pytest.raises(OptionError, match="the run has no distortion limit 7; it has: 4"):
        Run(run).output("both", 7)
    words = ["explore", str(run), "--system", "both", "--sentences", "1", "--no-errors", "-o", str(tmp_path / "p.html")]
    monkeypatch.setattr("sys.argv", ["hyperbaton", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None) and capsys.readouterr().out == f"{tmp_path / 'p.html'}\n"
    assert "A run &amp; &lt;its&gt; page" in (tmp_path / "p.html").read_text(encoding="utf-8")


def first_shown(data: dict[str, Any]) -> dict[str, Any]:
    """The sentence at which the page opens: the systems disagree most on it."""
    return max(data["sentences"], key=lambda sentence: float(sentence.get("disagreement", 0)))


@contextmanager
def opened(chromium: Any, address: str, width: int = 1280, scheme: str = "light") -> Iterator[Any]:
    """A page of the browser on which nothing may go wrong: no error, nothing fetched, no sideways scroll."""
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    start = address.partition("#")[0].removesuffix("explain")
    page.on(
        "request",
        lambda request: wrong.append(request.url) if not request.url.startswith((start, "data:", "blob:")) else None,
    )
    page.goto(address)
    page.wait_for_selector("main > *")
    yield page
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert wrong == []
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_every_view(chromium: Any, page_address: str, width: int, scheme: str) -> None:
    with opened(chromium, page_address, width, scheme) as page:
        for number, view in enumerate(VIEWS):
            page.keyboard.press(str(number + 1))
            page.wait_for_function(
                f"location.hash.includes('view={view}') || ('{view}' === 'sentence' && !location.hash.includes('view='))"
            )
            for _ in range(8):
                page.keyboard.press("ArrowRight")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, view
            for _ in range(8):
                page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") != scheme


def test_sentence_and_grid(chromium: Any, page_address: str, data: dict[str, Any]) -> None:
    sentence = data["sentences"][1]
    translation = sentence["translations"]["both"]
    with opened(chromium, f"{page_address}#s=2&system=both") as page:
        assert page.locator("main .phrase[tabindex]").count() == len(translation["phrases"])
        assert page.locator("main path.link").count() == len(translation["links"])
        page.locator("main .phrase .box").first.hover()
        page.wait_for_selector("svg.lit .phrase.on")
        page.locator("main .phrase .box").first.click()
        page.wait_for_selector("text=What was expected at this step")
        assert "p=0" in page.url
        page.click("button:text-is('Grid')")
        page.wait_for_selector("main circle.dot")
        assert page.locator("main path.step").count() == len(translation["phrases"]) - 1
        page.select_option("select >> nth=0", "reference")
        page.wait_for_function(
            "document.querySelectorAll('main circle.dot').length == " + str(len(sentence["reference"]["links"]))
        )
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("location.hash.includes('s=3')")
        page.go_back()
        page.wait_for_function("location.hash.includes('s=2')")
        with page.expect_download() as saved:
            page.click("#save-svg")
        svg = Path(saved.value.path()).read_text(encoding="utf-8")
        assert svg.startswith("<svg") and "var(--" not in svg and saved.value.suggested_filename.endswith(".svg")
        with page.expect_download() as saved:
            page.click("#save-json")
        assert json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))["source"]


def test_words_have_the_language_of_their_side(chromium: Any, data: dict[str, Any], tmp_path: Path) -> None:
    """Which decides the letter forms of Chinese and Japanese; no font of one of them is named."""
    assert data["languages"] == {"source": "", "target": ""}  # generated text is in no script that would tell
    write_page(tmp_path / "page.html", {**data, "languages": {"source": "zh", "target": "en"}})
    assert "Sans CJK" not in (tmp_path / "page.html").read_text(encoding="utf-8")
    sentence = first_shown(data)
    target = sentence["translations"]["both"]["target"]
    with opened(chromium, f"{(tmp_path / 'page.html').as_uri()}#system=both") as page:
        for draw in ("Links", "Grid"):
            page.click(f"button:text-is('{draw}')")
            assert sorted(page.locator("main svg text[lang=zh]").all_text_contents()) == sorted(sentence["source"])
            assert sorted(page.locator("main svg text[lang=en]").all_text_contents()) == sorted(target)
        assert page.locator("p.words span[lang=en]").inner_text() == " ".join(sentence["reference"]["target"])
        page.keyboard.press("2")
        assert page.locator("h2 span[lang=zh]").count() == page.locator("h2 span[lang=en]").count() == 1
        page.keyboard.press("4")
        assert page.locator("td.text[lang=zh]").count() == len(data["sentences"])


def test_decisions(chromium: Any, page_address: str, data: dict[str, Any]) -> None:
    translation = first_shown(data)["translations"]["both"]
    expected = [one["model"] for one in translation["expectations"][1]]
    with opened(chromium, f"{page_address}#view=decisions&system=both") as page:
        page.keyboard.press("ArrowDown")
        page.wait_for_selector(f"text=Step 2 of {len(translation['phrases'])}")
        assert page.locator(".card h3").all_inner_texts() == [*expected, "Features of this step"]
        pair = page.locator(".card", has=page.locator("h3:text-is('pair')"))
        assert pair.locator("tr.chosen").count() == 1
        assert page.locator("ul.reasons li").count() > 0
        page.click("text=Show all words")
        assert pair.locator("table tr").count() == len(first_shown(data)["source"]) + 1
        page.locator("ol.steps button").last.click()
        page.wait_for_selector(f"text=Step {len(translation['phrases'])} of")


def test_list(chromium: Any, page_address: str, data: dict[str, Any]) -> None:
    losses = [sentence["translations"]["both"]["order_loss"] for sentence in data["sentences"]]
    numbers = "[...document.querySelectorAll('.list tbody td.id')].map(cell => Number(cell.textContent))"
    with opened(chromium, f"{page_address}#view=list&system=both") as page:
        page.click("th.loss button")
        page.wait_for_selector("th.loss[aria-sort=descending]")
        assert [losses[number - 1] for number in page.evaluate(numbers)] == sorted(losses, reverse=True)
        far = [
            s["id"] for s in data["sentences"] if any(abs(p["distance"]) >= 3 for p in s["translations"]["both"]["phrases"])
        ]
        page.fill("input[type=number] >> nth=1", "3")
        page.keyboard.press("Enter")
        page.wait_for_function(f"document.querySelectorAll('.list tbody tr').length == {len(far)}")
        page.click("text=Reset")
        page.keyboard.press("/")
        page.keyboard.type("no such word")
        page.wait_for_selector("text=No sentence has “no such word”.")
        page.fill("#search", data["sentences"][4]["source"][0])
        page.wait_for_function("document.querySelectorAll('.list tbody tr').length > 0")
        page.click("text=Reset")
        page.locator(".list td.text a").nth(2).click()
        page.wait_for_selector("main .picture svg")
        assert "s=3" in page.url


def test_corpus_and_compare(chromium: Any, page_address: str) -> None:
    with opened(chromium, f"{page_address}#view=corpus") as page:
        page.wait_for_selector("path.second")
        page.select_option("main select >> nth=1", "none")
        page.wait_for_function("!document.querySelector('path.second')")
        page.check("main input[type=checkbox]")
        page.locator("main [data-tag] rect").first.click()
        page.wait_for_selector("table.list")
        assert re.search("to=[A-Z]+", page.url)
        page.goto(f"{page_address}#view=compare&a=dpr&b=both&s=2")
        page.wait_for_selector("main h2:text-is('dpr')")
        assert page.locator("main .picture svg").count() == 2
        page.click("text=Exchange")
        page.wait_for_function("document.querySelector('main h2').textContent == 'both'")
        page.go_back()
        page.goto(f"{page_address}#view=what-if")
        page.wait_for_selector("text=This needs a server")


@contextmanager
def translated(chromium: Any, run: Path, width: int) -> Iterator[tuple[Any, Any, str]]:
    """The page of a service that has been asked to translate a short sentence, the service, and the sentence."""
    pytest.importorskip("starlette")
    from hyperbaton.serve.engine import Engine
    from tests.unit.services import running

    system, _ = Run(run).load(Run(run).output("dpr"))
    text = " ".join(next(s for s in (Run(run).source[n] for n in range(12)) if len(s) < 14))
    with (
        running([Engine("dpr", system, "ja", "en")]) as service,
        opened(chromium, f"http://127.0.0.1:{service.port}/explain", width) as page,
    ):
        page.fill("#text", text)
        page.click("#translate")
        yield page, service, text


def test_what_if_asks_the_service(chromium: Any, run: Path) -> None:
    with translated(chromium, run, 390) as (page, service, _):
        page.wait_for_selector("main path.link")
        page.click("nav >> text=What if")
        page.locator("main .phrase .box").first.click()
        page.fill("#forced", "quite another thing")
        page.click("text=Force this translation")
        page.wait_for_selector("text=The difference")
        assert "quite another thing" in page.locator("main").inner_text()
        before = page.locator("main .picture svg").get_attribute("aria-label")
        if page.locator("main .jump text").count():
            page.locator("main .jump[tabindex] text").first.click()
            page.wait_for_selector("main path.wall", state="attached")
            page.wait_for_function(
                f"document.querySelector('main .picture svg').getAttribute('aria-label') != {json.dumps(before)}"
            )
        page.reload()  # the address says it all
        page.wait_for_selector("text=The difference")
        page.click("text=Take all back")
        page.wait_for_selector("text=Nothing is demanded yet.")
        for number in (1, 2, 4, 5, 6):
            page.keyboard.press(str(number))
            page.wait_for_selector("main > *")
        assert page.get_attribute("#text", "maxlength") == str(service.service.limits.max_characters)


@pytest.mark.parametrize("width", [390, 1280])
def test_finished_text_of_the_service(chromium: Any, run: Path, width: int) -> None:
    with translated(chromium, run, width) as (page, service, text):
        page.wait_for_selector("#finished .token")
        asked = {"text": text, "details": True, "nbest": 10}
        answer = service.ask("/v1/translate", asked)[1]["translations"][0]
        assert page.locator("#finished").inner_text() == answer["text"]
        link = answer["sentences"][0]["links"][0]
        for one, other in (("source", "target"), ("target", "source")):
            page.hover(f'.finished [data-side="{one}"][data-n="{link[one]}"]')
            page.wait_for_selector(f'.finished [data-side="{other}"][data-n="{link[other]}"].on')
        page.click("#copy")
        page.wait_for_selector("#copy:text-is('Copied')")
        page.click("#finished .sentence")
        texts = list(dict.fromkeys(path["text"] for path in answer["sentences"][0]["nbest"]))
        page.wait_for_selector("#alternatives")
        if len(texts) > 1:
            page.click(f"#alternatives li:nth-child({len(texts)}) button")
            page.wait_for_function(f"document.querySelector('#finished').textContent == {json.dumps(texts[-1])}")
        page.goto(f"http://127.0.0.1:{service.port}/docs")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_name_of_the_scripts_is_declared_twice() -> None:
    """All scripts stand in one element, where a second declaration would stop all of them."""
    (script,) = re.findall(r"<script>(.*?)</script>", page(server={"key": False, "limit": 1}), re.DOTALL)
    names = re.findall(r"^(?:const|let|class|(?:async )?function) (\w+)", script, re.MULTILINE)
    assert len(names) > 50 and sorted(set(names)) == sorted(names)


def test_page_without_anything_is_that_of_a_service() -> None:
    text = page(server={"key": True})
    assert '{"server": {"key": true}}' in text and "{{" not in text and "<script src" not in text
