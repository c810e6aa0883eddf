"""Jumps against the plain oracle: features and their counts, eq. 1 and eq. 2, gradients, nine classes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.align import VisitOrders
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.data import generate
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.models import MODELS, JumpLogProbs
from hyperbaton.models.jumps.weights import N_CONSTANTS
from hyperbaton.models.nine_class import ClassScores, NineClass
from hyperbaton.models.shapes.next_position import JumpTraining, TaggedSentences
from hyperbaton.phrases import PhraseTable, extract
from tests.oracles import jumps as oracle

Sentence = tuple[list[str], list[str] | None, list[int]]


@st.composite
def corpora(draw: st.DrawFn, tagged: bool | None = None) -> list[Sentence]:
    """Short sentences of few words with visit orders; some empty, of one word, or without visits."""
    tagged = draw(st.booleans()) if tagged is None else tagged
    corpus: list[Sentence] = []
    for _ in range(draw(st.integers(1, 4))):
        words = draw(st.lists(st.sampled_from("abc"), max_size=9))
        tags = [draw(st.sampled_from("XY")) for _ in words] if tagged else None
        order = draw(st.permutations(range(len(words))))
        corpus.append((words, tags, list(order[: draw(st.integers(0, len(words)))])))
    return corpus


def jump_training(corpus: list[Sentence]) -> JumpTraining:
    text = Text.of([" ".join(words) for words, _, _ in corpus])
    labels = None
    if corpus[0][1] is not None:
        tags = Tags.of([" ".join(tags or []) for _, tags, _ in corpus], text)
        labels = tags.labels.astype(np.uint32)
    positions = np.array([p for _, _, order in corpus for p in order], np.uint16)
    offsets = np.cumsum([0, *(len(order) for _, _, order in corpus)])
    return JumpTraining(TaggedSentences(text, labels), VisitOrders(positions, offsets), Resources(threads=2))


def core_text(corpus: list[Sentence]) -> _core.JumpText:
    return jump_training(corpus).core()


def lists_of(corpus: list[Sentence], keys: npt.NDArray[np.uint64]) -> Iterator[tuple[int, dict[str, list[int]]]]:
    """For each sentence that has jumps its number, and the features of its lists by name."""
    features = _core.JumpFeatures(keys, tagged=corpus[0][1] is not None)
    found = features.lists(core_text(corpus), None, 0, len(corpus), n_threads=1, progress=None)
    counts, ids = found[0].tolist(), found[1].tolist()
    at, first = 0, 0
    for s, (words, _, order) in enumerate(corpus):
        if not order:
            continue
        n = len(words)
        names = [f"left {i} {o}" for i in range(n + 1) for o in (0, 1)]
        names += [f"right {j} {o}" for j in range(1, n + 2) for o in (0, 1)]
        names += [f"{i} {j}" for i in range(n + 1) for j in range(1, n + 2)]
        lists = {}
        for name in names:
            lists[name] = ids[first : first + counts[at]]
            first += counts[at]
            at += 1
        yield s, lists
    assert (at, first) == (len(counts), len(ids))


def jump_features(lists: dict[str, list[int]], i: int, j: int) -> list[int]:
    """All features of one jump, constants too."""
    o, distance = int(i > j), abs(i - j)
    d = 0 if distance == 1 else 1 if distance <= 5 else 2
    return [o, 2 + 3 * o + d, *lists[f"left {i} {o}"], *lists[f"right {j} {o}"], *lists[f"{i} {j}"]]


@settings(max_examples=40, deadline=None)
@given(corpora(), st.integers(1, 4))
def test_features_are_those_of_table_1(corpus: list[Sentence], min_count: int) -> None:
    """Only features that occur often enough are kept, and each number always means the same feature."""
    keys = _core.count_jump_features(core_text(corpus), min_count=min_count, n_threads=2, progress=None)
    counts = oracle.count(corpus)
    constants = {f"{o}" for o in (0, 1)} | {f"{o} d{d}" for o in (0, 1) for d in range(3)}
    kept = {feature for feature, n in counts.items() if n >= min_count} - constants
    assert len(keys) == len(kept)
    if not any(order for _, _, order in corpus):
        return
    meaning: dict[int, set[str]] = {}
    for s, lists in lists_of(corpus, keys):
        words, tags, _ = corpus[s]
        for i in range(len(words) + 1):
            for j in range(1, len(words) + 2):
                if i == j:
                    assert lists[f"{i} {j}"] == []
                    continue
                ids = jump_features(lists, i, j)
                names = [f for f in oracle.pair_features(words, tags, i, j) if f in kept | constants]
                assert len(ids) == len(names) == len(set(ids))
                for number in ids:
                    meaning[number] = meaning.get(number, set(names)) & set(names)
    assert all(meaning.values())


def test_counts_of_a_worked_example() -> None:
    """One word, tagged: the jumps BOS → a → EOS are made, BOS → EOS is not (nor a → a, which is none)."""
    corpus: list[Sentence] = [(["a"], ["X"], [0])]
    # Each of the two jumps has 10 words, 2 tags, 21 pairs of words and 7 of tags; both have padding at i − 2 and at j + 2.
    # The third jump adds ⟨BOS, EOS⟩ as words, as tags, and twice as tags with a word.
    keys = _core.count_jump_features(core_text(corpus), min_count=1, n_threads=1, progress=None)
    assert len(keys) == 2 * 40 - 2 + 4
    assert len(_core.count_jump_features(core_text(corpus * 2), min_count=2, n_threads=1, progress=None)) == 82
    assert len(_core.count_jump_features(core_text(corpus * 2), min_count=4, n_threads=1, progress=None)) == 2
    assert len(oracle.pair_features(["a"], ["X"], 0, 1)) == 42


@settings(max_examples=20, deadline=None)
@given(corpora(), st.integers(0, 3))
def test_features_are_numbered_as_sentences_have_them(corpus: list[Sentence], n_last: int) -> None:
    """Whole or in parts; the first and last features keep their numbers."""
    text, n = core_text(corpus), len(corpus)
    keys = _core.count_jump_features(text, min_count=1, n_threads=1, progress=None)
    features = _core.JumpFeatures(keys, tagged=corpus[0][1] is not None)
    n_features = N_CONSTANTS + len(keys) + n_last
    met = list(dict.fromkeys(features.lists(text, None, 0, n, n_threads=1, progress=None)[1].tolist()))
    for cut in (0, n // 2):
        numbers = _core.FeatureNumbers(n_features=n_features, n_first=N_CONSTANTS, n_last=n_last)
        for begin, end in ((0, cut), (cut, n)):
            features.packed_lists(text, numbers, begin, end, n_threads=2, progress=None)
        order = numbers.order().tolist()
        assert order[: N_CONSTANTS + len(met)] == [*range(N_CONSTANTS), *met]
        assert sorted(order) == list(range(n_features)) and order[n_features - n_last :] == list(
            range(n_features - n_last, n_features)
        )


@settings(max_examples=30, deadline=None)
@given(corpora(), st.sampled_from([1, 3]), st.integers(0, 2**32 - 1))
def test_probabilities_are_those_of_the_equations(corpus: list[Sentence], planes: int, seed: int) -> None:
    """PAIR is eq. 1, and SEQUENCE's running sums give eq. 2 as printed."""
    text = core_text(corpus)
    keys = _core.count_jump_features(text, min_count=1, n_threads=1, progress=None)
    weights = np.random.default_rng(seed).normal(size=(N_CONSTANTS + len(keys), planes))
    tagged = corpus[0][1] is not None
    flat = _core.jump_logprobs(text, _core.JumpFeatures(keys, tagged=tagged), weights, n_threads=2)
    starts = _core.jump_starts(np.cumsum([0, *(len(words) for words, _, _ in corpus)]))
    assert len(flat) == starts[-1]
    if not any(order for _, _, order in corpus):
        return
    for s, lists in lists_of(corpus, keys):
        n = len(corpus[s][0])

        def weight(i: int, j: int, labels: str = "CN", lists: dict[str, list[int]] = lists) -> float:
            plane = 0 if planes == 1 else {"CI": 0, "CN": 1, "IN": 2}[labels]
            return float(weights[jump_features(lists, i, j), plane].sum())

        rows = oracle.pair_logprobs(n, weight) if planes == 1 else oracle.sequence_logprobs(n, weight)
        matrix = flat[starts[s] : starts[s + 1]].reshape(n + 1, n + 1)
        for i, row in enumerate(rows):
            expected = [row.get(j, -np.inf) for j in range(1, n + 2)]
            assert np.allclose(matrix[i], expected, atol=1e-9)
            assert np.isclose(np.exp(matrix[i]).sum(), 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 12), st.booleans(), st.integers(0, 2**32 - 1))
