"""The contract of orientation models, run over all files in `hyperbaton/models`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.corpus import Annotations, Bitext, Text
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.models import MODELS, OrientationModel, load_model
from hyperbaton.phrases import Samples, TranslationOptions, extract
from tests.contract.quick import SMALL, quick

SETS = ("three", "five", "hier-mslr")
NAMES = [name for name in MODELS if issubclass(MODELS[name], OrientationModel)]


def small(name: str) -> dict[str, Any]:
    """Options that make a network small enough for tests; other models keep their defaults."""
    return quick(name) if name in SMALL else {}


@pytest.fixture(scope="module")
def parts() -> dict[str, Bitext]:
    return generate(500, style="chinese", seed=4).bitext.split({"train": 400, "test": 100}, seed=1)


@pytest.fixture(scope="module")
def held_out(parts: dict[str, Bitext]) -> Samples:
    return extract(parts["test"], 8)


def with_sets(*kinds: str) -> list[tuple[str, str]]:
    """The models, each with the sets of orientations that it takes: the linear one knows distances only."""
    return [(name, kind) for name in NAMES for kind in kinds if (name, kind) != ("linear", "hier-mslr")]


def test_the_linear_model_has_distances_only() -> None:
    with pytest.raises(OptionError, match="distance classes"):
        MODELS["linear"](orientations="hier-mslr")


@pytest.fixture(scope="module", params=with_sets(*SETS), ids="-".join)
def model(request: pytest.FixtureRequest, parts: dict[str, Bitext]) -> OrientationModel:
    name, kind = request.param
    made = MODELS[name](orientations=kind, **small(name))
    train = parts["train"]
    classes = {
        "source_classes": word_classes(train.source, 5, runs=1),
        "target_classes": word_classes(train.target, 5, runs=1),
    }
    return made.fit(train, Annotations(**{use: known for use, known in classes.items() if use in made.uses}))


def test_probabilities_sum_to_one(model: OrientationModel, parts: dict[str, Bitext], held_out: Samples) -> None:
    logprobs = model.sample_logprobs(parts["test"], held_out)
    assert logprobs.shape == (len(held_out), len(model.class_names))
    assert np.allclose(np.exp(logprobs).sum(axis=1), 1)


@pytest.mark.parametrize(("name", "kind"), with_sets("five", "hier-mslr"))
def test_over_possible_classes(name: str, kind: str, parts: dict[str, Bitext], tmp_path: Path) -> None:
    """Only what is possible is predicted, which is right more often."""
    plain = MODELS[name](orientations=kind, **small(name)).fit(parts["train"])
    evaluation = evaluate(plain, HeldOut(parts["test"])).as_json()
    assert evaluation["possible_precision"] > evaluation["overall_precision"]
    assert evaluation["possible_mean_logprob"] > evaluation["mean_logprob"]
    MODELS[name](orientations=kind, classes="possible", **small(name)).fit(parts["train"]).save(tmp_path / "model")
    model = load_model(tmp_path / "model")
    assert isinstance(model, OrientationModel) and model.classes == "possible"
    evaluation = evaluate(model, HeldOut(parts["test"])).as_json()
    assert evaluation["possible_precision"] == evaluation["overall_precision"] > 50
    assert evaluation["possible_mean_logprob"] == evaluation["mean_logprob"]
    assert 0 < evaluation["impossible_labels"] < 10 if kind == "hier-mslr" else evaluation["impossible_labels"] == 0
    samples = extract(parts["test"], 8)
    probabilities = model.predict_proba(parts["test"], samples)
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert (probabilities[~model.possible(parts["test"], samples)] < 1e-20).all()


@pytest.mark.parametrize("name", ["lexicalized", "dpr"])
def test_some_of_the_sentences_can_be_learned_from(name: str, parts: dict[str, Bitext], held_out: Samples) -> None:
    train, chosen = parts["train"], np.arange(50) * 400 // 50  # all have links
    few, alone = MODELS[name](max_sentences=50).fit(train), MODELS[name]().fit(train.select(chosen))
    logprobs = [made.sample_logprobs(parts["test"], held_out) for made in (few, alone)]
    assert few.class_counts_.tolist() == alone.class_counts_.tolist() and np.array_equal(*logprobs)


def test_possible_classes_are_those_towards_the_previous_phrase() -> None:
    with pytest.raises(OptionError, match="use --side before"):
        MODELS["lexicalized"](classes="possible", side="after")
    with pytest.raises(OptionError, match="use --side before"):
        MODELS["dpr"](features="context:coverage=true", side="after")


def test_a_batch_scores_as_its_parts(model: OrientationModel, parts: dict[str, Bitext], held_out: Samples) -> None:
    together = model.sample_logprobs(parts["test"], held_out)
    mask = np.arange(len(held_out)) % 3 == 0
    for part in (mask, ~mask):
        assert np.array_equal(model.sample_logprobs(parts["test"], held_out.select(part)), together[part])


def test_saved_and_loaded_gives_the_same_scores(
    model: OrientationModel, parts: dict[str, Bitext], held_out: Samples, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert type(loaded) is type(model) and to_mapping(loaded) == to_mapping(model)
    before, after = (m.sample_logprobs(parts["test"], held_out) for m in (model, loaded))
    assert np.array_equal(before, after)
    assert loaded.train_seconds_ == model.train_seconds_
    # A loaded model can be saved again.
    loaded.save(tmp_path / "again")
    assert np.array_equal(load_model(tmp_path / "again").sample_logprobs(parts["test"], held_out), before)


def test_options_score_as_the_samples_they_are(
    model: OrientationModel, parts: dict[str, Bitext], held_out: Samples
) -> None:
    """A translation option that is what the sample shows has the sample's scores."""
    bitext, first = parts["test"], held_out.select(np.arange(len(held_out)) < 60)
    links = bitext.need_links()
    rows = []
    for k, s in enumerate(first.sentence.tolist()):
        begin, start = int(first.source_begin[k]), int(first.target_begin[k])
        end, stop = begin + int(first.source_length[k]), start + int(first.target_length[k])
        inner = [(i - begin, j - start) for i, j in links[s] if begin <= i < end and start <= j < stop]
        rows.append((s, begin, end, " ".join(bitext.target[s][start:stop]), inner))
    options = model.option_logprobs(bitext.source, TranslationOptions.of(rows))
    assert np.array_equal(options, model.sample_logprobs(bitext, first))


