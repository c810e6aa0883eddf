"""Orders of source sentences: the search against all orders, the order of links, and the verb."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext, Links, Text
from hyperbaton.data import generate
from hyperbaton.decode import link_orders, preorder
from hyperbaton.evaluate import order_quality
from hyperbaton.models import MODELS
from tests import program


def path_logprob(scores: np.ndarray, path: tuple[int, ...]) -> float:
    """log Π P(j | i, visited), with the end."""
    n, total, left = len(scores) - 1, 0.0, set(range(len(scores) - 1))
    for current, following in zip((-1, *path), (*path, n), strict=True):
        row = scores[current + 1]
        total += row[following] - np.log(sum(np.exp(row[j]) for j in (*left, n)))
        left.discard(following)
    return float(total)


def attached(path: tuple[int, ...], n: int) -> list[int]:
    """Unvisited words are inserted after the word before them, from left to right."""
    order = list(path)
    for word in range(n):
        if word not in path:
            order.insert(order.index(word - 1) + 1 if word else 0, word)
    return order


@given(st.integers(0, 5), st.integers(0, 2**32 - 1), st.booleans())
def test_a_wide_beam_finds_the_best_of_all_orders(n: int, seed: int, complete: bool) -> None:
    scores = np.random.default_rng(seed).normal(scale=2, size=(n + 1, n + 1))
    lengths = [n] if complete else range(n + 1)
    paths = {path: path_logprob(scores, path) for k in lengths for path in permutations(range(n), k)}
    if not complete:
        assert sum(np.exp(logprob) for logprob in paths.values()) == pytest.approx(1)
    best = max(paths, key=lambda path: paths[path])
    orders, logprobs = _core.preorder(scores.ravel(), np.array([0, n]), beam=1000, complete=complete, n_threads=1)
    assert logprobs[0] == pytest.approx(paths[best])
    assert orders.tolist() == attached(best, n)


def test_a_narrow_beam_gives_an_order_of_a_long_sentence() -> None:
    scores = np.random.default_rng(1).normal(size=(131, 131))
    widths = [_core.preorder(scores.ravel(), np.array([0, 130]), beam=beam, complete=True, n_threads=2) for beam in (1, 5)]
    for orders, logprobs in widths:
        assert sorted(orders.tolist()) == list(range(130))
        assert logprobs[0] == pytest.approx(path_logprob(scores, tuple(orders.tolist())))


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8), min_size=1, max_size=3))
def test_links_give_their_order_which_has_no_better(pairs: list[list[tuple[int, int]]]) -> None:
    source, links = Text.of(["a b c d e f"] * len(pairs)), Links.of(pairs)
    orders = link_orders(source, links)
    crossings = 0
    for s, points in enumerate(links):
        visits = list(dict.fromkeys(i for i, _ in sorted(points, key=lambda point: (point[1], point[0]))))
        assert orders[s] == attached(tuple(visits), 6)
        place = {word: k for k, word in enumerate(orders[s])}
        crossings += sum((place[a] - place[c]) * (b - d) < 0 for a, b in points for c, d in points) // 2
    quality = order_quality(orders, links)
    assert (quality.kendall, quality.fuzzy_reordering, quality.crossings) == (100, 100, crossings)


def test_a_model_that_learned_the_order_gives_it() -> None:
    bitext = Bitext.of(["a b c d"] * 9, ["D C B A"] * 9, [[(0, 3), (1, 2), (2, 1), (3, 0)]] * 9)
    orders, logprobs = preorder(MODELS["pair"](min_count=1).fit(bitext), Text.of(["a b c d", "", "a b c d"]))
    assert [orders[s] for s in range(3)] == [[3, 2, 1, 0], [], [3, 2, 1, 0]] and logprobs[1] == 0
    assert [" ".join(words) for words in orders.reorder(Text.of(["a b c d", "", "a b c d"]))] == ["d c b a", "", "d c b a"]
    with pytest.raises(OptionError, match="the model lexicalized does not predict jumps"):
        preorder(MODELS["lexicalized"]().fit(bitext), bitext.source)


@pytest.mark.slow
def test_the_verb(tmp_path: Path) -> None:
    made = generate(230, style="japanese", seed=4)
    made.write(tmp_path, 10, 20)

    def hyperbaton(*words: str, fails: bool = False) -> str:
        done = program.hyperbaton(*words, cwd=tmp_path)
        assert bool(done.returncode) == fails, done.stderr
        return done.stderr if fails else done.stdout

    texts = ("train.source", "train.target", "train.links", "--source-tags", "train.source.tags")
    hyperbaton("train", "pair", *texts, "-o", "pair", "--learner", "lbfgs:max-passes=15", "--min-count", "2")
    files = ("--source-tags", "test.source.tags", "--tags", "tags", "--permutations", "orders", "--links", "test.links")
    text = hyperbaton("preorder", "pair", "test.source", *files).splitlines()
    before = (tmp_path / "test.source").read_text(encoding="utf-8").splitlines()
    labels = (tmp_path / "test.source.tags").read_text(encoding="utf-8").splitlines()
    orders = [list(map(int, line.split())) for line in (tmp_path / "orders").read_text().splitlines()]
    for lines, reordered in ((before, text), (labels, (tmp_path / "tags").read_text(encoding="utf-8").splitlines())):
        assert reordered == [" ".join(line.split()[i] for i in order) for line, order in zip(lines, orders, strict=True)]
    result = json.loads(hyperbaton("preorder", "pair", "test.source", *files, "--json"))
    assert result["reordered"]["kendall"] > result["unchanged"]["kendall"]
    assert result["reordered"]["crossings"] < result["unchanged"]["crossings"]
    oracle = json.loads(hyperbaton("preorder", "test.source", "--oracle", "test.links", "--links", "test.links", "--json"))
    assert oracle["reordered"]["kendall"] == 100 and oracle["sentences"] == 20
    assert "give a MODEL and SRC, or SRC with --oracle LINKS" in hyperbaton("preorder", "test.source", fails=True)
    # Links of the new order: read with the new text, they are those of the old one.
    hyperbaton("preorder", "pair", "test.source", *files, "--reordered-links", "new.links", "-o", "new.source")
    pairs = [
        {(text[s].split()[i], j) for i, j in points}
        for s, points in enumerate(Links.read(tmp_path / "new.links", Text.read(tmp_path / "new.source")))
    ]
    old = Links.read(tmp_path / "test.links", Text.read(tmp_path / "test.source"))
    assert pairs == [{(before[s].split()[i], j) for i, j in points} for s, points in enumerate(old)]
    refused = hyperbaton("preorder", "pair", "test.source", "--reordered-links", "x", fails=True)
    assert "--reordered-links needs the links to reorder: --links FILE or --oracle FILE" in refused
    for more in ([], ["--json", "-o", "new.source"]):  # stdout has one text
        refused = hyperbaton("preorder", "pair", "test.source", *files, "--permutations", "-", *more, fails=True)
        assert "--permutations and --output would both write to standard output" in refused
    assert "--tags needs the tags to reorder" in hyperbaton("preorder", "pair", "test.source", "--tags", "x", fails=True)
    assert "was trained with tags" in hyperbaton("preorder", "pair", "test.source", fails=True)
    (tmp_path / "short").write_text("0-0\n")
    assert "short:2: " in hyperbaton("preorder", "test.source", "--oracle", "short", fails=True)
