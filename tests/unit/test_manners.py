"""What things say of themselves at a prompt and in a notebook, and the names that scikit-learn's users look for."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import hyperbaton
from hyperbaton import MODELS, extract, show
from hyperbaton.base.errors import OptionError
from hyperbaton.data import generate
from hyperbaton.decode.system import System
from hyperbaton.phrases import PhraseTable

BITEXT = generate(60, seed=1).bitext
SAMPLES = extract(BITEXT)


def test_texts_samples_and_systems_are_short_at_a_prompt() -> None:
    system = System.of(PhraseTable.build(BITEXT, SAMPLES), reordering={"LR": MODELS["lexicalized"]().fit(BITEXT)})
    for thing in (BITEXT, SAMPLES, system):
        assert repr(thing).startswith(f"<{type(thing).__name__}: ") and len(repr(thing)) < 120
        assert thing._repr_html_().startswith("<table>")
    assert "60 sentence pairs" in repr(SAMPLES) and "reordering models LR" in repr(system)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_models_say_which_options_are_not_the_defaults(name: str) -> None:
    kind = MODELS[name]
    assert repr(kind()) == f"{kind.__name__}()"
    assert repr(kind(seed=7)) == f"{kind.__name__}(seed=7)"
    assert "nothing yet" in kind()._repr_html_()


def test_orientation_models_predict_as_in_scikit_learn() -> None:
    model = MODELS["lexicalized"]().fit(BITEXT)
    probabilities = model.predict_proba(BITEXT, SAMPLES)
    assert probabilities.shape == (len(SAMPLES), len(model.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    predicted = model.predict(BITEXT)
    assert np.array_equal(predicted, model.predict(BITEXT, SAMPLES)) and set(predicted) <= set(model.classes_)
    true = model.classes_[model.labels(SAMPLES)]
    assert (predicted == true).mean() > 0.6
    assert f"{model.summary()['samples']:,}" in model._repr_html_()


def test_samples_as_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importlib, "import_module", _missing)
        for call in (SAMPLES.to_pandas, SAMPLES.to_arrow):
            with pytest.raises(OptionError, match="pip install p"):
                call()
    table: Any = pytest.importorskip("pandas")
    assert isinstance(SAMPLES.to_pandas(), table.DataFrame) and len(SAMPLES.to_pandas()) == len(SAMPLES)


def test_a_pair_is_drawn() -> None:
    picture = show(BITEXT, 3)
    assert "<svg" in picture._repr_svg_() and BITEXT.source[3][0] in repr(picture)
    with pytest.raises(IndexError, match="sentence pair 60 of 60"):
        hyperbaton.show(BITEXT, 60)


def _missing(name: str) -> Any:
    raise ModuleNotFoundError(name)
