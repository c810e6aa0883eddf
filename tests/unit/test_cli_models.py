"""train, evaluate and explain as a user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hyperbaton.data import generate

PROGRAM = [sys.executable, "-c", "from hyperbaton.cli import main; main()"]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, check=False, encoding="utf-8")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, word classes and two models."""
    folder = tmp_path_factory.mktemp("work")
    for name, part in generate(300, seed=5).bitext.split({"train": 250, "test": 50}).items():
        for ending, side in (("zh", part.source), ("en", part.target), ("links", part.need_links())):
            (folder / f"{name}.{ending}").write_bytes(b"".join(side.pieces()))
    classes = run("classes", folder / "train.zh", "--classes", 8, "-q")
    (folder / "zh.classes").write_text(classes.stdout, encoding="utf-8")
    files = [folder / f"train.{ending}" for ending in ("zh", "en", "links")]
    assert run("train", "lexicalized", *files, "-o", folder / "lr", "--orientations", "five").returncode == 0
    flags = ("--orientations", "five", "--max-passes", 20, "--average", "--source-classes", folder / "zh.classes")
    done = run("train", "mms", *files, "-o", folder / "mms", *flags, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["samples"] > 1000
    return folder


def test_evaluate_prints_one_object_for_each_model(work: Path) -> None:
    files = [work / f"test.{ending}" for ending in ("zh", "en", "links")]
    done = run("evaluate", work / "lr", work / "mms", *files, "--json", "--plots", work / "plots")
    assert done.returncode == 0, done.stderr
    objects = [json.loads(line) for line in done.stdout.splitlines()]
    assert [o["model"] for o in objects] == ["lexicalized", "mms"]
    for told in objects:
        assert set(told["f1"]) == {"d≤-5", "-5<d<0", "d=0", "0<d<5", "d≥5"}
        assert 0 <= told["overall_precision"] <= 100 and told["n"] == objects[0]["n"] > 0
        assert "0" in told["precision_by_distance"] and told["train_seconds"] > 0 and told["train_peak_mib"] > 0
    assert (work / "plots" / "precision-by-distance.svg").stat().st_size > 0
    table = run("evaluate", work / "lr", *files)
    assert table.stdout.splitlines()[0].startswith("model\tpath\tn\tprecision")


def test_explain_names_features(work: Path) -> None:
    sentence = (work / "train.zh").read_text(encoding="utf-8").splitlines()[0]
    told = json.loads(run("explain", work / "mms", "--sentence", sentence, "--json").stdout)
    assert told and all(abs(sum(t["probabilities"].values()) - 1) < 1e-9 for t in told)
    names = {feature.partition(":")[0] for t in told for found in t["features"].values() for feature, _ in found}
    assert "always" in names and any(name.startswith("source") for name in names)
    phrase = json.loads(run("explain", work / "mms", "--phrase", told[0]["phrase"], "--json").stdout)[0]
    assert sum(phrase["counts"].values()) >= 10
    assert run("explain", work / "lr").returncode == 0


def test_wrong_usage_is_one_line(work: Path) -> None:
    files = [work / f"train.{ending}" for ending in ("zh", "en", "links")]
    done = run("train", "mms", *files, "-o", work / "x", "--variance", 1)
    assert done.returncode == 1 and "the model mms has no option --variance" in done.stderr
    done = run("train", "mss", *files, "-o", work / "x")
    assert done.returncode == 1 and "did you mean mms?" in done.stderr
    done = run("evaluate", work / "lr", files[0])
    assert done.returncode == 1 and "SRC TGT LINKS" in done.stderr
    (work / "lr" / "sources.counts.npy").write_bytes(b"\x93NUMPY")
    done = run("evaluate", work / "lr", *files)
    assert done.returncode == 1 and "sources.counts.npy" in done.stderr and not (work / "x").exists()