def test_a_sentence_of_unseen_words_works(model: OrientationModel) -> None:
    options = TranslationOptions.of([(0, 0, 1, "qqq", [(0, 0)]), (0, 1, 3, "rrr sss", [(0, 1)])])
    logprobs = model.option_logprobs(Text.of(["xxx yyy zzz"]), options)
    assert np.allclose(np.exp(logprobs).sum(axis=1), 1)
    assert model.option_logprobs(Text.of([""]), TranslationOptions.of([])).shape == (0, len(model.class_names))


def test_a_damaged_folder_is_refused_by_name(model: OrientationModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    for file in sorted((tmp_path / "model").glob("*.npy"))[:4]:
        whole = file.read_bytes()
        changed = bytes([whole[-1] ^ 1])
        for damaged in (whole[:-1] + changed, whole[:-1], b""):
            file.write_bytes(damaged)
            with pytest.raises(ArtefactError, match=file.name.replace(".", r"\.")):
                load_model(tmp_path / "model")
        file.write_bytes(whole)
    load_model(tmp_path / "model")


def test_predicting_before_fitting_is_an_error(
    model: OrientationModel, parts: dict[str, Bitext], held_out: Samples
) -> None:
    with pytest.raises(OptionError, match="call fit first"):
        type(model)().sample_logprobs(parts["test"], held_out)
