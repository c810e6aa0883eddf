"""An experiment with a system that translates reordered text from left to right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.run.experiment import Experiment, parse_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.run.results import gather
from tests.stages import do_stages


def experiment(**tables: object) -> Experiment:
    values = {
        "corpus": {"generate": {"sentences": 260, "dev": 20, "test": 20, "style": "japanese"}},
        "models": {
            "left": {"model": "pair", "candidates": "remaining", "learner": "lbfgs:max-passes=5"},
            "moves": {"model": "lexicalized", "orientations": "three"},
        },
        "lm": {"order": 2},
        "preorder": {"model": "left"},
        "translation": {
            "systems": {"distance": [], "preordered": []},
            "metrics": ["bleu", "pdscore"],
            "samples": 10,
            "tuning": {"iterations": 1},
            "decoding": {"pop-limit": 20},
        },
        **tables,
    }
    return parse_experiment(values, "exp.toml", Path())


def test_a_system_over_reordered_text_is_a_row(tmp_path: Path) -> None:
    plan = make_plan(experiment())
    do_stages(plan, tmp_path)
    assert plan.stages["tune.preordered.1"].options["limit"] == 0 != plan.stages["tune.distance.1"].options["limit"]
    text, old = plan.stages["preorder"].folder(tmp_path), plan.provided["corpus.test"].folder(tmp_path)
    made = plan.stages["translate.preordered.1.6"].folder(tmp_path)

    def lines(path: Path) -> list[list[str]]:
        return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]

    columns = (text / "test.order", text / "test.source", old / "test.source", made / "links", made / "segments.jsonl")
    moved = 0
    for order, new, source, links, segments in zip(*map(lines, columns), strict=True):
        places = [int(place) for place in order]
        assert [source[place] for place in places] == new and sorted(places) == list(range(len(source)))
        moved += places != sorted(places)
        # Links of the translation are those of the words as they were: each lies in the phrase of its target word.
        at, phrases = 0, {}
        for segment in json.loads(" ".join(segments))["segments"]:
            assert segment["jump"] == 0
            for _ in segment["target"]:
                phrases[at] = {places[k] for k in range(*segment["source"])}
                at += 1
        assert links and all(int(i) in phrases[int(j)] for i, j in (link.split("-") for link in links))
    assert moved > 10
    results = gather(plan, tmp_path)
    quality = {(row["split"], row["order"]): row["Kendall"] for row in results["stages"]["preorder"]}
    assert quality["test", "reordered"] > quality["test", "unchanged"]
    assert {hypothesis["system"] for s in results["sentences"] for hypothesis in s["hypotheses"]} == {"distance"}


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(
        OptionError, match=r"'preorder\.model': must be a jump model of this experiment \(left\), not 'moves'"
    ):
        make_plan(experiment(preorder={"model": "moves"}))
    with pytest.raises(OptionError, match=r"'preorder\.systems': other is not one of translation\.systems"):
        make_plan(experiment(preorder={"model": "left", "systems": "other"}))
    with pytest.raises(OptionError, match=r"systems\.preordered': left is trained on the original order"):
        make_plan(experiment(translation={"systems": {"preordered": ["left"]}}))
    models = {"left": {"model": "pair"}, "hiero": {"model": "rules"}}
    with pytest.raises(OptionError, match=r"systems\.preordered': hiero is trained on the original order"):
        make_plan(experiment(models=models, translation={"systems": {"preordered": ["hiero"]}}))
