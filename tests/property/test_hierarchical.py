"""Chart decoding without pruning against enumerating every derivation."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperbaton.corpus import Text
from hyperbaton.decode import Decoding, ModelUse, NBest, System, TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import TranslationOptions
from tests.oracles import decode as oracle
from tests.oracles import derivations
from tests.property.search_cases import ARPA, CLASS_FACTORS, SHAPES
from tests.rule_tables import rule_table

WEIGHTS = {"TranslationModel0": [0.3, 0.7], "LM0": 0.6, "WordPenalty0": -0.4, "PhrasePenalty0": 0.15}
EVERYTHING = Decoding(pop_limit=100_000, stack=0, table_limit=0, max_span=0)
SIDES = (
    ("a", 0),
    ("b", 0),
    ("a b", 0),
    ("a [X]", 1),
    ("[X] b", 1),
    ("b [X] a", 1),
    ("[X] a [X]", 2),
    ("a [X] b [X]", 2),
    ("[X] c [X]", 2),
)
TARGETS = (
    ("x", "y", "x y", "z z"),
    ("[X,1]", "x [X,1]", "[X,1] y", "z [X,1] x"),
    ("[X,1] [X,2]", "[X,2] [X,1]", "[X,2] x [X,1]", "y [X,1] [X,2] x"),
)


@st.composite
def cases(draw: st.DrawFn, letters: str = "abc", unique: bool = False) -> tuple[list[str], dict[Any, Any]]:
    """A short sentence and rules."""
    words = draw(st.lists(st.sampled_from(letters), max_size=4, unique=unique))
    rules = {}
    for source, n_gaps in SIDES:
        for target in sorted(draw(st.sets(st.sampled_from(TARGETS[n_gaps]), max_size=2))):
            scores = [draw(st.sampled_from([0.5, 0.25, 0.125, 0.9])) for _ in range(2)]
            here = [i for i, symbol in enumerate(source.split()) if symbol != "[X]"]
            there = [j for j, symbol in enumerate(target.split()) if not symbol.startswith("[X,")]
            links = draw(st.sets(st.tuples(st.sampled_from(here), st.sampled_from(there)), max_size=2)) if there else set()
            rules[source, target] = (scores, sorted(links))
    rules["q", "x"] = ([0.5, 0.5], [(0, 0)])  # a table of nothing is no table
    return words, rules


class Waves:
    """A jump model: any numbers."""

    needs = ()

    def jump_logprobs(self, source: Text) -> list[Any]:
        return [self.matrix(n) for n in source.lengths.tolist()]

    @staticmethod
    def matrix(n: int) -> Any:
        i, j = np.indices((n + 1, n + 1))
        return -np.abs(np.sin(1 + 2.0 * i + 3.0 * j))


def total(features: dict[str, list[float]], weights: Any) -> float:
    return sum(w * v for name, values in features.items() for w, v in zip(weights[name], values, strict=True))


def lm_of(folder: str) -> tuple[LanguageModel, oracle.Arpa]:
    path = Path(folder) / "arpa"
    path.write_text(ARPA, encoding="utf-8")
    return LanguageModel.read_arpa(path), oracle.Arpa(path)


@pytest.mark.parametrize("jumps", [None, "all", "between"])
@settings(max_examples=40, deadline=None)
@given(cases(), st.sampled_from([0, 1, 2]))
def test_best_derivations(jumps: str | None, case: tuple[list[str], Any], max_span: int) -> None:
    """Scores and features of all derivations."""
    words, rules = case
    with tempfile.TemporaryDirectory() as folder:
        model, arpa = lm_of(folder)
    reordering = {} if jumps is None else {"JUMPS": ModelUse(Waves(), inside=jumps == "all")}
    system = System.of(rule_table(rules), [model], reordering, WEIGHTS, EVERYTHING)
    options = Decoding(pop_limit=100_000, stack=0, table_limit=0, max_span=max_span)
    matrix = None if jumps is None else Waves.matrix(len(words))
    expected = [
        derivations.features(derivation, len(words), arpa, matrix, jumps == "all")
        for derivation in derivations.derivations(words, rules, max_span)
    ]
    expected = sorted(expected, key=lambda found: -total(found, system.weights))[:500]
    found = TokenTranslator(system, options, threads=1).translate_batch([" ".join(words)], NBest(500))
    assert found.scores == pytest.approx([total(features, system.weights) for features in expected], abs=1e-4)
    for path, score in enumerate(found.scores):
        features = found.named(found.totals[path])
        assert total(features, system.weights) == pytest.approx(score, abs=1e-4)
        assert features["LM0"] == pytest.approx([arpa.sentence(found.text[path])], abs=1e-4)


RESCORING = {
    name: make
    for name, make in SHAPES.items()
    if make and any(kind in name for kind in ("possible", "coverage", "left", "steps", "operations"))
}


@pytest.mark.parametrize("shape", RESCORING)
@settings(max_examples=15, deadline=None)
@given(
    case=cases("abcd", unique=True),
    max_span=st.sampled_from([0, 2]),
    distinct=st.booleans(),
)
@example(
    case=(["a", "b", "c"], {("a [X] c", "x z [X,1] y"): ([0.5, 0.5], [(0, 0), (2, 0), (0, 3)])}), max_span=0, distinct=False
)
@example(case=(["a", "b", "c", "d"], {("a [X] b [X]", "x [X,2] y [X,1]"): ([0.5, 0.5], [])}), max_span=0, distinct=False)
@example(
    case=(["a", "b", "c", "d"], {("[X] b c [X]", "[X,2] x y [X,1]"): ([0.5, 0.5], [(2, 1)])}), max_span=0, distinct=False
)
def test_models_that_rescore(shape: str, case: tuple[list[str], Any], max_span: int, distinct: bool) -> None:
    """All derivations are rescored, read as phrases, beside models that score parts of them."""
    words, rules = case
    with tempfile.TemporaryDirectory() as folder:
        model, arpa = lm_of(folder)
    pairs: dict[Any, Any] = {}
    use, extra = RESCORING[shape](words, pairs, None)
    weights = {"R": [0.7 * factor for factor in CLASS_FACTORS[: use.n_features]] if use.per_class else 0.7}
    system = System.of(rule_table(rules), [model], {"JUMPS": Waves(), "R": use}, WEIGHTS | weights, EVERYTHING)
    options = Decoding(pop_limit=100_000, stack=0, table_limit=0, max_span=max_span, rescore=100_000)
    expected = list[tuple[float, str]]()
    for derivation in derivations.derivations(words, rules, max_span):
        features = derivations.features(derivation, len(words), arpa, Waves.matrix(len(words)), inside=False)
        target = [word for tree in derivation for word in derivations.words_of(tree)]
        path = []
        pairs.clear()
        for phrase in derivations.phrases(derivation):
            (begin, end), (first, last) = phrase.source, phrase.target
            of_phrase = tuple(target[first:last])
            inner = [(i - begin, j - first) for i, j in phrase.links]
            if phrase.is_unknown and "operations" in shape:
                of_phrase = tuple("_TRANS_SLF_" if j == inner[0][1] else word for j, word in enumerate(of_phrase))
            path.append(oracle.Step(begin, end, of_phrase))
            pairs[" ".join(words[begin:end]), " ".join(of_phrase)] = ([], inner)
        score = total(features, system.weights) + (extra(path) if path else 0)
        expected.append((score, " ".join(target)))
    best = dict(sorted((target, score) for score, target in expected)) if distinct else {}
    scores = sorted(best.values() if distinct else [score for score, _ in expected], reverse=True)[:300]
    found = TokenTranslator(system, options, threads=1).translate_batch([" ".join(words)], NBest(300, distinct, 0))
    assert found.scores == pytest.approx(scores, abs=1e-3)
    assert len({" ".join(line) for line in found.text}) == len(scores) or not distinct
    for number, score in enumerate(found.scores):
        assert total(found.named(found.totals[number]), system.weights) == pytest.approx(score, abs=1e-3)
    alone = TokenTranslator(system, options, threads=1).translate_batch([" ".join(words)], NBest())
    assert alone.scores == pytest.approx(scores[:1], abs=1e-3)


class Numbers:
    """An orientation model: any numbers, from everything that it is given of a phrase pair."""

    def __init__(self, orientations: str, side: str) -> None:
        self.orientations, self.side = orientations, side

    def option_logprobs(self, source: Text, options: TranslationOptions) -> Any:
        rows = []
        spans = options.source
        columns = (spans.sentence.tolist(), spans.begin.tolist(), spans.length.tolist())
        for o, (sentence, begin, n) in enumerate(zip(*columns, strict=True)):
            assert begin + n <= source.lengths[sentence]
            links = tuple((i, j) for i, j in sorted(options.links[o]))
            rows.append([self.value(begin, tuple(options.target[o]), links, n, c) for c in range(4)])
        return np.array(rows).reshape(-1, 4)

    @staticmethod
    def value(begin: int, target: tuple[str, ...], links: tuple[tuple[int, int], ...], length: int, column: int) -> float:
        number = sum((i + 2) * ord(letter) for i, letter in enumerate("".join(target)))
        number += sum(37 * i + 11 * j + 5 for i, j in links)
        return -abs(math.sin(begin + 3 * length + number + 1.3 * column)) - 0.1

    def features(self, meetings: Iterable[derivations.Meeting], scaled: bool) -> list[float]:
        """The values of each class."""
        values = [0.0] * 4
        for meeting in meetings:
            block = meeting.next if self.side == "before" else meeting.previous
            if block is None:
                continue
            (p, q), (wide_p, wide_q) = meeting.near, meeting.wide
            a, b = p, q
            if self.orientations.startswith("hier"):
                a, b = (wide_p, q) if self.side == "before" else (p, wide_q)
            if self.orientations == "-1,0,2":
                column = sum(a[1] - b[0] >= cut for cut in (-1, 0, 2))
            else:
                column = 0 if b[0] == a[1] else 1 if b[1] == a[0] else 3 if b[0] > a[1] else 2
            value = self.value(block.begin, block.target, block.links, block.end - block.begin, column)
            values[column] += -abs(q[0] - p[1]) / (2.0 * math.exp(value)) if scaled else value
        return values


@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize(
    ("orientations", "sides", "use"),
    [
        ("-1,0,2", ["before"], "direct"),
        ("-1,0,2", ["after"], "scaled"),
        ("phrase-mslr", ["before"], "direct"),
        ("phrase-mslr", ["after", "before"], "direct"),
        ("hier-mslr", ["before"], "scaled"),
        ("hier-mslr", ["after"], "direct"),
        ("hier-mslr", ["after", "before"], "direct"),
    ],
)
@settings(max_examples=25, deadline=None)
@given(case=cases(), max_span=st.sampled_from([0, 2]))
@example(case=(["b", "a", "b"], {("[X] a [X]", "y [X,1] [X,2] x"): ([0.5, 0.5], [(1, 0)])}), max_span=0)
@example(case=(["b", "a", "b"], {("[X] a [X]", "y [X,1] [X,2] x"): ([0.5, 0.5], [(1, 3)])}), max_span=0)
def test_orientations_of_blocks(
    orientations: str, sides: list[str], use: str, per_class: bool, case: tuple[list[str], Any], max_span: int
) -> None:
    """Scores and features of all derivations with orientation models, with other models beside them."""
    words, rules = case
    with tempfile.TemporaryDirectory() as folder:
        model, arpa = lm_of(folder)
    models = {f"O{i}": Numbers(orientations, side) for i, side in enumerate(sides)}
    reordering = {name: ModelUse(model, use, 2.0, per_class=per_class) for name, model in models.items()}
    weights = {name: [0.5, 1.0, 0.3, 0.7] if per_class else 0.6 for name in models}
    system = System.of(rule_table(rules), [model], reordering | {"JUMPS": ModelUse(Waves())}, WEIGHTS | weights, EVERYTHING)
    expected = []
    for derivation in derivations.derivations(words, rules, max_span):
        features = derivations.features(derivation, len(words), arpa, Waves.matrix(len(words)), inside=False)
        for name, of_model in models.items():
            values = of_model.features(derivations.meetings(derivation), use == "scaled")
            features[name] = values if per_class else [sum(values)]
        expected.append(total(features, system.weights))
    options = Decoding(pop_limit=100_000, stack=0, table_limit=0, max_span=max_span)
    found = TokenTranslator(system, options, threads=1).translate_batch([" ".join(words), "a b"], NBest(300))
    scores = found.scores[: found.path_offsets[1]]
    assert scores == pytest.approx(sorted(expected, reverse=True)[:300], abs=1e-3)
    for path, score in enumerate(scores):
        assert total(found.named(found.totals[path]), system.weights) == pytest.approx(score, abs=1e-3)


@settings(max_examples=40, deadline=None)
@given(cases())
def test_forced(case: tuple[list[str], Any]) -> None:
    """The best way to a translation that must come out, or none where there is no way."""
    words, rules = case
    with tempfile.TemporaryDirectory() as folder:
        model, arpa = lm_of(folder)
    system = System.of(rule_table(rules), [model], {}, WEIGHTS, EVERYTHING)
    by_words: dict[str, float] = {}
    for derivation in derivations.derivations(words, rules, 0):
        target = " ".join(word for tree in derivation for word in derivations.words_of(tree))
        score = total(derivations.features(derivation, len(words), arpa), system.weights)
        by_words[target] = max(score, by_words.get(target, -np.inf))
    for target in [*sorted(by_words)[:5], "x x x x x x x", "y z"]:
        found = TokenTranslator(system, threads=1).translate_batch([" ".join(words)], NBest(), forced=[target])
        assert (len(found.scores) == 1) == (target in by_words)
        if target in by_words:
            assert found.scores[0] == pytest.approx(by_words[target], abs=1e-4)
            assert found.lines() == [target]
