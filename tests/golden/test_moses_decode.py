"""Parity with Moses' decoder: best scores, features one by one, n-best lists."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from hyperbaton.decode import Decoding, NBest, System, TokenTranslator, Translations
from hyperbaton.decode.moses import import_moses
from tests.oracles import decode as oracle

GOLDEN = Path(__file__).parent / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()
COLUMNS = {"msd": ["M", "S", "D"], "mslr": ["M", "S", "DL", "DR"]}
KINDS = ("wbe-msd", "phrase-mslr", "hier-mslr")
CASES = [(kind, limit, search) for kind in KINDS for limit in (0, 6, -1) for search in (0, 1)]
# Large stacks without a limit take long, and cube pruning covers the rest.
CASES = [case for case in CASES if case[1:] != (-1, 0) or case[0] == "wbe-msd"]
CASES += [("early", 6, 1), ("early", -1, 1)]  # wbe-msd with [early-distortion-cost]
FILES = {kind: f"{kind}-bidirectional-fe" for kind in KINDS} | {"early": "early"}


class Line(NamedTuple):
    words: str
    features: dict[str, list[float]]
    total: float
    segments: str


def parse(lines: list[str]) -> dict[int, list[Line]]:
    by_sentence: dict[int, list[Line]] = {}
    for line in lines:
        number, words, scores, total, segments = (field.strip() for field in line.split("|||"))
        features: dict[str, list[float]] = {}
        for token in scores.split():
            if token.endswith("="):
                values = features.setdefault(token[:-1], [])
            else:
                values.append(float(token))
        by_sentence.setdefault(int(number), []).append(Line(words, features, float(total), segments))
    return by_sentence


@cache
def system(kind: str) -> System:
    return import_moses(GOLDEN / "decode" / f"{kind}.moses.ini")


def translations(kind: str, limit: int, search: int) -> Translations:
    options = Decoding(
        search="cube" if search else "stack",
        stack=5000 if search else 1000,
        pop_limit=5000,
        threshold=0.0,
        distortion_limit=limit,
        early_distortion=system(kind).options.early_distortion,
        future_distortion=False,
    )
    return TokenTranslator(system(kind), options, threads=2).translate_batch(LINES, NBest(5, distinct=True))


@cache
def tables(kind: str) -> tuple[dict, dict, oracle.Arpa]:  # type: ignore[type-arg]
    folder = GOLDEN / "tables"
    reordering = oracle.read_table(folder / f"reordering-table.{kind}-bidirectional-fe.gz")
    return oracle.read_table(folder / "phrase-table.gz"), reordering, oracle.Arpa(GOLDEN / "lm" / "lm3.arpa.gz")


def recomputed(kind: str, translated: Translations, path: int, sentence: int) -> dict[str, list[float]]:
    """All features of a translation from its segmentation alone."""
    distortion = oracle.distortion
    if kind == "early":
        kind, distortion = "wbe-msd", oracle.early_distortion
    phrases, reordering, lm = tables(kind)
    source = LINES[sentence].split()
    steps = [oracle.Step(s.begin, s.end, tuple(s.target)) for s in translated.steps(path)]
    pairs = [(" ".join(source[s.begin : s.end]), " ".join(s.target)) for s in steps]
    words = [word for step in steps for word in step.target]
    unit, orientations = kind.split("-")
    return {
        "LexicalReordering0": oracle.lexicalized(
            steps,
            [reordering.get(pair) for pair in pairs],
            hierarchical=unit == "hier",
            columns=COLUMNS[orientations],
        ),
        "Distortion0": [distortion(steps)],
        "LM0": [lm.sentence(words) if source else 0.0],
        "WordPenalty0": [-len(words)],
        "PhrasePenalty0": [len(steps)],
        "TranslationModel0": [sum(phrases.get(pair, [0.0] * 4)[i] for pair in pairs) for i in range(4)],
        "UnknownWordPenalty0": [-100.0 * sum(pair not in phrases for pair in pairs)],
    }


@pytest.mark.parametrize(("kind", "limit", "search"), CASES)
def test_scores_equal_moses(kind: str, limit: int, search: int) -> None:
    golden = parse(list(oracle.open_text(GOLDEN / "decode" / f"{FILES[kind]}.dl{limit}.search{search}.nbest5.gz")))
    translated = translations(kind, limit, search)
    ours = parse(list(translated.nbest(alignment=True)))
    assert ours.keys() == golden.keys()
    path = 0
    for sentence, theirs in golden.items():
        for mine, line in zip(ours[sentence], theirs, strict=True):
            # Six digits are printed; a better translation than Moses found is right, a worse one is not.
            assert mine.total > line.total - 1e-3
            same = [other for other in theirs if other.segments == mine.segments and other.words == mine.words]
            for name, values in same[0].features.items() if same else ():
                np.testing.assert_allclose(mine.features[name], values, rtol=1e-5, atol=1e-4)
            expected = recomputed(kind, translated, path, sentence)
            named = translated.named(translated.totals[path])
            for name, values in expected.items():
                np.testing.assert_allclose(named[name], values, rtol=1e-5, atol=1e-4)
            total = oracle.dot(named, system(kind).weights)
            assert translated.scores[path] == pytest.approx(total, abs=1e-4)
            path += 1
        assert ours[sentence][0].total >= theirs[0].total - 1e-4
        # Translations in Moses' list that are no worse than our last one are in ours, too.
        totals = np.array([line.total for line in ours[sentence]])
        assert all(np.abs(totals - line.total).min() < 2e-3 for line in theirs if line.total > totals[-1] + 2e-3)


def test_limits_hold() -> None:
    translated = translations("wbe-msd", 6, 1)
    for path in range(len(translated.scores)):
        assert oracle.within_limit([oracle.Step(s.begin, s.end, ()) for s in translated.steps(path)], 6)
