"""Files of a run that were edited, cut off or made by something else: one line with the file and the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperbaton.base.errors import InputError
from hyperbaton.explore import Run
from hyperbaton.run.status import status_rows

RESULTS: dict[str, Any] = {
    "title": "A run",
    "options": {"translation": {"systems": {"msd": ["msd"]}, "metrics": ["bleu"], "tune-limit": 4}},
    "translation": [{"system": "msd", "limit": 4, "scores": {"BLEU": {"value": 30}}}],
    "movement": {"word_distortions": {"0": 3}},
}
PLAN = [{"stage": name, "folder": name} for name in ("tune.msd.1", "translate.msd.1.4")]
STAGE = {"options": {"limit": 4, "columns": []}, "seconds": 1, "peak_mib": 2.5, "output_mib": 1}
CONTENTS = {
    "results.json": RESULTS,
    "plan.json": PLAN,
    "stages/tune.msd.1/stage.json": STAGE,
    "stages/tune.msd.1/weights.json": {"weights": {"LM0": [0.5]}},
    "stages/translate.msd.1.4/stage.json": STAGE,
}


def folder(root: Path, file: str = "", content: object = None) -> Path:
    """A run, of which one file has other content."""
    for name, value in CONTENTS.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(json.dumps(content if name == file else value), encoding="utf-8")
    return root


def explored(root: Path) -> None:
    """What `explore` reads before it translates anything."""
    run = Run(root)
    output = run.output("msd")
    assert run.weights(output) == {"LM0": [0.5]} and run.system_scores(output) == {"BLEU": 30} and run.movement


def changed(*keys: str | int, to: object) -> dict[str, Any]:
    results: Any = json.loads(json.dumps(RESULTS))
    *outside, last = keys
    at = results
    for key in outside:
        at = at[key]
    at[last] = to
    return dict(results)


@pytest.mark.parametrize(
    ("reads", "file", "content", "message"),
    [
        (explored, "results.json", [], "it is a list, not an object"),
        (explored, "results.json", {}, "no 'title'"),
        (explored, "results.json", changed("title", to=7), "'title' is a whole number, not text"),
        (explored, "results.json", changed("options", to="x"), "'options' is text, not an object"),
        (
            explored,
            "results.json",
            changed("options", "translation", "systems", to=["msd"]),
            "'options.translation.systems' is a list, not an object",
        ),
        (
            explored,
            "results.json",
            changed("options", "translation", "metrics", 0, to=None),
            "'options.translation.metrics.0' is null, not text",
        ),
        (
            explored,
            "results.json",
            changed("options", "translation", "tune-limit", to=True),
            "'options.translation.tune-limit' is true or false, not a whole number",
        ),
        (
            explored,
            "results.json",
            changed("translation", 0, "scores", "BLEU", to=30),
            "'translation.0.scores.BLEU' is a whole number, not an object",
        ),
        (
            explored,
            "results.json",
            changed("translation", 0, to=1),
            "'translation.0' is a whole number, not an object",
        ),
        (explored, "results.json", changed("movement", to=[]), "'movement' is a list, not an object"),
        (
            explored,
            "results.json",
            changed("movement", "word_distortions", to={"far": 1}),
            "'movement.word_distortions.far' is not named by a whole number",
        ),
        (explored, "plan.json", {}, "it is an object, not a list"),
        (explored, "plan.json", [{"stage": "x"}], "no '0.folder'"),
        (explored, "plan.json", ["x"], "'0' is text, not an object"),
        (explored, "plan.json", [], "the plan has no stages"),
        (status_rows, "plan.json", [{"folder": "x"}], "no '0.stage'"),
        (
            explored,
            "stages/translate.msd.1.4/stage.json",
            {"options": {"limit": "4", "columns": []}},
            "'options.limit' is text, not a whole number",
        ),
        (status_rows, "stages/tune.msd.1/stage.json", {}, "no 'seconds'"),
        (
            explored,
            "stages/tune.msd.1/weights.json",
            {"weights": {"LM0": ["much"]}},
            "'weights.LM0.0' is text, not a number",
        ),
    ],
)
def test_what_is_not_as_expected_is_named(
    tmp_path: Path, reads: Callable[[Path], object], file: str, content: object, message: str
) -> None:
    reads(folder(tmp_path))
    with pytest.raises(InputError) as raised:
        reads(folder(tmp_path, file, content))
    assert message in str(raised.value) and "\n" not in str(raised.value)
    assert str(raised.value).startswith(str(tmp_path / file))


def test_a_run_tuned_without_a_limit_is_explored(tmp_path: Path) -> None:
    explored(folder(tmp_path, "results.json", changed("options", "translation", "tune-limit", to="none")))
