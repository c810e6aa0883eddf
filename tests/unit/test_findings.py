"""The exact text of the findings of a run."""

from __future__ import annotations

from typing import Any

import pytest

from hyperbaton.evaluate import Classification, Evaluation, NextPositions
from hyperbaton.run.results import findings


def row(system: str, limit: int | None, delta: float | None = None, **scores: float) -> dict[str, Any]:
    tests = {} if delta is None else {"linear": {metric: {"delta": delta, "p": 0.0123} for metric in scores}}
    named = {metric: {"value": value} for metric, value in scores.items()}
    return {"system": system, "limit": limit, "scores": named, "significance": tests}


def results(**parts: Any) -> dict[str, Any]:
    return {
        "corpus": {"train": {"pairs": 1200}},
        "movement": {"distances": {"-20": 10, "-3": 20, "0": 50, "5": 20}},
        "orientation": [],
        "next_position": [],
    } | parts


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        (
            "BLEU",
            "The best translations are those of high with no distortion limit, BLEU 40.00, "
            "+1.50 against linear (p = 0.012).",
        ),
        ("TER", "The best translations are those of low with distortion limit 6, TER 30.00 (lower is better)."),
        (
            "WER:lowercase=yes",
            "The best translations are those of low with distortion limit 6, WER:lowercase=yes 30.00 (lower is better).",
        ),
    ],
)
def test_the_best_system_is_chosen_in_the_direction_of_the_metric(metric: str, sentence: str) -> None:
    rows = [row("middle", 6, **{metric: 35.0}), row("high", None, 1.5, **{metric: 40.0}), row("low", 6, **{metric: 30.0})]
    assert findings(results(translation=rows))[2] == sentence


def test_a_system_with_rules_has_a_span_limit() -> None:
    options = {"models": {"hiero": {"model": "rules"}}, "translation": {"systems": {"chart": ["hiero"]}}}
    found = findings(results(translation=[row("chart", 20, BLEU=1.0)], options=options))
    assert found[2] == "The best translations are those of chart with span limit 20, BLEU 1.00."


def test_movement_counts_every_phrase_pair_however_far_it_moves() -> None:
    sentences = findings(results())
    assert sentences[0] == "In 1,200 sentence pairs 50% of the phrase pairs move, 30% of all by five words or more."
    assert sentences[1:] == ["No model was evaluated separately.", "Nothing was translated."]


def reading(kind: type[Evaluation]) -> dict[str, str]:
    """An evaluation says how to read its figures."""
    return {"shape": kind.shape, "figure": kind.figure, "predicts": kind.predicts, "comparable": ""}


def test_models_are_compared_with_the_plain_distance_and_within_one_set_of_classes() -> None:
    jumps = [
        {"model": name, "is_distance": kind == "linear_jump", "accuracy": accuracy, **reading(NextPositions)}
        for name, kind, accuracy in (
            ("line", "linear_jump", 40.0),
            ("nine", "nine_class", 30.0),
            ("seq", "sequence", 75.04),
        )
    ]
    phrases = [
        {"model": name, "is_distance": False, "overall_precision": value, **reading(Classification), "comparable": classes}
        for name, classes, value in (("a", "three", 60.0), ("b", "three", 70.0), ("two", "two", 99.0))
    ]
    assert findings(results(next_position=jumps, orientation=phrases))[1] == (
        "b predicts 70.0% of the held-out orientations, a 60.0%; "
        "seq predicts 75.0% of the held-out next source words, line 40.0%."
    )
