"""The verbs of alignment, as a user types them."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hyperbaton.align import ALIGNERS, align, load_aligner, read_links
from hyperbaton.align.aligners.hmm import CONFIDENCES
from hyperbaton.base.errors import OptionError
from hyperbaton.base.registry import _entry_points
from hyperbaton.cli import Program
from hyperbaton.cli._command import usage_message
from hyperbaton.corpus import Bitext
from tests.program import hyperbaton

SOURCE = "Das Haus\ndas Buch\n\nein Buch\n"
TARGET = "the house\nthe book\na\na book\n"


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "src").write_text(SOURCE)
    (tmp_path / "tgt").write_text(TARGET)
    return tmp_path / "src", tmp_path / "tgt"


def test_align_save_and_apply(texts: tuple[Path, Path], tmp_path: Path) -> None:
    done = hyperbaton("align", *texts, "--save-model", tmp_path / "model", "--threads", "2", "--seed", "7")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[2] == ""
    again = hyperbaton("align", *texts, "--model", tmp_path / "model", "-o", tmp_path / "links.gz")
    assert again.stdout == ""
    assert gzip.decompress((tmp_path / "links.gz").read_bytes()).decode() == done.stdout
    bitext = Bitext.read(*texts, empty=True)
    assert list(align(bitext)) == list(read_links(tmp_path / "links.gz", bitext))
    phrases, as_chosen = (
        hyperbaton("align", *texts, "--model", tmp_path / "model", *flags).stdout
        for flags in (("--for", "phrases"), ("--confidence", str(CONFIDENCES["phrases"])))
    )
    assert phrases == as_chosen
    with_prior = hyperbaton("align", *texts, "--prior", tmp_path / "model", "--verify")
    assert (with_prior.returncode, with_prior.stderr) == (0, "")
    assert with_prior.stdout.startswith("0-0 1-1\n0-0 1-1\n\n")


def test_function_words_get_no_links(texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "articles").write_text("the a\n")
    done = hyperbaton("align", *texts, "--drop-target", tmp_path / "articles", "--symmetrization", "union")
    links = [line.split() for line in done.stdout.splitlines()]
    assert all(link.endswith("-1") for line in links for link in line)
    assert sum(map(len, links)) > 0


def test_symmetrize_and_evaluate(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0-0 1-1\n\n")
    (tmp_path / "b").write_text("0-0 2-1\n\n")
    done = hyperbaton("symmetrize", tmp_path / "a", tmp_path / "b", "--method", "intersection")
    assert done.stdout == "0-0\n\n"
    scores = json.loads(hyperbaton("evaluate-links", tmp_path / "a", tmp_path / "b", "--json").stdout)
    assert scores["aer"] == pytest.approx(50)
    assert hyperbaton("evaluate-links", tmp_path / "a", tmp_path / "b").stdout.startswith("aer\tprecision\trecall\tf1")
    (tmp_path / "c").write_text("0-0\n")
    short = hyperbaton("evaluate-links", tmp_path / "c", tmp_path / "b")
    assert (short.returncode, short.stdout) == (1, "")
    assert short.stderr.endswith(f"{tmp_path}/b:2: has 2 lines, but {tmp_path}/c has 1; every sentence needs a line\n")
    short = hyperbaton("symmetrize", tmp_path / "b", tmp_path / "c")
    assert short.stderr.endswith(f"{tmp_path}/c:2: has 1 line, but {tmp_path}/b has 2; every sentence needs a line\n")


def test_faults_are_one_line(texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "short").write_text("one line\n")
    for arguments, message in [
        (("align", texts[0], tmp_path / "short"), "short:2: the file ends after 1 line"),
        (
            ("align", *texts, "--aligner", "eflomal", "--save-model", tmp_path / "m"),
            "the aligner eflomal can neither load nor save models",
        ),
        (("align", *texts, "--model", tmp_path / "none"), "no such artefact"),
        (("align", *texts, "--prior", tmp_path / "none"), "no such artefact"),
        (("align", *texts, "--prior", tmp_path, "--model", tmp_path), "--model and --prior: a saved model is not trained"),
        (("align", *texts, "--aligner", "giza:shift=1"), "unknown aligner 'giza'; known: eflomal, hmm"),
        (("align", *texts, "--aligner", "hmm:shift=1"), "unknown option 'shift'; known: symmetrization,"),
        (("symmetrize", texts[0], texts[1]), "src:1: expected links like 0-0, found 'Das'"),
    ]:
        done = hyperbaton(*arguments)
        assert done.returncode == 1
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


AN_ALIGNER = """
from dataclasses import dataclass

import numpy as np

from hyperbaton.align import AlignmentScores, WordAligner
from hyperbaton.align.base import KIND
from hyperbaton.base.options import from_mapping, option, to_mapping
from hyperbaton.base.store import Artefact, save
from hyperbaton.corpus import Links


