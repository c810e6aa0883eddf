"""Reordering models in a system: those of the package, with and without tags, and classes that users write."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from click.testing import CliRunner

from hyperbaton import _core
from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.cli import Program
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, ModelUse, NBest, System, TokenTranslator, annotate
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.locations import Location
from hyperbaton.decode.reordering import OptionScores, Reordering
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS, Batch
from hyperbaton.phrases import PhraseTable, extract, extract_phrases, orientation_set
from tests.program import hyperbaton_bytes

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def system(moses_system: System) -> System:
    return moses_system


class Backwards:
    """Ten lines make a reordering model: this one wants the source read from right to left."""

    orientations = "three"

    def option_logprobs(self, source: Any, options: Any) -> Any:
        return np.tile(np.array([-9.0, -5.0, 0.0]), (len(options), 1))


def test_own_model_changes_the_order(system: System) -> None:
    backwards = System.of(system.table, system.lms, {"B": Backwards()}, {"B": 20.0, "Distortion0": 0.0})
    translations = TokenTranslator(backwards, Decoding(distortion_limit=-1), threads=2).translate_batch(LINES[:5], NBest(1))
    for path in range(5):
        starts = [step.begin for step in translations.steps(path)]
        # Nothing forbids to jump right first, which costs once.
        assert sum(b > a for a, b in pairwise(starts)) <= 1
    with pytest.raises(OptionError, match="cannot be saved"):
        backwards.save("nowhere")


@dataclass(frozen=True)
class LengthCost(Reordering):
    """A kind of reordering of one file: it costs something to translate many words at once."""

    costs: Any

    KEY: ClassVar = "length"
    FORM: ClassVar = {"length": int}

    @property
    def n_features(self) -> int:
        return 1

    @property
    def start_weights(self) -> list[float]:
        return [2.0]

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        lengths = np.minimum(batch.options.source.length, len(self.costs)) - 1
        scores = np.repeat(self.costs[lengths][:, None], 3, axis=1)
        return [OptionScores(scores, orientation_set("three"), "before").scorer(weights)]

    def stored(self, name: str) -> dict[str, Any]:
        return {"length": len(self.costs)}

    def arrays(self, prefix: str) -> dict[str, Any]:
        return {f"{prefix}.costs": self.costs}

    @classmethod
    def layout(cls, entry: Any, prefix: str) -> dict[str, str]:
        return {f"{prefix}.costs": f"f4 {entry['length']}"}

    @classmethod
    def restored(cls, entry: Any, location: Location) -> LengthCost:
        return cls(location.open({"costs": f"f4 {entry['length']}"}, lambda arrays: arrays["costs"]))


def test_a_new_kind_of_reordering_is_scored_saved_and_loaded(system: System, tmp_path: Path) -> None:
    costs = np.array([0, -50, -90], np.float32)
    own = System.of(system.table, system.lms, {"L": LengthCost(costs)})
    assert own.weights["L"] == [2.0] and own.features["L"] == 1
    own.save(tmp_path / "system")
    opened = System.load(tmp_path / "system")
    assert np.array_equal(opened.reordering["L"].costs, costs)  # type: ignore[attr-defined]
    one, other = (TokenTranslator(each, threads=2).translate_batch(LINES[:5], NBest(1)) for each in (own, opened))
    assert list(one.lines()) == list(other.lines())
    assert max(step.end - step.begin for path in range(5) for step in one.steps(path)) == 1
    with pytest.raises(OptionError, match="L: only an orientation model can have a weight for each class"):
        own.reordering["L"].with_class_weights("L")


class Wrong:
    orientations = "five"

    def option_logprobs(self, source: Any, options: Any) -> Any:
        return np.zeros((len(options), 3))


class WrongSteps:
    def step_scores(self, steps: Any) -> Any:
        return np.zeros(len(steps) + 1), np.zeros(len(steps))


class CountedSteps:
    """Prefers early words, and notes how many steps it is asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def step_scores(self, steps: Any) -> Any:
        self.asked.append(len(steps))
        return -np.asarray(steps.begin, float), np.zeros(len(steps), int)


