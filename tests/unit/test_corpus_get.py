"""`hyperbaton corpus get`: the real mtdata, whose addresses lead to a file server of this process."""

from __future__ import annotations

import json
import logging
import os
import random
import shlex
import socket
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Tags
from hyperbaton.data import datasets, generate
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan
from tests.datasets import FileServer, gzipped, make_index, served, tarred, zipped
from tests.program import hyperbaton

pytestmark = pytest.mark.skipif(
    find_spec("mtdata") is None, reason="mtdata is not installed"
)  # importing it costs a minute

ROOT = Path(__file__).parents[2]
OPUS = "Tatoeba\tv2023-04-12\tde\ten\nTatoeba\tv2022-03-03\tde\ten\nTatoeba\tv2023-04-12\ten\tja\nBooks\tv1\tde\tfr\n"
TATOEBA = "OPUS-tatoeba-v20230412-deu-eng"
TATOEBA_FILE = "/OPUS-Tatoeba/v2023-04-12/moses/de-en.txt.zip"
KFTT = "Phontron-kftt_{}-1-jpn-eng"


def sentences(n: int, seed: int = 1) -> tuple[str, str]:
    """Raw text of two languages, each line ending in a full stop; every tenth source sentence twice."""
    made = generate(n, seed=seed).bitext
    pairs = [(" ".join(src[:-1]), " ".join(tgt[:-1])) for src, tgt in zip(made.source, made.target, strict=True)]
    pairs += [(src, f"{tgt} indeed") for src, tgt in pairs[::10]]
    return "".join(f"{src}.\n" for src, _ in pairs), "".join(f"{tgt}.\n" for _, tgt in pairs)


def japanese(n: int, seed: int) -> tuple[str, str]:
    chance = random.Random(seed)
    people = [("私", "I"), ("先生", "the teacher"), ("母", "my mother"), ("弟", "my brother"), ("医者", "the doctor")]
    things = [
        ("本", "a book"),
        ("魚", "a fish"),
        ("車", "a car"),
        ("山", "a mountain"),
        ("犬", "a dog"),
        ("花", "a flower"),
    ]
    pairs = []
    for _ in range(n):
        (who, one), (what, other), count = chance.choice(people), chance.choice(things), chance.randrange(10_000)
        pairs.append((f"{who}は{what}を{count}回見た。", f"{one} saw {other} {count} times."))
    return "".join(f"{src}\n" for src, _ in pairs), "".join(f"{tgt}\n" for _, tgt in pairs)


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    """The content of the server, by path."""
    german, english = sentences(300)
    kftt = {}
    for part, n in (("train", 120), ("tune", 15), ("dev", 15), ("test", 15)):
        for code, text in zip(("ja", "en"), japanese(n, len(part) + n), strict=True):
            kftt[f"kftt-data-1.0/data/orig/kyoto-{part}.{code}"] = text
    news = "".join(f"{tgt}\t{src}\n" for src, tgt in zip(*(side.splitlines() for side in sentences(60, 7)), strict=True))
    return {
        TATOEBA_FILE: zipped({"README": "", "Tatoeba.de-en.de": german, "Tatoeba.de-en.en": english}),
        "/OPUS-Tatoeba/v2022-03-03/moses/de-en.txt.zip": b"not an archive",
        "/kftt/download/kftt-data-1.0.tar.gz": tarred(kftt),
        "/news-commentary/v18.1/training/news-commentary-v18.de-en.tsv.gz": gzipped(news),
    }


@pytest.fixture(scope="module")
def whole_server(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileServer]:
    make_index(tmp_path_factory.mktemp("mtdata"), OPUS)
    with served(files) as server:
        yield server


