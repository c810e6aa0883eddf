"""The kernels of metrics and of tuning against plain oracles."""

from __future__ import annotations

import resource
import sys
from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from hyperbaton import _core
from hyperbaton.metrics import METRICS, Orders, Outputs, make_metric
from hyperbaton.metrics._words import edits_of, number_words
from hyperbaton.metrics.meteor import count_matches
from tests.clocks import processor_cost
from tests.oracles import metrics as oracle

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=8).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5))
def test_word_error_rate(rows: list[tuple[str, str, str]]) -> None:
    hypotheses, first, second = (list(column) for column in zip(*rows, strict=True))
    statistics = make_metric("wer").statistics(Outputs.of(hypotheses, first))
    for row, h, r in zip(statistics.tolist(), hypotheses, first, strict=True):
        assert row == [oracle.edits(h.split(), r.split()), len(r.split())]
    both = make_metric("wer").statistics(Outputs.of(hypotheses, first, second))
    assert (make_metric("wer").score(both) <= make_metric("wer").score(statistics)).all()


LONG = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "g"]), max_size=40)


@settings(deadline=None)
@given(LONG, LONG, st.integers(0, 40))
def test_translation_edits_are_those_of_sacrebleu(hypothesis: list[str], reference: list[str], cut: int) -> None:
    for wanted in (reference, hypothesis[cut:] + hypothesis[:cut]):  # anything, and a block that moved
        outputs = Outputs.of([" ".join(hypothesis)], [" ".join(wanted)])
        assert make_metric("ter").statistics(outputs)[0].tolist() == list(translation_edit_rate(hypothesis, wanted))


STAGES = [lambda word: (word,), lambda word: (word[0],), lambda word: tuple(word[1:])]
FORMS = st.lists(st.sampled_from(["ax", "ay", "axy", "bx", "b", "cz", "a"]), max_size=25)


@settings(deadline=None)
@given(st.lists(st.tuples(FORMS, FORMS), min_size=1, max_size=3), st.integers(1, 3))
def test_chunks_of_meteor(rows: list[tuple[list[str], list[str]]], n_stages: int) -> None:
    hypotheses, references = ([" ".join(words) for words in column] for column in zip(*rows, strict=True))
    stages = STAGES[:n_stages]
    matches, own, other = count_matches(hypotheses, references, np.arange(len(rows)), stages)
    assert [tuple(row) for row in matches.tolist()] == [oracle.count_matches(h, r, stages) for h, r in rows]
    assert list(zip(own.tolist(), other.tolist(), strict=True)) == [(len(h), len(r)) for h, r in rows]


@settings(deadline=None)
@given(st.lists(st.tuples(LONG, LONG), min_size=1, max_size=3))
def test_matches_and_pairs_of_ribes(rows: list[tuple[list[str], list[str]]]) -> None:
    hypotheses, references = ([" ".join(words) for words in column] for column in zip(*rows, strict=True))
    own, other = number_words(hypotheses, references)
    counts = edits_of(_core.count_shared_words, own, [other], np.arange(len(rows)))[0]
    for (hypothesis, reference), row in zip(rows, counts.tolist(), strict=True):
        ranks = oracle.matched_ranks(hypothesis, reference)
        assert row == [len(ranks), sum(a < b for a, b in combinations(ranks, 2))]


KINDS = ("equal", "alternating", "different", "reversed", "text")
SIMPLE = [name for name in METRICS if not METRICS[name].needs_orders and name not in ("meteor", "ribes", "ter")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, kind) for name in ("meteor", "ribes", "ter") for kind in KINDS), *((name, "text") for name in SIMPLE)],
)
def test_lines_of_ten_thousand_words_are_scored(name: str, kind: str) -> None:
    """In seconds, with memory that grows with the length of the line."""
    rng = np.random.default_rng(3)
    text = [f"w{i}" for i in rng.zipf(1.3, 20_000) % 2000]
    every = [f"w{i}" for i in range(10_000)]
    first, second = {
        "equal": (["a"] * 10_000, ["a"] * 10_000),
        "alternating": (["a"] * 10_000, ["a", "b"] * 5000),
        "different": (every, [f"v{word}" for word in every]),
        "reversed": (every, every[::-1]),
        "text": (text[:10_000], text[10_000:]),
    }[kind]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outputs, values = Outputs.of([" ".join(first)], [" ".join(second)]), []
    assert processor_cost(lambda: values.append(make_metric(name).value(outputs))) < 1500
    assert np.isfinite(values[0])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 200 * 2 ** (20 if sys.platform == "darwin" else 10)


