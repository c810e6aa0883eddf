"""Files that the service translates: plain text, HTML, and Word documents (by python-docx), as LibreTranslate does.

A document becomes texts, and is written again from their translations. Runs of a Word paragraph become tags, which the
translation places around the words aligned with their contents.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from io import BytesIO
from itertools import groupby
from pathlib import PurePath
from typing import Any, NamedTuple

from hyperbaton.decode.raw import HTML, PLAIN, XML, TextFormat
from hyperbaton.serve.options import Refusal

MOST_BYTES = 50_000_000  # of an unpacked document
RUNS = replace(XML, detect=False, newlines=False)


class FileTexts(NamedTuple):
    """The texts of a file, their format, and a function from their translations to the translated file."""

    texts: list[str]
    form: TextFormat
    write: Callable[[list[str]], bytes]


def _read_plain(content: bytes, form: TextFormat = PLAIN) -> FileTexts:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal(400, "the file is not valid UTF-8") from error
    return FileTexts([text], form, lambda translated: translated[0].encode())


def _read_html(content: bytes) -> FileTexts:
    return _read_plain(content, HTML)


def _read_word(content: bytes) -> FileTexts:
    import docx  # slow to import
    from docx.oxml.ns import qn
    from docx.parts.document import DocumentPart
    from docx.parts.hdrftr import FooterPart, HeaderPart

    try:
        if sum(entry.file_size for entry in zipfile.ZipFile(BytesIO(content)).infolist()) > MOST_BYTES:
            raise Refusal(413, f"an unpacked document may have {MOST_BYTES} bytes")
        document = docx.Document(BytesIO(content))
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError) as error:
        raise Refusal(400, "the file is not a Word document") from error
    parts = [
        part.element
        for part in document.part.package.iter_parts()
        if isinstance(part, DocumentPart | HeaderPart | FooterPart)
    ]
    paragraphs = [element for part in parts for element in part.iter(qn("w:p"), qn("w:hyperlink"))]
    lines = [runs for paragraph in paragraphs if (runs := _runs_of(paragraph))]

    def write(translated: list[str]) -> bytes:
        for runs, text in zip(lines, translated, strict=True):
            _write_runs(runs, text)
        document.save(output := BytesIO())
        return output.getvalue()

    return FileTexts([_tagged(runs) for runs in lines], RUNS, write)


def _runs_of(paragraph: Any) -> list[list[Any]]:
    """The runs of a paragraph that have text, those of equal formatting together."""
    runs = [run for run in paragraph.xpath("./w:r") if run.text.strip("\n\t") != ""]
    return [list(group) for _, group in groupby(runs, key=lambda run: None if run.rPr is None else run.rPr.xml)]


def _tagged(runs: list[list[Any]]) -> str:
    texts = [html.escape("".join(run.text for run in group), quote=False) for group in runs]
    return texts[0] if len(texts) == 1 else "".join(f"<r{n}>{text}</r{n}>" for n, text in enumerate(texts))


def _write_runs(runs: list[list[Any]], text: str) -> None:
    """Replace the runs by those of the translation, in its order."""
    place, opened = runs[0][0], [0]
    for part in re.split(r"(</?r\d+>)", text):
        if match := re.fullmatch(r"<(/?)r(\d+)>", part):
            opened = opened[:-1] if match[1] else [*opened, int(match[2])]
        elif part:
            new = deepcopy(runs[opened[-1] if opened else 0][0])
            new.text = html.unescape(part)
            place.addprevious(new)
    for run in (run for group in runs for run in group):
        run.getparent().remove(run)


READERS = {".txt": _read_plain, ".html": _read_html, ".htm": _read_html, ".docx": _read_word}


def read_file(name: str, content: bytes) -> FileTexts:
    """The texts of a file, whose format its name says."""
    reader = READERS.get(suffix := PurePath(name).suffix.lower())
    if reader is None:
        raise Refusal(400, f"files of type {suffix[:20] or 'unknown'} are not translated; these are: {', '.join(READERS)}")
    return reader(content)