def test_rows_over_remaining_words(n: int, coverage: bool, seed: int) -> None:
    """Against the plain sums, for any order that visits some words."""
    random = np.random.default_rng(seed)
    order = random.permutation(n)[: random.integers(0, n + 1)]
    matrix = random.normal(size=(n + 1, n + 1))
    weights = random.normal(size=_core.N_CANDIDATE_CLASSES) if coverage else None
    logprobs = JumpLogProbs(matrix.ravel(), np.array([0, matrix.size]), np.array([n]), weights)
    remaining = logprobs.remaining(VisitOrders(order.astype(np.uint16), np.array([0, len(order)])))[0]
    expected = oracle.remaining_logprobs(
        n, order.tolist(), lambda i, j: matrix[i, j - 1], None if weights is None else weights.tolist()
    )
    for row, plain in zip(remaining, expected, strict=True):
        assert np.allclose(row, [plain.get(j, -np.inf) for j in range(1, n + 2)], atol=1e-9)


@pytest.mark.parametrize("coverage", [False, True])
def test_probabilities_of_all_orders_sum_to_one(coverage: bool) -> None:
    """Of all ways to visit some or all of six words, each once, and to end."""
    random = np.random.default_rng(6)
    n = 6
    matrix = random.normal(size=(n + 1, n + 1))
    orders = [order for k in range(n + 1) for order in permutations(range(n), k)]
    logprobs = JumpLogProbs(
        np.tile(matrix.ravel(), len(orders)),
        matrix.size * np.arange(len(orders) + 1),
        np.full(len(orders), n),
        random.normal(size=_core.N_CANDIDATE_CLASSES) if coverage else None,
    )
    positions = np.array([p for order in orders for p in order], np.uint16)
    rows = logprobs.remaining(VisitOrders(positions, np.cumsum([0, *map(len, orders)])))
    total = 0.0
    for s, order in enumerate(orders):
        total += np.exp(sum(rows[s][step, following] for step, following in enumerate([*order, n])))
    assert len(orders) == 1957 and total == pytest.approx(1)


