"""The contract of minimizers of structured models: some model can use it, and it lowers the objective."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.base.options import options_of
from hyperbaton.corpus import Annotations, Bitext, Tags, Trees
from hyperbaton.data import generate
from hyperbaton.learn.minimizers import MINIMIZERS
from hyperbaton.models import MODELS

# Models of whole sentences: those whose learner is a minimizer.
NAMES = [name for name in MODELS if any(opt.plugins is MINIMIZERS for opt in options_of(MODELS[name]))]


class Parts(NamedTuple):
    """A bitext, and annotations for models that need some."""

    bitext: Bitext
    annotations: Annotations


@pytest.fixture(scope="module")
def parts() -> Parts:
    made = generate(30, style="japanese", seed=2)
    tags, trees = ([" ".join(line) for line in lines] for lines in (made.source_tags, made.source_trees))
    source = made.bitext.source
    return Parts(made.bitext, Annotations(source_tags=Tags.of(tags, source), source_trees=Trees.of(trees, source)))


@pytest.fixture(params=list(MINIMIZERS))
def minimizer(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def fit(name: str, minimizer: str, parts: Parts, *, threads: int = 1, progress: Any = None) -> Any:
    cls = MODELS[name]
    model: Any = cls(learner=f"{minimizer}:max-passes=6", threads=threads)
    return model.fit(parts.bitext, parts.annotations.only(cls.uses), progress=progress)


def test_models_use_the_minimizer_or_name_those_they_support(minimizer: str, parts: Parts) -> None:
    n_trained = 0
    for name in NAMES:
        calls: list[tuple[int, int]] = []
        try:
            model = fit(name, minimizer, parts, progress=lambda *call, calls=calls: calls.append(call))
        except OptionError as error:
            assert f"this model cannot be trained by {minimizer}; use one of: " in str(error)
            continue
        n_trained += 1
        history = model.objective_
        assert np.isfinite(history).all() and 1 < len(history) <= 7
        assert history[-1] < history[0]
        assert calls and all(0 <= done <= total for done, total in calls)
        again = fit(name, minimizer, parts, threads=2)
        np.testing.assert_array_equal(again.weights_, model.weights_)
        np.testing.assert_array_equal(again.objective_, history)
    assert n_trained > 0


def test_progress_can_cancel(minimizer: str, parts: Parts) -> None:
    with pytest.raises(Cancelled):
        fit("block_me" if minimizer == "iis" else "pair", minimizer, parts, progress=lambda done, total: False)
