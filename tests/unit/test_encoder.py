"""The network of `encoder`: its forward pass against plain NumPy and PyTorch, and resumed training."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.fuzz.networks import N_LABELS, N_WORDS, jump_network, orientation_network

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import Cancelled, HyperbatonError, MissingExtra, OptionError, installing
from hyperbaton.corpus import Annotations, Bitext, Tags, Text
from hyperbaton.data import generate
from hyperbaton.models import load_model
from hyperbaton.models.encoder import Encoder
from hyperbaton.models.encoder_orientation import OrientationEncoder
from hyperbaton.models.shapes.orientation import TrainingSamples
from hyperbaton.phrases import Occurrences, extract
from hyperbaton.phrases.coverage import COVERAGE_STATES
from tests.oracles import encoder as oracle

TINY: dict[str, Any] = {"word_size": 12, "tag_size": 4, "hidden": 8, "min_count": 1, "threads": 1}


def bits(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array.view(np.uint16) for name, array in arrays.items()}


def as_oracle(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Biases without the first axis."""
    return {name: array[0] if name.endswith(".bias") else array for name, array in arrays.items()}


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("distances", [True, False])
def test_the_forward_pass_is_that_of_the_formulas(labels: bool, distances: bool) -> None:
    arrays = jump_network(labels=labels, distances=distances)
    rng = np.random.default_rng(2)
    lengths = np.array([3, 0, 1, 50, 7, 7, 2, 19, 4, 4, 4, 4, 30, 5, 6])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(0, N_WORDS, offsets[-1]).astype(np.int32)
    marks = rng.integers(0, N_LABELS, offsets[-1]).astype(np.int32) if labels else None
    kept = bits(arrays)
    core = _core.Encoder(kept)
    one, two = (core.jump_logprobs(words, marks, offsets, n_threads=n) for n in (1, 2))
    assert np.array_equal(one, two)
    start = 0
    for s, n in enumerate(lengths):
        part = slice(offsets[s], offsets[s + 1])
        expected = oracle.logprobs(as_oracle(arrays), words[part].tolist(), None if marks is None else marks[part].tolist())
        matrix = one[start : start + (n + 1) ** 2].reshape(n + 1, n + 1)
        start += (n + 1) ** 2
        assert np.array_equal(np.isinf(matrix), np.isinf(expected))
        finite = np.isfinite(expected)
        assert np.abs(matrix[finite] - expected[finite]).max() < 1e-4


@pytest.mark.parametrize("labels", [True, False])
def test_classes_of_phrases_are_scored_as_the_formulas_say(labels: bool) -> None:
    arrays = orientation_network(labels=labels)
    rng = np.random.default_rng(2)
    lengths = np.array([3, 0, 1, 30, 7, 2, 19, 4, 4, 4, 12, 5, 6, 8, 9])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = rng.integers(0, N_WORDS, offsets[-1]).astype(np.int32)
    marks = rng.integers(0, N_LABELS, offsets[-1]).astype(np.int32) if labels else None
    phrases = [
        [(i, j, *rng.integers(0, 12, 2).tolist()) for i in range(n) for j in range(i + 1, min(i + 5, n) + 1)]
        for n in lengths.tolist()
    ]
    places = np.array([phrase for own in phrases for phrase in own], np.int32)
    phrase_offsets = np.cumsum([0, *map(len, phrases)])
    kept = bits(arrays)
    core = _core.OrientationEncoder(kept)
    one, two = (core.class_scores(words, marks, offsets, phrase_offsets, places, n_threads=n) for n in (1, 2))
    assert np.array_equal(one, two)
    for s in range(len(lengths)):
        part = slice(offsets[s], offsets[s + 1])
        own = None if marks is None else marks[part].tolist()
        expected = oracle.class_scores(as_oracle(arrays), words[part].tolist(), own, phrases[s])
        if phrases[s]:
            assert np.abs(one[phrase_offsets[s] : phrase_offsets[s + 1]] - expected).max() < 1e-4
    with pytest.raises(HyperbatonError, match="is out of range for its sentence"):
        core.class_scores(
            words[:3],
            None if marks is None else marks[:3],
            offsets[:2],
            np.array([0, 1]),
            np.array([[2, 4, 0, 0]], np.int32),
            n_threads=1,
        )
    with pytest.raises(HyperbatonError, match=r"do not match: places\.weight"):
        _core.OrientationEncoder({**kept, "places.weight": np.zeros((3, 20), np.uint16)})


