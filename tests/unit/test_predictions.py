"""What orientation models predict for the steps of derivations and for extracted phrase pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.corpus import Bitext, Links
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, ModelUse, NBest, System, TokenTranslator
from hyperbaton.decode.diagnose import ClassSums, diagnose
from hyperbaton.decode.result import NO_CLASS
from hyperbaton.evaluate.expectations import expectations
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from tests.program import hyperbaton

SOURCE, TARGET, LINKS = "wo ai ni", "i love you", [(0, 0), (1, 1), (2, 2)]


class Uniform:
    """Finds all classes equally probable."""

    orientations = "msd"

    def __init__(self, side: str = "before") -> None:
        self.side = side

    def option_logprobs(self, source: Any, options: Any) -> Any:
        return np.full((len(options), 3), -np.log(3))


def words_system(**models: Any) -> System:
    bitext = Bitext.of([SOURCE], [TARGET], [LINKS])
    return System.of(PhraseTable.build(bitext, extract(bitext, max_length=1)), reordering=models)


def test_the_class_of_a_step_is_known_even_if_all_classes_are_equally_probable() -> None:
    system = words_system(BEFORE=Uniform(), AFTER=Uniform("after"))
    options = Decoding(distortion_limit=-1)
    found = TokenTranslator(system, options, threads=1).translate_batch([SOURCE], NBest(1), forced=["you love i"])
    classes = found.step_classes(0, 0)
    assert classes["BEFORE"].tolist() == [[2], [1], [1]]
    assert classes["AFTER"].tolist() == [[NO_CLASS], [1], [1]]
    chosen = [{row["model"]: row["chosen"] for row in rows} for rows in expectations(found, 0, 0)]
    assert chosen[0] == {"BEFORE": "discontinuous"}
    assert chosen[1:] == [{"BEFORE": "swap", "AFTER": "swap"}] * 2


def test_sums_by_class() -> None:
    sums = ClassSums(("left", "right"))
    sums.add(np.log([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]]), np.array([0, 1, 1], np.uint8))
    sums.add(np.array([[0.0, 0.0], [-1.0, -2.0]]), np.array([1, NO_CLASS], np.uint8))  # unknown, and without a class
    nothing = {"n": 0, "correct": None, "confidence": None, "mean_logprob": None}
    assert ClassSums(("left",)).as_json() == {**nothing, "classes": {"left": nothing}}
    told = sums.as_json()
    assert told["n"] == 3 and told["correct"] == pytest.approx(200 / 3)
    assert told["confidence"] == pytest.approx(100 * (0.9 + 0.8 + 0.6) / 3)
    assert told["mean_logprob"] == pytest.approx(np.log([0.9, 0.2, 0.6]).mean())
    assert told["classes"]["left"] == pytest.approx({"n": 1, "correct": 100, "confidence": 90, "mean_logprob": np.log(0.9)})
    assert told["classes"]["right"]["n"] == 2 and told["classes"]["right"]["correct"] == pytest.approx(50)


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(120, seed=1).bitext


@pytest.fixture(scope="module")
def system(bitext: Bitext) -> System:
    models = {
        "LEX": MODELS["lexicalized"](orientations="hier-mslr").fit(bitext),
        "AFTER": MODELS["lexicalized"](orientations="msd", side="after").fit(bitext),
        "LEFT": MODELS["lexicalized"](classes="possible").fit(bitext),
        "SCALED": ModelUse(MODELS["lexicalized"]().fit(bitext), "scaled"),
        "PAIR": MODELS["pair"](learner="lbfgs:max-passes=1").fit(bitext),
    }
    return System.of(PhraseTable.build(bitext, extract(bitext, max_length=3)), reordering=models)


def test_the_log_probabilities_are_those_that_the_search_charged(bitext: Bitext, system: System) -> None:
    chosen = np.arange(12)
    lines = [" ".join(bitext.source[s]) for s in chosen]
    references = [" ".join(bitext.target[s]) for s in chosen]
    translations = TokenTranslator(system, threads=1).translate_batch(lines, NBest(1))
    diagnosis = diagnose(system, lines, translations.lines(), threads=1)
    assert diagnosis.reachable == len(lines)
    told = {(entry["model"], entry["phrases"]): entry for entry in diagnosis.as_json()["orientations"]}
    assert {model for model, _ in told} == {"LEX", "AFTER", "LEFT", "SCALED"}  # all that have classes
    for name in ("LEX", "AFTER", "LEFT"):
        entry = told[name, "search"]
        n = entry["n"]
        assert n == len(translations.options) - (len(lines) if name == "AFTER" else 0)
        charged = translations.totals[:, translations.columns[name]].sum()
        assert n * entry["mean_logprob"] == pytest.approx(charged, rel=1e-5)
        assert n == sum(own["n"] for own in entry["classes"].values())
        # The reference is the translation itself.
        assert told[name, "reference"] == {**entry, "phrases": "reference"}
    assert told["SCALED", "search"]["mean_logprob"] > -5  # not the factor of the distance

    diagnosis = diagnose(system, lines, references, links=bitext.select(chosen).links, threads=1)
    told = {(entry["model"], entry["phrases"]): entry for entry in diagnosis.as_json()["orientations"]}
    assert [phrases for model, phrases in told if model == "LEX"] == ["extracted", "chosen", "reference", "search"]
    part = bitext.select(chosen)
    samples = extract(part, max_length=3)
    model = system.reordering["LEX"].model  # type: ignore[attr-defined]
    own = model.sample_logprobs(part, samples)[np.arange(len(samples)), model.labels(samples)]
    entry = told["LEX", "extracted"]
    assert 0 < told["LEX", "chosen"]["n"] < entry["n"] == len(samples)  # all were in the table's text
    assert entry["mean_logprob"] == pytest.approx(own.mean(), abs=1e-5)


def test_systems_without_orientation_models_have_no_predictions() -> None:
    diagnosis = diagnose(words_system(), [SOURCE], [TARGET], links=Links.of([LINKS]), threads=1)
    assert diagnosis.reachable == 1 and diagnosis.as_json()["orientations"] == []


def test_the_command_prints_a_table_of_predictions(bitext: Bitext, tmp_path: Path) -> None:
    lexicalized = MODELS["lexicalized"](orientations="msd").fit(bitext)
    table = PhraseTable.build(bitext, extract(bitext, max_length=3))
    System.of(table, reordering={"LEX": lexicalized}).save(tmp_path / "system")
    part = bitext.select(np.arange(5))
    for name, sentences in (("s", part.source), ("t", part.target)):
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in sentences))
    points = [" ".join(f"{i}-{j}" for i, j in own) for own in part.need_links()]
    (tmp_path / "links").write_text("\n".join(points) + "\n")
    command = ["diagnose", tmp_path / "system", tmp_path / "s", tmp_path / "t", "--links", tmp_path / "links", "-q"]
    done = hyperbaton(*command)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[7] == "model\tside\tphrases\tclass\tn\tcorrect\tconfidence\tlog p"
    assert lines[8].startswith("LEX\tbefore\textracted\tall\t") and lines[9].split("\t")[3] == "monotone"
    told = json.loads(hyperbaton(*command, "--json").stdout)["orientations"]
    n_rows = sum(1 + sum(own["n"] > 0 for own in entry["classes"].values()) for entry in told)
    assert len(lines) == 8 + n_rows and told[0]["n"] == int(lines[8].split("\t")[4])
    (tmp_path / "links").write_text("0-0\n")
    done = hyperbaton(*command)
    assert done.returncode == 1 and f"{tmp_path / 'links'}" in done.stderr