KINDS = {"all": (False, False), "remaining": (True, False), "coverage": (True, True)}


@pytest.mark.parametrize("planes", [1, 3])
@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_is_that_of_the_objective(planes: int, tagged: bool, kind: str) -> None:
    """By finite differences; and the objective is −Σ log P of the jumps made."""
    remaining, coverage = KINDS[kind]
    random = np.random.default_rng(planes)
    corpus: list[Sentence] = []
    for n in (1, 5, 9, 0, 12):
        words = [str(w) for w in random.integers(4, size=n)]
        tags = [str(t) for t in random.integers(3, size=n)] if tagged else None
        corpus.append((words, tags, random.permutation(n)[: max(n - 2, 1)].tolist() if n else []))
    training = jump_training(corpus)
    text = training.core()
    keys = _core.count_jump_features(text, min_count=2, n_threads=1, progress=None)
    n_features = N_CONSTANTS + len(keys)
    model = MODELS["pair" if planes == 1 else "sequence"](candidates="remaining" if remaining else "all", coverage=coverage)
    model.keys_ = keys
    objective, packed_objective = (model.core_objective(training, cached=True, packed=packed) for packed in (False, True))
    weights = random.normal(size=(model.n_features, planes))
    value, gradient = objective(weights)
    features = _core.JumpFeatures(keys, tagged=tagged)
    flat = _core.jump_logprobs(text, features, weights[:n_features], n_threads=1)
    starts = _core.jump_starts(np.cumsum([0, *(len(words) for words, _, _ in corpus)]))
    expected = 0.0
    for s, (words, _, order) in enumerate(corpus):
        matrix, n = flat[starts[s] : starts[s + 1]].reshape(len(words) + 1, -1), len(words)
        rows = dict(enumerate(matrix))
        if remaining:
            classes = weights[n_features:, planes // 2].tolist() if coverage else None
            steps = oracle.remaining_logprobs(n, order, lambda i, j, matrix=matrix: matrix[i, j - 1], classes)
            for i, step in zip([0, *(p + 1 for p in order)], steps, strict=True):
                rows[i] = np.array([step.get(j, -np.inf) for j in range(1, n + 2)])
        for i, j in oracle.next_positions(order, n).items() if order else ():
            expected -= rows[i][j - 1]
    assert np.isclose(value, expected, rtol=1e-12)
    for _ in range(20):
        along = random.normal(size=weights.shape)
        step = 1e-5
        slope = (objective(weights + step * along)[0] - objective(weights - step * along)[0]) / (2 * step)
        assert np.isclose(slope, (gradient * along).sum(), rtol=1e-6)
    again = model.core_objective(training._replace(resources=Resources(threads=1)), cached=False)(weights)
    for same in (again, packed_objective(weights)):
        assert same[0] == value and np.array_equal(same[1], gradient)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 14), min_size=1, max_size=3), st.sampled_from(["both", "outbound", "inbound"]), st.integers(0)
)
def test_nine_classes_become_positions(lengths: list[int], parts: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    offsets = np.cumsum([0, *lengths])
    made = [random.dirichlet(np.ones(9), size=sum(lengths) + len(lengths)) for _ in range(2)]
    outbound = None if parts == "inbound" else made[0]
    inbound = None if parts == "outbound" else made[1]
    logs = [None if one is None else np.log(one) for one in (outbound, inbound)]
    flat = _core.nine_class_logprobs(offsets, *logs, n_threads=2)
    starts = _core.jump_starts(offsets)
    for s, n in enumerate(lengths):
        here = slice(int(offsets[s]) + s, int(offsets[s + 1]) + s + 1)
        chosen = [None if one is None else one[here].tolist() for one in (outbound, inbound)]
        matrix = flat[starts[s] : starts[s + 1]].reshape(n + 1, n + 1)
        for i, row in enumerate(oracle.nine_class_logprobs(n, *chosen)):
            assert np.allclose(matrix[i], [row.get(j, -np.inf) for j in range(1, n + 2)], atol=1e-9)


@pytest.mark.parametrize("part", ["outbound", "inbound"])
def test_raw_class_scores_of_jumps_are_those_of_their_classes(part: str) -> None:
    """GO13's two features: log p(class of the jump), by the CP or by the NP."""
    made = generate(60, style="japanese", seed=2)
    model = NineClass(scores="classes", min_count=1, learner="lbfgs:max-passes=5").fit(made.bitext)
    text = made.bitext.source
    classes = model.class_logprobs(model._known(text, Annotations()), part)
    scores = ClassScores(model, part)
    assert scores in model.split()
    logprobs = scores.jump_logprobs(text)
    first = 0
    for s, n in enumerate(text.lengths.tolist()):
        for i in range(n + 1):
            for j in range(1, n + 2):
                at = first + (i if part == "outbound" else j - 1)
                expected = -np.inf if i == j else classes[at, oracle.nine_class(j - i - 1)]
                assert logprobs[s][i, j - 1] == expected
        first += n + 1


def test_raw_class_scores_are_two_features_of_a_system() -> None:
    made = generate(60, style="japanese", seed=2)
    table = PhraseTable.build(made.bitext, extract(made.bitext, 3))
    model = NineClass(scores="classes", min_count=1, learner="lbfgs:max-passes=5").fit(made.bitext)
    system = System.of(table, reordering={"GREEN": model}, weights={"GREEN": [0.5, 0.1]})
    assert system.features["GREEN"] == 2
    whole = NineClass(min_count=1, learner="lbfgs:max-passes=5").fit(made.bitext)
    assert System.of(table, reordering={"NINE": whole}).features["NINE"] == 1
    translations = TokenTranslator(system, threads=1).translate_batch(
        [" ".join(made.bitext.source[s]) for s in range(3)], NBest(2)
    )
    assert translations.totals.shape[1] == sum(system.features.values())
    assert len(set(map(tuple, translations.totals[:, translations.columns["GREEN"]].tolist()))) > 1
