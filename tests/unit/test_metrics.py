"""Metrics computed by hand."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.metrics import Orders, Outputs, compare, estimate, holm, make_metric

H, R = "the cat sat on the mat", "the cat sat on a mat"


def value(
    metric: str, hypothesis: str = "", *references: str, order: list[int] | None = None, ref: list[int] | None = None
) -> float:
    orders = None if order is None else Orders.of([order])
    reference_orders = [] if ref is None else [Orders.of([ref])]
    texts = [[text] for text in references or ("",)]
    return make_metric(metric).value(Outputs.of([hypothesis], *texts, orders=orders, reference_orders=reference_orders))


def test_bleu() -> None:
    # 5/6 words ("the" once too often), 3/5 pairs, 2/4 triples, 1/3 quadruples; no brevity penalty.
    assert value("bleu", H, R) == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    # Closest reference length of 4 and 8 to 6 is, of two equally close ones, the shorter: no penalty.
    assert make_metric("bleu").statistics(Outputs.of(["a b c d e f"], ["a b c d e f g h"], ["a b c d"]))[0, 1] == 4
    # No quadruple matches: 1 / (2 · 2); half the length: exp(1 - 10/5).
    expected = 100 * math.exp(1 - 2) * (5 / 5 * 3 / 4 * 1 / 3 * 1 / (2 * 2)) ** 0.25
    assert value("bleu", "a b c x y", "a b c d e f g h x y".replace("d", "q")) == pytest.approx(expected)
    assert value("bleu:smooth=none", "a b c x y", "a b c d e f g h x y") == 0
    assert value("bleu", "", "a") == value("bleu", "x", "a") == 0


def test_nist() -> None:
    # References: 6 words, "the" 1 of 6 here; info: the, cat, sat, on, a, mat each log2(6/1). Pairs and up tell 0 bits.
    # Hypothesis: 5 of 6 words match (the second "the" does not), 5 · log2(6) / 6.
    assert value("nist", H, R) == pytest.approx(5 * math.log2(6) / 6)
    # Two thirds of the length halve it: 2 of 3 words; a and b tell log2(3/1) each.
    assert value("nist", "a b", "a b c") == pytest.approx(2 * math.log2(3) / 2 * 0.5)


def test_wer_and_ter() -> None:
    # a moved block costs two edits for WER and one shift for TER.
    assert value("wer", "b c a", "a b c") == pytest.approx(100 * 2 / 3)
    assert value("ter", "b c a", "a b c") == pytest.approx(100 * 1 / 3)
    assert value("wer", "A b", "a b") == 50 and value("wer:lowercase=yes", "A b", "a b") == 0
    assert value("wer", "a b c", "x y z w", "a b d") == pytest.approx(100 / 3)


def test_chrf() -> None:
    # "ab" against "abc": precision 1 for n = 1, 2; recall 2/3 and 1/2; longer n-grams are not on both sides.
    precision, recall = 1, (2 / 3 + 1 / 2) / 2
    assert value("chrf", "ab", "abc") == pytest.approx(100 * 5 * precision * recall / (4 * precision + recall))


def test_meteor() -> None:
    # 6 of 6 words in 3 chunks ("on the mat", "sat", "the cat") whatever their order, after stemming "cats".
    assert value("meteor", "the cats sat on the mat", "on the mat sat the cat") == pytest.approx(
        100 * (1 - 0.5 * (3 / 6) ** 3)
    )
    # Without stems 5 of 6: "cats" does not match, and cuts no chunk more.
    p = 5 / 6
    assert value("meteor:stages=exact", "the cats sat on the mat", "on the mat sat the cat") == pytest.approx(
        100 * p * (1 - 0.5 * (3 / 5) ** 3)
    )
    # precision 1, recall 2/4: F = 1·½ / (0.9 + 0.1·½), one chunk of two.
    assert value("meteor", "a b", "a b c d") == pytest.approx(100 * 0.5 / 0.95 * (1 - 0.5 * 0.5**3))


def test_meteor_finds_synonyms_in_a_wordnet(tmp_path: Path) -> None:
    (tmp_path / "index.noun").write_text(
        "  1 licence\ncar n 1 1 @ 1 1 02958343\nauto n 1 1 @ 1 1 02958343\nice_cream n 1 0 1 0 7\n"
    )
    for part in ("verb", "adj", "adv"):
        (tmp_path / f"index.{part}").write_text("")
    (tmp_path / "verb.exc").write_text("went go\n")
    (tmp_path / "index.verb").write_text("go v 2 1 @ 2 1 01 02\nleave v 1 1 @ 1 1 02\n")
    spec = f"meteor:stages=exact+stem+synonym:wordnet={tmp_path}"
    assert value(spec, "my car went", "my auto leave") == pytest.approx(100 * (1 - 0.5 * (1 / 3) ** 3))
    assert value("meteor", "my car went", "my auto leave") == pytest.approx(100 / 3 * 0.5)
    with pytest.raises(OptionError, match="no WordNet in"):
        value(f"meteor:stages=synonym:wordnet={tmp_path / 'nowhere'}", "a", "b")
    with pytest.raises(OptionError, match="unknown stage 'stems'"):
        value("meteor:stages=stems", "a", "b")


def test_ribes() -> None:
    # The paper's example: ranks 7 8 9 10 6 0 1 2 3 4 5, 21 of 55 pairs in order, all words matched.
    reference = "he was interested in world history because he read the book"
    assert value("ribes", "he read the book because he was interested in world history", reference) == pytest.approx(
        100 * 21 / 55
    )
    # Two of three words matched, in order; the brevity penalty is exp(1 - 4/3).
    expected = 100 * 1 * (2 / 3) ** 0.25 * math.exp(1 - 4 / 3) ** 0.1
    assert value("ribes", "a x b", "a b c d") == pytest.approx(expected)


def test_word_order() -> None:
    # Steps of the reference: start-0, 0-1, 1-2, 2-3. The hypothesis makes start-0 and 2-3.
    hypothesis, reference = [0, 2, 3, 1], [0, 1, 2, 3]
    assert value("pdscore", order=hypothesis, ref=reference) == pytest.approx(100 * 2 / 4)
    # Chunks 0 | 2 3 | 1: three, so 1 - 2/3.
    assert value("fuzzy_reordering", order=hypothesis, ref=reference) == pytest.approx(100 / 3)
    # 2-1 and 3-1 of 6 pairs are the wrong way round.
    assert value("kendall", order=hypothesis, ref=reference) == pytest.approx(100 * 4 / 6)
    # R = 1 - √(2/6); BLEU of identical texts is 100.
    text = "a b c d e"
    assert value("lrscore", text, text, order=hypothesis, ref=reference) == pytest.approx(50 * (1 - math.sqrt(2 / 6)) + 50)
    # One of four in its place; half the length costs exp(-1); BLEU: see above.
    assert value("lrscore:distance=hamming:alpha=1", "a b", "a b c d", order=hypothesis, ref=reference) == pytest.approx(
        100 / 4 * math.exp(-1)
    )
    for metric in ("pdscore", "fuzzy_reordering", "kendall"):
        assert value(metric, order=reference, ref=reference) == 100


def test_word_order_where_words_are_not_visited() -> None:
    # The hypothesis lacks 1: the step 0-1 and 1-2 are missed; n is the length of the reference's order.
    assert value("pdscore", order=[0, 2, 3], ref=[0, 1, 2, 3]) == pytest.approx(100 * 2 / 4)
    # More steps of the hypothesis cost nothing as long as the reference's are among them.
    assert value("pdscore", order=[0, 1, 2, 3, 4, 5], ref=[0, 1]) == 100
    # Kendall: 1 is inserted after 0, so 2 0 1 against 0 1 2.
    assert value("kendall", order=[2, 0], ref=[0, 1, 2]) == pytest.approx(100 / 3)
    assert value("kendall", order=[], ref=[0, 1, 2]) == 100
    assert value("pdscore", order=[], ref=[0, 1, 2]) == 0


def test_intervals_and_p_of_a_metric_that_is_a_mean() -> None:
    # RIBES is a mean of sentence values, so its bootstrap deviation is known: s / √n.
    rng = np.random.default_rng(0)
    ours = np.column_stack([rng.normal(50, 10, 400), np.ones(400)])
    metric = make_metric("ribes")
    estimated = estimate(metric, [ours], samples=4000, seed=1)
    half = 1.96 * ours[:, 0].std() / 20
    assert estimated.interval == pytest.approx((estimated.value - half, estimated.value + half), abs=0.08)
    # Paired differences with mean 0.35 and deviation 3: t = 0.35 / 0.15.
    differences = rng.normal(0, 1, 400)
    differences = 3 * (differences - differences.mean()) / differences.std() + 0.35
    better = ours + np.column_stack([differences, np.zeros(400)])
    expected = math.erfc(0.35 / 0.15 / math.sqrt(2))
    for test in ("bootstrap", "randomization"):
        result = compare(metric, [better], [ours], samples=4000, seed=2, test=test)
        assert result.p == pytest.approx(expected, abs=0.008), test
        assert result.delta == pytest.approx(0.35)
    assert compare(metric, [better], [ours], samples=4000).wins == pytest.approx(1 - expected / 2, abs=0.008)


def test_several_runs_of_a_system() -> None:
    metric = make_metric("wer")
    runs = [np.array([[1.0, 4.0], [0.0, 4.0]]), np.array([[3.0, 4.0], [0.0, 4.0]])]
    estimated = estimate(metric, runs, samples=10)
    assert (estimated.value, estimated.n_runs) == (25.0, 2)
    assert estimated.deviation == pytest.approx(12.5 * math.sqrt(2))
    assert compare(metric, runs, runs[:1], samples=10).delta == 12.5
    with pytest.raises(OptionError, match="as many runs of both systems, not 2 and 1"):
        compare(metric, runs, runs[:1], samples=10, test="randomization")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("blue", "unknown metric 'blue' (did you mean bleu?)"),
        ("bleu:tokenize", "options are written option=value, not 'tokenize'"),
        ("bleu:tokenize=14a", "tokenize must be one of"),
        ("nist:max-order=x", "max-order must be a whole number, not 'x'"),
        ("wer:lowercase=maybe", "lowercase must be true or false"),
    ],
)
def test_wrong_names_and_options(text: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        make_metric(text)
    assert message in str(caught.value)


def test_outputs_that_do_not_fit() -> None:
    with pytest.raises(HyperbatonError, match="1 hypotheses for 2 lines of references"):
        Outputs.of(["a"], ["a", "b"])
    with pytest.raises(HyperbatonError, match="reference 2 has 1 line, the first one 2"):
        Outputs.of(["a", "b"], ["a", "b"], ["a"])
    with pytest.raises(HyperbatonError, match="PDscore needs the links"):
        make_metric("pdscore").value(Outputs.of(["a"], ["a"]))


def test_intervals_of_several_runs_include_the_runs() -> None:
    """Runs whose sentences are all alike: nothing but the runs can differ, and the mean of R has the variance s²/R."""
    wer = make_metric("wer")
    errors = np.array([10.0, 14.0, 11.0, 17.0])
    runs = [np.tile([error, 100.0], (20, 1)) for error in errors]
    found = estimate(wer, runs, samples=20_000, seed=1)
    assert found.value == errors.mean() and found.deviation == pytest.approx(errors.std(ddof=1))
    # All means of three runs with replacement, by hand.
    means = np.array([np.mean(drawn) for drawn in itertools.product(errors, repeat=3)])
    assert means.var() == pytest.approx(errors.var(ddof=1) / 4)
    assert found.interval == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.4)
    # The runs of one system are no evidence of a difference from another whose runs differ as much.
    other = [np.tile([error, 100.0], (20, 1)) for error in errors + 0.5]
    assert compare(wer, runs, other, seed=1).p > 0.5
    assert compare(wer, runs[:1], other[:1], seed=1).p < 0.01
    assert estimate(wer, runs[:1]).interval == (10.0, 10.0)


def test_holm() -> None:
    rng = np.random.default_rng(0)
    for n in range(6):
        p = rng.random(n).tolist()
        # A hypothesis is rejected at a level if it and all with smaller p pass their own stricter levels.
        corrected = holm(p)
        for level in rng.random(20).tolist():
            order, rejected = np.argsort(p), set()
            for rank, i in enumerate(order.tolist()):
                if p[i] > level / (n - rank):
                    break
                rejected.add(i)
            assert {i for i in range(n) if corrected[i] <= level} == rejected
