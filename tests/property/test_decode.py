"""The search without pruning against trying every segmentation and order, for each shape of reordering model."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.align import VisitOrders
from hyperbaton.corpus import Text
from hyperbaton.decode import Decoding, ModelUse, NBest, System, TokenTranslator
from hyperbaton.lm import LanguageModel
from tests.oracles import decode as oracle
from tests.property.search_cases import ARPA, CLASS_FACTORS, SHAPES, JumpsLeft, all_options, cases, write_and_read


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=20, deadline=None)
@given(
    case=cases(),
    limit=st.sampled_from([-1, 0, 1, 2]),
    early=st.booleans(),
    ahead=st.booleans(),
    jumps_ahead=st.sampled_from(["none", "bound", "expected"]),
    itg=st.booleans(),
)
def test_search_without_pruning_finds_the_best(
    shape: str, case: Any, limit: int, early: bool, ahead: bool, jumps_ahead: str, itg: bool
) -> None:
    words, pairs = case
    with tempfile.TemporaryDirectory() as folder:
        table, arpa = write_and_read(pairs, Path(folder))
    make = SHAPES[shape]
    reordering, extra = make(words, pairs, table) if make else (None, lambda path: 0.0)
    weights: dict[str, Any] = {"TranslationModel0": [0.3, 0.6], "LM0": 0.8, "Distortion0": 0.4, "WordPenalty0": -0.2}
    per_class = isinstance(reordering, ModelUse) and reordering.per_class
    own = [0.7 * factor for factor in CLASS_FACTORS[: reordering.n_features]] if per_class else 0.7
    system = System.of(
        table,
        [LanguageModel.parse_arpa(ARPA)],
        {"R": reordering} if reordering else {},
        weights | ({"R": own} if reordering else {}),
    )

    def score(path: list[oracle.Step]) -> float:
        target = [word for step in path for word in step.target]
        distortion = oracle.early_distortion(path) if early else oracle.distortion(path)
        total = 0.8 * arpa.sentence(target) + 0.4 * distortion + 0.2 * len(target) + 0.2 * len(path)
        for step in path:
            pair = (" ".join(words[step.begin : step.end]), " ".join(step.target))
            if pair in pairs:
                total += 0.3 * np.log(pairs[pair][0][0]) + 0.6 * np.log(pairs[pair][0][1])
            else:
                total -= 100
        return float(total + extra(path))

    paths = [p for p in oracle.all_paths(all_options(words, pairs), len(words)) if oracle.within_limit(p, limit)]
    paths = [p for p in paths if not itg or oracle.is_bracketing(p)]
    totals = sorted((score(path) for path in paths), reverse=True)
    for search in ("stack", "cube", "refine"):
        options = Decoding(
            search=search,
            stack=0,
            pop_limit=1_000_000,
            table_limit=0,
            distortion_limit=limit,
            early_distortion=early,
            future_distortion=ahead,
            future_jumps=jumps_ahead,
            itg=itg,
        )
        translations = TokenTranslator(system, options, threads=1).translate_batch([" ".join(words)], NBest(30))
        assert not translations.relaxed.any()
        # Not only the best: the whole list out of the recombination graph, none missing.
        assert translations.scores == pytest.approx(totals[:30], abs=1e-4)
        recomputed = [
            oracle.dot(translations.named(translations.totals[p]), system.weights) for p in range(len(translations.scores))
        ]
        assert recomputed == pytest.approx(translations.scores.tolist(), abs=1e-4)


@pytest.mark.parametrize("coverage", [False, True])
def test_long_sentences_are_normalised_over_remaining_words(coverage: bool, tmp_path: Path) -> None:
    """The search scores its path as the model scores that visit order."""
    rng = np.random.default_rng(2)
    words = rng.choice(["a", "b", "c"], size=60).tolist()
    table, _ = write_and_read({(w, w.upper()): ([0.5, 0.5], [(0, 0)]) for w in "abc"}, tmp_path)
    model = JumpsLeft(rng.normal(size=_core.N_CANDIDATE_CLASSES) if coverage else None)
    system = System.of(table, reordering={"R": ModelUse(model)}, weights={"R": 2.0, "Distortion0": 0.0})
    translator = TokenTranslator(system, Decoding(distortion_limit=5, stack=20, pop_limit=100), threads=1)
    translation = translator.translate_batch([" ".join(words)], NBest())
    order = [step.begin for step in translation.steps(0)]
    assert sorted(order) == list(range(60)) != order
    visits = VisitOrders(np.array(order, np.uint16), np.array([0, len(order)]))
    rows = model.jump_logprobs(Text.of([" ".join(words)])).remaining(visits)[0]
    expected = sum(row[to] for row, to in zip(rows, [*order, 60], strict=True))
    assert translation.named(translation.totals[0])["R"] == pytest.approx([expected], abs=1e-3)
