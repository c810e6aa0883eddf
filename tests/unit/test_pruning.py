"""Pruning of phrase tables against exact binomials and plain counting."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from math import comb, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    Pruning,
    ReorderingType,
    extract_phrases,
    prune,
    reordering_probabilities,
)
from hyperbaton.phrases.pruning import composition_costs, kept_pairs, significance
from tests.program import hyperbaton_bytes


def exact(both: int, source: int, target: int, n: int) -> float:
    ways = sum(comb(source, k) * comb(n - source, target - k) for k in range(both, min(source, target) + 1))
    p = Fraction(ways, comb(n, target))
    return log(p.denominator) - log(p.numerator)


@given(st.data())
def test_significance_is_fishers(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 300))
    source, target = data.draw(st.integers(1, n)), data.draw(st.integers(1, n))
    both = data.draw(st.integers(max(0, source + target - n), min(source, target)))
    counts = (np.array([count], np.uint32) for count in (both, source, target))
    assert _core.significance(*counts, n, 1)[0] == pytest.approx(exact(both, source, target, n), abs=1e-8, rel=1e-9)


def test_pairs_of_phrases_seen_once_are_at_alpha_in_any_size() -> None:
    one = np.ones(1, np.uint32)
    for n in (10, 10**5, 10**9):
        assert _core.significance(one, one, one, n, 1)[0] == pytest.approx(log(n), abs=1e-5)


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(300, seed=5, noise=0.1).bitext


@pytest.fixture(scope="module")
def extracted(bitext: Bitext) -> ExtractedPhrases:
    return extract_phrases(bitext, Extraction(3))


def test_phrases_are_counted_by_sentence_pair(bitext: Bitext, extracted: ExtractedPhrases) -> None:
    def phrases(sentence: list[str]) -> set[str]:
        return {" ".join(sentence[i:j]) for i in range(len(sentence)) for j in range(i + 1, min(i + 3, len(sentence)) + 1)}

    table = extracted.table
    sides = [(phrases(s), phrases(t)) for s, t in zip(bitext.source, bitext.target, strict=True)]
    sources, targets = Counter(p for s, _ in sides for p in s), Counter(p for _, t in sides for p in t)
    values = significance(table, bitext, Resources(2))
    for k in range(0, len(table), 37):
        s, t = table.source[int(table.sources[k])], table.target[int(table.targets[k])]
        both = sum(s in src and t in tgt for src, tgt in sides)
        assert values[k] == pytest.approx(exact(both, sources[s], targets[t], len(bitext)), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize(
    "options", [Pruning("a+e"), Pruning("a-e", top=2), Pruning("none", min_count=2), Pruning("3.5", top=1, min_count=2)]
)
def test_kept_pairs_and_their_samples(bitext: Bitext, extracted: ExtractedPhrases, options: Pruning) -> None:
    table = extracted.table
    threshold = {"a+e": log(300) + 0.01, "a-e": log(300) - 0.01, "none": -1.0}.get(options.significance, 3.5)
    values = significance(table, bitext, Resources(1))
    good = (values > threshold) & (table.counts[:, 2] >= options.min_count)
    wanted = set()
    for s in range(len(table.source)):
        rows = [k for k in range(table.offsets[s], table.offsets[s + 1]) if good[k]]
        rows.sort(key=lambda k: (-table.scores[k, 2], k))
        wanted |= {(table.source[s], table.target[table.targets[k]]) for k in rows[: options.top or None]}
    smaller = prune(extracted, bitext, options)
    small = smaller.table
    pairs = [(small.source[s], small.target[t]) for s, t in zip(small.sources, small.targets, strict=True)]
    assert set(pairs) == wanted
    assert len(pairs) == len(wanted) < len(table)
    keep = kept_pairs(table, bitext, options, Resources(1))
    assert np.array_equal(small.scores, table.scores[keep])
    assert np.array_equal(small.links.gather(np.arange(len(small)))[0], table.links.gather(np.flatnonzero(keep))[0])
    assert len(small.source) == len({s for s, _ in pairs})
    assert [small.target.number(phrase) for phrase in small.target] == list(range(len(small.target)))
    kind = ReorderingType.parse("hier-mslr-bidirectional-fe")
    before, after = (reordering_probabilities(e.orientations, kind) for e in (extracted, smaller))
    assert np.array_equal(before[keep], after)
    again = prune(smaller, bitext, Pruning("none"))
    assert np.array_equal(again.table.scores, small.scores)


def test_thresholds_are_checked() -> None:
    with pytest.raises(
        OptionError, match="significance must be a\\+e, a-e, none or a number that is not negative, not 'x'"
    ):
        Pruning("x")


def test_verb(tmp_path: Path) -> None:
    generate(200, seed=2).write(tmp_path, 0, 0)
    texts = [tmp_path / "train.source", tmp_path / "train.target"]
    assert hyperbaton_bytes("extract", *texts, tmp_path / "train.links", "-o", tmp_path / "phrases").returncode == 0
    done = hyperbaton_bytes("prune", tmp_path / "phrases", *texts, "-o", tmp_path / "pruned", "--top", 5, "--json")
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout)
    assert 0 < after["pairs"] < before["pairs"]
    assert after["MiB"] < before["MiB"]
    assert len(ExtractedPhrases.load(tmp_path / "pruned").table) == after["pairs"]
    made = hyperbaton_bytes(
        "system", "-o", tmp_path / "system", "--phrases", tmp_path / "pruned", "--reordering", "R=msd-bidirectional-fe"
    )
    assert made.returncode == 0, made.stderr
    wrong = hyperbaton_bytes("prune", tmp_path / "phrases", *texts, "-o", tmp_path / "other", "--significance", "x")
    assert wrong.returncode != 0
    assert b"significance must be a+e, a-e, none or a number" in wrong.stderr
    for text in texts:
        text.write_text("a\n")
    other = hyperbaton_bytes("prune", tmp_path / "phrases", *texts, "-o", tmp_path / "other")
    assert other.returncode == 1
    assert b"train.source:2: has 1 line, but" in other.stderr


def test_compositions_are_the_best_of_all_cuts(extracted: ExtractedPhrases) -> None:
    table = extracted.table
    words = [(table.source[s].split(), table.target[t].split()) for s, t in zip(table.sources, table.targets, strict=True)]
    known = {(tuple(s), tuple(t)): float(p) for (s, t), p in zip(words, table.scores[:, 2], strict=True)}

    @cache
    def composed(source: tuple[str, ...], target: tuple[str, ...]) -> float:
        ways = [0.0]
        for i in range(1, len(source)):
            for j in range(1, len(target)):
                for first, second in (((target[:j]), target[j:]), (target[j:], target[:j])):
                    ways.append(best(source[:i], first) * best(source[i:], second))
        return max(ways)

    def best(source: tuple[str, ...], target: tuple[str, ...]) -> float:
        return max(known[source, target], composed(source, target)) if (source, target) in known else 0.0

    costs = composition_costs(table, Resources(2))
    n_composed = 0
    for (source, target), cost, count in zip(words, costs, table.counts[:, 2], strict=True):
        product = composed(tuple(source), tuple(target))
        n_composed += product > 0
        expected = count * (log(known[tuple(source), tuple(target)]) - log(product)) if product else np.inf
        assert cost == pytest.approx(expected, abs=1e-4)
    assert n_composed > len(table) / 4
    keep = kept_pairs(table, generate(1).bitext, Pruning(significance="none", relative_entropy=1.0), Resources(1))
    assert np.array_equal(keep, costs > 1.0) and 0 < keep.sum() < len(table)
