"""Expectations of reordering models of each shape at the steps of a translation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hyperbaton.base.errors import HyperbatonError
from hyperbaton.corpus import Annotations, Tags, Text
from hyperbaton.data import generate
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.models import MODELS, StepModel, Steps
from hyperbaton.phrases import PhraseTable, TranslationOptions, extract


class NearFirst(StepModel):
    """The nearer a word, the better."""

    def step_scores(self, steps: Steps) -> tuple[np.ndarray, np.ndarray]:
        return -np.abs(steps.begin - steps.previous_end).astype(np.float64), np.zeros(len(steps), np.int64)

    def fit(self, *_: Any, **__: Any) -> NearFirst:
        return self

    def summary(self) -> dict[str, Any]:
        return {}

    def _arrays(self) -> dict[str, Any]:
        return {}

    def _restore(self, state: Any) -> None:
        return None


def test_every_shape_says_what_it_expected() -> None:
    bitext = generate(150, seed=1).bitext
    models = {
        "LEX": MODELS["lexicalized"]().fit(bitext),
        "AFTER": MODELS["lexicalized"](side="after").fit(bitext),
        "PAIR": MODELS["pair"](learner="lbfgs:max-passes=2").fit(bitext),
        "NEAR": NearFirst(),
    }
    system = System.of(PhraseTable.build(bitext, extract(bitext, max_length=3)), reordering=models)
    translations = TokenTranslator(system, threads=1).translate_batch(
        [" ".join(bitext.source[s]) for s in (0, 1)], NBest(2)
    )
    for piece in (0, 1):
        path = int(translations.path_offsets[piece])
        steps = translations.steps(path)
        expected = expectations(translations, piece, path)
        assert len(expected) == len(steps)
        n_words = len(bitext.source[piece])
        covered: set[int] = set()
        for at, (step, rows) in enumerate(zip(steps, expected, strict=True)):
            by_model = {row["model"]: row for row in rows}
            assert {"LEX", "NEAR"} <= set(by_model) and ("AFTER" in by_model) == (at > 0)
            # The class that was chosen is the one whose probability the search charged.
            for name in set(by_model) & {"LEX", "AFTER"}:
                row = by_model[name]
                assert np.log(row["classes"][row["chosen"]]) == pytest.approx(step.features[name][0], abs=1e-3)
            jump = by_model.get("PAIR")
            assert (jump is None) == (step.features["PAIR"] == [0.0])
            if jump is not None:
                assert len(jump["words"]) == n_words + 1 and sum(jump["words"]) == pytest.approx(1, abs=1e-3)
                assert np.log(jump["words"][jump["chosen"]]) == pytest.approx(step.features["PAIR"][0], abs=1e-2)
            near = by_model["NEAR"]
            assert set(near["words"]) == set(range(n_words)) - covered and near["chosen"] == step.begin
            covered |= set(range(step.begin, step.end))


class ByTag:
    """An orientation model that prefers a class by the tag of the first word."""

    orientations, needs = "three", ("source_tags",)

    def option_logprobs(self, source: Text, options: TranslationOptions, annotations: Annotations) -> np.ndarray:
        assert annotations.source_tags is not None
        first = source.offsets[options.source.sentence] + options.source.begin
        scores = np.eye(3)[np.asarray(annotations.source_tags.labels)[first] % 3]
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


def test_orientation_models_are_asked_with_tags() -> None:
    made = generate(60, seed=1)
    table = PhraseTable.build(made.bitext, extract(made.bitext, max_length=3))
    first = made.bitext.source.select(np.array([0]))
    annotations = Annotations(source_tags=Tags.of([" ".join(made.source_tags[0])], first))
    translator = TokenTranslator(System.of(table, reordering={"TAG": ByTag()}), threads=1)
    found = translator.translate_batch([" ".join(first[0])], NBest(1), annotations=annotations)
    for step, rows in zip(found.steps(0), expectations(found, 0, 0), strict=True):
        (row,) = rows
        assert np.log(row["classes"][row["chosen"]]) == pytest.approx(step.features["TAG"][0], abs=1e-3)


def test_models_scored_in_the_core_score_what_could_have_followed() -> None:
    made = generate(150, seed=1)
    bitext = made.bitext
    tags = Tags.of([" ".join(line) for line in made.source_tags], bitext.source)
    annotations = Annotations(source_tags=tags)
    models = {
        "OSM": MODELS["osm"]().fit(bitext),
        "BLOCK": MODELS["block_me"](min_count=2).fit(bitext, annotations=annotations),
    }
    system = System.of(PhraseTable.build(bitext, extract(bitext, max_length=3)), reordering=models)
    chosen = np.array([0, 1])
    lines = [" ".join(bitext.source[s]) for s in chosen]
    translations = TokenTranslator(system, threads=1).translate_batch(
        lines, NBest(2), annotations=annotations.select(chosen)
    )
    for piece in chosen.tolist():
        path = int(translations.path_offsets[piece])
        covered: set[int] = set()
        for step, rows in zip(translations.steps(path), expectations(translations, piece, path), strict=True):
            by_model = {row["model"]: row for row in rows}
            for name, unit in (("OSM", np.log(10)), ("BLOCK", 1.0)):
                row = by_model[name]
                assert set(row["words"]) == set(range(len(bitext.source[piece]))) - covered and row["chosen"] == step.begin
                assert sum(row["words"].values()) == pytest.approx(1, abs=1e-4)
                # The chosen option has the score that the search charged.
                assert row["scores"][step.begin] == pytest.approx(step.features[name][0] * unit, abs=1e-3)
            covered |= set(range(step.begin, step.end))
    with pytest.raises(HyperbatonError, match="a path contains an option of another sentence"):
        translations.last_step_values(0, [[len(translations.batch.options) - 1]])