@pytest.fixture
def server(whole_server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileServer:
    """The server, as yet without requests, and an empty cache of downloads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mtdata.cache_dir", tmp_path / "cache")
    whole_server.requests.clear()
    return whole_server


def get(*arguments: object, status: int = 0) -> str:
    """Run the command; return its output, or its error message."""
    done = hyperbaton("corpus", "get", "-q", "-t", 1, *arguments)
    assert done.returncode == status, done.stderr
    assert done.stderr.count("\n") == (1 if status else 0) and not (status and done.stdout), done.stderr
    return done.stderr if status else done.stdout


def lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def content(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def test_one_command_makes_a_corpus(server: FileServer) -> None:
    printed = get(TATOEBA, "--dev", 20, "--devtest", 0, "--ratio", 5, "-o", "new/corpus")
    assert printed.splitlines()[:3] == ["part\tpairs", f"train\t{len(lines('new/corpus/train.de'))}", "dev\t20"]
    assert [path.name for path in Path("new").iterdir()] == ["corpus"]
    assert set(content("new/corpus")) == {
        *(f"{split}.{column}" for split in ("train", "dev", "test") for column in ("de", "en", "links")),
        "corpus.json",
    }
    made = {
        split: Bitext.read(*(f"new/corpus/{split}.{end}" for end in ("de", "en", "links")))
        for split in ("train", "dev", "test")
    }
    assert all(bitext.links is not None and len(bitext.links.points) for bitext in made.values())
    # 300 different sentences, 30 of them twice; a tenth of them are the test text.
    assert len(made["test"]) == 30 and len(made["train"]) > 200
    for code in ("de", "en"):
        train, dev, test = (set(lines(f"new/corpus/{split}.{code}")) for split in made)
        assert not train & dev and not train & test and not dev & test
    assert all(line.endswith(" .") for line in lines("new/corpus/train.en"))  # tokenized
    assert json.loads(Path("new/corpus/corpus.json").read_text())["datasets"] == {"train": [TATOEBA]}


def test_the_same_again_downloads_nothing_and_changes_nothing(server: FileServer) -> None:
    get(TATOEBA, "-o", "corpus")
    before = content("corpus")
    get(TATOEBA, "-o", "corpus")
    get("OPUS-tatoeba-v20230412-de-en", "-t", 2, "-o", "other")
    assert server.requests == {TATOEBA_FILE: 1}
    assert content("corpus") == before == content("other")
    get(TATOEBA, "--seed", 2, "--aligner", "none", "--ratio", 1.3, "-o", "corpus")  # a warning, without -q
    after = content("corpus")
    assert "test.links" not in after and after["test.de"] != before["test.de"]


def test_several_datasets_and_the_other_direction(server: FileServer) -> None:
    get(TATOEBA, "Statmt-news_commentary-18.1-deu-eng", "--languages", "en-de", "--train", 100, "-o", "corpus")
    assert len(lines("corpus/train.en")) == 100
    english = {word for sentence in generate(300, seed=1).bitext.target for word in sentence} | {"indeed"}
    words = {code: Path(f"corpus/train.{code}").read_text(encoding="utf-8").split() for code in ("en", "de")}
    known = {code: sum(word in english for word in own) / len(own) for code, own in words.items()}
    assert known["en"] > 0.7 > 0.4 > known["de"]


def test_parts_that_are_datasets_are_kept_whole(server: FileServer, files: dict[str, bytes]) -> None:
    parts = [word for split, part in (("dev", "tune"), ("test", "test")) for word in (f"--{split}", KFTT.format(part))]
    get(KFTT.format("train"), *parts, "--devtest", 5, "--ratio", 5, "-o", "corpus")
    assert [len(lines(f"corpus/{split}.ja")) for split in ("dev", "devtest", "test")] == [15, 5, 15]
    assert lines("corpus/dev.ja")[0].split()[1] == "は"
    text = Bitext.read("corpus/train.ja", "corpus/train.en").source
    Tags.read("corpus/train.ja.pos", text)
    assert server.requests.total() == 1


def test_the_layout_of_the_benchmarks(server: FileServer) -> None:
    parts = [word for split, part in (("dev", "tune"), ("test", "test")) for word in (f"--{split}", KFTT.format(part))]
    common = [KFTT.format("train"), *parts, "--devtest", 0, "--ratio", 5, "--train", 80]
    get(*common, "--layout", "benchmarks", "-o", "corpora/kyoto-ja-en")
    names = {path.name for path in Path("corpora/kyoto-ja-en").iterdir()} - {"corpus.json"}
    columns = ("ja.xz", "en.xz", "links.xz", "ja.pos.xz")
    assert names == {f"{split}.{column}" for split in ("train", "more", "dev", "test") for column in columns}
    train, more = (
        Bitext.read(*(f"corpora/kyoto-ja-en/{split}.{column}" for column in columns[:3])) for split in ("train", "more")
    )
    assert len(train) == 80 and 20 <= len(more) <= 40
    assert not {" ".join(line) for line in train.source} & {" ".join(line) for line in more.source}
    get(*common, "-o", "plain")
    assert [" ".join(line) for line in train.source] == lines("plain/train.ja")
    # The experiments of the benchmarks read it; KFTT's own test text stands for the one with links made by hand.
    test = {"source": "test.ja.xz", "target": "test.en.xz", "links": "test.links.xz", "tags": "test.ja.pos.xz"}
    settings = [
        f"corpus.root={Path('corpora').absolute()}",
        *(f"corpus.test.{key}=kyoto-ja-en/{name}" for key, name in test.items()),
    ]
    assert "score" in make_plan(read_experiment(ROOT / "benchmarks" / "order" / "kyoto-models.toml", settings)).stages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["OPUS-tatoba-v20230412-deu-eng"], f"unknown dataset 'OPUS-tatoba-v20230412-deu-eng'; did you mean {TATOEBA} or"),
        (["tatoeba"], "unknown dataset 'tatoeba'; names are like OPUS-tatoeba-v20230412-deu-eng; 'hyperbaton corpus list"),
        (["OPUS-ta:toeba-1-deu-eng"], "unknown dataset 'OPUS-ta:toeba-1-deu-eng'; did you mean"),
        ([TATOEBA, "OPUS-books-v1-deu-fra"], "OPUS-books-v1-deu-fra: its languages are deu-fra, not deu-eng"),
        ([TATOEBA, "--languages", "ja-en"], f"{TATOEBA}: its languages are deu-eng, not jpn-eng"),
        ([TATOEBA, "--languages", "german"], "languages are two codes like de-en, not 'german'"),
        ([TATOEBA, TATOEBA], f"the dataset {TATOEBA} is named twice"),
        (
            [TATOEBA, "--dev", "400"],
            "300 different source sentences cannot give 400 for dev and 30 for devtest and 30 for test",
        ),
        ([TATOEBA, "--tokenizer-source", "mose"], "unknown tokenizer 'mose'"),
        ([TATOEBA, "--aligner", "mm"], "unknown aligner 'mm'"),
        (["OPUS-books-v1-deu-fra"], "/OPUS-Books/v1/moses/de-fr.txt.zip: the server answered 404; check the network"),
        (
            ["OPUS-tatoeba-v20220303-deu-eng"],
            "cannot be read: its lines are not pairs of sentences; if the file is damaged",
        ),
    ],
)
def test_what_is_wrong(server: FileServer, arguments: list[str], message: str) -> None:
    assert message in get(*arguments, "-o", "corpus", status=1)
    assert not [path for path in Path().iterdir() if path.name != "cache"]


def test_wrong_usage(server: FileServer) -> None:
    for arguments, status, message in (
        (["fetch", TATOEBA, "-o", "corpus"], 2, "must be one of get, list, not 'fetch'"),
        (["get", TATOEBA], 1, "'corpus get' needs --output, the folder to write to"),
    ):
        done = hyperbaton("corpus", *arguments)
        assert done.returncode == status and message in done.stderr


def test_no_network(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from mtdata.index import INDEX

    with socket.socket() as unused:  # a port that nothing listens to
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/de-en.txt.zip"
        entry = next(entry for entry in INDEX.entries.values() if str(entry.did) == TATOEBA)
        monkeypatch.setattr(entry, "url", address)
        message = get(TATOEBA, "-o", "corpus", status=1)
    assert f"{TATOEBA}: cannot be downloaded from {address}" in message
    assert ": no connection; check the network and try again" in message
    assert not Path("corpus").exists()


def test_other_files_are_kept(server: FileServer) -> None:
    Path("corpus").mkdir()
    Path("corpus/notes").write_text("mine")
    assert "corpus: the folder contains files that are not an artefact" in get(TATOEBA, "-o", "corpus", status=1)
    Path("corpus/notes").unlink()
    get(TATOEBA, "--aligner", "none", "-o", "corpus")
    Path("corpus/notes").write_text("mine")
    message = get(TATOEBA, "-o", "corpus", status=1)
    assert "corpus: would be replaced, but notes is not part of it; move that or choose another name" in message
    assert Path("corpus/train.de").exists()


def test_an_interrupted_download_leaves_nothing(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(datasets._Counter, "update", interrupt)
        get(TATOEBA, "-o", "corpus", status=130)
    assert [path.name for path in Path().iterdir()] == ["cache"]
    get(TATOEBA, "--aligner", "none", "-o", "corpus")
    assert server.requests[TATOEBA_FILE] == 2


def test_an_index_that_was_not_finished_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "index"
    with pytest.raises(KeyboardInterrupt), datasets._whole_index(file):
        file.write_bytes(b"half")
        raise KeyboardInterrupt
    assert not file.exists()
    file.write_bytes(b"half")
    with (
        pytest.raises(InputError, match="index: mtdata's index of datasets is damaged; remove it"),
        datasets._whole_index(file),
    ):
        raise EOFError


def test_the_logging_of_the_program_stays_as_it_is(server: FileServer) -> None:
    before = list(logging.getLogger().handlers), logging.getLogger().level
    get(TATOEBA, "--aligner", "none", "-o", "corpus")
    assert (list(logging.getLogger().handlers), logging.getLogger().level) == before


def test_list(server: FileServer) -> None:
    done = hyperbaton("corpus", "list", "de-en", "tatoeba")
    assert done.stdout.splitlines() == ["OPUS-tatoeba-v20220303-deu-eng", TATOEBA]


def test_names_are_listed_without_the_index(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a file that the first list leaves beside the index, unless the index is newer."""
    index, command = tmp_path / "index.pkl", ("corpus", "list", "en-de", "tatoeba")
    monkeypatch.setattr("mtdata.cached_index_file", index)
    index.write_bytes(b"")
    listed = hyperbaton(*command).stdout
    with monkeypatch.context() as patch:
        patch.setattr("mtdata.index.INDEX.entries", {})
        assert hyperbaton(*command).stdout == listed != ""
        os.utime(index, (2**32, 2**32))
        assert hyperbaton(*command).stdout.strip() == ""


def test_without_mtdata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mtdata", None)
    message = get(TATOEBA, "-o", tmp_path / "corpus", status=1)
    assert "mtdata is not installed: pip install '.[data]' in a checkout" in message


def commands(example: Path) -> list[list[str]]:
    """The commands that the first lines of an example name."""
    head = example.read_text(encoding="utf-8").partition("\ntitle")[0]
    return [shlex.split(line.removeprefix("#   ")) for line in head.splitlines() if line.startswith("#   ")]


@pytest.mark.parametrize(
    "example",
    [path for path in sorted(ROOT.glob("examples/*.toml")) if "corpus get" in path.read_text()],
    ids=lambda path: path.stem,
)
def test_examples_run_after_their_command(example: Path, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command names datasets that mtdata has, and makes the files that the example names."""

    def fetch(self: Any, dataset: Any, source: Path, target: Path, progress: Any) -> int:
        text = japanese(60, len(dataset.name))
        for path, side in zip((source, target), text, strict=True):
            path.write_text(side, encoding="utf-8")
        return 60

    monkeypatch.setattr(datasets.Catalogue, "fetch", fetch)
    (made, *_), runs = commands(example)[:1], commands(example)[1:]
    assert made[:3] == ["hyperbaton", "corpus", "get"] and runs
    for word in made:
        if word.startswith("OPUS-"):
            import mtdata

            corpus, version = word.split("-")[1:3]
            known = (mtdata.resource_dir / "opus_index.tsv").read_text(encoding="utf-8").lower().replace("-", "")
            assert f"{corpus}\t{version}\t" in known
    get(*made[3:])
    Path("examples").mkdir()
    Path("examples", example.name).write_bytes(example.read_bytes())
    for command in runs:
        done = hyperbaton(*command[1:], "--dry-run")
        assert done.returncode == 0, done.stderr
    assert "score" in make_plan(read_experiment(Path("examples", example.name))).stages
