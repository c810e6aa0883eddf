"""Small searches, and reordering models of every shape with what the oracle says of their paths."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.corpus import Annotations, Bitext, Text, Vocabulary
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.decode import ModelUse, ReorderingTable
from hyperbaton.models import JumpLogProbs, Steps
from hyperbaton.models.osm import OperationSequence
from hyperbaton.phrases import ReorderingType, TranslationOptions
from hyperbaton.phrases.coverage import COVERAGE_STATES
from hyperbaton.phrases.moses import read_phrase_table
from tests.oracles import decode as oracle
from tests.oracles import jumps, operations, phrases

ARPA = """\\data\\
ngram 1=6
ngram 2=5
ngram 3=2

\\1-grams:
-1.5\t<unk>\t0
0\t<s>\t-0.3
-0.7\t</s>\t0
-0.6\tx\t-0.2
-0.9\ty\t-0.4
-1.1\tz\t0

\\2-grams:
-0.3\t<s> x\t-0.1
-0.2\tx y\t-0.25
-0.4\ty x\t0
-0.9\tz z\t0
-0.15\ty </s>\t0

\\3-grams:
-0.05\t<s> x y
-0.35\tx y x

\\end\\
"""

Pair = tuple[str, str]
Case = Callable[..., tuple[Any, Callable[..., float]]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], dict[Pair, tuple[list[float], list[tuple[int, int]]]]]:
    """A short sentence and a phrase table: (source, target) → scores and inner links."""
    words = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    table = {}
    phrases = {" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, min(i + 2, len(words)) + 1)}
    for phrase in sorted(phrases):
        targets = draw(st.sets(st.sampled_from(["x", "y", "x y", "z z"]), max_size=2))
        n = len(phrase.split())
        for target in sorted(targets):
            scores = [draw(st.sampled_from([0.5, 0.25, 0.125, 0.9])) for _ in range(2)]
            links = draw(st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, len(target.split()) - 1)), max_size=3))
            table[phrase, target] = (scores, sorted(links))
    table["q", "x"] = ([0.5, 0.5], [(0, 0)])  # a table of nothing is no table
    return words, table


def write_and_read(table: dict[Pair, tuple[list[float], list[tuple[int, int]]]], folder: Path) -> Any:
    lines = [
        f"{s} ||| {t} ||| {' '.join(map(str, scores))} ||| {' '.join(f'{i}-{j}' for i, j in links)} ||| 1 1 1 ||| |||"
        for (s, t), (scores, links) in sorted(table.items())
    ]
    (folder / "table").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "arpa").write_text(ARPA, encoding="utf-8")
    return read_phrase_table(folder / "table"), oracle.Arpa(folder / "arpa")


def all_options(words: list[str], table: dict[Pair, Any]) -> list[oracle.Step]:
    steps = []
    for begin in range(len(words)):
        for end in range(begin + 1, len(words) + 1):
            phrase = " ".join(words[begin:end])
            targets = [t for s, t in table if s == phrase]
            if not targets and end == begin + 1:
                targets = [phrase]
            steps += [oracle.Step(begin, end, tuple(target.split())) for target in targets]
    return steps


class Distances:
    """A model of options: a number for each class, from the spans."""

    orientations = "-1,0,1,2"
    side = "before"
    classes = "all"
    coverage_weights_: Any = None

    def option_logprobs(self, source: Text, options: TranslationOptions) -> Any:
        begin, length = options.source.begin.astype(float), options.target.lengths.astype(float)
        return -np.abs(np.sin(begin[:, None] + 3 * length[:, None] + np.arange(5)))


class Jumps:
    """A jump model: a matrix from positions."""

    def jump_logprobs(self, source: Text) -> Any:
        return [-np.abs(np.cos(np.arange((n + 1) ** 2).reshape(n + 1, n + 1) * 1.7)) for n in source.lengths]


class Stepwise:
    """A model of steps: sees the coverage, and remembers how far right the last step went."""

    def step_scores(self, steps: Steps) -> Any:
        left = np.array([row[:b].sum() for row, b in zip(steps.coverage, steps.begin, strict=True)])
        moved = np.abs(steps.states - steps.end)
        return -0.3 * left - 0.1 * moved - 0.05 * (steps.begin - steps.previous_begin) ** 2, steps.end


def visits(begin: int, links: list[tuple[int, int]]) -> list[int]:
    order: list[int] = []
    for i, _ in sorted(links, key=lambda link: (link[1], link[0])):
        if begin + i not in order:
            order.append(begin + i)
    return order


def table_case(kind_name: str) -> Case:
    kind = ReorderingType.parse(kind_name)
    columns = list(kind.set.columns)  # type: ignore[attr-defined]

    def make(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
        rng = np.random.default_rng(len(table))
        probabilities = rng.uniform(0.1, 1, (len(table), 2 * len(kind.set))).astype(np.float32)
        probabilities[0] = np.nan
        rows = {
            (table.source[s], table.target[t]): None if np.isnan(p[0]) else np.log(p).tolist()
            for s, t, p in zip(table.sources, table.targets, probabilities, strict=True)
        }

        def score(path: list[oracle.Step]) -> float:
            of_steps = [rows.get((" ".join(words[s.begin : s.end]), " ".join(s.target))) for s in path]
            return 0.7 * sum(oracle.lexicalized(path, of_steps, hierarchical=kind.unit == "hier", columns=columns))

        return ReorderingTable(kind, probabilities), score

    return make


# Weights of a model with one for each class, as multiples of its only weight otherwise.
CLASS_FACTORS = [1.0, 0.5, 2.0, 1.5, 0.2]


def distance_case(use: str, side: str, classes: str = "all", coverage: bool = False, per_class: bool = False) -> Case:
    cuts = (-1, 0, 1, 2)

    def make(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
        model = Distances()
        model.side, model.classes = side, classes
        weights = np.sin(np.arange(COVERAGE_STATES * 5)).reshape(COVERAGE_STATES, 5)
        model.coverage_weights_ = weights if coverage else None

        def score(path: list[oracle.Step]) -> float:
            total, end, last = 0.0, 0, None
            covered: set[int] = set()
            for step in path:
                d = end - step.begin
                row = step if side == "before" else last
                if row is not None:
                    scores = [-abs(np.sin(row.begin + 3 * len(row.target) + c)) for c in range(len(cuts) + 1)]
                    if coverage:
                        state = phrases.coverage_state(step.begin, step.end, covered, len(words))
                        scores = [score + added for score, added in zip(scores, weights[state], strict=True)]
                    chosen = sum(d >= cut for cut in cuts)
                    logprob = scores[chosen]
                    if classes == "possible" or coverage:
                        possible = set(range(5))
                        if classes == "possible":
                            possible = phrases.possible_distances(step.begin, covered, cuts)
                        logprob -= np.log(sum(np.exp(scores[c]) for c in possible))
                    value = logprob if use == "direct" else -abs(d) / (2.0 * np.exp(logprob))
                    total += value * (CLASS_FACTORS[chosen] if per_class else 1)
                end, last = step.end, step
                covered |= set(range(step.begin, step.end))
            return 0.7 * total

        return ModelUse(model, use, 2.0, per_class=per_class), score

    return make


class JumpsLeft(Jumps):
    """Jump scores normalised over the remaining words."""

    candidates = "remaining"

    def __init__(self, class_weights: Any) -> None:
        self.class_weights = class_weights

    def jump_logprobs(self, source: Text) -> JumpLogProbs:
        values = np.concatenate([matrix.ravel() for matrix in super().jump_logprobs(source)])
        starts = np.cumsum([0, *(source.lengths + 1) ** 2])
        return JumpLogProbs(values, starts, source.lengths, self.class_weights)


class Orientations:
    """A model of Moses' orientations, normalised over those that are possible."""

    classes = "possible"

    def __init__(self, orientations: str) -> None:
        self.orientations = orientations

    def option_logprobs(self, source: Text, options: TranslationOptions) -> Any:
        return np.tile(np.log([0.4, 0.3, 0.2, 0.1]), (len(options), 1))


