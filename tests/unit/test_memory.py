"""--memory: amounts as people write them, results that do not depend on it, and the limit itself."""

from __future__ import annotations

import errno
import json
import mmap
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from hyperbaton.base import store
from hyperbaton.base.errors import ArtefactError, HyperbatonError, OptionError
from hyperbaton.base.memory import PROGRAM, format_memory, parse_memory
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch, limited
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.models import MODELS
from hyperbaton.phrases import (
    ExtractedPhrases,
    Extraction,
    ReorderingType,
    Scoring,
    extract_phrases,
    reordering_probabilities,
)
from hyperbaton.run.experiment import parse_experiment
from hyperbaton.run.plan import make_plan
from tests.program import hyperbaton

MEMORY = "256M"


@pytest.mark.parametrize(
    ("amount", "n_bytes"), [("512M", 2**29), ("4g", 2**32), ("2.5GiB", 5 * 2**29), ("3 MB", 3_000_000), (2048, 2048)]
)
def test_amounts(amount: str | int, n_bytes: int) -> None:
    assert parse_memory(amount) == n_bytes


@pytest.mark.parametrize("amount", ["4", "G", "-4G", "4 apples", "", "1e3G", "4GG"])
def test_invalid_amounts_are_refused(amount: str) -> None:
    with pytest.raises(OptionError, match=r"memory must be an amount like 512M, 4G or 2\.5GiB, not"):
        parse_memory(amount)


def test_amounts_have_limits() -> None:
    with pytest.raises(OptionError, match="memory must be at least 1K"):
        parse_memory("0.5K")


def same(one: object, other: object) -> bool:
    return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(one, other, strict=True))  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("text")
    generate(400, seed=3, noise=0.1).write(folder, 0, 0)
    return [str(folder / f"train.{column}") for column in ("source", "target", "links")]


@pytest.mark.skipif(not hasattr(mmap, "MADV_REMOVE"), reason="files cannot have holes")
def test_released_rows_are_a_hole_in_their_file() -> None:
    scratch, page = Scratch(1), mmap.PAGESIZE // 2  # in numbers of two bytes
    array = scratch.array(8 * page, np.uint16)
    array[:] = 7
    scratch.release(array[page:], slice(1, 3 * page))  # the page of its first row is still needed
    assert [set(array[at : at + page].tolist()) for at in range(0, len(array), page)] == [{7}, {7}, {0}, {0}, *[{7}] * 4]
    Scratch().release(np.zeros(9), slice(0, 9))


