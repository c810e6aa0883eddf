"""Scores of links and pairs, links as a filter of lines, and what is kept by scores."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.align import Aligner, Filtering, StoredScores, filter_files, read_links
from hyperbaton.align.link_files import format_links
from hyperbaton.align.pair_text import PairText
from hyperbaton.align.scores import most_certain
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Links, Text, first_instances
from hyperbaton.data import generate
from tests.oracles.alignment import JumpModel, posteriors
from tests.program import hyperbaton


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(600, seed=3).bitext


@pytest.fixture(scope="module")
def model(bitext: Bitext, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aligner") / "model"
    Aligner().fit(bitext).save(path)
    return path


def test_log_probabilities_are_those_of_brute_force() -> None:
    bitext = Bitext.of(["a b", "a c b", "c"], ["x y", "z x", "z"])
    aligner = Aligner(model1_iterations=1, hmm_iterations=2).fit(bitext)
    table = aligner.lexical_table(smallest=0.0)
    scores = aligner.score(bitext, aligner.align(bitext))
    for s in range(len(bitext)):
        src, tgt = bitext.source[s], bitext.target[s]
        lexicon = {(a, b): p for a in src for b, p, _ in table.translations(a)}
        emission = np.array([[lexicon[a, b] for a in src] for b in tgt])
        nulls = [aligner.model_.null_emissions()[0][aligner.vocabularies_[1].number(b)] for b in tgt]
        _, whole = posteriors(emission, nulls, JumpModel(aligner.model_.jump_weights()[0]), 0.3)
        assert scores.logprobs[s, 0] == pytest.approx(np.log(whole) / len(tgt), rel=1e-4)


def test_posteriors_of_links_are_those_of_the_matrix(bitext: Bitext, model: Path) -> None:
    aligner, part = Aligner.load(model), bitext.select(range(40))
    every = aligner.posteriors(part, threshold=0.0)
    matrix = {
        (s, *point): both
        for s in range(len(part))
        for point, both in zip(
            every.links[s], every.values[every.links.offsets[s] : every.links.offsets[s + 1]].tolist(), strict=True
        )
    }
    links = aligner.align(part)
    keys = [(s, *point) for s in range(len(part)) for point in links[s]]
    np.testing.assert_array_equal(
        aligner.score(part, links).posteriors, np.array([matrix[key] for key in keys], np.float32)
    )


def test_words_left_out_have_no_posterior() -> None:
    bitext = Bitext.of(["the house", "the"], ["das haus", "das"], [[(0, 0), (1, 1)], [(0, 0)]])
    aligner = Aligner()
    aligner.fit(bitext)
    aligner.normalizations_ = (
        type(aligner.normalizations_[0])(drop=frozenset({"the"})),
        aligner.normalizations_[1],
    )
    scores = aligner.score(bitext)
    assert scores.posteriors[[0, 2]].tolist() == [[0, 0], [0, 0]] and scores.posteriors[1].min() > 0
    assert np.isnan(scores.logprobs[1]).all() and list(scores.lines(bitext.need_links()))[1] == ""


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 8).map(lambda n: n / 8), max_size=6), max_size=5),
    st.integers(0, 16).map(lambda n: n / 16),
)
def test_a_precision_is_a_threshold_in_each_pair(confidences: list[list[float]], precision: float) -> None:
    points = [[(0, j) for j in range(len(pair))] for pair in confidences]
    scores = np.array([value for pair in confidences for value in pair], np.float32)
    expected = []
    for pair, values in zip(points, confidences, strict=True):
        enough = [t for t in values if np.mean([value for value in values if value >= t]) >= precision]
        threshold = min(enough, default=np.inf)
        expected.append([point for point, value in zip(pair, values, strict=True) if value >= threshold])
    assert list(most_certain(Links.of(points), scores, precision)) == expected


@pytest.mark.parametrize("options", [{}, {"threshold": 0.1}, {"symmetrization": "union", "confidence": 0.0}])
def test_the_mean_score_of_each_pair_reaches_the_precision(
    bitext: Bitext, model: Path, options: dict[str, float | str]
) -> None:
    aligner, part = Aligner.load(model), bitext.select(range(60))
    for name, value in options.items():
        setattr(aligner, name, value)
    every = aligner.align(part)
    aligner.precision = 0.97
    links = aligner.align(part)
    assert 0 < len(links.points) < len(every.points)
    assert all(set(some) <= set(pair) for some, pair in zip(links, every, strict=True))
    scores = aligner.score(part, links).confidences
    for begin, end in pairwise(links.offsets.tolist()):
        assert begin == end or scores[begin:end].mean() >= 0.97 - 1e-6
    pair = (" ".join(side[5]) for side in (part.source, part.target))
    assert aligner.align_pair(*pair) == links[5]


def test_precision_on_the_command_line(bitext: Bitext, model: Path, tmp_path: Path) -> None:
    for name, text in (("c.src", bitext.source), ("c.tgt", bitext.target)):
        (tmp_path / name).write_bytes(b"".join(text.pieces(np.arange(30))))
    command = ("align", tmp_path / "c.src", tmp_path / "c.tgt", "--model", model, "--scores", tmp_path / "scores")
    done = hyperbaton(*command, "--precision", "0.97", "-o", tmp_path / "links")
    assert (done.returncode, done.stderr) == (0, "")
    stored = StoredScores.read(tmp_path / "scores")
    pairs = [stored.confidences[begin:end] for begin, end in pairwise(stored.offsets.tolist())]
    assert all(pair.mean() >= 0.97 - 1e-4 for pair in pairs if len(pair))
    hyperbaton(*command, "-o", tmp_path / "all")
    assert len((tmp_path / "links").read_text().split()) < len((tmp_path / "all").read_text().split())
    texts = command[1:3]
    for refused, message in (
        (
            ("--aligner", "eflomal", "--precision", "0.9"),
            "unknown option --precision (an option of the aligners hmm, neural)",
        ),
        (("--aligner", "eflomal:precision=0.9"), "unknown option 'precision'"),
    ):
        done = hyperbaton("align", *texts, *refused)
        assert done.returncode != 0 and message in done.stderr


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_groups_of_any_size_have_the_same_links(bitext: Bitext, model: Path, tmp_path: Path, most: int) -> None:
    aligner, part = Aligner.load(model), bitext.select(range(50))
    lines = [[" ".join(words) for words in side] for side in (part.source, part.target)]
    lines[0][3] = ""
    for name, side in zip(("src", "tgt"), lines, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side))
    whole = list(aligner.align(Bitext.of(*lines)))
    (tmp_path / "pairs").write_text(
        "".join(f"{a}{' ||| ' if n % 2 else chr(9)}{b}\n" for n, (a, b) in enumerate(zip(*lines, strict=True)))
    )
    for text in (PairText(tmp_path / "src", tmp_path / "tgt"), PairText(tmp_path / "pairs")):
        assert [points for group in text.groups(most) for points in aligner.align(group)] == whole
    assert aligner.align_pair(lines[0][0], lines[1][0]) == whole[0]


def test_lines_are_answered_one_by_one(bitext: Bitext, model: Path) -> None:
    program = [sys.executable, "-c", "from hyperbaton.__main__ import main; main()", "align", "--model", str(model), "-"]
    aligner = Aligner.load(model)
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None and running.stdout is not None
        for s in range(3):
            pair = [" ".join(side[s]) for side in (bitext.source, bitext.target)]
            running.stdin.write("\t".join(pair) + "\n")
            running.stdin.flush()
            assert running.stdout.readline().split() == [f"{i}-{j}" for i, j in aligner.align_pair(*pair)]
        running.stdin.close()
        assert running.wait() == 0


def test_formats(bitext: Bitext, model: Path, tmp_path: Path) -> None:
    aligner, part = Aligner.load(model), bitext.select(range(20))
    part = replace(part, links=aligner.align(part))
    scores = aligner.score(part)
    (tmp_path / "a3").write_bytes(b"".join(format_links(part, scores, "giza")))
    assert list(read_links(tmp_path / "a3", part, "giza")) == list(part.need_links())
    rows = [json.loads(row) for row in b"".join(format_links(part, scores, "json")).splitlines()]
    assert [[tuple(point) for point in row["links"]] for row in rows] == list(part.need_links())
    assert rows[0]["logprobs"] == pytest.approx(scores.logprobs[0].tolist(), abs=1e-4)
    assert b"".join(format_links(part, scores, "pharaoh")) == b"".join(part.need_links().pieces())


def test_filter_keeps_true_pairs(tmp_path: Path) -> None:
    bitext = generate(3000, seed=5).bitext
    order = np.arange(len(bitext))
    order[::4] = np.roll(order[::4], 1)
    for name, text in (("c.src", bitext.source), ("c.tgt", bitext.target.select(order))):
        (tmp_path / name).write_bytes(b"".join(text.pieces()))
    (tmp_path / "c.n").write_text("".join(f"{n}\n" for n in range(len(bitext))))
    report = filter_files(tmp_path / "c.src", tmp_path / "c.tgt", tmp_path / "good", also=[tmp_path / "c.n"])
    kept = np.array((tmp_path / "good.n").read_text().split(), int)
    true = order == np.arange(len(bitext))
    n_true = int(true[kept].sum())
    assert n_true > 0.95 * true.sum() and len(kept) - n_true < 0.2 * (~true).sum()
    assert report.n_kept == len(kept) == len((tmp_path / "good.tgt").read_text().splitlines())


def test_scores_are_written_and_read(bitext: Bitext, model: Path, tmp_path: Path) -> None:
    for name, text in (("c.src", bitext.source), ("c.tgt", bitext.target)):
        (tmp_path / name).write_bytes(b"".join(text.pieces()))
    texts = (tmp_path / "c.src", tmp_path / "c.tgt")
    done = hyperbaton("align", *texts, "--model", model, "--scores", tmp_path / "scores", "-o", tmp_path / "links")
    assert (done.returncode, done.stderr) == (0, "")
    stored, links = StoredScores.read(tmp_path / "scores"), Links.read(tmp_path / "links", bitext.source, bitext.target)
    stored.check(len(bitext), links)
    np.testing.assert_allclose(stored.logprobs, Aligner.load(model).score(bitext, links).logprobs, atol=1e-4)
    done = hyperbaton("filter", *texts, "--scores", tmp_path / "scores", "--keep", "0.5", "-o", tmp_path / "half", "--json")
    assert json.loads(done.stdout)["n_kept"] == 300
    assert len((tmp_path / "half.src").read_text().splitlines()) == 300
    # Pairs for a text: each of its words is in the first 2 instances that the kept half has.
    (tmp_path / "new.src").write_bytes(b"".join(bitext.source.pieces(np.arange(5))))
    matching = ("filter", *texts, "--matching", tmp_path / "new.src", "--instances", "2", "--longest", "1", "--json")
    assert json.loads(hyperbaton(*matching, "-o", tmp_path / "all").stdout)["smallest_gain"] is None
    done = hyperbaton(*matching, "--scores", tmp_path / "scores", "--keep", "0.5", "-o", tmp_path / "few")
    near, half = (Text.read(tmp_path / f"{name}.src") for name in ("few", "half"))
    kept = half.select(np.flatnonzero(first_instances(half, [bitext.source[:5]], 1) <= 2))
    assert list(near) == list(kept) and json.loads(done.stdout)["n_kept"] == len(near) < 300


def test_faults_name_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for content, message in [
        (b"a\tb\nc d\n", "x:2: expected a source and a target sentence with a tab or ||| between them, found 1 part"),
        (b"a\tb\tc\n", "x:1: expected a source and a target sentence with a tab or ||| between them, found 3 parts"),
        (b"a ||| b\n\xff ||| b\n", "x:2: not valid UTF-8"),
        (b"a ||| b\na ||| b\x00\n", "x:2: control character"),
    ]:
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(InputError) as error:
            list(PairText(tmp_path / "x").groups())
        assert message in str(error.value)
    (tmp_path / "y").write_text("a\nb\nc\n")
    (tmp_path / "z").write_text("a\n")
    for pair in (("y", "z"), ("z", "y")):
        with pytest.raises(InputError, match=r"z:2: the file ends after 1 line; .*y has 3"):
            list(PairText(tmp_path / pair[0], tmp_path / pair[1]).groups())
    for line, message in [("1 2", "x:2: expected two log-prob"), ("nan\t1\t", "x:2: expected two log-prob")]:
        (tmp_path / "x").write_text(f"-1.5\t-2\t\n{line}\n")
        with pytest.raises(InputError, match=message):
            StoredScores.read(tmp_path / "x")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert list(PairText("-").groups()) == []
    assert Filtering(keep=0.0).keep == 0.0
