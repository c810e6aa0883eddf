"""Parity with Moses' operation sequence model: operations, the n-gram model over them, and scores in translations."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, NBest, TokenTranslator, Translations
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.lm import LanguageModel
from hyperbaton.models.osm import OperationSequence, operation_text
from tests.golden.test_moses_decode import GOLDEN, LINES, parse, system
from tests.oracles import decode as oracle
from tests.oracles import operations

LINKS = {
    tuple(row[:2]): [tuple(map(int, link.split("-"))) for link in row[3].split()]
    for row in (line.split(" ||| ") for line in oracle.open_text(GOLDEN / "tables" / "phrase-table.gz"))
}


@cache
def train() -> Bitext:
    return Bitext.read(*(GOLDEN / f"train.{side}" for side in ("src", "tgt", "links")))


def test_operations_line_by_line() -> None:
    golden = [line.split() for line in oracle.open_text(GOLDEN / "osm" / "operations.gz")]
    assert list(operation_text(train())) == golden


def test_the_operation_model_is_that_of_moses() -> None:
    model = OperationSequence(order=5, prune="0 0 1").fit(train())
    golden = LanguageModel.read_arpa(GOLDEN / "osm" / "operationLM.arpa.gz")
    assert model.lms_[0].n_ngrams == golden.n_ngrams
    text = operation_text(train())
    np.testing.assert_allclose(model.lms_[0].score(text), golden.score(text), rtol=1e-6)


def translations(limit: int) -> Translations:
    options = Decoding(
        search="cube",
        stack=5000,
        pop_limit=5000,
        threshold=0.0,
        distortion_limit=limit,
        future_distortion=False,
        # Moses counts the operation sequence model when it chooses the 20 best options of a phrase.
        table_limit=0 if limit == 0 else 20,
    )
    return TokenTranslator(system("osm"), options, threads=2).translate_batch(LINES, NBest(5, distinct=True))


def from_segments(lm: oracle.Arpa, source: list[str], words: list[str], segments: str) -> list[float]:
    """The five values of a line of Moses, from its segmentation alone."""

    def span(text: str) -> tuple[int, int]:
        return (int(text.split("-")[0]), int(text.split("-")[-1]) + 1) if text else (0, 0)

    walk = operations.Walk()
    for segment in segments.split():
        (begin, end), (first, last) = map(span, segment.split("="))
        target = words[first:last]
        links = LINKS.get((" ".join(source[begin:end]), " ".join(target)))
        walk.phrase(source, begin, end, ["_TRANS_SLF_"] if links is None else target, [(0, 0)] if links is None else links)
    history = ["<s>", *walk.operations]
    return [sum(lm.word(history[:i], history[i]) for i in range(1, len(history))) / np.log(10), *walk.counts]


@pytest.mark.parametrize("limit", [0, 6, pytest.param(-1, marks=pytest.mark.slow)])
def test_scores_equal_moses(limit: int) -> None:
    golden = parse(list(oracle.open_text(GOLDEN / "osm" / f"dl{limit}.search1.nbest.gz")))
    translated = translations(limit)
    ours = parse(list(translated.nbest(alignment=True)))
    lm = oracle.Arpa(GOLDEN / "osm" / "operationLM.arpa.gz")
    assert ours.keys() == golden.keys()
    n_same = n_confused = 0
    for sentence, theirs in golden.items():
        assert ours[sentence][0].total >= theirs[0].total - 1e-4
        for line in theirs:
            # Moses takes histories of the same length for the same one. In its n-best lists, never in its best
            # translation, a score may then be that of another history: 2 lines of 220.
            expected = from_segments(lm, LINES[sentence].split(), line.words.split(), line.segments)
            if abs(expected[0] - line.features["OpSequenceModel0"][0]) > 1e-3:
                n_confused += 1
                assert line is not theirs[0]
                continue
            np.testing.assert_allclose(line.features["OpSequenceModel0"], expected, rtol=1e-5, atol=1e-4)
            for mine in ours[sentence]:
                if (mine.segments, mine.words) == (line.segments, line.words):
                    n_same += 1
                    for name, values in line.features.items():
                        np.testing.assert_allclose(mine.features[name], values, rtol=1e-5, atol=1e-4)
                    assert mine.total == pytest.approx(line.total, abs=2e-3)
    assert n_same > 200 and n_confused <= 2


def test_export_and_import_keep_the_model(tmp_path: Path) -> None:
    first = TokenTranslator(system("osm")).translate_batch(LINES[:8], NBest())
    export_moses(system("osm"), tmp_path / "model")
    text = (tmp_path / "model" / "moses.ini").read_text(encoding="utf-8")
    assert "OpSequenceModel name=OpSequenceModel0 num-features=5 path=operationLM.OpSequenceModel0.gz" in text
    again = TokenTranslator(import_moses(tmp_path / "model")).translate_batch(LINES[:8], NBest())
    assert again.lines() == first.lines()
    assert again.scores.tolist() == first.scores.tolist()
