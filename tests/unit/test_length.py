"""The length of translations: what the training text says, as a constraint of tuning, and set at the end of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.lengths import N_CLASSES, TextLengths
from hyperbaton.decode import System
from hyperbaton.metrics import Outputs, count_words, length_ratio, make_metric
from hyperbaton.phrases import ExtractedPhrases, PhraseTable, extract, extract_phrases, extract_rules
from hyperbaton.tune import Candidates, Length, TargetLength, Tuning, tune
from hyperbaton.tune.length import MeasuredMetric, set_length
from hyperbaton.tune.nbest import Floats

N_SENTENCES, N_WORDS, SIZE = 30, 12, 40


class LengthDecoder:
    """Candidates of 6 to 21 words: the first words of the reference, then others; more correct words for a high feature."""

    def __init__(self) -> None:
        rng = np.random.default_rng(3)
        lengths = rng.integers(6, 22, (N_SENTENCES, SIZE))
        quality = rng.uniform(0.2, 1, (N_SENTENCES, SIZE))
        noise = rng.normal(size=(N_SENTENCES, SIZE))
        self.features = np.stack([3 * quality + 0.3 * noise, -lengths, noise], axis=2)
        self.references = [" ".join(f"w{s}.{i}" for i in range(N_WORDS)) for s in range(N_SENTENCES)]
        self.texts = [[self._text(s, lengths[s, c], quality[s, c]) for c in range(SIZE)] for s in range(N_SENTENCES)]

    def _text(self, s: int, length: int, quality: float) -> str:
        n_right = min(N_WORDS, round(quality * length))
        return " ".join([*self.references[s].split()[:n_right], *["x"] * (length - n_right)])

    def __call__(self, weights: Floats) -> Candidates:
        order = np.argsort(-(self.features @ weights), axis=1, kind="stable")[:, :30]
        sentence = np.repeat(np.arange(N_SENTENCES), order.shape[1])
        texts = [self.texts[s][c] for s, c in zip(sentence.tolist(), order.ravel().tolist(), strict=True)]
        return Candidates(sentence, self.features[sentence, order.ravel()], texts)

    def length(self, weights: Floats) -> float:
        best = self(weights)
        lines = [text for text, first in zip(best.hypotheses, np.diff(best.sentence, prepend=-1), strict=True) if first]
        return length_ratio([Outputs.of(lines, self.references)])


@pytest.fixture(scope="module")
def decoder() -> LengthDecoder:
    return LengthDecoder()


def test_expected_lengths_by_class() -> None:
    lengths = TextLengths.of(Bitext.of(["a"] * 5000 + ["a b c d e f g h"] * 5000, ["x"] * 5000 + ["x " * 12] * 5000))
    assert lengths.words.shape == (N_CLASSES, 2)
    short, long, unseen = (float(lengths.expected(np.array([n]))[0]) / n for n in (1, 8, 200))
    assert short == pytest.approx(1, abs=0.08)
    assert long == pytest.approx(1.5, abs=0.01)
    assert unseen == pytest.approx(lengths.ratio) == 13 / 9
    assert TextLengths.of(Bitext.of([], [])).expected(np.array([4])).tolist() == [4.0]


def test_phrases_rules_and_systems_know_the_lengths_of_their_text(tmp_path: Path) -> None:
    bitext = Bitext.of(["a b", "a b c"], ["x y z", "x y z"], [[(0, 0), (1, 1)], [(0, 0), (1, 1), (2, 2)]])
    expected = TextLengths.of(bitext).words.tolist()
    phrases = extract_phrases(bitext)
    phrases.save(tmp_path / "phrases", bitext)
    table = ExtractedPhrases.load(tmp_path / "phrases").table
    tables = [table, extract_rules(bitext).table, table.select(np.ones(len(table), bool)).without_unused()]
    System.of(table).save(tmp_path / "system", copy=True)
    tables.append(System.load(tmp_path / "system").table)
    for each in tables:
        assert each.lengths is not None
        assert each.lengths.words.tolist() == expected


def test_a_table_without_lengths(tmp_path: Path) -> None:
    bitext = Bitext.of(["a"], ["x"], [[(0, 0)]])
    replace(PhraseTable.build(bitext, extract(bitext)), lengths=None).save(tmp_path / "table")
    assert PhraseTable.load(tmp_path / "table").lengths is None
    with pytest.raises(OptionError, match="the lengths of the training text are unknown"):
        Length("training").target(["a"], None)


@pytest.mark.parametrize("wrong", ["long", "0", "nan", "20"])
def test_lengths_that_make_no_sense(wrong: str) -> None:
    with pytest.raises(
        OptionError, match=f"length must be development, training, or a number from 0.1 to 10, not '{wrong}'"
    ):
        Length(wrong)


@pytest.mark.parametrize("metric", ["bleu:tokenize=none", "ter"])
@pytest.mark.parametrize("optimizer", ["mira", "mert", "pro"])
def test_tuning_keeps_a_length(decoder: LengthDecoder, optimizer: str, metric: str) -> None:
    options, start = Tuning(metric, optimizer, iterations=8, average=1, reach=1), np.array([1.0, 0.0, 0.2])
    lengths = {}
    for ratio in (0.9, 1.25):
        tuned = tune(decoder, start, [decoder.references], options, length=TargetLength(None, ratio, True), seed=1)
        lengths[ratio] = decoder.length(tuned.weights)
        turn = tuned.history[tuned.taken]
        assert (turn.length, turn.expected) == (pytest.approx(lengths[ratio]), pytest.approx(ratio))
        assert tuned.score == turn.value
    assert lengths == {0.9: pytest.approx(0.9, abs=0.06), 1.25: pytest.approx(1.25, abs=0.09)}


def test_the_factor_of_a_constraint() -> None:
    outputs = Outputs.of(["a b c d", "e"], ["a b c d", "e f"])
    plain = make_metric("wer")
    free, bound = (MeasuredMetric(plain, TargetLength(np.array([5.0, 5.0]), 1, limited)) for limited in (False, True))
    sums = bound.statistics(outputs).sum(axis=0)
    assert sums[-3:].tolist() == [5, 6, 10]
    assert float(free.score(sums)) == float(bound.plain(sums)) == plain.value(outputs)
    assert float(bound.score(sums)) == pytest.approx(plain.value(outputs) * 4)
    assert bound.lengths(sums) == (5 / 6, 10 / 6)
    bleu = MeasuredMetric(make_metric("bleu:tokenize=none:max-order=1"), TargetLength(None, 0.5, True))
    assert bleu.value(outputs) == pytest.approx(bleu.metric.value(outputs) * 0.6**2)


def test_the_word_penalty_sets_the_length(decoder: LengthDecoder) -> None:
    weights = np.array([1.0, 0.05, 0.2])
    for ratio in (0.7, 1.0, 1.4):
        metric = MeasuredMetric(make_metric("bleu:tokenize=none"), TargetLength(None, ratio))
        ended = set_length(decoder, weights, 1, [decoder.references], metric)
        assert ended.weights[[0, 2]].tolist() == [1.0, 0.2]
        assert ended.length == pytest.approx(decoder.length(ended.weights)) == pytest.approx(ratio, abs=0.02)


def test_words_of_several_references() -> None:
    outputs = Outputs.of(["a b c"], ["a"], ["a b c d"], ["a b"])
    assert count_words(outputs).tolist() == [[3, 2]]