def test_arrays_that_do_not_fit_are_refused() -> None:
    arrays = bits(jump_network(labels=True, distances=True))
    with pytest.raises(HyperbatonError, match=r"do not match: lstm\.1\.backward\.states"):
        _core.Encoder({**arrays, "lstm.1.backward.states": np.zeros((40, 9), np.uint16)})
    with pytest.raises(HyperbatonError, match=r"has no array query\.bias"):
        _core.Encoder({name: array for name, array in arrays.items() if name != "query.bias"})
    core = _core.Encoder(arrays)
    words = np.array([N_WORDS], np.int32)
    with pytest.raises(HyperbatonError, match="not in the embedding"):
        core.jump_logprobs(words, np.zeros(1, np.int32), np.array([0, 1]), n_threads=1)
    with pytest.raises(HyperbatonError, match="damaged"):  # labels are missing
        core.jump_logprobs(np.zeros(1, np.int32), None, np.array([0, 1]), n_threads=1)


def test_a_model_without_pytorch_is_saved_and_read(tmp_path: Path) -> None:
    text = Text.of(["a b c", "b a"])
    model = Encoder(**TINY)
    model.vocabulary_, model.source_classes_, model.tag_vocabulary_ = text.vocabulary, None, None
    model.n_jumps_, model.n_labels_, model.word_rows_ = 5, 0, np.array([3, 4, 5], np.int32)
    model.signature_, model.train_seconds_, model.train_peak_mib_ = "", 0.0, 0.0
    model.take(jump_network(labels=False, distances=False), [-1.0, -0.5])
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, Encoder)
    for one, other in zip(model.jump_logprobs(text), loaded.jump_logprobs(text), strict=True):
        assert np.array_equal(one, other)


def test_without_pytorch_training_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in ("training", "jumps"):
        monkeypatch.delitem(sys.modules, f"hyperbaton.models.networks.{name}", raising=False)
        monkeypatch.delattr(f"hyperbaton.models.networks.{name}", raising=False)
    bitext = Bitext.of(["a b"], ["c d"], [[(0, 0), (1, 1)]])
    with pytest.raises(MissingExtra, match=f"^PyTorch is not installed: {re.escape(installing('torch'))}$"):
        Encoder().fit(bitext)


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(200, style="japanese", seed=4).bitext