def test_refined_search_asks_step_models_for_whole_stacks(system: System) -> None:
    line = "n1 de n2 n3 de n1"
    asked, scores = {}, {}
    for search in ("cube", "refine"):
        model = CountedSteps()
        made = System.of(system.table, [], {"S": model}, {"S": 0.1})
        options = Decoding(search=search, stack=0, pop_limit=10**6)
        result = TokenTranslator(made, options, threads=1).translate_batch([line], NBest())
        scores[search] = result.scores.tolist()
        asked[search] = sum(n > 1 for n in model.asked)
    assert scores["refine"] == pytest.approx(scores["cube"])
    assert 0 < asked["refine"] <= len(line.split()) < asked["cube"]


def test_models_with_wrong_answers_are_reported(system: System) -> None:
    cases: list[tuple[Any, str]] = [
        (Wrong(), "5 classes gave 3 scores"),
        (WrongSteps(), "as many scores and states"),
        (object(), "not a reordering model"),
    ]
    for model, message in cases:
        with pytest.raises(HyperbatonError, match=message):
            TokenTranslator(System.of(system.table, [], {"W": model})).translate(["n1 de n2"])


def test_every_model_of_the_package_can_be_used(tmp_path: Path) -> None:
    lines = [(GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:150] for side in ("src", "tgt", "links")]
    for name, text in zip(("src", "tgt", "links"), lines, strict=True):
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    bitext = Bitext.read(tmp_path / "src", tmp_path / "tgt", tmp_path / "links")
    extract_phrases(bitext).save(tmp_path / "phrases", bitext)
    LanguageModel.estimate(bitext.target, 3, discount_fallback=True).save(tmp_path / "lm")
    for name in ("lexicalized", "mms", "pair", "linear"):
        MODELS[name]().fit(bitext).save(tmp_path / name)
    made = assemble(
        tmp_path / "phrases",
        [tmp_path / "lm"],
        {n: str(tmp_path / n) for n in ("lexicalized", "mms", "pair", "linear")} | {"T": "wbe-msd-bidirectional-fe"},
        scaled={"lexicalized": 2.0},
        inside=["pair"],
    )
    made.save(tmp_path / "system")
    loaded = System.load(tmp_path / "system")
    use = loaded.reordering["lexicalized"]
    assert isinstance(use, ModelUse) and (use.use, use.beta) == ("scaled", 2.0)
    first = TokenTranslator(made, threads=1).translate_batch(lines[0][:20], NBest(1))
    second = TokenTranslator(loaded, threads=2).translate_batch(lines[0][:20], NBest(1))
    assert first.scores.tolist() == second.scores.tolist()
    assert all(np.abs(first.totals[:, column]).sum() > 0 for column in (first.columns[n][0] for n in ("mms", "pair", "T")))
    _check_weights_per_class(tmp_path, lines[0][:20])


def _check_weights_per_class(parts: Path, lines: list[str]) -> None:
    """With equal weights nothing changes but the number of values; their sum is the one value."""
    kinds = {"L": str(parts / "lexicalized"), "M": str(parts / "mms"), "T": "wbe-msd-bidirectional-fe"}
    whole = assemble(parts / "phrases", [parts / "lm"], kinds, scaled={"L": 2.0})
    split = assemble(parts / "phrases", [parts / "lm"], kinds, scaled={"L": 2.0}, per_class=["L", "M", "T"])
    assert [(whole.features[n], split.features[n]) for n in "LMT"] == [(1, 3), (1, 3), (6, 6)]
    split.save(parts / "split")
    loaded = System.load(parts / "split")
    assert loaded.features == split.features
    one, many = (TokenTranslator(system, threads=1).translate_batch(lines, NBest(3)) for system in (whole, loaded))
    assert many.scores == pytest.approx(one.scores, abs=1e-4)
    for name in "LM":
        values = many.totals[:, many.columns[name]]
        assert values.sum(axis=1) == pytest.approx(one.totals[:, one.columns[name][0]], abs=1e-3)
        assert (np.abs(values).sum(axis=0) > 0).sum() > 1
    for name, message in (("pair", "only an orientation model"), ("none", "no reordering model 'none'")):
        with pytest.raises(OptionError, match=message):
            assemble(parts / "phrases", [parts / "lm"], {"pair": str(parts / "pair")}, per_class=[name])


