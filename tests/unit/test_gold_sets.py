"""`hyperbaton corpus get` for sets with links made by hand, from archives on a local file server."""

from __future__ import annotations

import dataclasses
import io
import socket
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from hyperbaton.data import gold
from tests.datasets import FileServer
from tests.program import hyperbaton

ROMANIAN = {
    **{f"Romanian-English/test/test.{part}.{side}": "" for part in range(3, 11) for side in "re"},
    "Romanian-English/test/test.1.r": "<s snum=0001> un câine </s>\n<s snum=0002> unde ? </s>\n",
    "Romanian-English/test/test.2.r": "<s snum=0003> da </s>\n",
    "Romanian-English/test/test.1.e": "<s snum=0001> a dog </s>\n<s snum=0002> where ? </s>\n",
    "Romanian-English/test/test.2.e": "<s snum=0003> yes </s>\n",
    "Romanian-English/answers/test.wa.nonullalign": "0001 1 1 S\n0001 2 2\n0003 1 1 P\n0001 2 1 P\n0001 0 2 S\n",
}
FRENCH = {
    "English-French/test/test.f": "<s snum=0007> le café noir </s>\n",
    "English-French/test/test.e": "<s snum=0007> black coffee </s>\n",
    "English-French/answers/test.wa.nonullalign": "0007 1 3 S\n0007 2 2 S\n0007 2 1 P\n",
}
GERMAN = {
    "DeEn/de": "Das Haus\n\n  \nschöne Bücher .\n",
    "DeEn/en": "the house\n\nnice books .\n",
    "DeEn/alignmentDeEn.talp": "1-1 2-2\n\n1p1 2-2 3-3\n",
}


def packed(files: Mapping[str, str]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode("latin-1")))
    return content.getvalue()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    files = {"/English-French.test.tar.gz": packed(FRENCH), "/Romanian-English.test.tar.gz": packed(ROMANIAN)}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MTDATA", str(tmp_path / "cache"))
    with FileServer(files) as server:
        free = {k: dataclasses.replace(v, address=server.address) for k, v in gold.GOLD_SETS.items() if v.is_free}
        for module in ("hyperbaton.data.gold", "hyperbaton.data.preparation"):
            monkeypatch.setattr(f"{module}.GOLD_SETS", {**gold.GOLD_SETS, **free})
        yield server


def get(*arguments: object, status: int = 0) -> str:
    done = hyperbaton("corpus", "get", "-q", *arguments, "-o", "gold")
    assert done.returncode == status, done.stderr
    if status:
        assert done.stderr.count("\n") == 1 and not done.stdout and not Path("gold").exists()
    return done.stderr if status else done.stdout


def lines(name: str) -> list[str]:
    return Path("gold", name).read_text(encoding="utf-8").splitlines()


def test_links_of_the_workshops(server: FileServer) -> None:
    assert get("gold-ro-en").splitlines()[:2] == ["part\tpairs", "gold\t3"]
    assert lines("gold.ro") == ["un câine", "unde ?", "da"] and lines("gold.en") == ["a dog", "where ?", "yes"]
    assert lines("gold.sure.links") == ["0-0 1-1", "", ""]
    assert lines("gold.possible.links") == ["0-0 1-0 1-1", "", "0-0"]
    get("gold-ro-en")
    assert server.requests == {"/Romanian-English.test.tar.gz": 1}
    get("gold-fr-en")  # the sides are exchanged
    assert lines("gold.fr") == ["le café noir"] and lines("gold.en") == ["black coffee"]
    assert lines("gold.sure.links") == ["1-1 2-0"] and lines("gold.possible.links") == ["0-1 1-1 2-0"]
    scored = hyperbaton("evaluate-links", "gold/gold.sure.links", "gold/gold.sure.links")
    assert scored.returncode == 0


def test_links_of_rwth(server: FileServer) -> None:
    message = get("gold-de-en", status=1)
    assert "accept the licence at https://www-i6.informatik.rwth-aachen.de/goldAlignment/, and put DeEnGold" in message
    Path("cache").mkdir()
    Path("cache/DeEnGoldAlignment.tar.gz").write_bytes(packed(GERMAN))
    get("gold-de-en")
    assert lines("gold.de") == ["Das Haus", "schöne Bücher ."]
    assert lines("gold.sure.links") == ["0-0 1-1", "1-1 2-2"]
    assert lines("gold.possible.links") == ["0-0 1-1", "0-0 1-1 2-2"]


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        (
            "gold-ro-en",
            {"answers/test.wa.nonullalign": "0001 1 1 S\n0001 1 x S\n"},
            "nonullalign:2: a link is like 0001 3",
        ),
        ("gold-ro-en", {"answers/test.wa.nonullalign": "0001 1 1 X\n"}, "nonullalign:1: a link is like 0001 3 4 S, not"),
        ("gold-ro-en", {"answers/test.wa.nonullalign": "0009 1 1 S\n"}, "nonullalign:1: there is no sentence 0009"),
        ("gold-ro-en", {"answers/test.wa.nonullalign": "0001 1 70000 S\n"}, "nonullalign:1: positions are counted from 1"),
        ("gold-ro-en", {"answers/test.wa.nonullalign": "0001 3 1 S\n"}, "link 2-0 of sentence pair 1 is out of range"),
        ("gold-ro-en", {"test/test.2.e": ""}, "the sentences of the two languages differ in number"),
        ("gold-de-en", {"alignmentDeEn.talp": "1-1\n1:1\n"}, "alignmentDeEn.talp:2: a link is like 3-4 or 3p4"),
        ("gold-de-en", {"alignmentDeEn.talp": "1-1\n0-1\n"}, "alignmentDeEn.talp:2: positions are counted from 1"),
        ("gold-de-en", {"alignmentDeEn.talp": "1-1\n"}, "alignmentDeEn.talp: 1 lines of links for 2 sentence pairs"),
    ],
)
def test_damaged_archives(server: FileServer, name: str, changes: dict[str, str], message: str) -> None:
    files = ROMANIAN if name == "gold-ro-en" else GERMAN
    folder = next(iter(files)).partition("/")[0]
    Path("cache").mkdir()
    archive = packed(files | {f"{folder}/{member}": text for member, text in changes.items()})
    Path("cache", gold.GOLD_SETS[name].archive).write_bytes(archive)
    assert message in get(name, status=1)


def test_what_is_not_there(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files = {"/English-French.test.tar.gz": b"nothing"}
    assert "/Romanian-English.test.tar.gz: the server answered 404; try again, or put the file at" in get(
        "gold-ro-en", status=1
    )
    assert "English-French.test.tar.gz: is not an archive of gold-fr-en" in get("gold-fr-en", status=1)
    Path("cache/English-French.test.tar.gz").write_bytes(packed({"English-French/test/test.e": ""}))
    assert "has no English-French/test/test.f" in get("gold-fr-en", status=1)
    with socket.socket() as unused:  # a port that nothing listens to
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        closed = {"gold-ro-en": dataclasses.replace(gold.GOLD_SETS["gold-ro-en"], address=address)}
        monkeypatch.setattr(gold, "GOLD_SETS", closed)
        assert f"gold-ro-en: cannot be downloaded from {address}/Romanian" in get("gold-ro-en", status=1)
    for arguments in (["gold-ro-en", "gold-fr-en"], ["gold-fr-en", "--train", 5], ["gold-fr-en", "--languages", "en-fr"]):
        assert "gold-fr-en: a gold set is got alone, with no option but --output" in get(*arguments, status=1)
