"""Options that make models learn quickly, for tests over all of them; skips those whose library is missing."""

from __future__ import annotations

from typing import Any

import pytest

from hyperbaton.base.options import options_of
from hyperbaton.models import MODELS

LIBRARIES = {"encoder": "torch", "encoder_orientation": "torch"}
TINY = {"word_size": 16, "tag_size": 4, "hidden": 8, "epochs": 2, "min_count": 1, "step": 0.01, "threads": 1}
SMALL: dict[str, dict[str, Any]] = {"encoder": TINY, "encoder_orientation": {**TINY, "size": 8}}


def quick(name: str, passes: int = 3, learner: str = "") -> dict[str, Any]:
    """Options of the model; `learner` takes the place of the default one."""
    if name in LIBRARIES:
        pytest.importorskip(LIBRARIES[name])
    options = dict(SMALL.get(name, {}))
    for opt in options_of(MODELS[name]):
        if opt.name == "learner":
            options["learner"] = f"{learner or opt.default}:max-passes={passes}"
    return options
