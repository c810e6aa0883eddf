"""Hand-made word links of public test sets, as files that `evaluate-links` and the benchmarks read.

The sets of the workshops on parallel texts (Mihalcea and Pedersen 2003; Martin, Mihalcea and Pedersen 2005) have lines
`0001 3 4 S`: sentence, positions in both sentences from 1 (0 is null), sure or possible; a line without a letter is sure.
Sentences are lines `<s snum=0001> … </s>`. The set of RWTH (Vilar, Popović and Ney 2006) has a line of links for each
sentence pair, sure ones as `3-4` and possible ones as `3p4`, positions from 1. All texts are tokenized, in Latin-1.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hyperbaton.base.errors import Cancelled, InputError, OptionError
from hyperbaton.base.progress import Progress
from hyperbaton.base.writing import writing_file
from hyperbaton.corpus import Bitext, Links
from hyperbaton.corpus.files import write_pieces

SECONDS = 60  # without an answer
_CHUNK = 1 << 16
_SENTENCE = re.compile(r"\s*<s\s+snum=\"?(\d{1,9})\"?\s*>(.*)")
_POINT = re.compile(r"(\d+)([-p])(\d+)")
_LETTERS = {"S": True, "P": False}

Point = tuple[int, int]


@dataclass(frozen=True)
class GoldSet:
    """A test set: an archive with sentences and their links."""

    languages: tuple[str, str]
    archive: str  # its name
    address: str  # its folder, or the page that asks to accept a licence
    members: tuple[Sequence[str], Sequence[str], str]  # source, target and links
    is_free: bool = True
    is_reversed: bool = False  # links name the target first


_WPT = "http://web.eecs.umich.edu/~mihalcea/wpt/data"
GOLD_SETS: Mapping[str, GoldSet] = {
    "gold-de-en": GoldSet(
        ("de", "en"),
        "DeEnGoldAlignment.tar.gz",
        "https://www-i6.informatik.rwth-aachen.de/goldAlignment/",
        (["DeEn/de"], ["DeEn/en"], "DeEn/alignmentDeEn.talp"),
        is_free=False,
    ),
    "gold-fr-en": GoldSet(
        ("fr", "en"),
        "English-French.test.tar.gz",
        _WPT,
        (["English-French/test/test.f"], ["English-French/test/test.e"], "English-French/answers/test.wa.nonullalign"),
        is_reversed=True,
    ),
    "gold-ro-en": GoldSet(
        ("ro", "en"),
        "Romanian-English.test.tar.gz",
        _WPT,
        (
            [f"Romanian-English/test/test.{part}.r" for part in range(1, 11)],
            [f"Romanian-English/test/test.{part}.e" for part in range(1, 11)],
            "Romanian-English/answers/test.wa.nonullalign",
        ),
    ),
}


def get_gold_set(name: str, folder: Path, progress: Progress) -> int:
    """Write gold.XX, gold.en, gold.sure.links, gold.possible.links and corpus.json; returns the number of pairs.

    The archive is kept in the folder of downloads, and taken from there if it is there.
    """
    gold = GOLD_SETS[name]
    path = Path(os.environ.get("MTDATA") or Path.home() / ".mtdata") / gold.archive
    if not path.exists():
        _download(name, gold, path, progress)
    source, target, links = gold.members
    try:
        with tarfile.open(path) as archive:
            sides = [list(_sentences(archive, names, path)) for names in (source, target)]
            rows = list(_lines(archive, links, path))
    except (tarfile.TarError, EOFError, OSError) as error:
        raise InputError(f"is not an archive of {name} ({error}); remove it and try again", path) from error
    where, numbers = Path(f"{path}/{links}"), [number for number, _ in sides[0]]
    if numbers != [number for number, _ in sides[1]]:
        raise InputError("the sentences of the two languages differ in number", path)
    points = _wpt(rows, numbers, where) if gold.is_free else _rwth(rows, numbers, where)
    sure, possible = (Links.of(side) for side in ([pair[k] for pair in points] for k in (0, 1)))
    if gold.is_reversed:
        sure, possible = sure.reversed(), possible.reversed()
    bitext = Bitext.of([text for _, text in sides[0]], [text for _, text in sides[1]])
    possible.check(bitext.source, bitext.target)
    for language, text in zip(gold.languages, (bitext.source, bitext.target), strict=True):
        write_pieces(folder / f"gold.{language}", text.pieces())
    sure.write(folder / "gold.sure.links")
    possible.write(folder / "gold.possible.links")
    files = [*(f"gold.{language}" for language in gold.languages), "gold.sure.links", "gold.possible.links"]
    about = {"datasets": {"gold": [name]}, "languages": gold.languages, "pairs": {"gold": len(bitext)}, "files": files}
    (folder / "corpus.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return len(bitext)


def _download(name: str, gold: GoldSet, path: Path, progress: Progress) -> None:
    if not gold.is_free:
        raise OptionError(f"{name}: accept the licence at {gold.address}, and put {gold.archive} into {path.parent}")
    address = f"{gold.address}/{gold.archive}"
    try:
        with (
            urllib.request.urlopen(address, timeout=SECONDS) as answer,
            writing_file(path) as aside,
            aside.open("wb") as file,
        ):
            _copy(answer, file, int(answer.headers.get("Content-Length") or 0), progress)
    except urllib.error.HTTPError as error:
        what = f"the server answered {error.code}"
    except (OSError, http.client.HTTPException) as error:
        what = str(getattr(error, "reason", None) or error) or type(error).__name__
    else:
        return
    raise InputError(f"{name}: cannot be downloaded from {address}: {what}; try again, or put the file at {path}")


def _copy(answer: IO[bytes], file: IO[bytes], size: int, progress: Progress) -> None:
    done = 0
    while piece := answer.read(_CHUNK):
        file.write(piece)
        done += len(piece)
        if progress(done >> 10, max(done, size) >> 10) is False:
            raise Cancelled("interrupted")
    if done < size:
        raise OSError(f"the connection ended after {done:,} of {size:,} bytes")


def _lines(archive: tarfile.TarFile, member: str, path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file of the archive that are not empty, with their numbers."""
    try:
        file = archive.extractfile(member)
    except KeyError:
        file = None
    if file is None:
        raise InputError(f"has no {member}; remove it and try again", path)
    for number, line in enumerate(file, start=1):
        if text := line.decode("latin-1").strip():
            yield number, text


