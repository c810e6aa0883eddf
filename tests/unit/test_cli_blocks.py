"""The block model as a user meets it: train, evaluate, explain, translate, with trees from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperbaton.corpus.files import write_pieces
from hyperbaton.data import generate
from tests.program import hyperbaton


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts with tags and trees, a model and a system."""
    folder = tmp_path_factory.mktemp("work")
    generate(300, seed=5).write(folder, 20, 30)
    trees = (folder / "train.source.trees").read_text(encoding="utf-8").splitlines()
    # As many files have them: only some sentences.
    sparse = [f"{n}\t{tree}\n".encode() for n, tree in enumerate(trees, 1) if n % 2]
    write_pieces(folder / "sparse.trees.gz", sparse)
    done = hyperbaton(
        *("train", "block_me", *(folder / f"train.{ending}" for ending in ("source", "target", "links"))),
        *(
            "-o",
            folder / "block",
            "--source-tags",
            folder / "train.source.tags",
            "--learner",
            "lbfgs:max-passes=10",
            "--json",
        ),
        *("--source-trees", folder / "sparse.trees.gz"),
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["features"] > 100 and "sibling-tag" in summary["families"]
    files = [folder / f"train.{ending}" for ending in ("source", "target", "links")]
    assert hyperbaton("extract", *files, "-o", folder / "phrases", "-q").returncode == 0
    made = hyperbaton(
        "system", "-o", folder / "system", "--phrases", folder / "phrases", "--reordering", f"Block0={folder / 'block'}"
    )
    assert made.returncode == 0, made.stderr
    return folder


def test_evaluate(work: Path) -> None:
    files = [work / f"test.{ending}" for ending in ("source", "target", "links", "source.tags", "source.trees")]
    flags = ("--source-tags", files[3], "--source-trees", files[4])
    evaluation = json.loads(hyperbaton("evaluate", work / "block", *files[:3], *flags, "--json").stdout)
    assert evaluation["model"] == "block_me" and 0 < evaluation["accuracy"] <= evaluation["jump_accuracy"] <= 100
    assert hyperbaton("evaluate", work / "block", *files[:3], *flags).stdout.startswith(
        "model\tpath\tn\taccuracy\tlog p\tof jumps"
    )


def test_explain(work: Path) -> None:
    table = hyperbaton("explain", work / "block", "--family", "sibling-word", "--sort", "count", "--top", 5)
    assert table.stdout.splitlines()[0].split("\t")[:3] == ["count", "exp λ", "j"], table.stderr
    assert table.stdout.splitlines()[0].split("\t")[-3:] == ["node", "coverage", "orientation"]
    features = json.loads(hyperbaton("explain", work / "block", "--family", "tags", "--json").stdout)
    picture = hyperbaton("explain", work / "block", "--tag", features[0]["source"], "-o", work / "tag.svg")
    assert picture.returncode == 0 and (work / "tag.svg").stat().st_size > 0
    assert len(picture.stdout.splitlines()) == 12
    wrong = hyperbaton("explain", work / "block", "--family", "words")
    assert wrong.returncode != 0 and "unknown family of features 'words'" in wrong.stderr
    unsorted = hyperbaton("explain", work / "block", "--sort", "name")
    assert unsorted.returncode == 2 and "--sort must be one of weight, count" in unsorted.stderr


def test_translate(work: Path) -> None:
    known = ("--source-tags", work / "test.source.tags", "--source-trees", work / "test.source.trees")
    done = hyperbaton("translate", work / "system", work / "test.source", *known, "--pop-limit", 50)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 30, done.stderr
    wrong = hyperbaton("translate", work / "system", work / "test.source", *known[:3], work / "dev.source.trees")
    assert wrong.returncode == 1 and wrong.stderr.count("\n") == 1
