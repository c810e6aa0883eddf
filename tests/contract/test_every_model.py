"""The contract of models of every shape, run over the registry of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.corpus import Annotations, Bitext, Tags, Trees
from hyperbaton.corpus.classes import word_classes
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.explain import Question, explain
from hyperbaton.models import MODELS, ReorderingModel, load_model
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import finish
from tests.contract.quick import quick
from tests.stages import do_stages

TRAIN, TEST = np.arange(100), np.arange(100, 120)


class Parts(NamedTuple):
    """A bitext with all annotations that models use, and a phrase table."""

    bitext: Bitext
    annotations: Annotations
    table: PhraseTable

    def of(self, names: tuple[str, ...], sentences: Any) -> Annotations:
        return self.annotations.only(names).select(sentences)


@pytest.fixture(scope="module")
def parts() -> Parts:
    made = generate(120, style="japanese", seed=4)
    bitext = made.bitext
    annotations = Annotations(
        source_tags=Tags.of([" ".join(line) for line in made.source_tags], bitext.source),
        source_trees=Trees.of([" ".join(line) for line in made.source_trees], bitext.source),
        source_classes=word_classes(bitext.source, 5, runs=1),
        target_classes=word_classes(bitext.target, 5, runs=1),
    )
    train = bitext.select(TRAIN)
    return Parts(bitext, annotations, PhraseTable.build(train, extract(train, 4)))


@pytest.fixture(scope="module", params=MODELS.names())
def model(request: pytest.FixtureRequest, parts: Parts) -> ReorderingModel:
    cls = MODELS[request.param]
    # Classes and tags exclude one another in jump models.
    known = tuple(name for name in cls.uses if name != "source_classes" or "source_tags" not in cls.uses)
    return cls(**{"threads": 1} | quick(request.param)).fit(parts.bitext.select(TRAIN), parts.of(known, TRAIN))


@pytest.fixture(scope="module")
def loaded(model: ReorderingModel, tmp_path_factory: pytest.TempPathFactory) -> ReorderingModel:
    path = tmp_path_factory.mktemp(model.name) / "model"
    model.save(path)
    return load_model(path)


@pytest.mark.parametrize("name", MODELS.names())
def test_options_are_plain_values_and_come_back(name: str) -> None:
    made = MODELS[name]()
    options = json.loads(json.dumps(to_mapping(made)))
    assert to_mapping(from_mapping(MODELS[name], options)) == to_mapping(made)
    assert set(options) == {opt.name.replace("_", "-") for opt in options_of(MODELS[name])}


def test_a_loaded_model_is_the_same(model: ReorderingModel, loaded: ReorderingModel) -> None:
    assert type(loaded) is type(model) and to_mapping(loaded) == to_mapping(model)
    assert (loaded.summary(), loaded.needs, loaded.reads) == (model.summary(), model.needs, model.reads)


def test_its_evaluation_has_its_shape(model: ReorderingModel, loaded: ReorderingModel, parts: Parts) -> None:
    held_out = HeldOut(parts.bitext.select(TEST), parts.of(model.reads, TEST))
    record = evaluate(model, held_out).record()
    assert record["shape"] == model.shape and record["n"] > 0 and 0 <= record[record["figure"]] <= 100
    assert evaluate(loaded, held_out).record() == record
    assert json.loads(json.dumps(record)) and evaluate(model, held_out).row()


def test_it_explains_itself(model: ReorderingModel, loaded: ReorderingModel, parts: Parts) -> None:
    """Explain the model, and a phrase or a sentence, whichever its shape supports."""
    words, tags = parts.bitext.source[int(TEST[0])], parts.of(("source_tags",), TEST).source_tags
    assert tags is not None
    asked = {"tags": " ".join(tags[0])} if "source_tags" in model.needs else {}
    questions = [Question(), Question(phrase=words[0]), Question(sentence=" ".join(words), source_tags=asked.get("tags"))]
    answers = []
    for question in questions:
        try:
            own, again = explain(model, question), explain(loaded, question)
        except OptionError:
            continue
        assert list(own.parts()) and json.dumps(own.as_json(), default=str) == json.dumps(again.as_json(), default=str)
        answers.append(own)
    assert len(answers) > 1


def test_a_system_translates_with_it(model: ReorderingModel, loaded: ReorderingModel, parts: Parts) -> None:
    lines = [" ".join(words) for words in parts.bitext.source.select(TEST[:5])]
    annotations = parts.of(model.reads, TEST[:5])
    options = Decoding(stack=10, pop_limit=10)
    outputs = [
        TokenTranslator(System.of(parts.table, reordering={"M": each}, options=options), threads=1).translate(
            lines, annotations=annotations
        )
        for each in (model, loaded)
    ]
    assert outputs[0] == outputs[1] and all(outputs[0])


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].version > 1])
def test_a_model_of_an_earlier_version_is_refused(
    name: str, parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MODELS[name](learner="lbfgs:max-passes=1").fit(parts.bitext.select(TRAIN))
    monkeypatch.setattr(MODELS[name], "version", 1)
    model.save(tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(ArtefactError, match=f"a {name} model of another version: train it again"):
        load_model(tmp_path / "model")


@pytest.mark.slow
def test_a_run_reports_models_of_every_shape(tmp_path: Path) -> None:
    by_shape = {"orientation": "lexicalized", "next_position": "linear_jump", "step": "block_me"}
    assert set(by_shape) == {MODELS[name].shape for name in MODELS}
    (tmp_path / "experiment.toml").write_text(
        """
title = "shapes"
[corpus.generate]
sentences = 150
dev = 15
test = 15
[lm]
order = 2
[models.lexicalized]
[models.linear_jump]
[models.block_me]
learner = "lbfgs:max-passes=2"
[translation]
limits = [3]
metrics = ["bleu"]
samples = 20
sentences = 1
[translation.systems]
all = ["lexicalized", "linear_jump", "block_me"]
[translation.tuning]
iterations = 1
[translation.decoding]
pop-limit = 10
stack = 10
""",
        encoding="utf-8",
    )
    plan = make_plan(read_experiment(tmp_path / "experiment.toml"))
    do_stages(plan, tmp_path / "out")
    finished = finish(plan, tmp_path / "out")
    results = json.loads(finished.results.read_text(encoding="utf-8"))
    page = finished.report.read_text(encoding="utf-8")
    for shape, name in by_shape.items():
        assert [row["model"] for row in results[shape]] == [name]
        assert f'<section id="{shape.replace("_", "-")}">' in page
    assert [row["system"] for row in results["translation"]] == ["all"]
