"""Metrics against other programs, on 1,000 real pairs: references, and the same with words lost, doubled and replaced."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import jiwer
import numpy as np
import pytest
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import single_meteor_score
from nltk.translate.nist_score import corpus_nist
from nltk.translate.ribes_score import corpus_ribes
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

from hyperbaton.corpus.files import read_lines
from hyperbaton.metrics import Outputs, compare, make_metric
from hyperbaton.metrics.meteor import _stems

N = 1000


def perturbed(lines: list[str], seed: int, rate: float) -> list[str]:
    """Plausible translations of the sentences that these lines translate."""
    rng = random.Random(seed)
    vocabulary = [word for line in lines for word in line.split()]
    changed = []
    for line in lines:
        words: list[str] = []
        for word in line.split():
            kind = rng.random() / rate
            words += (
                [] if kind < 0.2 else [word, word] if kind < 0.3 else [rng.choice(vocabulary)] if kind < 0.6 else [word]
            )
        if words and rng.random() < 0.5:
            cut = rng.randrange(len(words))
            words = words[cut:] + words[:cut]
        changed.append(" ".join(words or ["nothing"]))
    return changed


@pytest.fixture(scope="module")
def references(corpora: Path) -> list[str]:
    lines = (line for line in read_lines(corpora / "kyoto-ja-en" / "dev.en.xz") if 2 <= len(line.split()) <= 60)
    sentences = list(islice(lines, N))
    assert len(sentences) == N
    return sentences


@pytest.fixture(scope="module")
def hypotheses(references: list[str]) -> list[str]:
    return perturbed(references, 1, 0.5)


@pytest.mark.parametrize("options", [{}, {"tokenize": "none"}, {"lowercase": True}, {"smooth_method": "none"}])
def test_bleu(references: list[str], hypotheses: list[str], options: dict[str, object]) -> None:
    second = perturbed(references, 3, 0.3)
    theirs = BLEU(force=True, **options)
    named = {"smooth_method": "smooth"}
    ours = make_metric(":".join(["bleu", *(f"{named.get(k, k)}={v}" for k, v in options.items())]))
    assert ours.value(Outputs.of(hypotheses, references)) == pytest.approx(
        theirs.corpus_score(hypotheses, [references]).score
    )
    both = theirs.corpus_score(hypotheses, [references, second]).score
    assert ours.value(Outputs.of(hypotheses, references, second)) == pytest.approx(both)
    assert ours.signature(2) == str(theirs.get_signature())


@pytest.mark.parametrize(("name", "theirs"), [("chrf", CHRF()), ("chrf:word-order=2", CHRF(word_order=2))])
def test_chrf(references: list[str], hypotheses: list[str], name: str, theirs: CHRF) -> None:
    score = theirs.corpus_score(hypotheses, [references]).score
    assert make_metric(name).value(Outputs.of(hypotheses, references)) == pytest.approx(score)
    assert make_metric(name).signature(1) == str(theirs.get_signature())


def test_ter(corpora: Path) -> None:
    """On short sentences: Tercom's search for shifts takes a minute on 1,000 long ones."""
    short = [line for part in ("dev", "devtest") for line in read_lines(corpora / "tanaka-ja-en" / f"{part}.en.xz")]
    assert len(short) == N
    own, theirs = perturbed(short, 1, 0.5), TER()
    score = theirs.corpus_score(own, [short]).score
    assert make_metric("ter").value(Outputs.of(own, short)) == pytest.approx(score)
    assert make_metric("ter").signature(1) == str(theirs.get_signature())


def test_wer(references: list[str], hypotheses: list[str]) -> None:
    expected = 100 * jiwer.wer(references, hypotheses)
    assert make_metric("wer").value(Outputs.of(hypotheses, references)) == pytest.approx(expected)


def test_nist(references: list[str], hypotheses: list[str]) -> None:
    expected = corpus_nist([[line.split()] for line in references], [line.split() for line in hypotheses])
    assert make_metric("nist").value(Outputs.of(hypotheses, references)) == pytest.approx(expected)


def test_ribes(references: list[str], hypotheses: list[str]) -> None:
    """nltk scores a right sentence of one word 0, we score it 100: such references are left out."""
    triples = zip(hypotheses, references, perturbed(references, 3, 0.3), strict=True)
    kept = [lines for lines in triples if min(len(lines[1].split()), len(lines[2].split())) > 1]
    own, first, second = (list(column) for column in zip(*kept, strict=True))
    pairs = [[a.split(), b.split()] for a, b in zip(first, second, strict=True)]
    expected = 100 * corpus_ribes(pairs, [line.split() for line in own])
    assert make_metric("ribes").value(Outputs.of(own, first, second)) == pytest.approx(expected, abs=0.05)


class NoWordNet:
    """A WordNet without words, since the real one must be downloaded."""

    def synsets(self, word: str) -> list[object]:
        return []


def test_meteor(references: list[str], hypotheses: list[str]) -> None:
    """nltk takes any of several equal words: the same where no word is repeated, fewer chunks with us elsewhere."""
    n_lines = 300
    statistics = make_metric("meteor").statistics(Outputs.of(hypotheses[:n_lines], references[:n_lines]))
    ours = make_metric("meteor").score(statistics)
    theirs, unique, key = np.zeros(n_lines), np.zeros(n_lines, bool), _stems()
    for s, (h, r) in enumerate(zip(hypotheses[:n_lines], references[:n_lines], strict=True)):
        theirs[s] = 100 * single_meteor_score(r.split(), h.split(), wordnet=NoWordNet(), stemmer=OriginalPorter())
        stems = [[key(word) for word in line.lower().split()] for line in (h, r)]
        unique[s] = all(len(set(line)) == len(line) for line in stems)
    assert unique.sum() > 10
    assert ours[unique] == pytest.approx(theirs[unique])
    assert (ours >= theirs - 1e-9).mean() > 0.98


class OriginalPorter(PorterStemmer):
    """Porter's algorithm as published, with the rule of his program that leaves words of two letters unchanged."""

    def __init__(self) -> None:
        super().__init__(mode=PorterStemmer.ORIGINAL_ALGORITHM)

    def stem(self, word: str) -> str:
        return word if len(word) <= 2 else str(super().stem(word))


def test_stems(references: list[str]) -> None:
    """Snowball's version of Porter's algorithm keeps rare double consonants ("trekk"); no word here has them."""
    theirs, key = OriginalPorter(), _stems()
    words = {word.lower() for line in references for word in line.split()}
    assert {word: key(word) for word in words} == {word: (theirs.stem(word),) for word in words}


def test_randomization_agrees_with_sacrebleu(
    references: list[str], hypotheses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    n = 300
    other = perturbed(references, 2, 0.52)
    systems = [("other", other[:n]), ("ours", hypotheses[:n])]
    _, theirs = PairedTest(systems, {"BLEU": BLEU(force=True)}, [references[:n]], "ar", n_samples=1000)()
    bleu = make_metric("bleu")
    ours, others = (bleu.statistics(Outputs.of(lines[:n], references[:n])) for lines in (hypotheses, other))
    comparison = compare(bleu, [ours], [others], test="randomization", samples=1000, seed=11)
    assert comparison.p == pytest.approx(theirs["BLEU"][1].p_value, abs=0.05)
    assert 0.01 < comparison.p < 1
    assert np.isfinite(comparison.wins)
