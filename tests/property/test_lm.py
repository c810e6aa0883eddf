"""Language models against plain Python: any n-grams, any text, any query."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.lm import Estimation, LanguageModel
from hyperbaton.lm.estimation import estimate_ngrams
from tests.oracles import lm as oracle

WORDS = ["a", "b", "c", "d"]
FALLBACK = (0.5, 1.0, 1.5)
LN10 = np.log(10)
# A discount of bigrams is 0, and less in single precision.
ROUNDED = ["", "", "", "a", "a", "c", "c", "c", "d b", "a b a b", "b b c a", "c a b a b b"]

sentences = st.lists(st.sampled_from(WORDS), max_size=7)
texts = st.lists(sentences, min_size=1, max_size=12)
queries = st.lists(st.lists(st.sampled_from([*WORDS, "new", "<s>"]), max_size=6), min_size=1, max_size=4)


@st.composite
def models(draw: st.DrawFn) -> tuple[int, oracle.Arpa]:
    """(order, n-grams): any n-grams with any numbers; beginnings and ends of longer ones may be missing, <unk> too."""
    order = draw(st.integers(1, 6))
    words = [oracle.BOS, oracle.EOS, *WORDS, *draw(st.sampled_from([[], [oracle.UNK]]))]
    ngrams = [(word,) for word in words]
    for n in range(2, order + 1):
        ngrams += draw(st.lists(st.tuples(*[st.sampled_from(words)] * n), unique=True, max_size=8))
    # Numbers that floats hold exactly, so that the sums are exact too.
    probs, backoffs = st.integers(-64, 0), st.integers(-64, 16)
    return order, {ngram: (draw(probs) / 16, draw(backoffs) / 16 if len(ngram) < order else 0.0) for ngram in ngrams}


@settings(max_examples=100, deadline=None)
@given(models(), queries)
def test_queries(model: tuple[int, oracle.Arpa], texts: list[list[str]]) -> None:
    order, arpa = model
    built = LanguageModel.parse_arpa(oracle.format_arpa(arpa, order))
    wanted = [value for words in texts for value in oracle.score(arpa, order, words)]
    scores, starts = built.score_words([" ".join(words) for words in texts], threads=1)
    assert starts.tolist() == [0, *itertools.accumulate(len(words) + 1 for words in texts)]
    np.testing.assert_allclose(scores / LN10, wanted, atol=1e-4)
    # The output equals the input, except for blanks.
    again = b"".join(built.arpa_pieces()).decode()
    assert oracle.parse_arpa(again) == arpa
    # There are few enough values that each has its own bin: nothing is lost.
    small, packed = built.quantized(8), built.packed(exact=True)
    for other in (small, packed, small.packed(exact=True)):
        np.testing.assert_array_equal(other.score_words([" ".join(words) for words in texts])[0], scores)
    assert b"".join(packed.arpa_pieces()).decode() == again


@settings(max_examples=60, deadline=None)
@given(texts, st.integers(1, 6), st.sampled_from(["0", "0 1", "0 0 1", "0 1 2"]))
@example([["a", "a", "a"], ["a", "b", "b", "a", "a"]], 3, "0")  # a back-off weight of zero
@example([line.split() for line in ROUNDED], 2, "0")
def test_estimates(text: list[list[str]], order: int, prune: str) -> None:
    prune = " ".join(prune.split()[:order])
    thresholds = [int(part) for part in prune.split()]
    thresholds += thresholds[-1:] * (order - len(thresholds))
    wanted = oracle.kneser_ney(text, order, thresholds, FALLBACK)
    lines = Text.of([" ".join(words) for words in text])
    model = LanguageModel.estimate(lines, order, prune=prune, discount_fallback=True)
    ngrams = estimate_ngrams(lines, Estimation(order, prune, None, True), Resources(threads=3))
    text_of_model = b"".join(model.arpa_pieces())
    assert b"".join(ngrams.arpa_pieces()) == text_of_model  # from n-grams as they were estimated, and from tables
    estimates = oracle.parse_arpa(text_of_model.decode())
    assert estimates.keys() == wanted.keys()
    np.testing.assert_allclose([estimates[n] for n in wanted], list(wanted.values()), atol=2e-5)
    # Memory and threads make no difference; so little memory makes a run of each sentence.
    other = LanguageModel.estimate(lines, order, prune=prune, discount_fallback=True, memory="2K", threads=3)
    assert all(np.array_equal(a.slots, b.slots) for a, b in zip(model.tables, other.tables, strict=True))


@settings(max_examples=30, deadline=None)
@given(texts, st.integers(1, 6), st.sampled_from(["0", "0 1"]), st.integers(1, 5), queries)
def test_probabilities_sum_to_one(
    text: list[list[str]], order: int, prune: str, max_words: int, contexts: list[list[str]]
) -> None:
    """After any context, over all words of the model but <s>; also when rare words became <unk>."""
    lines = Text.of([" ".join(words) for words in text])
    prune = prune if order > 1 else "0"
    model = LanguageModel.estimate(lines, order, prune=prune, max_words=max_words, discount_fallback=True)
    words = [word for word in model.vocabulary.words() if word not in ("<s>", "</s>")]
    for context in contexts:
        context = [word for word in context if word != "<s>"]
        logprobs, starts = model.score_words([" ".join([*context, word]) for word in words])
        end = model.score_words([" ".join(context)])[0][-1]
        assert np.exp(logprobs[starts[1:] - 2]).sum() + np.exp(end) == pytest.approx(1, abs=1e-5)


def test_a_vocabulary_limits_the_words() -> None:
    text = Text.of(["a b c", "c c d"])
    limited = LanguageModel.estimate(text, 2, vocabulary=Vocabulary.of(["c", "a", "z"]), discount_fallback=True)
    assert limited.vocabulary.words() == ["<unk>", "<s>", "</s>", "a", "c"]
    most = LanguageModel.estimate(text, 2, max_words=1, discount_fallback=True)
    assert most.vocabulary.words() == ["<unk>", "<s>", "</s>", "c"]
    assert most.score(["b"])[0] == most.score(["d"])[0]
    # <unk> in the text counts as an unknown word.
    same = LanguageModel.estimate(Text.of(["<unk> <unk> c", "c c <unk>"]), 2, discount_fallback=True)
    assert b"".join(same.arpa_pieces()) == b"".join(most.arpa_pieces())


@pytest.mark.parametrize("bits", [None, 8])
def test_packed_models_of_many_blocks(bits: int | None) -> None:
    """Words with hundreds of neighbours, as in real text: children fill many blocks, and pruning leaves blanks."""
    generator = np.random.default_rng(3)
    lines = [" ".join(f"w{word}" for word in generator.zipf(1.3, 9) if word < 900) for _ in range(4000)]
    for prune in ("0", "0 1 2"):
        model = LanguageModel.estimate(Text.of(lines[1000:]), 3, prune=prune, discount_fallback=True)
        model = model if bits is None else model.quantized(bits)
        packed = model.packed(exact=True)
        np.testing.assert_array_equal(packed.score_words(lines)[0], model.score_words(lines)[0])
        assert b"".join(packed.arpa_pieces()) == b"".join(model.arpa_pieces())
        assert 3 * packed.nbytes < model.nbytes
