"""Tuning a real system: the decoder that tuning sees, and the verb `tune` as a user types it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Workers
from hyperbaton.corpus import Annotations, Bitext, Tags
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.tune import OPTIMIZERS, Tuning, tune
from hyperbaton.tune.nbest import check_nbest, first_of_each
from hyperbaton.tune.runs import DevelopmentText, TuningRuns
from hyperbaton.tune.system import SystemDecoder, fix_weights
from tests.program import hyperbaton

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
SOURCE = (GOLDEN / "test.src").read_text(encoding="utf-8").splitlines()
REFERENCE = (GOLDEN / "test.tgt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def system(moses_system: System) -> System:
    return moses_system


def test_features_times_weights_are_the_scores_of_the_system(system: System) -> None:
    lines = [*SOURCE[:5], "", "unknownword"]
    decoder = SystemDecoder(system, lines, n_best=7, threads=1)
    nbest = decoder(decoder.start)
    check_nbest(nbest, len(lines), len(decoder.start))
    best = first_of_each(nbest)
    assert [nbest.hypotheses[i] for i in best] == TokenTranslator(system).translate(lines)
    scores = nbest.features @ decoder.start
    translations = TokenTranslator(system).translate_batch(lines, NBest(7))
    words = (
        np.repeat(np.arange(len(lines)), np.diff(translations.path_offsets)) != 5
    )  # the empty sentence is our own affair
    assert scores[nbest.sentence != 5] == pytest.approx(translations.scores[words], abs=1e-3)
    assert decoder.with_weights(decoder.start).weights == system.weights
    for s in range(len(lines)):
        own = scores[nbest.sentence == s]
        assert (np.diff(own) <= 1e-3).all()


def write_badly_weighted(system: System, folder: Path, n: int) -> None:
    """A system that tuning can improve, and a development text of n sentences."""
    system.with_weights({"LM0": 0.01, "TranslationModel0": 0.01}).save(folder / "system")
    (folder / "src").write_text("\n".join(SOURCE[:n]) + "\n", encoding="utf-8")
    (folder / "ref").write_text("\n".join(REFERENCE[:n]) + "\n", encoding="utf-8")


def test_verb(system: System, tmp_path: Path) -> None:
    write_badly_weighted(system, tmp_path, 40)
    done = hyperbaton(
        "tune", tmp_path / "system", tmp_path / "src", tmp_path / "ref", "-o", tmp_path / "tuned", "--iterations", 4,
        "--average", 1, "--nbest", 20, "--optimizer", "mert:restarts=2:directions=1", "--runs", 2, "--json", "--threads", 1,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["score"] > result["history"][0]["score"] + 1
    assert len(result["runs"]) == 2 and list(result["held_out"]) == ["mean of 2 runs", "run 1", "run 2"]
    assert result["held_out"][result["chosen"]] == max(result["held_out"].values())
    assert System.load(tmp_path / "tuned").weights == result["weights"]
    assert not (tmp_path / "tuned.tuning").exists()
    assert result["system"] == str(tmp_path / "tuned") and result["start"]["LM0"] == [0.01]
    assert "run 2 of 2, iteration 1 of at most 4: bleu" in done.stderr


@pytest.mark.parametrize("distributed", [False, True])
def test_with_an_executor_the_optimizer_has_the_threads_of_a_task(
    system: System, distributed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    threads = []
    monkeypatch.setattr(
        "hyperbaton.tune.runs.tune", lambda *_, **options: threads.append(options["resources"].threads) or Mock()
    )
    resources = Resources(8, workers=Workers(Mock(), tmp_path) if distributed else Workers())
    TuningRuns(system, Tuning(), resources=resources).on(DevelopmentText(SOURCE[:2], [REFERENCE[:2]]))
    assert threads == [1 if distributed else 8]


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_fixed_weights_of_a_system(system: System, name: str) -> None:
    fix: dict[str, float | list[float]] = {"Distortion0": 0, "TranslationModel0_1": 0.3, "LexicalReordering0": 0.1}
    decoder = SystemDecoder(system, SOURCE[:8], fix=fix, n_best=10, threads=1)
    options = Tuning(optimizer="mert:restarts=2:directions=1" if name == "mert" else name, iterations=2)
    tuned = decoder.with_weights(
        tune(decoder, decoder.start, [REFERENCE[:8]], options, fixed=decoder.fixed, resources=Resources(1)).weights
    )
    assert tuned.weights["Distortion0"] == [0] and tuned.weights["TranslationModel0"][1] == 0.3
    assert tuned.weights["LexicalReordering0"] == [0.1] * 8


@pytest.mark.parametrize(
    ("fix", "message"),
    [
        ({"Distance": 0}, "no feature 'Distance' to fix; it has LexicalReordering0, Distortion0"),
        ({"TranslationModel0_4": 0}, "TranslationModel0 has 4 weights, TranslationModel0_0 to TranslationModel0_3"),
        ({"TranslationModel0": [1, 2]}, "TranslationModel0 needs 4 weights, not 2"),
        ({"LM0": 1, "LM0_0": 1}, "weights of LM0_0 are fixed twice"),
    ],
)
def test_weights_that_cannot_be_fixed(system: System, fix: dict[str, float | list[float]], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        fix_weights(system, fix)


def test_verb_ends_with_the_weights_and_the_path(system: System, tmp_path: Path) -> None:
    write_badly_weighted(system, tmp_path, 30)
    done = hyperbaton(
        "tune", tmp_path / "system", tmp_path / "src", tmp_path / "ref", "-o", tmp_path / "tuned", "--iterations", 2,
        "--average", 1, "--nbest", 20, "--optimizer", "mert:restarts=2:directions=1", "--threads", 1,
        "--fix", "Distortion0=0",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tuned = System.load(tmp_path / "tuned")
    assert tuned.weights["Distortion0"] == [0]
    *_, weights, last = done.stderr.splitlines()[-len(tuned.weights) - 1 :]
    assert weights.split() == ["UnknownWordPenalty0", "1", "→", f"{tuned.weights['UnknownWordPenalty0'][0]:.4g}"]
    assert f"LM0                  0.01 → {tuned.weights['LM0'][0]:.4g}" in done.stderr
    assert re.fullmatch(rf"wrote {tmp_path / 'tuned'}: bleu [\d.]+ → [\d.]+, iteration [12]", last)
    assert done.stdout.startswith("iteration\tbleu")


def test_models_trained_with_tags_are_tuned_with_them(tmp_path: Path) -> None:
    files = {
        side: (GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:60] for side in ("src", "tgt", "links")
    }
    files["tags"] = [" ".join(word[:1] for word in line.split()) for line in files["src"]]
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    bitext = Bitext.read(tmp_path / "src", tmp_path / "tgt", tmp_path / "links")
    model = MODELS["pair"](learner="lbfgs:max-passes=5").fit(
        bitext, Annotations(source_tags=Tags.of(files["tags"], bitext.source))
    )
    System.of(PhraseTable.build(bitext, extract(bitext, 3)), [], {"PAIR": model}).save(tmp_path / "system")
    files["tags"].pop()
    (tmp_path / "short").write_text("".join(f"{line}\n" for line in files["tags"]), encoding="utf-8")
    for tags, expected in (("tags", "run 2 of 2, iteration 1 of at most "), ("short", "short:60: has 59 lines")):
        done = hyperbaton(
            "tune", tmp_path / "system", tmp_path / "src", tmp_path / "tgt", "-o", tmp_path / "tuned", "--runs", 2,
            "--iterations", 1, "--nbest", 5, "--optimizer", "mert:restarts=0", "--source-tags", tmp_path / tags,
        )  # fmt: skip
        assert expected in done.stderr


def test_verb_fails_in_one_line_and_keeps_the_best_weights(system: System, tmp_path: Path) -> None:
    system.save(tmp_path / "system")
    (tmp_path / "src").write_text("\n".join(SOURCE[:3]) + "\n", encoding="utf-8")
    (tmp_path / "ref").write_text("xyzzy\nplugh\nplover\n", encoding="utf-8")
    failed = hyperbaton(
        "tune", tmp_path / "system", tmp_path / "src", tmp_path / "ref", "-o", tmp_path / "tuned", "--quiet"
    )
    assert failed.returncode == 1
    assert "tuning failed: no choice from the n-best lists has a better BLEU than 0.00" in failed.stderr
    assert System.load(tmp_path / "tuned").weights == system.weights
    (tmp_path / "ref").write_text("a\n", encoding="utf-8")
    for verb, more in (("tune", ["-o", tmp_path / "other"]), ("diagnose", [])):
        short = hyperbaton(verb, tmp_path / "system", tmp_path / "src", tmp_path / "ref", *more)
        assert short.returncode == 1 and "ref:2: has 1 line, but " in short.stderr
        assert len(short.stderr.splitlines()) == 1


def test_verb_sets_the_length(system: System, tmp_path: Path) -> None:
    write_badly_weighted(system, tmp_path, 30)
    tune = [
        "tune", tmp_path / "system", tmp_path / "src", tmp_path / "ref", "-o", tmp_path / "tuned", "--iterations", 2,
        "--nbest", 20, "--threads", 1, "--length",
    ]  # fmt: skip
    done = hyperbaton(*tune, "1.2", "--at-length")
    assert done.returncode == 0, done.stderr
    length = float(re.search(r"with the word penalty set: bleu [\d.]+, length ([\d.]+)", done.stderr)[1])  # type: ignore[index]
    assert length == pytest.approx(1.2, abs=0.1)
    assert re.match(r"iteration\tbleu\tlength\tcandidates\n0\t[\d.]+\t[\d.]+\t", done.stdout)
    failed = hyperbaton(*tune, "1.2", "--at-length", "--fix", "WordPenalty0=-1")
    assert failed.stderr.splitlines()[-1].endswith("--at-length changes the weight of WordPenalty0, which is fixed")
    failed = hyperbaton(*tune, "training")
    assert failed.returncode == 1 and "the lengths of the training text are unknown" in failed.stderr