@settings(deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.integers(1, 4))
def test_ngram_matches(rows: list[tuple[str, str, str]], order: int) -> None:
    hypotheses, *references = (list(column) for column in zip(*rows, strict=True))
    statistics = make_metric(f"bleu:tokenize=none:max-order={order}").statistics(Outputs.of(hypotheses, *references))
    for s, row in enumerate(statistics.tolist()):
        for n in range(1, order + 1):
            own, *others = (ngrams(text[s].split(), n) for text in (hypotheses, *references))
            assert row[1 + n] == sum(min(count, max(o[g] for o in others)) for g, count in own.items())
            assert row[1 + order + n] == sum(own.values())


def ngrams(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


ORDERS = st.lists(st.integers(0, 9), unique=True, max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(ORDERS, ORDERS), min_size=1, max_size=5))
def test_orders(pairs: list[tuple[list[int], list[int]]]) -> None:
    hypotheses, references = (Orders.of([list(o) for o in column]) for column in zip(*pairs, strict=True))
    agreements = _core.compare_orders(
        positions=hypotheses.positions,
        offsets=hypotheses.offsets,
        reference_positions=references.positions,
        reference_offsets=references.offsets,
        line=np.arange(len(pairs)),
        n_threads=2,
    )
    assert agreements.tolist() == [oracle.order_agreement(h, r) for h, r in pairs]


@st.composite
def nbest_lists(draw: st.DrawFn) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Features, statistics (right, of how many) and offsets; small whole numbers, so that ties are common."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    n = sum(sizes)
    features = draw(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=n, max_size=n))
    right = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    statistics = np.column_stack([right, np.full(n, 5)]).astype(np.float64)
    return np.array(features, np.float64), statistics, np.cumsum([0, *sizes])


@settings(max_examples=200, deadline=None)
@given(nbest_lists(), st.tuples(st.integers(-3, 3), st.integers(-3, 3)), st.sampled_from([(1, 0), (0, 1), (1, 2)]))
def test_line_search_finds_the_best_step(
    lists: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]],
    weights: tuple[int, int],
    direction: tuple[int, int],
) -> None:
    features, statistics, offsets = lists
    w, v = np.array(weights, np.float64), np.array(direction, np.float64)

    def score(sums: npt.NDArray[np.float64]) -> float:
        return float(100 * sums[0] / sums[1])

    objective = _core.python_objective(lambda sums: 100 * sums[:, 0] / sums[:, 1])
    step, best, low, high = _core.line_search(
        lists=_core.NBestLists(features=features, statistics=statistics, offsets=offsets),
        objective=objective,
        weights=w,
        direction=v,
    )
    places = oracle.between_crossings(features @ w, features @ v, offsets)
    assert best == max(oracle.surface(features, statistics, offsets, score, w, v, x) for x in places)
    assert oracle.surface(features, statistics, offsets, score, w, v, step) == best
    for x in (low + 1e-6, high - 1e-6):
        if np.isfinite(x):
            assert oracle.surface(features, statistics, offsets, score, w, v, x) == best


@settings(deadline=None)
@given(nbest_lists(), st.sampled_from([0.01, 0.5, 100.0]))
def test_mira_moves_from_fear_to_hope(
    lists: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]], max_step: float
) -> None:
    features, statistics, offsets = lists
    n = int(offsets[1])
    # Gains that are no multiples of each other, so that hope and fear are no matter of rounding.
    gains, start = np.sqrt(statistics[:n, 0] + np.arange(n) / 7), np.array([0.3, -0.7])
    weights_after = _core.mira(
        lists=_core.NBestLists(features=features[:n], statistics=statistics[:n], offsets=offsets[:2]),
        gains=gains,
        start=start,
        n_passes=4,
        max_step=max_step,
        seed=1,
        progress=None,
    )
    expected = np.reshape(oracle.mira_on_one_sentence(features[:n], gains, start, max_step, 4), (-1, 2))
    np.testing.assert_allclose(weights_after[: len(expected)], expected, rtol=1e-9, atol=1e-12)