class TestTraining:
    """Tests that need PyTorch."""

    @pytest.fixture(autouse=True)
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    @pytest.mark.parametrize("labels", ["tags", "none"])
    @pytest.mark.parametrize("distances", [True, False])
    def test_the_core_answers_as_pytorch(self, labels: str, distances: bool) -> None:
        from hyperbaton.models.networks import jumps as torch_side

        made = generate(80, style="japanese", seed=4)
        tags = Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)
        annotations = Annotations(source_tags=tags) if labels == "tags" else Annotations()
        model = Encoder(epochs=1, distances=distances, **TINY).fit(made.bitext, annotations)
        logprobs = model.jump_logprobs(made.bitext.source, annotations)
        known = model._known(made.bitext.source, annotations)
        no_visits = (np.empty(0, np.uint16), np.zeros(len(known.text) + 1, np.int64))
        sentences = torch_side.JumpSentences(*model._rows(known), known.text.offsets, *no_visits)
        n_labels = len(model.weights_["label"]) if "label" in model.weights_ else 0
        shape = torch_side.JumpShape(len(model.weights_["word"]), n_labels, 12, 4, 8, distances)
        network, data = torch_side.JumpNetwork(shape).take(model.weights_).eval(), torch_side.JumpData(sentences, "cpu")
        for s in range(len(data.lengths)):
            batch = data.batch(np.array([s]))
            scores = network(*batch.tokens).masked_fill(~batch.candidates(False), -1e9)
            matrix, finite = scores.log_softmax(-1)[0].detach().numpy(), np.isfinite(logprobs[s])
            assert np.abs(matrix - logprobs[s])[finite].max() < 1e-4

    def test_classes_in_the_core_are_those_of_pytorch(self) -> None:
        from hyperbaton.models.networks import orientations as torch_side

        made = generate(60, style="japanese", seed=4)
        tags = Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)
        model = OrientationEncoder(epochs=1, size=8, classes="possible", coverage=True, orientations="five", **TINY)
        model.fit(made.bitext, Annotations(source_tags=tags))
        assert model.coverage_weights_ is not None and model.coverage_weights_.shape == (COVERAGE_STATES, 5)
        samples = extract(made.bitext, 8)
        occurrences = model.known(Occurrences.of_samples(made.bitext, samples, tags))
        phrases = model.phrases(TrainingSamples(occurrences, model.labels(samples), samples.distance_before))
        sizes = {"n_words": len(model.weights_["word"]), "n_labels": len(model.weights_["label"])}
        shape = torch_side.OrientationShape(
            **sizes,
            word_size=12,
            label_size=4,
            hidden=8,
            n_target_words=len(model.weights_["first"]),
            n_lengths=8,
            n_classes=5,
            n_states=0,
            size=8,
        )
        network, data = (
            torch_side.OrientationNetwork(shape).take(model.weights_).eval(),
            torch_side.OrientationData(phrases, "cpu"),
        )
        scores = np.concatenate([network(data.batch(np.array([s]))).detach().numpy() for s in data.usable])
        assert np.abs(numeric.log_softmax(scores.astype(np.float64)) - model.logprobs(occurrences)).max() < 1e-4

    def test_training_of_orientations_resumes_after_an_interruption(self, bitext: Bitext, tmp_path: Path) -> None:
        options = {**TINY, "epochs": 3, "size": 8, "checkpoint": tmp_path / "model.training"}
        samples = extract(bitext, 8)
        whole = OrientationEncoder(**{**options, "checkpoint": None}).fit(bitext, samples=samples)
        with pytest.raises(Cancelled):
            OrientationEncoder(**options).fit(bitext, samples=samples, progress=lambda done, total: done / total < 0.5)
        seen: list[float] = []
        again = OrientationEncoder(**options)
        again.fit(bitext, samples=samples, progress=lambda done, total: seen.append(done / total))
        assert min(seen) > 1 / 3
        assert all(np.array_equal(whole.weights_[name], array) for name, array in again.weights_.items())

    def test_training_over_remaining_words_differs_and_learns(self, bitext: Bitext) -> None:
        trained = {kind: Encoder(candidates=kind, epochs=3, step=0.01, **TINY).fit(bitext) for kind in ("all", "remaining")}
        for model in trained.values():
            assert model.history_[-1] > model.history_[0]
        assert trained["remaining"].history_[-1] > trained["all"].history_[-1]

    def test_interrupted_training_resumes_and_finds_the_same_weights(self, bitext: Bitext, tmp_path: Path) -> None:
        whole = Encoder(epochs=3, **TINY).fit(bitext)
        stopped = Encoder(epochs=3, checkpoint=tmp_path / "model.training", **TINY)
        calls = []

        def stop_in_the_second_epoch(done: int, total: int) -> bool:
            calls.append(done / total)
            return done / total < 0.5

        with pytest.raises(Cancelled):
            stopped.fit(bitext, progress=stop_in_the_second_epoch)
        again, seen = Encoder(epochs=3, checkpoint=tmp_path / "model.training", **TINY), []
        again.fit(bitext, progress=lambda done, total: seen.append(done / total))
        assert min(seen) > 1 / 3 and calls[-1] >= 0.5
        assert all(np.array_equal(whole.weights_[name], array) for name, array in again.weights_.items())
        assert np.array_equal(whole.history_, again.history_)
        # Other options begin anew; saving the model removes the state.
        other, seen = Encoder(epochs=2, checkpoint=tmp_path / "model.training", **TINY), []
        other.fit(bitext, progress=lambda done, total: seen.append(done / total))
        assert min(seen) < 1 / 3
        other.save(tmp_path / "model")
        assert [path.name for path in tmp_path.iterdir()] == ["model"]

    def test_a_missing_device_is_a_one_line_error(self, bitext: Bitext) -> None:
        with pytest.raises(OptionError, match=r"^device nowhere: [^\n]+$"):
            Encoder(device="nowhere").fit(bitext)
