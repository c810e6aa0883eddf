"""`Translator.train`: what is trained in which time, and what the result can do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperbaton import Bitext, Translator
from hyperbaton.base.errors import Cancelled, OptionError
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.data import generate
from hyperbaton.run.translator import FEWEST, MOST, plan_training
from tests.program import hyperbaton

PARTS = generate(150, seed=1).split(n_dev=10, n_test=10)
TRAIN, DEV, TEST = (PARTS[name].bitext for name in ("train", "dev", "test"))
TEST_LINES = [" ".join(words) for words in TEST.source]
LINE = TEST_LINES[0]


@pytest.fixture(scope="module", autouse=True)
def little_tuning() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hyperbaton.run.translator.MOST", 2)
        yield


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.train(TRAIN, DEV, minutes=0.15, model="pair", quiet=True)


def test_more_time_gives_better_models_and_more_tuning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperbaton.run.translator.MOST", MOST)
    large = Bitext.of(["a b c d e f g h i j k l"] * 40_000, ["x"] * 40_000)
    dev = large[:1000]
    plans = [plan_training(large, dev, minutes) for minutes in (1, 2.2, 3, 20)]
    assert [plan.model for plan in plans] == ["none", "pair", "sequence", "sequence"]
    assert [plan.iterations for plan in plans] == sorted(plan.iterations for plan in plans)
    assert plans[0].iterations < FEWEST and plans[-1].iterations == MOST
    assert all(plan.seconds <= 60 * minutes for plan, minutes in zip(plans[1:], (2.2, 3, 20), strict=True))
    named = plan_training(large, dev, 1, "sequence")
    assert named.model == "sequence" and named.iterations == 1
    # Links that are there need not be made.
    linked = large.with_links([[]] * len(large))
    assert plan_training(linked, dev, 2.2).seconds != plans[1].seconds
    assert plan_training(linked, dev, 2.2, aligning=True) == plans[1]


def test_rules_are_planned_where_phrases_move_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperbaton.run.translator.MOST", MOST)
    near, far = ([[(i, n(i)) for i in range(12)]] * 1000 for n in (lambda i: i, lambda i: 11 - i))
    lines = ["a b c d e f g h i j k l"] * 1000
    straight, reversed_ = (Bitext.of(lines, lines, links) for links in (near, far))
    assert plan_training(straight, straight[:50], 10)[:2] == ("phrases", "sequence")
    assert plan_training(reversed_, straight[:50], 10)[:2] == ("rules", "sequence")
    assert plan_training(reversed_, straight[:50], 0.3).table == "phrases"  # too little time
    assert plan_training(straight, straight[:50], 10, "rules")[:2] == ("rules", "sequence")
    assert plan_training(straight, straight[:50], 0.1, "rules")[:3] == ("rules", "none", 1)
    monkeypatch.setattr("hyperbaton.run.translator.MOST_MIB", 100)  # too much text for the memory
    assert plan_training(reversed_, straight[:50], 10).table == "phrases"


def test_a_translator_with_rules_translates_saves_and_explains(tmp_path: Path) -> None:
    translator = Translator.train(TRAIN, DEV, minutes=0, model="rules", quiet=True)
    assert translator.system.is_hierarchical and not translator.system.reordering
    line = translator.translate(LINE)
    assert " ".join(translator.explain(LINE).record["target"]) == line
    translator.save(tmp_path / "saved")
    assert Translator.load(tmp_path / "saved").translate(LINE) == line


def test_it_translates_saves_and_explains(translator: Translator, tmp_path: Path) -> None:
    assert list(translator.system.reordering) == ["hier", "pair"]
    line = translator.translate(LINE)
    assert line and translator.translate([LINE, ""]) == [line, ""]
    translator.save(tmp_path / "saved")
    assert Translator.load(tmp_path / "saved").translate(LINE) == line
    assert hyperbaton("translate", tmp_path / "saved", text=f"{LINE}\n").stdout == f"{line}\n"
    explained = translator.explain(LINE)
    assert " ".join(explained.record["target"]) == line and "<svg" in explained._repr_svg_()
    assert repr(explained).startswith(f"{LINE}\n{line}\n") and "\nhier " in repr(explained)
    explained.save(tmp_path / "explained.svg")
    assert (tmp_path / "explained.svg").stat().st_size > 1000


def test_the_same_text_and_options_give_the_same_translator(translator: Translator) -> None:
    stages: dict[str, list[int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        stages.setdefault(stage, []).append(done)

    again = Translator.train(TRAIN, DEV, minutes=0.15, model="pair", threads=1, progress=progress)
    assert again.system.weights == translator.system.weights
    assert again.translate(TEST_LINES) == translator.translate(TEST_LINES)
    assert {"extract", "language model", "train pair", "tune"} <= set(stages) and "align" not in stages


def test_raw_text_with_text_processing(translator: Translator) -> None:
    side = TextSide("en", "none", "lowercase")
    raw = Translator(translator.system.with_text(TextProcessing(side, side)))
    shouted = LINE.upper()
    assert raw.translate(shouted).lower() == raw.translate([shouted])[0].lower() != shouted.lower()
    assert " ".join(raw.explain(shouted).record["source"]) == LINE
    with pytest.raises(OptionError, match="explain takes one sentence, not 2"):
        raw.explain("A b.\nC d.")


def test_mistakes() -> None:
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ("text", {}, r"Translator\.train takes a Bitext, not text"),
        (TRAIN, {"minutes": -1}, "minutes must be at least 0"),
        (TRAIN, {"model": "sequense"}, r"unknown model 'sequense' \(did you mean sequence\?\)"),
        (TRAIN[:10], {}, "none to tune on"),
        (TRAIN, {"dev": TRAIN[:0]}, "none to tune on"),
    ]
    for bitext, options, message in wrong:
        with pytest.raises(OptionError, match=message):
            Translator.train(bitext, quiet=True, **options)
    with pytest.raises(Cancelled):
        Translator.train(TRAIN, DEV, minutes=0.15, progress=lambda stage, done, total: stage != "extract")