@pytest.mark.parametrize("scoring", [Scoring(), Scoring("kneser-ney", min_count=2), Scoring("good-turing")])
def test_what_is_extracted_does_not_depend_on_memory(files: list[str], scoring: Scoring) -> None:
    scratch = Scratch(20_000)  # a few hundred samples at once
    whole, parts = Bitext.read(*files), Bitext.read(*files, scratch=scratch)
    assert same(whole.arrays().values(), parts.arrays().values())
    one, other = (
        extract_phrases(whole, Extraction(5), scoring),
        extract_phrases(parts, Extraction(5), scoring, resources=Resources.of(scratch=scratch)),
    )
    assert len(list(scratch.rows(len(other.orientations), 160))) > 50  # runs that were merged
    assert isinstance(other.table.targets, np.memmap)
    assert same(one.table.arrays().values(), other.table.arrays().values())
    assert same(*(e.orientations.arrays("orientations", e.table).values() for e in (one, other)))
    for name in ("hier-mslr-bidirectional-fe", "wbe-msd-backward-f"):
        kind = ReorderingType.parse(name)
        tables = [
            reordering_probabilities(e.orientations, kind, min_count=scoring.min_count, scratch=room)
            for e, room in ((one, None), (other, scratch))
        ]
        assert same([tables[0]], [tables[1]])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dpr", {"min_cluster": 5}),
        ("dpr", {"min_cluster": 5, "prune": 0.03}),
        ("dpr", {"features": "context:coverage=true", "classes": "possible", "learner": "lbfgs:max-passes=5"}),
        ("dual_mlr", {"orientations": "msd", "max_distance": 0, "min_pair_count": 2}),
        ("mms", {"orientations": "five"}),
        ("mms", {"learner": "psl:delta=estimated:max-passes=3"}),
        ("maxent", {"side": "after", "learner": "lbfgs:max-passes=5"}),
        ("maxent", {"features": "statistical+aligned_words", "scope": "global", "classes": "possible"}),
        ("svm", {"scope": "global", "learner": "svm:max-passes=5"}),
        ("lexicalized", {"towards": "ladder"}),
        ("linear", {}),
    ],
)
def test_what_orientation_models_learn_does_not_depend_on_memory(
    files: list[str], tmp_path: Path, name: str, options: dict[str, Any]
) -> None:
    scratch = Scratch(20_000)
    one = MODELS[name](**options, threads=1).fit(Bitext.read(*files))
    other = MODELS[name](**options, threads=3).fit(Bitext.read(*files, scratch=scratch), scratch=scratch)
    for model, folder in ((one, "one"), (other, "other")):
        model.save(tmp_path / folder)
    first, second = ([(f.name, f.read_bytes()) for f in sorted((tmp_path / x).glob("*.npy"))] for x in ("one", "other"))
    assert len(first) > 3 and first == second


def test_models_that_are_trained_in_memory_say_so(files: list[str], tmp_path: Path) -> None:
    assert not MODELS["osm"].takes_scratch
    done = hyperbaton("train", "osm", *files, "-o", tmp_path / "osm", "--memory", "1G")
    assert done.returncode == 1
    assert "--memory is not for the model osm, but for dpr, dual_mlr, lexicalized" in done.stderr
    with pytest.raises(OptionError, match="the model encoder_orientation is trained in memory"):
        MODELS["encoder_orientation"]().fit(Bitext.read(*files), scratch=Scratch(1024))


def test_the_memory_limit_caps_the_estimate_of_a_stage(tmp_path: Path) -> None:
    corpus = {"generate": {"sentences": 3_000_000, "dev": 100, "test": 100}}
    values = {"memory": "8G", "corpus": corpus, "models": {"dpr": {}, "sequence": {}, "osm": {}}}
    experiment = parse_experiment(values, "exp.toml", tmp_path)
    mib = {stage.name: stage.cost.mib for stage in make_plan(experiment)}
    assert mib["train.dpr"] == mib["train.sequence"] == 8192 < mib["train.osm"]
    assert {stage.cost.mib for stage in make_plan(experiment, "2G") if stage.name == "train.dpr"} == {2048}
    assert mib["system.dpr"] < 2048  # its parts are mapped


def test_a_full_disk_names_the_folder_of_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    message = f"^{tempfile.gettempdir()}: temporary files cannot be written: No space left on device; set TMPDIR"
    monkeypatch.setattr(os, "posix_fallocate", fail)
    with pytest.raises(HyperbatonError, match=message):
        Scratch(1000).array(10, np.uint8)
    full = SimpleNamespace(write=fail, close=lambda: None)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **how: full)
    with pytest.raises(HyperbatonError, match=message):
        Column(Scratch(1000), np.uint8).append(np.zeros(3, np.uint8))