def test_models_trained_with_tags_are_given_them(tmp_path: Path) -> None:
    lines = [(GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:100] for side in ("src", "tgt", "links")]
    for name, text in zip(("src", "tgt", "links"), lines, strict=True):
        (tmp_path / name).write_text("\n".join(text) + "\n", encoding="utf-8")
    bitext = Bitext.read(tmp_path / "src", tmp_path / "tgt", tmp_path / "links")
    tags = [" ".join(word[:1] for word in line.split()) for line in lines[0]]
    model = MODELS["pair"](learner="lbfgs:max-passes=20").fit(bitext, Annotations(source_tags=Tags.of(tags, bitext.source)))
    made = System.of(PhraseTable.build(bitext, extract(bitext, 4)), [], {"PAIR": model}, {"PAIR": 5.0})
    translator = TokenTranslator(made, threads=1)
    whole = translator.translate(lines[0][:20], annotations=annotate(lines[0][:20], tags=tags[:20]))
    known = annotate(lines[0][:20], tags=tags[:20])
    parts = [line for i in range(20) for line in translator.translate(lines[0][i : i + 1], annotations=known.select([i]))]
    assert whole == parts
    other = translator.translate(
        lines[0][:20],
        annotations=annotate(lines[0][:20], tags=[" ".join("x" for _ in line.split()) for line in lines[0][:20]]),
    )
    assert whole != other
    with pytest.raises(OptionError, match="was trained with tags"):
        translator.translate(lines[0][:2])
    with pytest.raises(InputError, match="tags:2: 1 tag for"):
        annotate(lines[0][:2], tags=[tags[0], "N"])
    with pytest.raises(InputError, match="more lines of tags than the 1 line"):
        translator.translate(lines[0][:1], annotations=known)
    with pytest.raises(InputError, match=r"tags:1: \d+ tags for 1 word"):
        translator.translate(["one"], annotations=known.select([0]))
    made.save(tmp_path / "system")
    (tmp_path / "tags").write_text("\n".join(tags[:20]) + "\n", encoding="utf-8")
    text = "".join(f"{line}\n" for line in lines[0][:20]).encode()
    with_tags = hyperbaton_bytes("translate", tmp_path / "system", "--source-tags", tmp_path / "tags", "-q", text=text)
    assert with_tags.stdout.decode().splitlines() == whole, with_tags.stderr


def test_tags_are_those_of_the_words_without_markup(tmp_path: Path) -> None:
    made = generate(100, seed=3)
    bitext = made.bitext
    tags = [" ".join(line) for line in made.source_tags]
    pair = MODELS["pair"](learner="lbfgs:max-passes=2").fit(bitext, Annotations(source_tags=Tags.of(tags, bitext.source)))
    System.of(PhraseTable.build(bitext, extract(bitext, 3)), reordering={"P": pair}).save(tmp_path / "system")
    first, *rest = bitext.source[0]
    (tmp_path / "text").write_text(f'<x translation="first one">{first}</x> <wall/> {" ".join(rest)}\n', encoding="utf-8")
    (tmp_path / "tags").write_text(tags[0] + "\n", encoding="utf-8")
    command = ["translate", str(tmp_path / "system"), str(tmp_path / "text"), "--source-tags", str(tmp_path / "tags")]
    for executor in ([], ["--executor", "processes:1"]):
        done = CliRunner().invoke(Program(), [*command, "--markup", "-q", *executor])
        assert done.exit_code == 0 and done.stdout.startswith("first one "), done.output
