"""The aligner against brute force, its promises, and odd corpora."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton.align import Aligner, align
from hyperbaton.align.aligners.hmm import CONFIDENCES
from hyperbaton.align.prior import StemTranslations, WordPairCounts, by_source
from hyperbaton.base.errors import ArtefactError, Cancelled, OptionError
from hyperbaton.corpus import Bitext, Text
from tests.oracles.alignment import JumpModel, N, first_model1_table, posteriors

sentence = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4).map(" ".join)
corpora = st.lists(st.tuples(sentence, sentence), min_size=1, max_size=8)


def generated(n_pairs: int, seed: int, n_words: int = 60) -> tuple[Bitext, list[set[tuple[int, int]]]]:
    """Sentences of a toy language with another word order, word for word; returns the true links too."""
    rng = np.random.default_rng(seed)
    source, target, truth = [], [], []
    for _ in range(n_pairs):
        words = (n_words * rng.random(rng.integers(1, 12)) ** 2).astype(int)
        order = np.argsort(np.arange(len(words)) + rng.normal(0, 1.2, len(words)))
        source.append(" ".join(f"s{w}" for w in words))
        target.append(" ".join(f"t{words[i]}" for i in order))
        truth.append({(int(i), j) for j, i in enumerate(order)})
    return Bitext.of(source, target), truth


@settings(max_examples=30, deadline=None)
@given(corpora, st.data())
def test_posteriors_equal_brute_force(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    bitext = Bitext.of([s for s, _ in pairs], [t for _, t in pairs])
    aligner = Aligner(model1_iterations=1, hmm_iterations=2).fit(bitext)
    pair = data.draw(st.integers(0, len(pairs) - 1))
    source, target = bitext.source[pair], bitext.target[pair]
    n, m = len(source), len(target)
    table = aligner.lexical_table(smallest=0.0)
    lexicon = {(s, t): p for s in set(source) for t, *p in table.translations(s)}
    both = np.array([[lexicon[s, t] for s in source] for t in target])  # (m, n, 2)
    ours = aligner.posteriors(bitext.select([pair]), threshold=0.0).values.reshape(n, m, 2)
    nulls = [
        [emission[words.number(w)] for w in side]
        for emission, words, side in zip(
            aligner.model_.null_emissions(), aligner.vocabularies_[::-1], (target, source), strict=True
        )
    ]
    to_target, _ = posteriors(both[:, :, 0], nulls[0], JumpModel(aligner.model_.jump_weights()[0]), 0.3)
    to_source, _ = posteriors(both[:, :, 1].T, nulls[1], JumpModel(aligner.model_.jump_weights()[1]), 0.3)
    np.testing.assert_allclose(ours[:, :, 0], to_target.T, atol=2e-4)
    np.testing.assert_allclose(ours[:, :, 1], to_source, atol=2e-4)


def test_likelihood_is_that_of_brute_force() -> None:
    bitext = Bitext.of(["a b c", "a d"], ["x y", "w x z"])
    # The likelihood before the first iteration: flat emissions (1/4 is stored exactly), all jumps of weight 1.
    logprobs = Aligner(model1_iterations=0, hmm_iterations=1).fit(bitext).logprobs_[0]
    flat = JumpModel([1.0] * (4 * N))
    expected = sum(np.log(posteriors(np.full((m, n), 1 / 4), [1 / 4] * m, flat, 0.3)[1]) for n, m in ((3, 2), (2, 3)))
    assert logprobs[0] == pytest.approx(expected, rel=1e-5)


@settings(max_examples=20, deadline=None)
@given(corpora)
def test_plain_em_never_lowers_the_likelihood(pairs: list[tuple[str, str]]) -> None:
    bitext = Bitext.of([s for s, _ in pairs], [t for _, t in pairs])
    aligner = Aligner(freedom=1.0, smoothing=0.0, alike=0.0, model1_iterations=8, hmm_iterations=12).fit(bitext)
    for model in (aligner.logprobs_[:8], aligner.logprobs_[8:]):
        assert np.all(np.diff(model, axis=0) >= -1e-4 * np.abs(model[:-1]).clip(1))


def test_likelihood_rises_on_a_corpus() -> None:
    aligner = Aligner(freedom=1.0, smoothing=0.0, alike=0.0, model1_iterations=6, hmm_iterations=10).fit(
        generated(400, seed=1)[0]
    )
    for model in (aligner.logprobs_[:6], aligner.logprobs_[6:]):
        assert np.all(np.diff(model, axis=0) >= -1e-5 * np.abs(model[:-1]))
        assert np.all(model[-1] > model[0])


def test_finds_the_words_of_a_toy_language() -> None:
    bitext, truth = generated(600, seed=2)
    links = align(bitext)
    # A word that occurs twice in a sentence can be linked either way round, so right means the same word.
    right = wrong = 0
    for s, points in enumerate(links):
        for i, j in points:
            same = bitext.source[s][i][1:] == bitext.target[s][j][1:]
            right, wrong = right + same, wrong + (not same)
    assert right > 0.93 * sum(map(len, truth))
    assert wrong < 0.01 * right


@settings(max_examples=20, deadline=None)
@given(corpora, st.floats(0, 5), st.floats(0.5, 5))
def test_prior_counts_are_added_to_those_of_the_text(pairs: list[tuple[str, str]], smoothing: float, alike: float) -> None:
    bitext = Bitext.of([s for s, _ in pairs], [t for _, t in pairs])
    options = {"model1_iterations": 1, "hmm_iterations": 0, "freedom": 1.0}
    table = Aligner(**options, smoothing=smoothing, alike=alike).fit(bitext).lexical_table(smallest=0.0)  # type: ignore[arg-type]
    prior = {(word, word): alike for word in {*" ".join(s for s, _ in pairs)} & {*" ".join(t for _, t in pairs)} - {" "}}
    expected = first_model1_table([(s.split(), t.split()) for s, t in pairs], prior, smoothing, 0.3)
    for s in bitext.source.vocabulary.words():
        for t, probability, _ in table.translations(s):
            assert probability == pytest.approx(expected[s, t], rel=1e-3, abs=1e-5)


def test_a_saved_model_is_a_prior_for_little_text(tmp_path) -> None:  # type: ignore[no-untyped-def]
    Aligner().fit(generated(500, seed=5)[0]).save(tmp_path / "model")
    bitext, truth = generated(12, seed=6)
    n_right = {
        prior: sum(len(true & set(points)) for true, points in zip(truth, align(bitext, prior=prior), strict=True))
        for prior in (None, str(tmp_path / "model"))
    }
    n_links = sum(map(len, truth))
    assert n_right[None] < 0.7 * n_links
    assert n_right[str(tmp_path / "model")] > 0.85 * n_links


def inflected(n_pairs: int, seed: int) -> tuple[Bitext, list[set[tuple[int, int]]]]:
    """Generated sentences in which every form is rare: a stem of four letters and one of forty endings."""
    rng = np.random.default_rng(seed)
    plain, truth = generated(n_pairs, seed)
    sides = [
        [" ".join(f"{word[0]}{word[1:]:0>3}{rng.integers(40):02}" for word in sentence) for sentence in text]
        for text in (plain.source, plain.target)
    ]
    return Bitext.of(sides[0], sides[1]), truth


def test_forms_of_a_word_share_what_is_learned_of_their_stem() -> None:
    bitext, truth = inflected(60, seed=8)
    n_right = [
        sum(len(true & set(points)) for true, points in zip(truth, align(bitext, stem_prior=stem), strict=True))
        for stem in (0, 4)
    ]
    assert n_right[1] > 1.2 * n_right[0]


def test_progress_counts_the_training_on_stems() -> None:
    bitext, _ = inflected(400, seed=11)
    reports: list[float] = []
    Aligner().fit(bitext, progress=lambda done, total: reports.append(done / total))
    assert reports == sorted(reports)
    assert reports[-1] == 1


@pytest.mark.parametrize("chunk", [3, 1000])
def test_translations_of_stems_are_divided_by_frequency(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperbaton.align.prior.CHUNK", chunk)
    rng = np.random.default_rng(9)
    texts = tuple(Text.of([" ".join(f"w{w}" for w in rng.integers(0, 9, 40))]) for _ in range(2))
    stems = tuple(rng.integers(0, 4, len(text.vocabulary)).astype(np.uint32) for text in texts)
    pairs = [(s, t) for s in range(4) for t in range(4) if rng.random() < 0.7]
    starts = np.searchsorted([s for s, _ in pairs], np.arange(5))
    p = rng.random((len(pairs), 2)).astype(np.float32)
    lexicon = starts, np.array([t for _, t in pairs], np.uint32), p
    of_stems = StemTranslations((texts[0], texts[1]), (stems[0], stems[1]), lexicon, 5.0, 0.0)
    others = WordPairCounts(np.array([2, 0], np.uint32), np.array([1, 3], np.uint32), np.full((2, 2), 7, np.float32))
    n_words = len(stems[0])
    word_starts, targets, values = by_source(n_words, others, of_stems)
    n = [np.bincount(text.tokens, minlength=len(text.vocabulary)) for text in texts]
    expected = {
        (s, t): [
            5 * p[k][0] * n[1][t] / n[1][stems[1] == stems[1][t]].sum(),
            5 * p[k][1] * n[0][s] / n[0][stems[0] == stems[0][s]].sum(),
        ]
        for k, pair in enumerate(pairs)
        for s in range(len(stems[0]))
        for t in range(len(stems[1]))
        if (stems[0][s], stems[1][t]) == pair
    }
    both = [(0, 3, [7, 7]), (2, 1, [7, 7]), *((*pair, values) for pair, values in expected.items())]
    expected_pairs = sorted(both, key=lambda pair: pair[:2])
    found = zip(np.repeat(np.arange(n_words), np.diff(word_starts)).tolist(), targets.tolist(), strict=True)
    assert list(found) == [(s, t) for s, t, _ in expected_pairs]
    for (_, _, due), value in zip(expected_pairs, values.tolist(), strict=True):
        assert value == pytest.approx(due, rel=1e-5)


def test_the_purpose_of_links_sets_their_confidence(monkeypatch: pytest.MonkeyPatch) -> None:
    bitext, _ = generated(40, seed=10)
    aligner = Aligner().fit(bitext)
    few = aligner.align(bitext)
    monkeypatch.setitem(CONFIDENCES, "phrases", 0.1)
    aligner.for_ = "phrases"
    many = aligner.align(bitext)
    aligner.for_, aligner.confidence = "links", 0.1
    assert len(many.points) > len(few.points)
    assert list(aligner.align(bitext)) == list(many)


def test_priors_of_other_languages_are_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bitext, _ = generated(50, seed=7)
    model = str(tmp_path / "model")
    Aligner().fit(bitext).save(model)
    with pytest.raises(
        OptionError, match="model is for the other direction: its source language is that of the target text"
    ):
        align(Bitext(bitext.target, bitext.source), prior=model)
    with pytest.raises(
        OptionError, match=r"knows only 0% of the words of the target text: it must have been trained on the same languages"
    ):
        align(Bitext(bitext.source, Text.of(["other words"] * 50)), prior=model)
    with pytest.raises(OptionError, match="was learned with stem 0, not 3: words must be normalised alike"):
        align(bitext, prior=model, stem=3)
    with pytest.raises(ArtefactError, match="no such artefact"):
        align(bitext, prior=str(tmp_path / "none"))


def test_threads_change_nothing(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bitext, _ = generated(500, seed=3)
    Aligner().fit(generated(100, seed=4)[0]).save(tmp_path / "model")
    one, four = (Aligner(prior=str(tmp_path / "model")).fit(bitext, threads=n) for n in (1, 4))
    np.testing.assert_array_equal(one.lexical_table().probabilities, four.lexical_table().probabilities)
    assert list(one.align(bitext, threads=1)) == list(four.align(bitext, threads=3))


def test_saved_model_links_the_same_and_knows_unknown_words(tmp_path) -> None:  # type: ignore[no-untyped-def]
    bitext, _ = generated(300, seed=4)
    (tmp_path / "words").write_text("s1\n")
    aligner = Aligner(drop_source=str(tmp_path / "words")).fit(bitext)
    aligner.save(tmp_path / "model")
    (tmp_path / "words").unlink()
    loaded = Aligner.load(tmp_path / "model")
    assert list(loaded.align(bitext)) == list(aligner.align(bitext))
    new = Bitext.of(["s2 new s1 s3", "new", "", "S2"], ["t3 t2", "unheard of", "t1", "t2"])
    links = list(loaded.align(new))
    assert {(0, 1), (3, 0)} <= set(links[0])
    assert not any(i == 2 for i, _ in links[0])
    assert links[2:] == [[], [(0, 0)]]


@pytest.mark.parametrize("options", [{}, {"freedom": 1.0, "smoothing": 0.0, "alike": 0.0}, {"threshold": 0.4}, {"stem": 1}])
def test_odd_corpora(options: dict[str, float]) -> None:
    long = " ".join(f"w{k % 90}" for k in range(300))
    assert align(Bitext.of([""], [""]), **options)[0] == []
    assert align(Bitext.of(["", "a"], ["b", ""]), **options).offsets.tolist() == [0, 0, 0]
    assert align(Bitext.of(["a"], ["b"]), **options)[0] == [(0, 0)]
    assert align(Bitext.of(["a a a"] * 3, ["b b b"] * 3), **options).offsets[-1] > 0
    assert len(align(Bitext.of([long, "w1"], [long, "w1"]), **options)) == 2
    assert align(Bitext.of([long, "a"], [long, "b"]), max_length=299, **options).offsets.tolist() == [0, 0, 1]


def test_faults_are_reported() -> None:
    with pytest.raises(OptionError, match="call fit"):
        Aligner().align(Bitext.of(["a"], ["b"]))
    with pytest.raises(OptionError, match=r"null-probability must be at least 0\.001"):
        Aligner(null_probability=0.0)
    with pytest.raises(OptionError, match=r"unknown aligner 'hmn' .did you mean hmm"):
        align(Bitext.of(["a"], ["b"]), "hmn")
    with pytest.raises(OptionError, match=r"unknown option 'iterations' .did you mean hmm_iterations"):
        align(Bitext.of(["a"], ["b"]), iterations=3)
    with pytest.raises(Cancelled):
        align(Bitext.of(["a"], ["b"]), progress=lambda done, total: False)
