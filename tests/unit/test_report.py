"""The report of a run, in every format, with any words and with missing parts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.base.errors import InputError
from hyperbaton.report import whole, write_report
from hyperbaton.report.closing_sections import as_toml
from hyperbaton.report.elements import Group, Number, Paragraph, Table, TableColumn
from hyperbaton.report.latex import as_latex
from hyperbaton.report.whole import sections_of
from tests.clocks import PATIENCE
from tests.once import made_once
from tests.unit.plausible_results import TEN_SYSTEMS, plausible_results
from tests.unit.report_pages import MINIMAL, SECTIONS, Page, write


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report with all sections."""

    def make(folder: Path) -> None:
        write(folder, plausible_results())
        write_report(folder, folder / "report")

    return made_once(tmp_path_factory, "report", make) / "report"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_page_has_all_sections_and_needs_nothing_else(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    assert len(page.ids) == len(set(page.ids)), "two elements of one name"
    assert page.addresses and all(a.startswith("#") and a[1:] in page.ids for a in page.addresses)
    assert "://" not in text and "@import" not in text
    assert not re.findall(r"url\((?!#)", text)


def test_words_of_the_corpus_are_words_in_every_format(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    assert "<interesting>" not in text and "<MMS>" not in text and "<more>" not in text and "<有趣>" not in text
    words = "".join(Page(text).words)
    assert "<有趣>" in words and "|||" in words and "DPR & <MMS>" in words and "一 → an" not in words
    markdown = (report / "report.md").read_text(encoding="utf-8")
    assert "&lt;MMS&gt;" in markdown and "<MMS>" not in markdown
    for head, rows in re.findall(r"^(\|.*\|)\n\| -.*\n((?:\|.*\n)+)", markdown, re.MULTILINE):
        cells = {len(re.findall(r"(?<!\\)\|", row)) for row in [head, *rows.splitlines()]}
        assert len(cells) == 1, f"rows of {head} have as many cells as it has"
    table = (report / "tables" / "translation.tex").read_text(encoding="utf-8")
    assert r"DPR \& \textless{}MMS\textgreater{}" in table


def test_latex_is_balanced_and_escaped(report: Path) -> None:
    for path in (report / "tables").glob("*.tex"):
        text = path.read_text(encoding="utf-8")
        assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text)), path.name
        assert len(re.findall(r"(?<!\\)\$", text)) % 2 == 0, path.name
        (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", text)
        for row in text.splitlines():
            if row.endswith(r"\\") and r"\multicolumn" not in row:
                assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1, f"{path.name}: {row}"
    table = Table(
        "t", "50% & more", [TableColumn("a_b"), TableColumn("#")], [Group([["x^2 {y} ~z \\ $", Number(-1.5, 1)]])]
    )
    latex = as_latex(table)
    assert r"50\% \& more" in latex and r"a\_b & \#" in latex and "$-$1.5" in latex
    assert r"x\textasciicircum{}2 \{y\} \textasciitilde{}z \textbackslash{} \$" in latex


def test_same_results_same_bytes(tmp_path: Path) -> None:
    whole = plausible_results()
    kept = ("orientation", "translation", "sentences", "options")
    write(tmp_path, MINIMAL | {key: whole[key] for key in kept})
    write_report(tmp_path, tmp_path / "first")
    # In another process: hashes of strings and addresses in memory are others there.
    command = "import sys; from hyperbaton.report import write_report; write_report(sys.argv[1], sys.argv[2])"
    subprocess.run([sys.executable, "-c", command, str(tmp_path), str(tmp_path / "second")], check=True)
    first, second = files(tmp_path / "first"), files(tmp_path / "second")
    assert first.keys() == second.keys() and [name for name in first if first[name] != second[name]] == []
    assert {"index.html", "report.md", "tables/translation.tex", "figures/score-by-limit.png"} <= first.keys()


def test_a_second_report_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    whole = plausible_results()
    out = tmp_path / "out"
    for kept in (("costs", "translation"), ("costs",)):
        write_report(write(tmp_path, MINIMAL | {key: whole[key] for key in kept}), out)
        assert ("figures/score-by-limit.png" in files(out)) == ("translation" in kept)
        assert ("tables/translation.tex" in files(out)) == ("translation" in kept)
    write_report(tmp_path, tmp_path / "anew")
    assert files(out).keys() == files(tmp_path / "anew").keys()


@pytest.mark.parametrize("kept", [[], ["corpus", "findings"], ["sentences"], ["step", "costs"]])
def test_missing_parts_are_reported(tmp_path: Path, kept: list[str]) -> None:
    whole = plausible_results()
    page = Page(
        write_report(write(tmp_path, MINIMAL | {key: whole[key] for key in kept}), tmp_path / "out").read_text("utf-8")
    )
    shown = [name for name in page.ids if name in SECTIONS]
    assert shown == [s for s in SECTIONS if s.replace("-", "_") in kept or s in ("summary", "reproduction")]
    assert "Not part of this run: " in "".join(page.words)


def test_parts_of_objects_may_be_missing(tmp_path: Path) -> None:
    results = MINIMAL | {
        "corpus": {"train": {"pairs": 10}},
        "movement": {"distances": {"0": 4}},
        "orientation": [{"model": "a", "overall_precision": None}, {"model": "b", "clusters": {"1-9": 50.0, "10+": 60.0}}],
        "next_position": [{"model": "a"}],
        "step": [{"model": "a", "translation": {"bleu": 1.0}}],
        "translation": [
            {"system": "a", "limit": None, "scores": {"bleu": 20.0}},
            {"system": "b", "limit": -1, "scores": {}},
        ],
        "tuning": {"a": [{"iteration": 1, "objective": 3.0, "held_out": None}], "b": []},
        "costs": [{"stage": "a", "seconds": float("nan")}],
        "sentences": [{"id": 1, "source": ["a", "b"], "hypotheses": [{"system": "x", "segments": []}, {"system": "y"}]}],
    }
    page = Page(write_report(write(tmp_path, results), tmp_path / "out").read_text(encoding="utf-8"))
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS[1:], "nothing to sum up"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "there is no results.json; 'hyperbaton run' writes it at its end"),
        ('{"title": 1}', "expected an object with a title"),
        ('{"title":\n', "results.json:2: is not JSON"),
        ('{"title": "t", "corpus": [1]}', "expected an object under 'corpus', found list"),
        (
            '{"title": "t", "translation": [{"limit": 10}]}',
            "'translation' in the results does not have the form described in docs/report.md",
        ),
        (
            '{"title": "t", "sentences": [{"id": 1}]}',
            "'sentences' in the results does not have the form described in docs/report.md",
        ),
    ],
)
def test_bad_results_are_refused_in_one_line(tmp_path: Path, text: str | None, expected: str) -> None:
    if text is not None:
        (tmp_path / "results.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        write_report(tmp_path, tmp_path / "out")
    assert expected in str(caught.value) and "\n" not in str(caught.value)


def test_a_mistake_in_a_section_is_not_a_fault_of_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def section(results: dict[str, object]) -> None:
        raise KeyError("typo")

    monkeypatch.setitem(whole._SECTIONS, "corpus", ("corpus statistics", section))
    with pytest.raises(KeyError, match="typo"):
        write_report(write(tmp_path, MINIMAL | {"corpus": {"train": {}}}), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_best_values_and_marks_follow_the_direction_of_the_metric(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    table = text[text.index('id="table-translation"') :].split("</figure>")[0]
    rows = re.findall(r"<tr><td>(.*?)</td>(.*?)</tr>", table)
    assert len(rows) == 20
    for system, cells in rows:
        values = re.findall(r"<td[^>]*>(.*?)</td>", cells)[:4]
        assert all(("<b>" in value) == (system == "SEQUENCE") for value in values), "less TER is better"
        assert all(("‡¹" in value) == (system in ("SEQUENCE", "DPR &amp; &lt;MMS&gt;")) for value in values)
        assert all("†" not in value and "‡" not in value for value in values) == (system == "linear")


def test_every_picture_says_what_to_see_in_it(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    pictures = re.findall(r'<figure class="picture" id="figure-([^"]+)".*?<figcaption>(.*?)</figcaption>', text, re.DOTALL)
    assert len(pictures) >= 12 and all('<span class="reading">' in caption for _, caption in pictures)
    markdown = (report / "report.md").read_text(encoding="utf-8")
    distances = plausible_results()["movement"]["distances"]
    total, far = sum(distances.values()), sum(n for d, n in distances.items() if abs(int(d)) > 15)
    assert f"Of {total:,} phrase pairs of the training text" in markdown
    assert f"{far:,} ({100 * far / total:.2f}%) are beyond ±15" in markdown, "what is not drawn is counted"
    assert "SEQUENCE with distortion limit 20 has the highest BLEU, 24.30 (+" in markdown


def test_every_section_begins_with_a_sentence() -> None:
    for section in sections_of(plausible_results()):
        assert isinstance(section.elements[0], Paragraph), section.id


def test_words_that_need_it_are_explained(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    for word in ("BLEU", "TER", "d=0", "three"):
        assert re.search(rf'<abbr title="[^"]+" tabindex="0">{word}', text), word
    assert re.search(r'<text class="tag"[^>]*>\w+<title>\w+', text)


def test_models_of_different_classes_are_compared_on_two(tmp_path: Path) -> None:
    three = {"model": "a", "orientations": "three", "n": 10, "f1": {"d<0": 0, "d=0": 0, "d>0": 0}}
    msd = {"model": "b", "orientations": "msd", "n": 10, "f1": {"monotone": 0, "swap": 0, "discontinuous": 0}}
    three["confusion"] = [[1, 1, 1], [0, 2, 1], [3, 0, 1]]  # right about d = 0 or not: 2 of 3, and 6 of 7
    msd["confusion"] = [[3, 0, 0], [0, 1, 2], [4, 0, 0]]  # 3 of 3, and 3 of 7
    write_report(write(tmp_path / "run", MINIMAL | {"orientation": [three, msd]}), tmp_path / "report")
    table = (tmp_path / "report/tables/orientation-two-classes.tex").read_text(encoding="utf-8")
    assert "a & three & 10 & 80 & 66.7 & 85.7" in table
    assert "b & msd & 10 & 60 & 60.0 & 60.0" in table


def test_warnings_and_the_end_of_tuning_are_reported(tmp_path: Path) -> None:
    told = {
        "warnings": ["the machine was busy: stages took 100 s, but used 40 s of processor time"],
        "tuned": {
            "DPR": {"iteration": 3, "score": 21.5, "stopped": "no new translations", "failure": "no gain"},
            "MSD": {"iteration": 5, "averaged": [3, 4], "score": 20.5, "stopped": "iterations", "failure": None},
        },
    }
    write_report(write(tmp_path, MINIMAL | told), tmp_path / "out")
    for file in ("index.html", "report.md"):
        text = (tmp_path / "out" / file).read_text(encoding="utf-8")
        assert "the machine was busy" in text and "failed: no gain" in text and "iteration taken" in text
        assert "mean of 3–4" in text


def test_the_numbers_of_a_picture_are_next_to_it(report: Path) -> None:
    for picture in (report / "figures").glob("*.svg"):
        head, *rows = picture.with_suffix(".csv").read_text(encoding="utf-8").splitlines()
        assert head == "axes,series,x,y" and rows, picture.name
    scores = (report / "figures" / "score-by-limit.csv").read_text(encoding="utf-8")
    assert "SEQUENCE" in scores and "24.3" in scores


def test_error_rates_are_best_where_they_are_lowest(tmp_path: Path) -> None:
    rows = [
        {"system": name, "limit": 6, "scores": {"ter": {"value": value, "interval": [value - 1, value + 1]}}}
        for name, value in (("a", 50.0), ("b", 40.0), ("c", 60.0))
    ]
    text = write_report(write(tmp_path, MINIMAL | {"translation": rows}), tmp_path / "out").read_text(encoding="utf-8")
    assert "<b>40.00</b>" in text and "<b>60.00</b>" not in text
    assert "b with distortion limit 6 has the lowest TER, 40.00." in text
    assert "TER (lower is better)" in text
    assert 'data-first="a" data-second="b"' in text, "the best system is compared with the first"


def test_options_are_toml_that_reads_back() -> None:
    tomllib = pytest.importorskip("tomllib")
    options = plausible_results()["options"] | {
        "a b": {"c": [{"x": 1}, {"x": 'q"\\'}]},
        "on": True,
        "list": [1.5, {"k": "v"}],
    }
    assert tomllib.loads(as_toml(options)) == options


def test_verb_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperbaton.__main__ import main

    write(tmp_path, MINIMAL)
    monkeypatch.setattr(sys, "argv", ["hyperbaton", "report", str(tmp_path / "results.json"), "-q"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report" / "index.html")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_browser_shows_it_without_complaint(report: Path, chromium: Any, width: int, scheme: str) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page.set_default_timeout(1000 * PATIENCE)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto((report / "index.html").as_uri())
    for details in page.locator("details").all():
        details.evaluate("element => { element.open = true; }")
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
    assert page.evaluate("[...document.images].filter(image => !image.naturalWidth).length") == 0
    flat = "[...document.querySelectorAll('.picture svg')].filter(svg => svg.getBoundingClientRect().height < 60).length"
    assert page.evaluate(flat) == 0 < page.locator(".picture svg").count()
    paper, ink = (page.evaluate(f"getComputedStyle(document.body).{what}") for what in ("backgroundColor", "color"))
    assert (_brightness(paper) > _brightness(ink)) == (scheme == "light")
    label = page.locator(".picture svg text").first.evaluate("element => getComputedStyle(element).fill")
    assert _brightness(label) == _brightness(ink), "words of pictures are as legible as the text"

    with page.expect_download() as download:
        page.locator('[data-name="score-by-limit"] button[data-kind="svg"]').click()
    svg = download.value.path().read_text(encoding="utf-8")
    assert svg.startswith("<svg") and "xmlns" in svg and "var(" not in svg

    shown = page.locator(".pair:visible")
    assert shown.count() == 1 and shown.get_attribute("id") == "sentence-117"
    page.get_by_label("next sentence").click()
    assert shown.count() == 1 and shown.get_attribute("id") == "sentence-402"
    page.locator(".pager .which").select_option(label="733")
    assert shown.get_attribute("id") == "sentence-733"
    tip = page.locator(".tip")
    assert not tip.is_visible()
    shown.locator(".phrase").nth(1).focus()
    assert tip.is_visible() and "reordering" in tip.inner_text()
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= width
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    # Every word fits into its box.
    wide = """[...document.querySelectorAll('.phrase')].filter(phrase => {
        const [text, box] = [[...phrase.querySelectorAll('text')].pop(), [...phrase.querySelectorAll('rect')].pop()];
        return text.getBoundingClientRect().width > box.getBoundingClientRect().width;
    }).length"""
    assert page.evaluate(wide) == 0
    assert complaints == []
    page.close()


WIDE_TABLES = """[...document.querySelectorAll('.scroll')].filter(box =>
    box.querySelector('table') && box.scrollWidth > box.clientWidth).map(box => box.innerText.slice(0, 60))"""


@pytest.mark.slow
def test_browser_compares_two_of_ten_systems(tmp_path: Path, chromium: Any) -> None:
    whole = plausible_results(TEN_SYSTEMS)
    results = MINIMAL | {key: whole[key] for key in ("translation", "sentences", "options", "shown_limit") if key in whole}
    page = chromium.new_page(viewport={"width": 1280, "height": 844})
    page.set_default_timeout(1000 * PATIENCE)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(write_report(write(tmp_path, results), tmp_path / "out").as_uri())
    first, *_, last = TEN_SYSTEMS
    sentences, scores = page.locator("#sentences"), page.locator(".comparison")
    assert "translated with distortion limit 20." in sentences.inner_text()
    shown = sentences.locator(".hypothesis:visible")
    assert [one.get_attribute("data-system") for one in shown.all()] == [first, last], "the baseline and the best"
    assert sentences.locator(".phrase.shared:visible").count() > 0
    assert "+2.28" in scores.inner_text() and "−2.28" in scores.inner_text()
    scores.locator("select").nth(1).select_option(label="system_3-with-a-name")
    assert [one.get_attribute("data-system") for one in shown.all()] == [first, "system_3-with-a-name"], (
        "one choice for all"
    )
    assert "+0.76" in scores.inner_text()
    sentences.locator(".choice select").first.select_option(label="all systems")
    assert shown.count() == 10 and sentences.locator(".phrase.shared").count() == 0
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate(WIDE_TABLES) == [], "tables that scroll sideways"
    assert complaints == []
    page.close()


@pytest.mark.slow
def test_browser_without_scripts_shows_every_sentence(report: Path, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto((report / "index.html").as_uri())
    assert page.locator(".pair:visible").count() == 3
    assert page.locator(".pager:visible").count() == 0
    context.close()


def _brightness(colour: str) -> int:
    return sum(map(int, re.findall(r"\d+", colour)[:3]))
