"""Sentences that the readers allow, but that are too long for some work, are refused before it begins."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from hyperbaton.base.errors import AnnotationError, InputError, SentenceError
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, System, preorder
from hyperbaton.decode.diagnose import diagnose
from hyperbaton.evaluate import HeldOut
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from tests.unit.test_align_verbs import hyperbaton

REFUSED = r"long:3: a sentence of more than 4000 words: split it, or drop it with 'hyperbaton clean'$"


@pytest.fixture(scope="module")
def known() -> Bitext:
    return Bitext.of(["a b c"] * 9, ["C A B"] * 9, [[(0, 1), (1, 2), (2, 0)]] * 9)


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    for name, n_words in (("long", 4001), ("longest", 4000), ("short", 3)):
        (folder / name).write_text("a b\nb a\n" + " ".join("a" * n_words) + "\n")
    (folder / "links").write_text("0-0 1-1\n0-1 1-0\n0-0 1-2\n")
    return folder


@pytest.fixture(scope="module")
def system(known: Bitext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("system") / "system"
    System.of(PhraseTable.build(known, extract(known))).save(folder)
    return folder


@pytest.mark.parametrize(("source", "target"), [("long", "short"), ("short", "long")])
def test_pairs_that_are_too_long(texts: Path, source: str, target: str) -> None:
    bitext = Bitext.read(texts / source, texts / target, texts / "links")
    for model in ("pair", "linear_jump", "block_me", "osm", "linear"):
        with pytest.raises(InputError, match=REFUSED):
            MODELS[model]().fit(bitext)
    with pytest.raises(InputError, match=REFUSED):
        HeldOut(bitext)
    with pytest.raises(InputError, match=REFUSED):
        extract(bitext)
    HeldOut(Bitext.read(texts / "longest", texts / "short", texts / "links"))


def test_sources_that_are_too_long(texts: Path, known: Bitext) -> None:
    model = MODELS["linear_jump"]().fit(known)
    with pytest.raises(InputError, match=REFUSED):
        preorder(model, Bitext.read(texts / "long", texts / "short").source)


def test_references_of_long_sentences(known: Bitext, system: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = System.load(system)
    options, lines = Decoding(max_words=3), ["a b c", "a b c a", "b"]
    with monkeypatch.context() as patch:  # nothing is searched before
        patch.setattr("hyperbaton.decode.translator.TokenTranslator.search", lambda *_, **__: pytest.fail("searched"))
        with pytest.raises(
            SentenceError, match=r"^sentence 2: a sentence of more than 3 words cannot be forced to its ref"
        ):
            diagnose(loaded, lines, lines, options)
    (tmp_path / "x").write_text("\n".join(lines) + "\n")
    command = ["diagnose", system, tmp_path / "x", tmp_path / "x", "--max-words", 3]
    assert said(*command) == f"{tmp_path}/x:2: a sentence of more than 3 words cannot be forced to its reference"


def test_a_fault_in_a_later_batch_has_its_line(system: Path, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a\n" * 299 + "a </zone>\n")
    command = ["translate", system, tmp_path / "x", "--markup", "-o", tmp_path / "out"]
    assert said(*command) == f"{tmp_path}/x:300: </zone> closes nothing" and not (tmp_path / "out").exists()


def said(*command: object) -> str:
    """The message of a failing command up to the first semicolon."""
    done = hyperbaton(*command, "-q")
    assert done.returncode == 1 and not done.stdout
    return done.stderr.removeprefix("hyperbaton: error: ").strip().partition(";")[0]


def test_errors_of_workers_stay_what_they_are() -> None:
    for error in (SentenceError("odd", 3), AnnotationError("tags", "odd", 3)):
        again = pickle.loads(pickle.dumps(error)).moved(4)
        assert type(again) is type(error) and (again.what, again.line) == ("odd", 7)
