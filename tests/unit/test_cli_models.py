"""train, evaluate and explain as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperbaton.data import generate
from tests.program import hyperbaton


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, word classes and two models."""
    folder = tmp_path_factory.mktemp("work")
    for name, part in generate(300, seed=5).bitext.split({"train": 250, "test": 50}).items():
        for ending, side in (("zh", part.source), ("en", part.target), ("links", part.need_links())):
            (folder / f"{name}.{ending}").write_bytes(b"".join(side.pieces()))
    classes = hyperbaton("classes", folder / "train.zh", "--classes", 8, "-q")
    (folder / "zh.classes").write_text(classes.stdout, encoding="utf-8")
    files = [folder / f"train.{ending}" for ending in ("zh", "en", "links")]
    assert hyperbaton("train", "lexicalized", *files, "-o", folder / "lr", "--orientations", "five").returncode == 0
    flags = (
        "--orientations",
        "five",
        "--learner",
        "psl:max-passes=20:average=yes",
        "--source-classes",
        folder / "zh.classes",
    )
    done = hyperbaton("train", "mms", *files, "-o", folder / "mms", *flags, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["samples"] > 1000
    return folder


def test_evaluate_prints_one_object_for_each_model(work: Path) -> None:
    files = [work / f"test.{ending}" for ending in ("zh", "en", "links")]
    done = hyperbaton("evaluate", work / "lr", work / "mms", *files, "--json", "--plots", work / "plots")
    assert done.returncode == 0, done.stderr
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert [o["model"] for o in objects] == ["lexicalized", "mms"]
    for evaluation in objects:
        assert set(evaluation["f1"]) == {"d≤-5", "-5<d<0", "d=0", "0<d<5", "d≥5"}
        assert 0 <= evaluation["overall_precision"] <= 100 and evaluation["n"] == objects[0]["n"] > 0
        assert (
            "0" in evaluation["precision_by_distance"]
            and evaluation["train_seconds"] > 0
            and evaluation["train_peak_mib"] > 0
        )
    assert (work / "plots" / "precision-by-distance.svg").stat().st_size > 0
    table = hyperbaton("evaluate", work / "lr", *files)
    assert table.stdout.splitlines()[0].startswith("model\tpath\tn\tprecision")
    assert "\tpossible precision\t" in table.stdout.splitlines()[0]


def test_explain_names_features(work: Path) -> None:
    sentence = (work / "train.zh").read_text(encoding="utf-8").splitlines()[0]
    explanations = json.loads(hyperbaton("explain", work / "mms", "--sentence", sentence, "--json").stdout)
    assert explanations and all(abs(sum(t["probabilities"].values()) - 1) < 1e-9 for t in explanations)
    names = {
        feature.partition(":")[0] for t in explanations for features in t["features"].values() for feature, _ in features
    }
    assert "always" in names and any(name.startswith("source") for name in names)
    phrase = json.loads(hyperbaton("explain", work / "mms", "--phrase", explanations[0]["phrase"], "--json").stdout)[0]
    assert sum(phrase["counts"].values()) >= 10
    assert hyperbaton("explain", work / "lr").returncode == 0
    wrong = hyperbaton("explain", work / "lr", "--family", "tags")
    assert wrong.stderr == "hyperbaton: error: --family is not for the model lexicalized: give --phrase or --sentence\n"
    short, whole = (
        hyperbaton("explain", work / "mms", "--sentence", sentence, *more).stdout.splitlines() for more in ([], ["--all"])
    )
    assert short[0] == whole[0] and short[0].startswith(
        f"{len(explanations)} phrases of the sentence are known; expected: "
    )
    assert len(short) <= 2 + 5 * 6 < len(whole)
    assert "{" not in hyperbaton("explain", work / "mms").stdout


def test_wrong_usage_is_one_line(work: Path) -> None:
    files = [work / f"train.{ending}" for ending in ("zh", "en", "links")]
    done = hyperbaton("train", "mms", *files, "-o", work / "x", "--variance", 1)
    assert done.returncode == 2 and "unknown option --variance" in done.stderr
    done = hyperbaton("train", "mms", *files, "-o", work / "x", "--kappa", 1)
    assert done.returncode == 2 and "unknown option --kappa (an option of the model dpr)" in done.stderr
    done = hyperbaton("train", "mms", *files, "-o", work / "x", "--learner", "psl:variance=1")
    assert done.returncode == 2
    assert "unknown option 'variance' (did you mean patience?); known: intercept, unit-length" in done.stderr
    done = hyperbaton("train", "mss", *files, "-o", work / "x")
    assert done.returncode == 1 and "did you mean mms?" in done.stderr
    done = hyperbaton("evaluate", work / "lr", files[0])
    assert done.returncode == 1 and "SRC TGT LINKS" in done.stderr
    (work / "lr" / "sources.counts.npy").write_bytes(b"\x93NUMPY")
    done = hyperbaton("evaluate", work / "lr", *files)
    assert done.returncode == 1 and "sources.counts.npy" in done.stderr and not (work / "x").exists()


def test_models_of_jumps_are_trained_evaluated_and_explained(work: Path) -> None:
    files, held_out = ([work / f"{part}.{ending}" for ending in ("zh", "en", "links")] for part in ("train", "test"))
    tags = {}
    for part in ("train", "test"):
        lines = (work / f"{part}.zh").read_text(encoding="utf-8").splitlines()
        tags[part] = work / f"{part}.zh.pos"
        tags[part].write_text("".join(" ".join("WX"[len(w) % 2] for w in line.split()) + "\n" for line in lines))
    made = hyperbaton("train", "linear_jump", *files, "-o", work / "jumps")
    assert made.returncode == 0, made.stderr
    flags = ("--source-tags", tags["train"], "--learner", "lbfgs:max-passes=10", "--json")
    made = hyperbaton("train", "sequence", *files, "-o", work / "seq", *flags)
    assert made.returncode == 0 and json.loads(made.stdout)["tags"] == "tags", made.stderr
    models = (work / "jumps", work / "seq", work / "mms")
    done = hyperbaton(
        "evaluate", *models, *held_out, "--source-tags", tags["test"], "--json", "--plots", work / "jump-plots"
    )
    assert done.returncode == 0, done.stderr
    linear, sequence, mms = (json.loads(line) for line in done.stdout.splitlines())
    assert sequence["mean_logprob"] > linear["mean_logprob"] and "f1" in mms and sequence["n"] == linear["n"]
    assert 0 <= sequence["accuracy"] <= 100 and "0" in sequence["accuracy_by_distance"] and sequence["train_seconds"] > 0
    for name in ("probability-by-distortion", "probability-in-one-class", "accuracy-by-distance", "precision-by-distance"):
        assert (work / "jump-plots" / f"{name}.svg").stat().st_size > 0
    table = hyperbaton("evaluate", work / "jumps", *held_out)
    header = table.stdout.splitlines()[0]
    assert header.startswith("model\tpath\tn\taccuracy\tback\tmonotone\tforward")
    assert "\tremaining accuracy\tremaining log p\t" in header
    explained = hyperbaton(
        "explain", work / "seq", "--sentence", "a b c", "--source-tags", "X X W", "--links", "2-0 0-1", "--json"
    )
    assert json.loads(explained.stdout)["order"] == [2, 0] and json.loads(explained.stdout)["given"], explained.stderr
    explained = hyperbaton(
        "explain", work / "seq", "--sentence", "a b c", "--source-tags", "X X W", "-o", work / "jumps.svg"
    )
    assert "BOS → " in explained.stdout and (work / "jumps.svg").stat().st_size > 0
    assert hyperbaton("explain", work / "seq").returncode == 0


def test_wrong_use_of_tags_is_one_line(work: Path) -> None:
    files = [work / f"train.{ending}" for ending in ("zh", "en", "links")]
    done = hyperbaton("train", "mms", *files, "-o", work / "y", "--source-tags", work / "train.zh")
    assert done.returncode == 1 and "does not use --source-tags" in done.stderr
    assert hyperbaton("train", "linear_jump", *files, "-o", work / "own").returncode == 0
    done = hyperbaton("explain", work / "own", "--phrase", "a")
    assert done.returncode == 1 and "give --sentence" in done.stderr
