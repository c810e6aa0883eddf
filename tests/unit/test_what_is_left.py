"""Models that know what is translated, in a system: what the search charges is what is said about each step."""

from __future__ import annotations

import numpy as np
import pytest

from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, System, Translator
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract


def test_expectations_are_what_the_search_charges() -> None:
    bitext = generate(200, style="japanese", seed=3).bitext
    train = bitext.select(np.arange(150))
    table = PhraseTable.build(train, extract(train, 3))
    jumps = MODELS["pair"](candidates="remaining", coverage=True, learner="lbfgs:max-passes=10").fit(train)
    classes = MODELS["lexicalized"](classes="possible", orientations="five").fit(train)
    system = System.of(table, reordering={"J": jumps, "O": classes}, weights={"J": 1.0, "O": 1.0})
    lines = [" ".join(bitext.source[s]) for s in range(150, 160)]
    translations = Translator(system, Decoding(distortion_limit=-1, pop_limit=50), threads=1).translate_batch(
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
