"""What reordering models of each shape expected at the steps of a translation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hyperbaton.data import generate
from hyperbaton.decode import NBest, System, Translator
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.models import MODELS, StepModel, Steps
from hyperbaton.phrases import PhraseTable, extract


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
    translations = Translator(system, threads=1).translate_batch([" ".join(bitext.source[s]) for s in (0, 1)], NBest(2))
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