@dataclass
class Shifted(WordAligner):
    shift: int = option(0, "distance between linked words")

    def directed_links(self, bitext, threads, progress):
        pairs = zip(bitext.source, bitext.target)
        links = Links.of([[(0, self.shift)] if src and len(tgt) > self.shift else [] for src, tgt in pairs])
        return links, links


@dataclass
class Saved(Shifted):
    def fit(self, bitext, *, threads=None, progress=None):
        self.learned = len(bitext)
        return self

    def score(self, bitext, links=None, *, threads=None, progress=None):
        links = links or bitext.links
        return AlignmentScores(np.full((len(links.points), 2), 0.5, np.float32), np.full((len(bitext), 2), -self.learned))

    def save(self, path, smallest=0.0):
        details = {"aligner": "saved", "learned": self.learned}
        save(path, KIND, {}, options=to_mapping(self), details=details)

    @classmethod
    def load(cls, path):
        artefact = Artefact(path, KIND)
        aligner = from_mapping(cls, artefact.options)
        aligner.learned = artefact.details["learned"]
        return aligner
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An aligner of another package, whose name is not that of its file."""
    (tmp_path / "theirs.py").write_text(AN_ALIGNER)
    package = tmp_path / "theirs-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[hyperbaton.aligner]\nshifted = theirs:Shifted\nsaved = theirs:Saved\n")
    monkeypatch.syspath_prepend(tmp_path)
    _entry_points.cache_clear()
    yield
    _entry_points.cache_clear()
    sys.modules.pop("theirs", None)


@pytest.mark.usefixtures("installed")
def test_an_aligner_of_another_package(
    texts: tuple[Path, Path], capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    def links(*options: str) -> str:
        words = [*map(str, texts), *options]
        Program().main(["align", *words], standalone_mode=False)
        return capsysbinary.readouterr().out.decode()

    assert links("--aligner", "shifted") == "0-0\n0-0\n\n0-0\n"
    for options in (
        ("--aligner", "shifted:shift=1"),
        ("--aligner", "shifted", "--shift", "1"),
        ("--shift", "1", "--aligner=shifted:shift=1:lowercase=no"),
    ):
        assert links(*options) == "0-1\n0-1\n\n0-1\n"
    # Options of another aligner are not dropped without a word.
    for options, message in (
        (
            ("--aligner", "shifted", "--freedom", "0.5"),
            "unknown option --freedom (an option of the aligners hmm, neural); see",
        ),
        (("--shift", "1"), "unknown option --shift (an option of the aligners saved, shifted); see"),
    ):
        with pytest.raises(click.UsageError) as caught:
            links(*options)
        assert usage_message(caught.value).startswith(message)
    for name, message in (
        ("shifted:freedom=1", "unknown option 'freedom'"),
        ("shifted:shift=2", "--aligner shifted:shift=2 and --shift 1 set the same option; leave out one of them"),
    ):
        with pytest.raises(OptionError, match=message):
            links("--aligner", name, *(("--shift", "1") if "=2" in name else ()))
    assert links("--aligner", "hmm:symmetrization=intersection") == links("--symmetrization", "intersection")
    assert ALIGNERS.text(ALIGNERS.make("shifted:shift=1")) == "shifted:shift=1"
    drop = tmp_path / "drop"
    drop.write_text("the\n")
    with pytest.raises(OptionError, match=f"--output would write to {drop}, which is also an input"):
        links("--aligner", f"Shifted:drop-target={drop}", "-o", str(drop))
    assert links("--aligner", "Shifted", "--shift", "1") == links("--aligner", "shifted:shift=1")


@pytest.mark.usefixtures("installed")
def test_an_aligner_of_another_package_is_saved_scores_and_is_loaded(texts: tuple[Path, Path], tmp_path: Path) -> None:
    saved = ("--aligner", "saved", "--shift", "1")
    done = hyperbaton("align", *texts, *saved, "--save-model", tmp_path / "model", "--scores", tmp_path / "scores")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "0-1\n0-1\n\n0-1\n")
    assert (tmp_path / "scores").read_text().splitlines()[0].startswith("-4")
    # The model says whose it is; the options of the saved aligner come with it.
    for options in ((), ("--executor", "processes:1")):
        again = hyperbaton("align", *texts, "--model", tmp_path / "model", "--scores", tmp_path / "again", *options)
        assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr
        assert (tmp_path / "again").read_text() == (tmp_path / "scores").read_text()
    assert isinstance(load_aligner(tmp_path / "model"), ALIGNERS["saved"])
    for options in (("--save-model", tmp_path / "none"), ("--format", "json")):
        refused = hyperbaton("align", *texts, "--aligner", "shifted", *options)
        assert refused.returncode == 1 and "the aligner shifted " in refused.stderr
    with pytest.raises(OptionError, match="the aligner shifted does not score links"):
        ALIGNERS.make("shifted").score(Bitext.read(*texts, empty=True))
    with pytest.raises(OptionError, match="the aligner Shifted can neither load nor save models"):
        ALIGNERS["shifted"].load(tmp_path / "model")
