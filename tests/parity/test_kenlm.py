"""Every probability is KenLM's, where that is installed (pip install kenlm)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.oracles import lm as oracle

from hyperbaton.corpus import Text
from hyperbaton.lm import LanguageModel

kenlm = pytest.importorskip("kenlm")

WORDS = ["a", "b", "c", "d"]


def agree(path: Path, sentences: list[str]) -> None:
    config = kenlm.Config()
    config.show_progress, config.arpa_complain = False, kenlm.ARPALoadComplain.NONE
    try:
        theirs = kenlm.LanguageModel(str(path), config)
    except OSError as error:
        assert "probing_multiplier" in str(error)  # KenLM's tables have no room for that many missing n-grams
        reject()
    ours = LanguageModel.read_arpa(path)
    logprobs, starts = ours.score_words(sentences)
    for sentence, begin, end in zip(sentences, starts, starts[1:], strict=False):
        wanted = [prob for prob, _, _ in theirs.full_scores(sentence)]
        np.testing.assert_allclose(logprobs[begin:end] / np.log(10), wanted, rtol=1e-6, atol=1e-5)


def test_golden_models(golden: Path) -> None:
    lines = (golden / "moses" / "test.tgt").read_text().splitlines()
    odd = ["", "no such words", "UH N17 nothing UH", "<unk> N17"]
    for order in (3, 5):
        agree(golden / "lm" / f"lm{order}.arpa.gz", [*lines, *odd])


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_odd_models(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Without <unk>, with n-grams of <unk>, back-off weights left out, ends of longer n-grams missing (KenLM needs their
    beginnings)."""
    order = data.draw(st.integers(2, 6))
    words = [oracle.BOS, oracle.EOS, *WORDS, *data.draw(st.sampled_from([[], [oracle.UNK]]))]
    ngrams = {(word,) for word in words}
    for n in range(2, order + 1):
        contexts = sorted(ngram for ngram in ngrams if len(ngram) == n - 1)
        new = data.draw(st.lists(st.tuples(st.sampled_from(contexts), st.sampled_from(words)), min_size=1, max_size=6))
        ngrams |= {(*context, word) for context, word in new}
    if data.draw(st.booleans()):
        for n in range(order, 1, -1):
            ngrams |= {part for ngram in ngrams if len(ngram) == n for part in (ngram[1:], ngram[:-1])}
    numbers = st.floats(-5, 0, width=32)
    arpa = {ngram: (data.draw(numbers), data.draw(numbers) if len(ngram) < order else 0.0) for ngram in sorted(ngrams)}
    path = tmp_path_factory.mktemp("kenlm") / "model.arpa"
    path.write_text(oracle.format_arpa(arpa, order))
    sentences = data.draw(st.lists(st.lists(st.sampled_from([*WORDS, "new"]), max_size=8), min_size=1, max_size=4))
    agree(path, [" ".join(sentence) for sentence in sentences])


def test_a_real_text(corpora: Path, tmp_path: Path) -> None:
    train = Text.read(corpora / "tanaka-ja-en" / "train.en.xz").select(np.arange(5000))
    LanguageModel.estimate(train, 5, prune="0 0 1").write_arpa(tmp_path / "pruned.arpa.gz")
    agree(tmp_path / "pruned.arpa.gz", [" ".join(words) for words in Text.read(corpora / "tanaka-ja-en" / "dev.en.xz")])
