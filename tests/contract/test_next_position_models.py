"""The contract of jump models, run over all files in `hyperbaton/models`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hyperbaton.align import visit_order
from hyperbaton.base.errors import ArtefactError, Cancelled, InputError, OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.corpus import Annotations, Bitext, Links, Tags, Text
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.explain_jumps import explain_jumps
from hyperbaton.models import MODELS, NextPositionModel, load_model
from hyperbaton.models.nine_class import NineClass
from tests.contract.quick import quick

NAMES = [name for name in MODELS if issubclass(MODELS[name], NextPositionModel)]
LABELS = ("none", "tags", "classes")


class Parts:
    """Training and held-out sentences, with tags."""

    def __init__(self) -> None:
        made = generate(300, style="japanese", seed=4)
        train, test = np.arange(250), np.arange(250, 300)
        self.train, self.test = made.bitext.select(train), made.bitext.select(test)
        tags = Tags.of([" ".join(line) for line in made.source_tags], made.bitext.source)
        self.train_tags, self.test_tags = tags.select(train), tags.select(test)

    def annotations(self, labels: str) -> Annotations:
        if labels == "tags":
            return Annotations(source_tags=self.train_tags)
        classes = word_classes(self.train.source, 5, runs=1) if labels == "classes" else None
        return Annotations(source_classes=classes)

    def held_out(self, model: NextPositionModel) -> Annotations:
        return Annotations(source_tags=self.test_tags).only(model.needs)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return Parts()


def make(name: str, **options: object) -> NextPositionModel:
    model = MODELS[name](**options)
    assert isinstance(model, NextPositionModel)
    return model


@pytest.fixture(scope="module", params=[(name, labels) for name in NAMES for labels in LABELS], ids="-".join)
def model(request: pytest.FixtureRequest, parts: Parts) -> NextPositionModel:
    name, labels = request.param
    return make(name, **quick(name, 20, "lbfgs")).fit(parts.train, parts.annotations(labels))


def test_rows_are_distributions_without_the_cp(model: NextPositionModel, parts: Parts) -> None:
    logprobs = model.jump_logprobs(parts.test.source, parts.held_out(model))
    assert len(logprobs) == len(parts.test)
    for s in range(len(logprobs)):
        n = len(parts.test.source[s])
        matrix = np.exp(logprobs[s])
        assert matrix.shape == (n + 1, n + 1) and np.allclose(matrix.sum(axis=1), 1)
        assert np.all(np.diagonal(matrix, -1) == 0) and np.isfinite(logprobs[s][0]).all()


def test_a_batch_scores_as_its_sentences(model: NextPositionModel, parts: Parts) -> None:
    tags = parts.held_out(model)
    together = model.jump_logprobs(parts.test.source, tags)
    for s in (0, 7, 31):
        alone = model.jump_logprobs(parts.test.source.select(np.array([s])), tags.select([s]))
        assert np.array_equal(alone[0], together[s])


def test_saved_and_loaded_gives_the_same_scores(model: NextPositionModel, parts: Parts, tmp_path: Path) -> None:
    tags = parts.held_out(model)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, NextPositionModel) and to_mapping(loaded) == to_mapping(model)
    before = model.jump_logprobs(parts.test.source, tags).values
    assert np.array_equal(before, loaded.jump_logprobs(parts.test.source, tags).values)
    assert (loaded.train_seconds_, loaded.summary()) == (model.train_seconds_, model.summary())
    loaded.save(tmp_path / "again")
    file = sorted((tmp_path / "again").glob("*.npy"))[0]
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ArtefactError, match=file.name.replace(".", r"\.")):
        load_model(tmp_path / "again")


def test_odd_sentences_work(model: NextPositionModel) -> None:
    """Empty, of one word, of unseen words and tags."""
    text = Text.of(["", "xxx", "xxx yyy zzz"])
    tags = Annotations(source_tags=Tags.of(["", "Q", "Q R S"], text)).only(model.needs)
    logprobs = model.jump_logprobs(text, tags)
    assert logprobs[0].tolist() == [[0.0]]
    assert [logprobs[s].shape for s in range(3)] == [(1, 1), (2, 2), (4, 4)]
    assert np.allclose(np.exp(logprobs[2]).sum(axis=1), 1)
    assert len(model.jump_logprobs(Text.of([]), Annotations(source_tags=Tags.of([], Text.of([]))).only(model.needs))) == 0


def test_better_than_chance_and_evaluated(model: NextPositionModel, parts: Parts) -> None:
    evaluation = evaluate(model, HeldOut(parts.test, parts.held_out(model)))
    chance = -np.log(parts.test.source.lengths + 1).mean()
    assert evaluation.mean_logprob > chance and 0 < evaluation.accuracy <= 100
    json = evaluation.as_json()
    assert json["n"] == sum(part["n"] for part in json["by_direction"].values())
    assert sum(json["corpus_probability"].values()) == pytest.approx(1)


def test_average_probabilities_within_one_class(model: NextPositionModel, parts: Parts) -> None:
    """Distortions 5 to 20 are compared on the CPs that have them all; class probabilities are those of the classifiers."""
    text, tags = parts.test.source, parts.held_out(model)
    probabilities = model.jump_logprobs(text, tags)
    far: dict[int, list[tuple[float, bool]]] = {}
    classes: dict[str, dict[int, list[float]]] = {}
    for s, visits in enumerate(visit_order(parts.test.need_links())):
        n = len(text[s])
        for i, j in zip([-1, *visits], [*visits, n], strict=True):
            for d in range(5, 21) if i + 21 < n else ():
                far.setdefault(d, []).append((np.exp(probabilities[s][i + 1, i + 1 + d]), j == i + 1 + d))
            if isinstance(model, NineClass):
                for part in model.classifiers:
                    scores = part.jump_logprobs(text.select(np.array([s])), tags.select([s]))[0][i + 1]
                    for candidate in set(range(n + 1)) - {i}:
                        at = classes.setdefault(part.part, {}).setdefault(min(max(candidate - i - 1, -30), 30), [])
                        at.append(np.exp(scores[candidate]))
    json = evaluate(model, HeldOut(parts.test, tags)).as_json()
    average, corpus = json["far_average_probability"], json["far_corpus_probability"]
    assert len(far[5]) > 20 and len(average) == 16
    for d, pairs in far.items():
        mean, made = np.mean(pairs, axis=0)
        assert (average[str(d)], corpus.get(str(d), 0)) == (pytest.approx(mean), pytest.approx(made))
    assert json["average_class_probability"] == {
        part: {str(d): pytest.approx(np.mean(values)) for d, values in by_distortion.items()}
        for part, by_distortion in classes.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_normalised_over_remaining_words(name: str, parts: Parts, tmp_path: Path) -> None:
    """Probabilities along a path are distributions over the remaining words, also in evaluate and explain."""
    trained = make(name, candidates="remaining", **quick(name, 10, "lbfgs")).fit(parts.train)
    trained.save(tmp_path / "model")
    model = load_model(tmp_path / "model")
    assert isinstance(model, NextPositionModel) and model.candidates == "remaining"
    visits = visit_order(parts.test.need_links())
    rows = model.jump_logprobs(parts.test.source).remaining(visits)
    total, n = 0.0, 0
    for s in range(len(rows)):
        assert np.allclose(np.exp(rows[s]).sum(axis=1), 1)
        for step, position in enumerate(visits[s]):
            assert np.isneginf(rows[s][step + 1 :, position]).all()
        if visits[s]:
            total += sum(rows[s][k, j] for k, j in enumerate([*visits[s], len(parts.test.source[s])]))
            n += len(visits[s]) + 1
    evaluation = evaluate(model, HeldOut(parts.test)).as_json()
    assert evaluation["n"] == n and evaluation["mean_logprob"] == pytest.approx(total / n)
    assert (evaluation["remaining_accuracy"], evaluation["remaining_mean_logprob"]) == (
        evaluation["accuracy"],
        evaluation["mean_logprob"],
    )
    first = next(s for s in range(len(rows)) if visits[s])
    links = " ".join(f"{i}-{j}" for i, j in parts.test.need_links()[first])
    explained = explain_jumps(model, " ".join(parts.test.source[first]), links=links)
    path = [rows[first][k, j] for k, j in enumerate([*visits[first], len(parts.test.source[first])])]
    assert explained.logprob == pytest.approx(sum(path))
    assert sorted(explain_jumps(model, "a b c d").order) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", NAMES)
def test_wrong_use_says_so(name: str, parts: Parts) -> None:
    with pytest.raises(OptionError, match="call fit first"):
        make(name).jump_logprobs(parts.test.source)
    fitted = make(name, **quick(name, 2, "lbfgs"))
    fitted.fit(parts.train, Annotations(source_tags=parts.train_tags))
    with pytest.raises(OptionError, match="trained with tags"):
        fitted.jump_logprobs(parts.test.source)
    both = {"source_tags": parts.train_tags, "source_classes": word_classes(parts.train.source, 5, runs=1)}
    with pytest.raises(OptionError, match="not both"):
        make(name).fit(parts.train, Annotations(**both))  # type: ignore[arg-type]
    none = Bitext(parts.train.source, parts.train.target, Links.of([[] for _ in range(len(parts.train))]))
    with pytest.raises(InputError, match="no sentence pair has links"):
        make(name).fit(none)


@pytest.mark.parametrize("name", [name for name in NAMES if "learner" in to_mapping(MODELS[name]())])
def test_threads_do_not_matter_and_training_can_be_cancelled(name: str, parts: Parts) -> None:
    one, two = (
        make(name, learner="lbfgs:max-passes=5", threads=n)
        .fit(parts.train, Annotations(source_tags=parts.train_tags))
        .jump_logprobs(parts.test.source, Annotations(source_tags=parts.test_tags))
        for n in (1, 2)
    )
    assert np.array_equal(one.values, two.values)
    with pytest.raises(Cancelled):
        make(name).fit(parts.train, progress=lambda done, total: False)
