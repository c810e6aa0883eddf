"""Coverage-aware models in a system: the search charges the score that is reported for each step."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, ModelUse, NBest, System, TokenTranslator
from hyperbaton.evaluate import HeldOut, Question, evaluate, explain
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.models import MODELS, OrientationModel, load_model
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.run.stage import Work
from hyperbaton.run.stages import train as train_stage


def test_expectations_are_what_the_search_charges() -> None:
    bitext = generate(200, style="japanese", seed=3).bitext
    train = bitext.select(np.arange(150))
    table = PhraseTable.build(train, extract(train, 3))
    jumps = MODELS["pair"](candidates="remaining", coverage=True, learner="lbfgs:max-passes=10").fit(train)
    classes = MODELS["lexicalized"](classes="possible", orientations="five").fit(train)
    system = System.of(table, reordering={"J": jumps, "O": classes}, weights={"J": 1.0, "O": 1.0})
    lines = [" ".join(bitext.source[s]) for s in range(150, 160)]
    translations = TokenTranslator(system, Decoding(distortion_limit=-1, pop_limit=50), threads=1).translate_batch(
        lines, NBest()
    )
    n_jumps = 0
    for piece in range(len(lines)):
        path = int(translations.path_offsets[piece])
        covered: set[int] = set()
        for step, expected in zip(translations.steps(path), expectations(translations, piece, path), strict=True):
            by_model = {each["model"]: each for each in expected}
            probabilities = by_model["O"]["classes"]
            assert sum(probabilities.values()) == pytest.approx(1, abs=1e-4)
            assert np.log(probabilities[by_model["O"]["chosen"]]) == pytest.approx(step.features["O"][0], abs=1e-2)
            if "J" in by_model:
                words = by_model["J"]["words"]
                assert sum(words) == pytest.approx(1, abs=1e-4) and not any(words[word] for word in covered)
                assert np.log(words[by_model["J"]["chosen"]]) == pytest.approx(step.features["J"][0], abs=1e-2)
                n_jumps += 1
            covered |= set(range(step.begin, step.end))
    assert n_jumps > 30


@pytest.fixture(scope="module")
def parts() -> dict[str, Bitext]:
    return generate(500, style="chinese", seed=4).bitext.split({"train": 400, "test": 100}, seed=1)


@pytest.mark.parametrize("kind", ["hier-mslr", "phrase-msd", "three"])
def test_a_forced_derivation_has_the_probabilities_of_its_samples(kind: str) -> None:
    """The search normalises as training does."""
    rng = np.random.default_rng(5)
    lines, orders = [], []
    for _ in range(60):
        n = int(rng.integers(3, 9))
        orders.append(np.argsort(np.arange(n) + rng.normal(scale=1.5, size=n)).tolist())
        lines.append([f"w{k}" for k in rng.permutation(40)[:n]])
    bitext = Bitext.of(
        [" ".join(words) for words in lines],
        [" ".join(words[i].upper() for i in order) for words, order in zip(lines, orders, strict=True)],
        [[(i, j) for j, i in enumerate(order)] for order in orders],
    )
    samples = extract(bitext, 3)
    model = MODELS["lexicalized"](classes="possible", orientations=kind, max_distance=0).fit(bitext)
    table = PhraseTable.build(bitext, samples)
    system = System.of(table, reordering={"O": model}, weights={"O": 1.0})
    translator = TokenTranslator(system, Decoding(distortion_limit=-1), threads=1)
    targets = [" ".join(words) for words in bitext.target]
    found = translator.translate_batch([" ".join(words) for words in lines], NBest(1), forced=targets, relax=False)
    logprobs = model.given_coverage(model.sample_logprobs(bitext, samples), bitext, samples)
    columns = (samples.sentence, samples.source_begin, samples.target_begin, samples.target_length)
    rows = {row: k for k, row in enumerate(zip(*(column.tolist() for column in columns), strict=True))}
    n_steps = 0
    for s in range(len(lines)):
        at, path = 0, int(found.path_offsets[s])
        for step, (expectation,) in zip(found.steps(path), expectations(found, s, path), strict=True):
            expected = logprobs[rows[s, step.begin, at, len(step.target)]]
            assert list(expectation["classes"].values()) == pytest.approx(np.exp(expected), abs=1e-5)
            chosen = model.class_names.index(expectation["chosen"])
            assert step.features["O"][0] == pytest.approx(expected[chosen], abs=1e-4)
            at += len(step.target)
            n_steps += 1
    assert n_steps > 150


@pytest.mark.parametrize("name", ["dpr", "maxent"])
@pytest.mark.parametrize("classes", ["all", "possible"])
def test_coverage_improves_orientations(name: str, classes: str, parts: dict[str, Bitext], tmp_path: Path) -> None:
    features = "context" if name == "dpr" else "dpr"
    plain, seeing = (
        MODELS[name](features=f"{features}:coverage={coverage}", classes=classes, orientations="five").fit(parts["train"])
        for coverage in ("false", "true")
    )
    figures = [evaluate(model, HeldOut(parts["test"])).as_json() for model in (plain, seeing)]
    assert figures[1]["mean_logprob"] > figures[0]["mean_logprob"] + 0.02
    assert classes == "possible" or figures[1]["overall_precision"] > figures[0]["overall_precision"] + 5
    seeing.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert evaluate(loaded, HeldOut(parts["test"])).as_json() == figures[1]


def test_coverage_needs_a_learner_that_takes_a_prior(parts: dict[str, Bitext]) -> None:
    with pytest.raises(OptionError, match="a learner that takes a prior: lbfgs, gis or iis"):
        MODELS["maxent"](features="dpr:coverage=true", learner="sgd").fit(parts["train"])
    with pytest.raises(OptionError, match="cannot scale the distance"):
        model = MODELS["maxent"](features="dpr:coverage=true").fit(parts["train"])
        table = PhraseTable.build(parts["train"], extract(parts["train"], 3))
        system = System.of(table, reordering={"O": ModelUse(model, "scaled")}, weights={"O": 1.0})
        TokenTranslator(system, threads=1).translate_batch(["a"], NBest())


def test_explain_says_what_is_possible(parts: dict[str, Bitext]) -> None:
    model = MODELS["lexicalized"](classes="possible").fit(parts["train"])
    sentence = " ".join(parts["test"].source[0])
    asked = explain(model, Question(sentence=sentence, span=(2, 3), translated=(0, 1)))
    assert asked.as_json()[0]["probabilities"]["d>0"] < 1e-20
    assert "regardless of the coverage" not in str(asked)
    assert "regardless of the coverage" in str(explain(model, Question(sentence=sentence, span=(2, 3))))
    with pytest.raises(OptionError, match="a word of the span 2-3 is already translated"):
        explain(model, Question(sentence=sentence, span=(2, 3), translated=(2,)))
    with pytest.raises(OptionError, match="not among the"):
        explain(model, Question(sentence=sentence, translated=(99,)))
    with pytest.raises(OptionError, match="--translated needs --sentence"):
        explain(model, Question(phrase="a", translated=(0,)))


def test_a_run_keeps_the_state_of_a_long_training(
    parts: dict[str, Bitext], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a stage may find it again after an interruption."""
    scratch, states = tmp_path / "scratch", []
    model = MODELS["lexicalized"]

    def fit(self: Any, *given: Any, **how: Any) -> Any:
        states.append(self.checkpoint)
        return OrientationModel.fit(self, *given, **how)

    monkeypatch.setattr(model, "fit", fit)
    work = Work({}, {"model": "lexicalized", "options": {}, "annotations": [], "seed": 1}, tmp_path, scratch, 1)
    monkeypatch.setattr(
        train_stage,
        "Texts",
        lambda inputs: SimpleNamespace(
            bitext=lambda split, **how: parts["train"], annotations=lambda *given: Annotations()
        ),
    )
    train_stage.run(work)
    assert states == [scratch / "model.training"]
