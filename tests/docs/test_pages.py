"""The shell and Python blocks of pages run as printed, in order, and print the output on the page.

Each page has its own folder. It contains the files that pages rely on (tests/docs/workshop.py), and those that the
page shows: blocks with a title. Blocks that are marked `console` are not run: servers, clusters and benchmarks.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperbaton.run import make_plan, read_experiment
from hyperbaton.run.results import write_results
from hyperbaton.run.status import write_plan
from tests.docs import shell
from tests.docs.cells import DOCS, alike, blocks, cells, run, write_files
from tests.docs.workshop import annotated_english, prepare
from tests.once import made_once
from tests.stages import do_stages

pytestmark = pytest.mark.slow

# Pages and folders whose blocks are not run, and why.
NOT_RUN = {
    "cluster": "needs a scheduler on another machine; tests of executors have one here",
    "corpora": "downloads corpora",
    "reproduce": "repeats papers, from corpora",
    "results": "quotes commands that measure, on corpora",
    "serve": "starts servers that do not end; tests of the service ask them",
    "design": "shows pieces of code",
    "api": "generated: signatures, and examples that the tests of docstrings run",
    "commands": "generated: examples that test_commands.py checks",
}
# Pages that start in an empty folder and show all of their output.
COMPLETE = {"tutorial", "python", "scikit-learn"}
EMPTY = COMPLETE | {"adding-a-model", "plugins"}
# The library that a page needs, if it is not installed with hyperbaton.
NEEDS = {
    "scikit-learn": "sklearn",
    "sil-machine": "machine",
    "models/encoder": "torch",
    "models/encoder_orientation": "torch",
}
# Pages that train a network, on the first lines of the training text.
FEW = {"models/encoder", "models/encoder_orientation"}
# Finished runs that a page relies on.
RUNS = {"run": ["folder"], "report": ["folder"], "explore": ["folder"]}


def page_of(name: str) -> Path:
    return DOCS.parent / "README.md" if name == "README" else DOCS / f"{name}.md"


def pages() -> list[str]:
    """The names of the pages with blocks to run."""
    names = (path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
    chosen = (name for name in ("README", *names) if name.partition("/")[0] not in NOT_RUN)
    return sorted(name for name in chosen if any(cells(page_of(name))))


@pytest.fixture(scope="module")
def bash(python: Path) -> Iterator[shell.Shell]:
    with shell.shell(python) as opened:
        yield opened


@pytest.fixture(scope="module")
def workshop(bash: shell.Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(tmp_path_factory, "workshop", lambda folder: prepare(folder, bash))


@pytest.fixture(scope="module")
def finished_run(workshop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The experiment of the page on experiments, done in this process; its pages need no report."""

    def experiment(folder: Path) -> None:
        shutil.copytree(workshop, folder, dirs_exist_ok=True)
        write_files(page_of("run"), folder)
        plan = make_plan(read_experiment(folder / "experiment.toml"))
        write_plan(plan, folder / "run")
        do_stages(plan, folder / "run")
        write_results(plan, folder / "run")

    return made_once(tmp_path_factory, "finished-run", experiment) / "run"


def walk(name: str, folder: Path, bash: shell.Shell) -> list[str]:
    """Run the blocks of a page in a folder, and compare what they print with what the page says."""
    write_files(page_of(name), folder)
    names: dict[str, object] = {}
    outputs = []
    for cell in cells(page_of(name)):
        outputs.append(run(cell, folder, names, bash))
        if cell.output is not None:
            assert alike(cell.output, outputs[-1]), f"the page says\n{cell.output}\nbut now it is\n{outputs[-1]}"
        elif name in COMPLETE:
            assert not outputs[-1], cell.code.text
    return outputs


def fill(name: str, folder: Path, request: pytest.FixtureRequest) -> None:
    """Make the folder that a page starts with."""
    if name in EMPTY:
        folder.mkdir()
        return
    shutil.copytree(request.getfixturevalue("workshop"), folder)
    for run_folder in RUNS.get(name, []):
        shutil.copytree(request.getfixturevalue("finished_run"), folder / run_folder)
    if name == "project":
        annotated_english(folder)
    if name in FEW:
        for file in folder.glob("train.*"):
            file.write_text("".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:24]), encoding="utf-8")


@pytest.mark.parametrize("name", pages())
def test_page(
    name: str, bash: shell.Shell, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    folder = tmp_path / "page"
    fill(name, folder, request)
    monkeypatch.chdir(folder)
    outputs = walk(name, folder, bash)
    if name == "adding-a-model":
        printed = "".join(outputs)
        assert '"name": "by_place"' in printed and "\nby_place\t" in printed and "\nfew_gaps\t" in printed
        assert "expected order:" in printed
        # Nothing else is edited: the page translates with both; an experiment trains and evaluates them for its report.
        results = json.loads((folder / "run" / "results.json").read_text(encoding="utf-8"))
        assert [row["model"] for row in results["orientation"]] == ["by_place"]
        assert [row["model"] for row in results["step"]] == ["few_gaps"] and results["step"][0]["accuracy"] > 0
        report = (folder / "run" / "report" / "report.md").read_text(encoding="utf-8").replace("\\", "")
        assert "few_gaps predicts" in report and "| few_gaps |" in report and "| by_place |" in report


def test_every_command_is_in_a_block_that_is_run() -> None:
    """A block without a language, or one that is not run, has no command that could be."""
    not_run = re.compile(r"hyperbaton serve |python -m (benchmarks|papers)|curl |docker |dask ")
    for name in pages():
        for block in blocks(page_of(name)):
            commands = [
                line for line in block.text.splitlines() if re.match(r"(hyperbaton|pip|make|python) (?!.*: )", line)
            ]
            if block.language not in ("sh", "python", "toml"):
                assert all(not_run.match(command) for command in commands), f"{name}: {commands}"


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(DOCS.rglob("*.md")) if path.parent.name not in ("api", "commands")],
    ids=lambda path: path.stem,
)
def test_blocks_that_are_not_run_could_be_pasted(path: Path) -> None:
    """Every block has a language, and what a reader would paste into a shell is one: its remarks begin with #."""
    for language, _, text in blocks(path):
        assert language, f"{path}: a block without a language: {text}"
        if language == "console":
            done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{path}: {done.stderr}"
            for line in text.splitlines():
                assert not re.search(r"\S {3,}[^#\s]", line.partition(" #")[0]), f"{path}: a remark without #: {line}"