def possible_case(kind: str, per_class: bool = False) -> Case:
    columns = {"M": (0, "monotone"), "S": (1, "swap"), "DL": (2, "discontinuous_left"), "DR": (3, "discontinuous_right")}
    numbers = {name: c for c, name in columns.values()}

    def make(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
        def score(path: list[oracle.Step]) -> float:
            if kind == "hier-mslr":
                names = oracle.stack_orientations(path)
            else:
                names = [oracle.phrase_orientation(before, step) for before, step in pairwise([None, *path]) if step]
            total = 0.0
            covered: set[int] = set()
            for step, name in zip(path, names, strict=True):
                possible = phrases.possible_orientations(step.begin, step.end, covered)
                p = [0.4, 0.3, 0.2, 0.1]
                assert columns[name][1] in possible
                value = np.log(p[columns[name][0]] / sum(p[numbers[other]] for other in possible))
                total += value * (CLASS_FACTORS[columns[name][0]] if per_class else 1)
                covered |= set(range(step.begin, step.end))
            return float(0.7 * total)

        return ModelUse(Orientations(kind), per_class=per_class), score

    return make


def jump_case(inside: bool, remaining: bool = False, coverage: bool = False) -> Case:
    def make(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
        n = len(words)
        matrix = Jumps().jump_logprobs(Text.of([" ".join(words)]))[0]
        weights = np.random.default_rng(n).normal(size=_core.N_CANDIDATE_CLASSES) if coverage else None

        def logprob(covered: set[int], now: int, position: int) -> float:
            if not remaining:
                return float(matrix[now + 1, position])
            scores = {
                to: matrix[now + 1, to] + (0 if weights is None else weights[candidate_class(n, covered, now, to)])
                for to in range(n + 1)
                if to not in covered
            }
            return float(scores[position] - np.log(sum(np.exp(list(scores.values())))))

        def score(path: list[oracle.Step]) -> float:
            total, now = 0.0, -1
            covered: set[int] = set()
            for step in path:
                pair = (" ".join(words[step.begin : step.end]), " ".join(step.target))
                order = visits(step.begin, pairs[pair][1] if pair in pairs else [(0, 0)])
                visited = set(covered)
                for k, position in enumerate(order):
                    if k == 0 or inside:
                        total += logprob(visited, now, position)
                    visited.add(position)
                    now = position
                covered |= set(range(step.begin, step.end))
            return 0.7 * (total + logprob(covered, now, n))

        return ModelUse(JumpsLeft(weights) if remaining else Jumps(), inside=inside), score

    return make


def candidate_class(n: int, covered: set[int], now: int, to: int) -> int:
    """In the form of the oracle of jumps, whose positions count from 1."""
    return jumps.candidate_class(n, {word + 1 for word in covered}, now + 1, to + 1)


def step_case(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
    def score(path: list[oracle.Step]) -> float:
        total, state, begin = 0.0, 0, 0
        covered: set[int] = set()
        for step in path:
            left = sum(i < step.begin for i in covered)
            total += -0.3 * left - 0.1 * abs(state - step.end) - 0.05 * (step.begin - begin) ** 2
            covered |= set(range(step.begin, step.end))
            state, begin = step.end, step.begin
        return 0.7 * total

    return ModelUse(Stepwise()), score


def operation_case(units: str) -> Case:
    """An operation sequence model of a few sentence pairs, and all five of its values."""
    pairs_of_text = [("a b c", "x y z"), ("b a", "y x"), ("c a b", "z z x y"), ("a c", "x")]
    links = [[(0, 2), (1, 1), (2, 0)], [(0, 1), (1, 0)], [(0, 1), (1, 2), (1, 3)], [(0, 0)]]
    bitext = Bitext.of([s for s, _ in pairs_of_text], [t for _, t in pairs_of_text], links)
    classes = [
        WordClasses(np.array([2, 3, 2], np.uint16), 2, Vocabulary.of(names)) for names in (["a", "b", "c"], ["x", "y", "z"])
    ]
    known = Annotations() if units == "words" else Annotations(source_classes=classes[0], target_classes=classes[1])
    model = OperationSequence(units=units, order=3, prune="0", interpolation=0.3).fit(bitext, known)
    arpas = []
    with tempfile.TemporaryDirectory() as folder:
        for lm in model.lms_:
            lm.write_arpa(Path(folder) / "arpa")
            arpas.append(oracle.Arpa(Path(folder) / "arpa"))

    def as_classes(words: Sequence[str], side: int) -> list[str]:
        return [word if word == "_TRANS_SLF_" else str(classes[side][word]) for word in words]

    def make(words: list[str], pairs: dict[Pair, Any], table: Any) -> tuple[Any, Callable[..., float]]:
        def score(path: list[oracle.Step]) -> float:
            walks = [operations.Walk(), operations.Walk()]
            for step in path:
                pair = (" ".join(words[step.begin : step.end]), " ".join(step.target))
                target, inner = (step.target, pairs[pair][1]) if pair in pairs else (("_TRANS_SLF_",), [(0, 0)])
                walks[0].phrase(words, step.begin, step.end, target, inner)
                walks[1].phrase(as_classes(words, 0), step.begin, step.end, as_classes(target, 1), inner)
            logprobs = []
            for arpa, walk in zip(arpas, walks[1:] if units == "classes" else walks, strict=False):
                history = ["<s>", *walk.operations]
                logprobs.append([arpa.word(history[:i], history[i]) for i in range(1, len(history))])
            total = sum(logprobs[0])
            if units == "both":
                numbers = [max(model.lms_[0].vocabulary.number(op), 0) for op in walks[0].operations]
                shares = model.class_shares_[numbers]
                total = np.log(0.3 * np.exp(logprobs[0]) + 0.7 * np.exp(logprobs[1] + shares)).sum()
            return float(0.7 * (total / np.log(10) + sum(walks[0].counts)))

        return ModelUse(model), score

    return make


SHAPES: dict[str, Case | None] = {
    "none": None,
    "wbe-msd": table_case("wbe-msd-bidirectional-fe"),
    "phrase-mslr": table_case("phrase-mslr-bidirectional-fe"),
    "hier-mslr": table_case("hier-mslr-bidirectional-fe"),
    "distances": distance_case("direct", "before"),
    "distances after": distance_case("direct", "after"),
    "distances possible": distance_case("direct", "before", "possible"),
    "distances coverage": distance_case("direct", "before", "all", coverage=True),
    "distances possible coverage": distance_case("direct", "before", "possible", coverage=True),
    "scaled": distance_case("scaled", "before"),
    "distances, weights per class": distance_case("direct", "before", per_class=True),
    "distances after, weights per class": distance_case("direct", "after", per_class=True),
    "distances possible coverage, weights per class": distance_case("direct", "before", "possible", True, per_class=True),
    "scaled, weights per class": distance_case("scaled", "before", per_class=True),
    "hier-mslr possible, weights per class": possible_case("hier-mslr", per_class=True),
    "mslr possible": possible_case("phrase-mslr"),
    "hier-mslr possible": possible_case("hier-mslr"),
    "jumps": jump_case(False),
    "jumps inside": jump_case(True),
    "jumps left": jump_case(False, remaining=True),
    "jumps left inside": jump_case(True, remaining=True),
    "jumps left coverage": jump_case(True, remaining=True, coverage=True),
    "steps": step_case,
    "operations": operation_case("words"),
    "operations of classes": operation_case("classes"),
    "operations of both": operation_case("both"),
}
