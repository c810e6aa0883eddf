"""The envelope over the search graph against all translations that the graph holds, one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.corpus import Text
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.decode.moses import import_moses
from hyperbaton.tune.system import SystemDecoder

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
SHORT = [line for line in (GOLDEN / "test.src").read_text(encoding="utf-8").splitlines() if len(line.split()) <= 6][:4]


class Near:
    """A jump model."""

    def jump_logprobs(self, source: Text) -> list[Any]:
        return [-np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1))) for n in source.lengths]


class LeftFirst:
    """A model of steps."""

    def step_scores(self, steps: Any) -> tuple[Any, Any]:
        holes = [(~row[:b]).sum() for row, b in zip(steps.coverage, steps.begin, strict=True)]
        return -np.array(holes, float), np.zeros(len(steps), int)


def own_models() -> System:
    moses = import_moses(GOLDEN / "decode" / "wbe-msd.moses.ini")
    models = {"NEAR": Near(), "LEFT": LeftFirst()}
    return System.of(moses.table, list(moses.lms.values()), models, {"NEAR": 0.3, "LEFT": 0.2})


@pytest.mark.parametrize("name", ["wbe-msd", "phrase-mslr", "hier-mslr", "own models"])
def test_no_translation_of_the_graph_is_better_than_those_of_the_envelope_along_a_feature(name: str) -> None:
    system = own_models() if name == "own models" else import_moses(GOLDEN / "decode" / f"{name}.moses.ini")
    options = replace(system.options, search="stack", stack=15, threshold=0.0, table_limit=3)
    lines = [*SHORT, ""]
    few = SystemDecoder(system, lines, n_best=1, lattice=True, options=options, threads=1)
    every = SystemDecoder(system, lines, n_best=1_000_000, options=options, threads=1)
    some, all_of_them = few(few.start), every(every.start)
    assert len(some.sentence) < len(all_of_them.sentence) / 5
    for s in range(len(lines)):
        envelope, graph = (lists.features[lists.sentence == s] for lists in (some, all_of_them))
        for f in range(len(few.start)):
            for x in (-100, -17, *np.linspace(-3, 3, 61), 17, 100):
                weights = few.start.copy()
                weights[f] += x
                assert (envelope @ weights).max() == pytest.approx((graph @ weights).max(), abs=1e-4)


def test_few_steps_of_the_graph_hold_the_best_translation() -> None:
    system = import_moses(GOLDEN / "decode" / "hier-mslr.moses.ini")
    n_weights = sum(system.features.values())
    translations = TokenTranslator(system, threads=1).translate_batch(
        SHORT, NBest(1, directions=np.eye(n_weights), max_steps=1)
    )
    counts = np.diff(translations.path_offsets)
    assert (counts == 2).all()  # the best one, and once more by its own steps
    assert translations.scores[translations.path_offsets[:-1]] == pytest.approx(
        translations.scores[translations.path_offsets[:-1] + 1]
    )
