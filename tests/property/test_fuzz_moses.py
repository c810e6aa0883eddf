"""A Moses folder with faults in any of its files is imported and can translate, or is refused in one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.decode.moses import import_moses

LINES = ["wo", "", "a ||| b"]
ARPA = b"""\\data\\
ngram 1=4
ngram 2=1

\\1-grams:
-1 <unk>
-99 <s> -0.3
-1 </s>
-0.5 x -0.2

\\2-grams:
-0.2 <s> x

\\end\\
"""
TABLE = b"wo ||| x ||| 0.5 0.5 0.5 0.5 ||| 0-0 ||| 1 1 1\nwo ai ||| x x ||| 0.1 0.2 0.3 0.4 ||| 0-0 1-1 ||| 1 1 1\n"
REORDERING = b"wo ||| x ||| 0.5 0.3 0.2 0.5 0.3 0.2\nwo ai ||| x x ||| 0.4 0.3 0.3 0.4 0.3 0.3\n"
INI = b"""[distortion-limit]
6
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=table.gz input-factor=0 output-factor=0
LexicalReordering name=LexicalReordering0 num-features=6 type=wbe-msd-bidirectional-fe-allff path=reordering.gz
Distortion
KENLM name=LM0 factor=0 path=lm.arpa order=2
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
TranslationModel0= 0.2 0.2 0.2 0.2
LexicalReordering0= 0.3 0.3 0.3 0.3 0.3 0.3
Distortion0= 0.3
LM0= 0.5
"""
FILES = {"moses.ini": INI, "table.gz": TABLE, "reordering.gz": REORDERING, "lm.arpa": ARPA}
PIECES = [
    b"|||",
    b" ||| ",
    b"\n",
    b" ",
    b"=",
    b"[",
    b"]",
    b"\xff",
    b"\x00",
    b"nan",
    b"inf",
    b"-1",
    b"1e999",
    b"0",
    b"99999999999",
    b"a",
]


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)


def test_the_unchanged_folder_translates(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    assert TokenTranslator(import_moses(tmp_path), threads=1).translate(LINES)[:2] == ["x", ""]


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@example(name="moses.ini", edits=[(334, 0, b" ||| ")], cut=None)  # a path that is empty
@given(
    name=st.sampled_from(sorted(FILES)),
    edits=st.lists(st.tuples(st.integers(0, 700), st.integers(0, 12), st.sampled_from(PIECES)), min_size=1, max_size=3),
    cut=st.one_of(st.none(), st.integers(0, 700)),
)
def test_folders_with_faults(
    tmp_path_factory: pytest.TempPathFactory, name: str, edits: list[tuple[int, int, bytes]], cut: int | None
) -> None:
    content = FILES[name][:cut]
    for at, length, piece in edits:
        at = min(at, len(content))
        content = content[:at] + piece + content[at + length :]
    folder = tmp_path_factory.mktemp("moses")
    write(folder, {**FILES, name: content})
    try:
        system: System = import_moses(folder)
    except HyperbatonError as error:
        assert "\n" not in str(error)
        return
    assert len(TokenTranslator(system, threads=1).translate(LINES)) == len(LINES)