@pytest.mark.skipif(sys.platform != "linux", reason="the mapped files of the process are read from /proc")
def test_temporary_files_are_removed_as_they_are_written(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bitext, scratch = Bitext.read(*files), Scratch(20_000)
    extract_phrases(bitext).save(tmp_path / "saved", bitext)
    n_mapped, write_array = [], store._write_array

    def counted(path: Path, array: npt.NDArray[np.generic]) -> None:
        n_mapped.append(Path("/proc/self/maps").read_text().count("(deleted)"))
        write_array(path, array)

    monkeypatch.setattr(store, "_write_array", counted)
    ExtractedPhrases.write(
        tmp_path / "written", lambda: extract_phrases(bitext, resources=Resources.of(scratch=scratch)), bitext
    )
    assert n_mapped[-1] <= n_mapped[0] - 8
    saved, written = (json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("saved", "written"))
    assert saved == written


def test_a_full_disk_leaves_no_artefact(files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, array: npt.NDArray[np.generic]) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(store, "_write_array", full)
    bitext = Bitext.read(*files)
    with pytest.raises(ArtefactError, match="phrases: cannot be written: No space left on device"):
        ExtractedPhrases.write(tmp_path / "phrases", lambda: extract_phrases(bitext), bitext)
    assert list(tmp_path.iterdir()) == []


def test_no_samples_in_little_memory() -> None:
    bitext = Bitext.of(["a"], ["x"], [[]])
    extracted = extract_phrases(bitext, scoring=Scoring(min_count=2), resources=Resources.of(scratch=Scratch(1024)))
    kind = ReorderingType.parse("msd-bidirectional-fe")
    assert len(extracted.table) == len(reordering_probabilities(extracted.orientations, kind)) == 0


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere RLIMIT_DATA does not limit what is mapped")


def write_pairs(folder: Path, n_pairs: int, n_words: int, length: int) -> None:
    """Sentences of random words, each linked to the word at the same place."""
    words = np.random.default_rng(1).integers(0, n_words, (n_pairs, length))
    for column, letter in (("source", "s"), ("target", "t")):
        lines = (" ".join(f"{letter}{word}" for word in sentence) for sentence in words.tolist())
        (folder / column).write_text("\n".join(lines) + "\n")
    (folder / "links").write_text((" ".join(f"{i}-{i}" for i in range(length)) + "\n") * n_pairs)


def run_limited(folder: Path, *arguments: str, limit: str = MEMORY) -> subprocess.CompletedProcess[str]:
    """A command in a process that may have no more than `limit`."""
    n_bytes = parse_memory(limit)
    return subprocess.run(
        [sys.executable, "-m", "hyperbaton", *arguments, "--threads", "2"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MALLOC_ARENA_MAX": "2", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (n_bytes, n_bytes)),
    )


@pytest.mark.slow
@linux_only
def test_extract_keeps_to_its_memory(tmp_path: Path) -> None:
    """A process that may not have more memory extracts what takes several times as much without the option."""
    write_pairs(tmp_path, n_pairs=40_000, n_words=3000, length=12)
    memory = "208M"
    extract = ["extract", "source", "target", "links"]
    tables = ["--moses", "moses", "--reordering", "msd-bidirectional-fe"]
    limited = run_limited(tmp_path, *extract, "-o", "phrases", "--memory", memory, *tables, limit=memory)
    assert limited.returncode == 0, limited.stderr
    free = run_limited(tmp_path, *extract, "-o", "other", limit=memory)
    assert free.returncode == 1
    assert "not enough memory" in free.stderr


@pytest.mark.slow
@linux_only
def test_rules_keep_to_their_memory(tmp_path: Path) -> None:
    """Runs and tables of rules are in files, which are read and written in pieces."""
    write_pairs(tmp_path, n_pairs=3000, n_words=3000, length=12)
    extract = ["extract", "source", "target", "links", "--hierarchical"]
    limited = run_limited(tmp_path, *extract, "-o", "rules", "--memory", "224M", limit="224M")
    assert limited.returncode == 0, limited.stderr
    free = run_limited(tmp_path, *extract, "-o", "other", limit="224M")
    assert free.returncode == 1
    assert "not enough memory" in free.stderr


@pytest.mark.slow
@linux_only
def test_training_keeps_to_its_memory(tmp_path: Path) -> None:
    """The memory limit applies to the features of all jumps of long sentences."""
    write_pairs(tmp_path, n_pairs=6000, n_words=5, length=30)
    check_training(tmp_path, "pair", "--min-count", "20", "--learner", "lbfgs:max-passes=1")


@pytest.mark.slow
def test_training_says_how_much_memory_it_needs(files: list[str], tmp_path: Path) -> None:
    """Weights, gradients and the vectors of L-BFGS are in the account, before features are written."""
    bitext = Bitext.read(*files)
    n_vectors = 19 + 2  # of L-BFGS, and a gradient for each thread
    for name, learner in (("pair", "lbfgs:max-passes=1"), ("sequence", "lbfgs:max-passes=1:warmup=1")):
        model = MODELS[name](threads=2, learner=learner)
        with pytest.raises(OptionError, match=rf"^--memory 1M: training {name} with [0-9,]+ weights needs at least .*M;"):
            model.fit(bitext, scratch=limited("1M"))
        assert not hasattr(model, "weights_")
        least = PROGRAM + model.keys_.nbytes + 8 * n_vectors * model.n_features * model.n_weights_each
        with pytest.raises(
            OptionError, match=f"needs at least {re.escape(format_memory(least))}; give it that, or use few"
        ):
            model.fit(bitext, scratch=limited(least - 1))
        model.fit(bitext, scratch=limited(least))
    done = run_limited(tmp_path, "train", "sequence", *files, "-o", "new", "--memory", "32M")
    assert done.returncode == 1 and done.stderr.startswith("hyperbaton: error: --memory 32M: training sequence with ")
    assert done.stderr.count("\n") == 1 and not list(tmp_path.glob("new*"))


@pytest.mark.slow
@linux_only
def test_training_fits_into_the_memory_that_it_names(tmp_path: Path) -> None:
    write_pairs(tmp_path, n_pairs=1500, n_words=300, length=10)
    learner = ["--min-count", "1", "--learner", "lbfgs:warmup=1:max-passes=12"]
    train = ["train", "sequence", "source", "target", "links", *learner]
    refused = run_limited(tmp_path, *train, "-o", "model", "--memory", "64M")
    named = re.search(r"needs at least ([0-9.]+M);", refused.stderr)
    assert refused.returncode == 1 and named is not None, refused.stderr
    assert parse_memory(named[1]) > 2 * PROGRAM  # mostly vectors
    limited = run_limited(tmp_path, *train, "-o", "model", "--memory", named[1], limit=named[1])
    assert limited.returncode == 0, limited.stderr


@pytest.mark.slow
@linux_only
def test_orientation_models_keep_to_their_memory(tmp_path: Path) -> None:
    """The memory limit applies to samples and their rows of features."""
    write_pairs(tmp_path, n_pairs=20_000, n_words=3, length=12)
    check_training(
        tmp_path, "dpr", "--learner", "lbfgs:max-passes=1", "--global-learner", "sgd:max-passes=1", memory="208M"
    )
    check_training(tmp_path, "dual_mlr", "--learner", "dual_eg:max-passes=2", memory="176M")


def check_training(folder: Path, model: str, *options: str, memory: str = MEMORY) -> None:
    """A process that may not have more memory trains a model that takes more without the option."""
    train = ["train", model, "source", "target", "links", *options]
    limited = run_limited(folder, *train, "-o", model, "--memory", memory, limit=memory)
    assert limited.returncode == 0, limited.stderr
    free = run_limited(folder, *train, "-o", "other", limit=memory)
    assert free.returncode == 1
    assert "not enough memory" in free.stderr


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # temporary files, closed by the collector
def test_more_samples_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bitext = generate(60, style="japanese", seed=2).bitext
    monkeypatch.setattr("hyperbaton.phrases.inventory.MOST_WORDS", 100)
    with pytest.raises(HyperbatonError, match=r"samples; the maximum is 100: use a lower --max-length"):
        extract_phrases(bitext, resources=Resources.of(scratch=Scratch(5000)))
