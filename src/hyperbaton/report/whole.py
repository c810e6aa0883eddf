"""Write the report of a run: from results.json to a page, Markdown, LaTeX tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path

from hyperbaton.base.counted import counted
from hyperbaton.base.forms import Json
from hyperbaton.base.writing import writing_file
from hyperbaton.report.closing_sections import costs_section, reproduction_section, stages_section
from hyperbaton.report.corpus_section import corpus_section, movement_section
from hyperbaton.report.elements import CaptionedFigure, Listing, Paragraph, Points, Section, SentenceBrowser, Table
from hyperbaton.report.figures import figure_csv, svg_text, with_dark_colours, write_figure
from hyperbaton.report.latex import as_latex
from hyperbaton.report.markdown import as_markdown
from hyperbaton.report.model_sections import shapes
from hyperbaton.report.page import as_page
from hyperbaton.report.results import read_results
from hyperbaton.report.translation_sections import first_pair, limit_of, limit_text, translation_section, tuning_section

_WIDTH = 5.0  # inches: text in pictures stays readable at half a page's width and on a phone


def sentences_section(results: Mapping[str, Json]) -> Section:
    """Test sentences on which the systems differ."""
    sentences = results["sentences"]
    limits = list(dict.fromkeys(limit_of(sentence) for sentence in sentences if "limit" in sentence))
    setting = f", translated with {limit_text(limits[0])}" if len(limits) == 1 else ""
    text = f"{counted(len(sentences), 'sentence')} of the test text on which the systems differ most{setting}"
    if any(sentence.get("differs") for sentence in sentences):
        text += "; of each kind of difference, the one whose scores are farthest apart comes first"
    return Section("sentences", "Sentences", [Paragraph(f"{text}."), SentenceBrowser(sentences, first_pair(results))])


_SEVERAL_KEYS = ("tuning", "reproduction")  # sections that no single key of results.json decides
# In page order, the main result first: key of results.json, the name for its absence, and the section.
_SECTIONS: dict[str, tuple[str, Callable[[Mapping[str, Json]], Section | None]]] = {
    "translation": ("translation", translation_section),
    "corpus": ("corpus statistics", corpus_section),
    "movement": ("movement statistics", movement_section),
    **{shape: (report.absent, report.section) for shape, report in shapes().items()},
    "tuning": ("tuning", tuning_section),
    "stages": ("", stages_section),  # most runs have none, which needs no mention
    "costs": ("costs", costs_section),
    "sentences": ("sentences", sentences_section),
    "reproduction": ("reproduction", reproduction_section),
}


def sections_of(results: Mapping[str, Json]) -> list[Section]:
    """The sections of a report, in order; the first one lists what the results lack."""
    sections, missing = [], []
    for key, (name, make) in _SECTIONS.items():
        section = make(results) if key in _SEVERAL_KEYS or results.get(key) else None
        if section is None:
            missing += [name] if name else []
            continue
        if commands := (results.get("commands") or {}).get(key):
            section.elements.append(Listing("Commands", "\n".join(map(str, commands))))
        sections.append(section)
    summary = Section("summary", "Summary")
    if findings := results.get("findings"):
        summary.elements.extend([Paragraph("Findings:"), Points([str(finding) for finding in findings])])
    if warnings := results.get("warnings"):
        summary.elements.extend(
            [Paragraph("Before you use these numbers:"), Points([str(warning) for warning in warnings])]
        )
    if missing:
        summary.elements.append(Paragraph(f"Not part of this run: {', '.join(missing)}."))
    return [summary, *sections] if summary.elements else sections


def write_report(results: str | PathLike[str], out: str | PathLike[str]) -> Path:
    """Write the report of a run, and return the path of its page.

    `results` is a run's folder or its results.json. In `out`: index.html, which needs no other file; report.md;
    tables/*.tex; figures/*.svg, *.png and *.csv. The same results give the same bytes. Tables and figures of an earlier
    report that this one does not have are deleted.
    """
    contents = read_results(results)
    return write_sections(contents["title"], sections_of(contents), out)


def write_sections(title: str, sections: Sequence[Section], out: str | PathLike[str]) -> Path:
    """Write sections in every format, and return the path of the page."""
    out = Path(out)
    earlier = _parts(out) if (out / "report.md").exists() else set()
    svgs = {}
    for section in sections:
        for element in section.elements:
            if isinstance(element, Table):
                _write(out / "tables" / f"{element.name}.tex", as_latex(element))
            if isinstance(element, CaptionedFigure):
                width, height = element.figure.get_size_inches()
                element.figure.set_size_inches(_WIDTH, height * min(_WIDTH / width * 1.1, 1))
                svgs[element.name] = svg_text(element.figure)
                _write(out / "figures" / f"{element.name}.svg", with_dark_colours(svgs[element.name]))
                element.figure.set_layout_engine("none")  # already laid out: once is enough
                write_figure(element.figure, out / "figures" / f"{element.name}.png")
                _write(out / "figures" / f"{element.name}.csv", figure_csv(element.figure, element.numbers))
    _write(out / "report.md", as_markdown(title, sections))
    _write(out / "index.html", as_page(title, sections, svgs))
    tables = {element.name for section in sections for element in section.elements if isinstance(element, Table)}
    for path in earlier:
        if path.stem not in (tables if path.suffix == ".tex" else svgs):
            path.unlink(missing_ok=True)
    return out / "index.html"


def _parts(out: Path) -> set[Path]:
    figures = (path for ending in ("svg", "png", "csv") for path in (out / "figures").glob(f"*.{ending}"))
    return {*(out / "tables").glob("*.tex"), *figures}


def _write(path: Path, text: str) -> None:
    with writing_file(path) as aside:
        aside.write_text(text, encoding="utf-8")
