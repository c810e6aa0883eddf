"""The block model's core against a slow reading of the paper: paths, features, probabilities, gradients."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.corpus import Annotations, Bitext, Links, Tags, Trees
from hyperbaton.corpus.trees import Node
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.models.block_me import FAMILIES, JUMPS, BlockMe
from hyperbaton.phrases import PhraseTable, extract
from tests.oracles import blocks as oracle
from tests.property.strategies import link_matrices

ASKS = (
    *("lexical", *["context"] * 4, *["tags"] * 3, *["coverage"] * 2),
    *("parse-coverage", "sibling-word", "sibling-tag", "ancestor-coverage"),
)


@given(link_matrices())
def test_paths(matrix: tuple[int, int, set[tuple[int, int]]]) -> None:
    n, _, links = matrix
    points = np.array(sorted(links, key=lambda point: point[::-1]), np.uint16).reshape(-1, 2)
    path = [(b, e, list(t), before) for b, e, t, before in _core.block_path(points, n)]
    assert path == oracle.path(links, n)
    assert sorted(i for begin, end, *_ in path for i in range(begin, end)) == list(range(n))


@st.composite
def trees(draw: st.DrawFn, begin: int, end: int, depth: int = 0) -> str:
    """A bracketed tree over words w<begin> … w<end - 1>, with unary nodes."""
    label = draw(st.sampled_from("ABC"))
    if end - begin == 1:
        leaf = f"({draw(st.sampled_from('xyz'))} w{begin})"
        return f"({label} {leaf})" if draw(st.booleans()) else leaf
    if depth < 3 and draw(st.booleans()):
        return f"({label} {draw(trees(begin, end, depth + 1))})"
    cuts = sorted({begin, end, *draw(st.sets(st.integers(begin + 1, end - 1), min_size=1, max_size=3))})
    children = [draw(trees(a, b, depth + 1)) for a, b in itertools.pairwise(cuts)]
    return f"({label} {' '.join(children)})"


@dataclass
class Corpus:
    """Sentence pairs with everything that can be known about them."""

    source: list[list[str]] = field(default_factory=list)
    target: list[list[str]] = field(default_factory=list)
    links: list[list[tuple[int, int]]] = field(default_factory=list)
    tags: list[list[str]] = field(default_factory=list)
    trees: list[str] = field(default_factory=list)

    @property
    def bitext(self) -> Bitext:
        return Bitext.of([" ".join(w) for w in self.source], [" ".join(w) for w in self.target], self.links)

    def annotations(self) -> Annotations:
        text = self.bitext.source
        return Annotations(Tags.of([" ".join(t) for t in self.tags], text), Trees.of(self.trees, text))

    def nodes(self, s: int) -> list[Node]:
        trees = self.annotations().source_trees
        assert trees is not None
        return trees[s]

    def sentence(self, s: int) -> oracle.Sentence:
        return oracle.Sentence(self.source[s], self.tags[s], self.nodes(s))

    def events(self) -> list[oracle.Event]:
        whole = [(0, len(src), tgt, links) for src, tgt, links in zip(self.source, self.target, self.links, strict=True)]
        return [e for s, phrase in enumerate(whole) if phrase[3] for e in oracle.events(self.sentence(s), [phrase])]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    corpus = Corpus()
    for _ in range(draw(st.integers(1, 4))):
        n, m, links = draw(link_matrices(longest=5))
        names = [draw(st.sampled_from("ab")) for _ in range(n)]
        corpus.source.append(names)
        corpus.target.append([draw(st.sampled_from("uv")) for _ in range(m)])
        corpus.links.append(sorted(links))
        corpus.tags.append([draw(st.sampled_from("NV")) for _ in range(n)])
        tree = draw(trees(0, n)) if draw(st.integers(0, 3)) else ""
        for i, name in enumerate(names):
            tree = tree.replace(f" w{i})", f" {name})")
        corpus.trees.append(tree)
    if not any(corpus.links):
        corpus.links[0] = [(0, 0)]
    return corpus


def tag_of(target: tuple[str, ...]) -> str:
    return "some" if target else "none"


def named_features(model: BlockMe) -> dict[tuple[Any, ...], int]:
    """(question, target, jump) of each feature as the oracle writes them, with its number."""
    f = model.features_
    tags, labels = model.tag_vocabulary_, model.label_vocabulary_
    assert tags is not None and labels is not None

    def word(vocabulary: Any, number: int) -> str:
        return "<edge>" if number == 2**32 - 1 else vocabulary.word(number)

    named = {}
    for k, ask in enumerate(f["asks"].tolist()):
        family = ASKS[ask]
        words = family not in ("tags", "sibling-tag")
        a, b = int(f["as"][k]), int(f["bs"][k])
        s = model.table_.source(f["sources"][k], model.source_vocabulary_) if words else tags.word(f["sources"][k])
        rest: tuple[Any, ...] = ()
        if ask in (1, 2):
            rest = (("previous", "next")[ask - 1], word(model.source_vocabulary_, a))
        elif ask == 3:
            rest = ("target", word(model.target_vocabulary_, a))
        elif ask == 4:
            rest = ("targets", word(model.target_vocabulary_, a), word(model.target_vocabulary_, b))
        elif ask in (6, 7):
            rest = (("previous", "next")[ask - 6], word(tags, a))
        elif ask in (8, 9):
            rest = (("left open", "right closed")[ask - 8],)
        elif ask in (10, 13):
            rest = (labels.word(a), b)
        elif ask > 10:
            rest = (labels.word(a), b & 3, 1 if b & 4 else -1)
        number = int(f["targets"][k])
        target: Any = ("none" if number == 2**32 - 2 else "some") if not words else None
        if words:
            target = tuple(model.table_.target(number, model.target_vocabulary_).split())
        for p in range(f["starts"][k], f["starts"][k + 1]):
            named[((family, words, s, *rest), target, JUMPS[int(f["jumps"][p])])] = p
    return named


@settings(deadline=None, max_examples=40)
@given(corpora(), st.integers(1, 2), st.sampled_from([None, 0.9]), st.integers(0, 2**32 - 1))
def test_features_and_probabilities(corpus: Corpus, min_count: int, alpha: float | None, seed: int) -> None:
    """Features fire as the paper says, and p(t, j | s) with any weights is eq. 3 with the prior of eq. 4 or 5–7."""
    options: dict[str, Any] = {"prior": "flat"} if alpha is None else {"prior": "smoothed", "alpha": alpha}
    options |= {"families": ",".join(FAMILIES), "tree_rules": "none"}
    model = BlockMe(min_count=min_count, max_targets=0, learner="lbfgs:max-passes=1", **options)
    model.fit(corpus.bitext, corpus.annotations())
    everything = corpus.events()
    counts = oracle.count_features(everything, set(FAMILIES), tag_of)
    counts = {name: count for name, count in counts.items() if count >= min_count}
    numbers = named_features(model)
    assert {name: int(model.features_["counts"][p]) for name, p in numbers.items()} == counts

    model.weights_ = np.random.default_rng(seed).normal(size=model.n_features)
    weights = {name: float(model.weights_[p]) for name, p in numbers.items()}
    prior = oracle.Prior(everything, alpha, tags=True)
    scores = model.path_scores(corpus.bitext, corpus.annotations())
    expected = [oracle.logprob(event, prior, weights, tag_of) for event in everything]
    assert scores["logprob"] == pytest.approx(expected)
    assert scores["sum"] == pytest.approx(np.ones(len(expected)))
    value, _ = model.objective(corpus.bitext, corpus.annotations())(model.weights_)
    in_training = [oracle.logprob(event, prior, weights, tag_of, training=True) for event in everything]
    assert value == pytest.approx(-sum(in_training))


@settings(deadline=None, max_examples=10)
@given(corpora(), st.integers(0, 3))
def test_gradients(corpus: Corpus, max_targets: int) -> None:
    model = BlockMe(min_count=1, max_targets=max_targets, learner="lbfgs:max-passes=1").fit(
        corpus.bitext, corpus.annotations()
    )
    objective = model.objective(corpus.bitext, corpus.annotations())
    w = np.random.default_rng(1).normal(size=model.n_features)
    _, gradient = objective(w)
    for f in range(0, len(w), max(1, len(w) // 10)):
        step = np.zeros_like(w)
        step[f] = 1e-5
        numeric = (objective(w + step)[0] - objective(w - step)[0]) / 2e-5
        assert gradient[f] == pytest.approx(numeric, abs=1e-6)


def first_targets(model: BlockMe) -> dict[str, oracle.Targets]:
    """The targets that a model chooses among: the first ones of each source phrase."""
    table, n = model.table_, model.max_targets or None
    return {
        table.source(p, model.source_vocabulary_): {
            tuple(table.target(t, model.target_vocabulary_).split())
            for t in table.targets[table.offsets[p] : table.offsets[p + 1]][:n].tolist()
        }
        for p in range(len(table.offsets) - 1)
    }


# The word before v matters, though v is not among the most frequent targets of a.
RARE = Corpus(
    [["c", "a"], ["c", "a"], *[["a"]] * 3],
    [["x", "v"], ["y", "v"], *[["u"]] * 3],
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)], *[[(0, 0)]] * 3],
    [["N", "N"], ["N", "N"], *[["N"]] * 3],
    ["", "(S (x c) (x a))", *[""] * 3],
)


@settings(deadline=None, max_examples=40)
@example(RARE, "stack", 1)
@given(corpora(), st.sampled_from(["stack", "cube", "refine"]), st.integers(0, 2))
def test_decoding_asks_as_training_does(corpus: Corpus, search: str, max_targets: int) -> None:
    """The steps of translations, forced ones of training sentences and free ones, have the probabilities of their paths."""
    bitext, annotations = corpus.bitext, corpus.annotations()
    model = BlockMe(alpha=0.9, min_count=1, max_targets=max_targets, learner="lbfgs:max-passes=3", tree_rules="none").fit(
        bitext, annotations
    )
    chosen = first_targets(model)
    prior = oracle.Prior(corpus.events(), 0.9, tags=True)
    weights = {name: float(model.weights_[p]) for name, p in named_features(model).items()}
    system = System.of(PhraseTable.build(bitext, extract(bitext)), reordering={"Block0": model})
    translator = TokenTranslator(system, Decoding(search=search, distortion_limit=-1, table_limit=0), threads=1)
    lines = [" ".join(words) for words in corpus.source]
    forced = [" ".join(words) for words in corpus.target]
    for wanted in (None, forced):
        translations = translator.translate_batch(lines, NBest(5), annotations=annotations, forced=wanted, relax=False)
        options = translations.batch.options
        for s in range(len(lines)):
            for path in range(translations.path_offsets[s], translations.path_offsets[s + 1]):
                phrases = [
                    (step.begin, step.end, step.target, options.links[option])
                    for step, option in zip(
                        translations.steps(path),
                        translations.options[
                            translations.step_offsets[path] : translations.step_offsets[path + 1]
                        ].tolist(),
                        strict=True,
                    )
                ]
                events = oracle.events(corpus.sentence(s), phrases)
                expected = sum(oracle.logprob(event, prior, weights, tag_of, chosen) for event in events)
                total = sum(step.features["Block0"][0] for step in translations.steps(path))
                assert total == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_both_learners_find_the_same_optimum() -> None:
    corpus = Corpus(
        [["a", "b", "a"], ["b", "a"], ["a", "a"]],
        [["u", "v"], ["v", "u", "w"], ["u"]],
        [[(0, 1), (1, 0)], [(0, 0), (1, 1), (1, 2)], [(0, 0), (1, 0)]],
        [["N", "V", "N"], ["V", "N"], ["N", "N"]],
        ["(S (A (x a)) (B (y b) (x a)))", "(S (y b) (x a))", ""],
    )
    made = {}
    for learner, tolerance, passes in (("lbfgs", 1e-9, 500), ("iis", 1e-13, 5000)):
        model = BlockMe(learner=f"{learner}:tolerance={tolerance}:max-passes={passes}", min_count=1)
        made[learner] = model.fit(corpus.bitext, corpus.annotations())
        assert np.all(np.diff(model.objective_) <= 1e-9)
    assert made["iis"].weights_ == pytest.approx(made["lbfgs"].weights_, abs=1e-4)
    assert made["iis"].objective_[-1] == pytest.approx(made["lbfgs"].objective_[-1], rel=1e-9)


def test_links_of_other_sentences_are_refused() -> None:
    bitext = Bitext.of(["a b"], ["u"], [[(0, 0)]])
    broken = Bitext(bitext.source, bitext.target, Links.of([[(5, 0)]]))
    with pytest.raises(_core.HyperbatonError, match="a link is out of range for its sentence pair"):
        BlockMe().fit(broken)
