"""Behaviour of particular models."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.decode import ModelUse, NBest, System, TokenTranslator
from hyperbaton.evaluate import Classification, HeldOut, evaluate
from hyperbaton.learn import LinearModel
from hyperbaton.models import MODELS, OrientationModel, load_model
from hyperbaton.models.dpr import Dpr
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.models.mms import Mms
from hyperbaton.models.networks.encoder import SentenceNetwork
from hyperbaton.phrases import (
    Inventory,
    Occurrences,
    PairOrientations,
    PhraseTable,
    ReorderingType,
    Samples,
    extract,
    reordering_probabilities,
)

# Networks have separate tests, since they need PyTorch.
NAMES = [
    name for name in MODELS if issubclass(MODELS[name], OrientationModel) and not issubclass(MODELS[name], SentenceNetwork)
]


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(600, style="chinese", seed=2).bitext


@pytest.mark.parametrize("conditioning", ["f", "fe"])
@pytest.mark.parametrize("kind", ["wbe-msd", "phrase-mslr", "hier-mslr"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_lexicalized_has_the_probabilities_of_moses_tables(bitext: Bitext, kind: str, side: str, conditioning: str) -> None:
    samples = extract(bitext, 7)
    model = Lexicalized(orientations=kind, side=side, conditioning=conditioning, max_distance=0).fit(
        bitext, samples=samples
    )
    inventory = Inventory.of(bitext, samples)
    direction = {"before": "backward", "after": "forward"}[side]
    orientations = PairOrientations.of(inventory, samples)
    table = reordering_probabilities(orientations, ReorderingType.parse(f"{kind}-{direction}-{conditioning}"))
    offsets = inventory.sample_offsets[inventory.offsets] if conditioning == "f" else inventory.sample_offsets
    rows = np.empty(len(samples), np.int64)
    rows[inventory.sample_order] = np.repeat(np.arange(len(table)), np.diff(offsets))
    assert np.allclose(np.exp(model.sample_logprobs(bitext, samples)), table[rows])


def test_lexicalized_does_not_depend_on_the_order_of_samples(bitext: Bitext) -> None:
    samples = extract(bitext, 8)
    order = np.random.default_rng(1).permutation(len(samples))
    columns = {name: column[order] for name, column in samples.columns().items()}
    mixed = Samples.from_arrays(columns | {"offsets": samples.offsets})
    one, two = (Lexicalized(orientations="five").fit(bitext, samples=some) for some in (samples, mixed))
    assert np.array_equal(one.sample_logprobs(bitext, samples), two.sample_logprobs(bitext, samples))


def test_lexicalized_backs_off_to_the_source_phrase_then_to_all() -> None:
    bitext = Bitext.of(["a b", "b a"], ["x y", "y x"], [[(0, 1), (1, 0)], [(0, 0), (1, 1)]])
    model = Lexicalized(orientations="three").fit(bitext, samples=extract(bitext, 1))
    seen_source = Bitext.of(["a"], ["new"], [[(0, 0)]])
    unseen = Bitext.of(["c"], ["x"], [[(0, 0)]])
    by_source = Lexicalized(orientations="three", conditioning="f").fit(bitext, samples=extract(bitext, 1))
    first = model.sample_logprobs(seen_source, extract(seen_source))
    assert np.array_equal(first, by_source.sample_logprobs(seen_source, extract(seen_source)))
    assert np.allclose(np.exp(model.sample_logprobs(unseen, extract(unseen))), model.prior)


def test_threads_do_not_matter(bitext: Bitext) -> None:
    samples = extract(bitext, 8)
    for name in NAMES:
        one, two = (MODELS[name](orientations="five", threads=n).fit(bitext, samples=samples) for n in (1, 2))
        assert np.array_equal(one.sample_logprobs(bitext, samples), two.sample_logprobs(bitext, samples)), name


def test_small_clusters_are_left_to_the_counts(bitext: Bitext) -> None:
    samples = extract(bitext, 8)
    none = Mms(orientations="three", min_cluster=10**9, smoothing=0.5, pair_smoothing=0.5).fit(bitext, samples=samples)
    counts = Lexicalized(orientations="three", conditioning="fe", towards="backoff").fit(bitext, samples=samples)
    # Pairs that were seen, pairs that were not of phrases that were, and phrases that were not.
    other = generate(60, seed=99).bitext
    for text, asked in ((bitext, samples), (other, extract(other, 8))):
        assert np.allclose(none.sample_logprobs(text, asked), counts.sample_logprobs(text, asked))


def test_context_beats_counts_where_context_decides() -> None:
    """A word moves back after `q`, and stays in place after `p`: only a model that sees the neighbour can know."""
    stays, moves = ("p w e", "P W E", [(0, 0), (1, 1), (2, 2)]), ("q w e", "W Q E", [(0, 1), (1, 0), (2, 2)])
    lines = [stays, moves] * 40
    bitext = Bitext.of([s for s, _, _ in lines], [t for _, t, _ in lines], [links for _, _, links in lines])
    lexicalized = evaluate(MODELS["lexicalized"](max_length=1).fit(bitext), HeldOut(bitext, max_length=1))
    for name in ("maxent", "svm", "mmr", "mms", "dual_mlr", "dpr"):
        made = MODELS[name](max_length=1, features="dpr")  # type: ignore[call-arg]
        result = evaluate(made.fit(bitext), HeldOut(bitext, max_length=1))
        assert result.overall_precision == 100 > lexicalized.overall_precision, name


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *product(["maxent", "mms", "dual_mlr", "dpr"], [{}, {"scope": "global"}]),
        ("dpr", {"combination": "interpolate"}),
        ("dpr", {"prune": 0.03}),
    ],
)
def test_evidence_adds_up_to_the_scores(bitext: Bitext, name: str, options: dict[str, Any]) -> None:
    """The contributions of all features of a phrase pair add up to its log-probability, up to a constant."""
    samples = extract(bitext, 3)
    model = MODELS[name](orientations="five", **options).fit(bitext, samples=samples)  # type: ignore[arg-type]
    few = samples.select(np.arange(len(samples)) < 40)
    logprobs = model.sample_logprobs(bitext, few)
    for row, evidence in zip(logprobs, model.evidence(Occurrences.of_samples(bitext, few)), strict=True):
        if evidence:
            total = np.sum([added for _, added in evidence], axis=0)
            assert np.allclose(row - row.mean(), total - total.mean())


@pytest.mark.parametrize("options", [{}, {"scope": "global"}, {"learner": "lbfgs:intercept=false"}])
def test_pruning_a_model_sets_its_small_weights_to_zero(bitext: Bitext, tmp_path: Path, options: dict[str, str]) -> None:
    samples, other, threshold = extract(bitext, 3), generate(60, seed=99).bitext, 0.03
    full = Dpr(**options).fit(bitext, samples=samples)  # type: ignore[arg-type]
    Dpr(prune=threshold, **options).fit(bitext, samples=samples).save(tmp_path / "pruned")  # type: ignore[arg-type]
    pruned = load_model(tmp_path / "pruned")
    assert isinstance(pruned, Dpr) and isinstance(full.global_, LinearModel)
    needed = np.abs(full.global_.weights).max(axis=1) >= threshold
    needed[-1] = True  # the constant
    if full.clusters_ is not None and pruned.clusters_ is not None:
        large = np.abs(full.clusters_.weights).max(axis=1, keepdims=True) >= threshold
        assert len(pruned.clusters_.features) == large.sum() < len(large) / 2
        full.clusters_ = replace(full.clusters_, weights=np.where(large, full.clusters_.weights, np.float32(0)))
        needed[full.clusters_.features[large[:, 0]]] = True
    full.global_ = replace(full.global_, weights=np.where(needed[:, None], full.global_.weights, 0.0))
    assert pruned.feature_set_.n_features + 1 == needed.sum() < len(needed)
    for text in (bitext, other):
        asked = extract(text, 3)
        assert np.array_equal(full.sample_logprobs(text, asked), pruned.sample_logprobs(text, asked))


@pytest.mark.parametrize(
    "options",
    [
        {"features": "statistical"},
        {"features": "statistical", "combination": "interpolate"},
        {"learner": "lbfgs:unit-length=true"},
        {"global_learner": "mmr:kernel=gaussian"},
    ],
)
def test_pruning_keeps_the_features_that_cannot_be_dropped(bitext: Bitext, options: dict[str, str]) -> None:
    few = bitext[:40]
    full, pruned = (Dpr(prune=prune, **options).fit(few) for prune in (0.0, 1e9))  # type: ignore[arg-type]
    assert full.feature_set_.n_features == pruned.feature_set_.n_features
    assert pruned.clusters_ is not None and len(pruned.clusters_.features) == 0
    alone = Dpr(scope="global", **options).fit(few)  # type: ignore[arg-type]
    samples = extract(few, 3)
    assert np.allclose(pruned.sample_logprobs(few, samples), alone.sample_logprobs(few, samples))


def test_tiny_text_works_or_says_what_it_lacks() -> None:
    bitext = Bitext.of(["a b c"], ["x y z"], [[(0, 0), (1, 2), (2, 1)]])
    for name in NAMES:
        model = MODELS[name]().fit(bitext)
        assert np.allclose(np.exp(model.sample_logprobs(bitext, extract(bitext))).sum(axis=1), 1), name
    with pytest.raises(InputError, match="no feature is frequent enough"):
        Mms(features="dpr:min-count=1000").fit(bitext)
    unlinked = Bitext.of(["a"], ["x"], [[]])
    with pytest.raises(InputError, match="no phrase pair was found"):
        Mms().fit(unlinked)
    with pytest.raises(InputError, match="no phrase pair with 2 samples was found"):
        Mms(min_pair_count=2).fit(bitext)


def test_training_may_leave_out_rare_phrase_pairs(bitext: Bitext) -> None:
    few = bitext[:60]
    samples = extract(few, 3)
    pairs = Counter((sample.source, sample.target) for sample in samples)
    model = Dpr(min_pair_count=3, scope="global", max_distance=0).fit(few, samples=samples)
    assert model.summary()["samples"] == sum(n for n in pairs.values() if n >= 3) < len(samples)


def test_of_equally_likely_classes_the_more_frequent_one_is_predicted() -> None:
    logprobs, labels = np.log(np.full((4, 3), 1 / 3)), np.array([1, 1, 1, 0])
    classification = Classification.of(("d<0", "d=0", "d>0"), logprobs, labels, np.zeros(4), frequency=np.array([2, 9, 1]))
    assert classification.overall_precision == 75
    assert Classification.of(("d<0", "d=0", "d>0"), logprobs, labels, np.zeros(4)).overall_precision == 25


def test_a_class_that_never_occurred_scales_no_distance_to_infinity() -> None:
    """NI11 eq. 7 with p = 0: an infinite cost times a distance of 0 was not a number."""
    bitext = Bitext.of(["a b", "a b"], ["x y", "x y"], [[(0, 0), (1, 1)]] * 2)
    model = Lexicalized(orientations="three", smoothing=0.0).fit(bitext)
    system = System.of(PhraseTable.build(bitext, extract(bitext)), [], {"LR": ModelUse(model, "scaled")})
    (translations,) = TokenTranslator(system).batches(["b a", "a b"], NBest(5))
    assert np.isfinite(translations.scores).all() and translations.lines() == ["y x", "x y"]