def _sentences(archive: tarfile.TarFile, members: Sequence[str], path: Path) -> Iterator[tuple[int, str]]:
    """Sentences with their numbers; those without one are counted."""
    for count, (_, line) in enumerate((row for member in members for row in _lines(archive, member, path)), start=1):
        marked = _SENTENCE.fullmatch(line)
        number, words = (int(marked[1]), marked[2].strip().removesuffix("</s>")) if marked else (count, line)
        yield number, " ".join(words.split())


def _rwth(rows: Sequence[tuple[int, str]], numbers: Sequence[int], where: Path) -> list[tuple[list[Point], list[Point]]]:
    """Sure links, and sure and possible links, of each sentence pair."""
    if len(rows) != len(numbers):
        raise InputError(f"{len(rows)} lines of links for {len(numbers)} sentence pairs", where)
    pairs: list[tuple[list[Point], list[Point]]] = [([], []) for _ in rows]
    for (line, text), pair in zip(rows, pairs, strict=True):
        for word in text.split():
            match = _POINT.fullmatch(word)
            if match is None:
                raise InputError(f"a link is like 3-4 or 3p4, not {word!r}", where, line)
            _add(pair, (int(match[1]), int(match[3])), match[2] == "-", where, line)
    return pairs


def _wpt(rows: Sequence[tuple[int, str]], numbers: Sequence[int], where: Path) -> list[tuple[list[Point], list[Point]]]:
    pairs: dict[int, tuple[list[Point], list[Point]]] = {number: ([], []) for number in numbers}
    for line, text in rows:
        fields = text.split()
        sentence, *places = (int(field) if field.isdecimal() else -1 for field in fields[:3])
        letter = fields[3] if len(fields) > 3 else "S"
        if len(places) != 2 or min(places) < 0 or letter not in _LETTERS:
            raise InputError(f"a link is like 0001 3 4 S, not {text!r}", where, line)
        if sentence not in pairs:
            raise InputError(f"there is no sentence {fields[0]}", where, line)
        if min(places) > 0:
            _add(pairs[sentence], (places[0], places[1]), _LETTERS[letter], where, line)
    return list(pairs.values())


def _add(pair: tuple[list[Point], list[Point]], point: Point, is_sure: bool, where: Path, line: int) -> None:
    """Add a link with positions from 1."""
    i, j = point
    if not 0 < min(point) <= max(point) <= 0xFFFF:
        raise InputError(f"positions are counted from 1 to 65535, not {i} and {j}", where, line)
    for points in pair if is_sure else pair[1:]:
        points.append((i - 1, j - 1))
