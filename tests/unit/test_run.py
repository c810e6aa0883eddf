"""An experiment from text to results: stages are done once, survive being killed, and say what failed."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.cli._resources import ExecutorOptions
from hyperbaton.cli.run import carry_out
from hyperbaton.corpus.files import read_lines
from hyperbaton.data import generate
from hyperbaton.run.cost import REFERENCE_SECONDS, slowness
from hyperbaton.run.execution import MachineLimits, Observer, StageFailed, _Executor, _processor_seconds, execute
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import Plan, make_plan, plan_file
from hyperbaton.run.results import finish, gather
from hyperbaton.run.status import plan_rows, status_rows, write_plan
from hyperbaton.run.watch import Watch
from tests.program import started
from tests.stages import do_stages

EXPERIMENT = """
title = "small"
[corpus.generate]
style = "japanese"
sentences = 260
dev = 30
test = 30
[lm]
order = 2
[models.msd]
model = "lexicalized"
orientations = "msd"
direction = "bidirectional"
towards = "backoff"
[models.pair]
learner = "lbfgs:max-passes=5"
[translation]
limits = [3, "none"]
metrics = ["bleu", "wer", "pdscore"]
samples = 50
sentences = 2
[translation.systems]
linear = []
both = ["msd", "pair", "words"]
[translation.sparse.words]
orientations = "msd"
words = 5
[translation.tuning]
iterations = 2
[translation.tuning.both]
optimizer = "mira:passes=5"
[translation.decoding]
pop-limit = 20
stack = 20
"""
RUN = "import sys; from pathlib import Path; from hyperbaton.run.experiment import read_experiment as r; "
RUN += "from hyperbaton.run.plan import make_plan as m; from hyperbaton.run.execution import execute; "
RUN += "execute(m(r(Path(sys.argv[1]))), Path(sys.argv[2]))"


def write_experiment(folder: Path, text: str = EXPERIMENT) -> Path:
    file = folder / "experiment.toml"
    file.write_text(text, encoding="utf-8")
    return file


def plan_of(file: Path) -> Plan:
    return make_plan(read_experiment(file))


def numbers(results: dict[str, Any]) -> dict[str, Any]:
    """The results without what differs from run to run: places and times."""
    parts = {name: results[name] for name in ("corpus", "movement", "tuning", "sentences", "findings")}
    timed = ("train_seconds", "train_peak_mib", "path", "seconds", "words_per_second")
    for name in ("orientation", "next_position", "translation"):
        parts[name] = [{key: value for key, value in row.items() if key not in timed} for row in results[name]]
    return parts


@pytest.fixture(scope="module", autouse=True)
def _fast_stages(python: Path) -> Iterator[None]:
    """Stages start fast."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(python))
        yield


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, Path]:
    folder = tmp_path_factory.mktemp("run")
    plan = plan_of(write_experiment(folder))
    write_plan(plan, folder / "out")
    execute(plan, folder / "out")
    return plan, folder / "out"


def test_results_have_every_part(done: tuple[Plan, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    plan, root = done

    def write_report(results: Path, out: Path) -> Path:
        assert results.is_file()
        return out / "index.html"

    monkeypatch.setattr("hyperbaton.report.write_report", write_report, raising=False)
    finished = finish(plan, root)
    assert finished.report == root / "report" / "index.html"
    assert len(finished.findings) == 3 and isinstance(finished.warnings, list)
    results = json.loads(finished.results.read_text(encoding="utf-8"))
    assert {row["model"] for row in results["orientation"]} == {"msd", "msd (after)"}
    assert [row["model"] for row in results["next_position"]] == ["pair"]
    rows = results["translation"]
    assert [(row["system"], row["limit"]) for row in rows] == [("linear", 3), ("linear", None), ("both", 3), ("both", None)]
    assert set(rows[2]["scores"]) == {"BLEU", "WER", "PDscore"}
    assert set(rows[2]["significance"]["linear"]["BLEU"]) == {"delta", "p"} and not rows[0]["significance"]
    assert results["corpus"]["train"]["pairs"] <= 200 and results["corpus"]["test"]["pairs"] == 30
    movement = results["movement"]
    counts = {name: sum(classes.values()) for name, classes in movement["orientations"].items()}
    assert set(counts.values()) == {sum(movement["distances"].values())}, "pictures and tables count the same phrase pairs"
    assert movement["jumps_by_tag"]
    assert {row["stage"] for row in results["costs"]} == set(plan.stages)
    for sentence in results["sentences"]:
        for hypothesis in sentence["hypotheses"]:
            covered = sorted(i for segment in hypothesis["segments"] for i in range(*segment["source"]))
            assert covered == list(range(len(sentence["source"])))
            assert all(segment["scores"] for segment in hypothesis["segments"])
    assert set(results["commands"]) == {"corpus", "orientation", "next_position", "translation", "costs"}


def test_links_of_translations_belong_to_their_words(done: tuple[Plan, Path]) -> None:
    plan, root = done
    corpus, output = (stage.folder(root) for stage in (plan.provided["corpus.test"], plan.stages["translate.both.1.none"]))
    columns = (corpus / "test.source", output / "hypotheses", output / "links", output / "segments.jsonl")
    for source, words, links, trace in zip(*map(read_lines, columns), strict=True):
        owner: list[set[int]] = []  # the source words of the phrase that each target word belongs to
        for segment in json.loads(trace)["segments"]:
            owner += [set(range(*segment["source"]))] * len(segment["target"])
        assert len(owner) == len(words.split())
        points = [tuple(map(int, point.split("-"))) for point in links.split()]
        assert points and all(i in owner[j] and i < len(source.split()) for i, j in points)


def test_nothing_is_done_twice_and_status_says_so(done: tuple[Plan, Path]) -> None:
    plan, root = done
    said: list[str] = []
    execute(plan, root, observer=Watch(plan, root, MachineLimits(), said.append))
    assert said == []
    assert {row["state"] for row in status_rows(root)} == {"done"}
    assert plan_rows(plan, root)[-1]["state"] == "0 to do"
    changed = make_plan(read_experiment(root.parent / "experiment.toml", ["models.pair.learner=lbfgs:max-passes=6"]))
    to_do = {row["stage"] for row in plan_rows(changed, root) if row["state"] == "to do"}
    expected = {stage for stage in plan.stages if "both" in stage or "pair" in stage}
    assert to_do == expected | {"score"}


def test_a_moved_run_makes_what_its_systems_refer_to_before_they_are_used(done: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, root = done
    moved = tmp_path / "moved"
    shutil.copytree(root, moved)
    lost = ["extract", "train.pair", next(name for name in plan.stages if name.startswith("translate.both"))]
    lines = (plan.stages[lost[-1]].folder(root) / "hypotheses").read_bytes()
    for name in lost:
        shutil.rmtree(plan.stages[name].folder(moved))
    root.rename(tmp_path / "away")  # so that nothing is found at the old place
    try:
        execute(plan, moved)
        assert (plan.stages[lost[-1]].folder(moved) / "hypotheses").read_bytes() == lines
    finally:
        (tmp_path / "away").rename(root)


def test_running_stages_are_reported_with_the_time_left(done: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, root = done
    said: list[str] = []
    now = 100.0
    watch = Watch(plan, tmp_path, MachineLimits(threads=2), said.append, clock=lambda: now)
    total = sum(stage.cost.seconds for stage in plan)
    assert watch.seconds_left() == pytest.approx(total / 2)
    (first, cost), *others = ((stage, stage.cost.seconds) for stage in plan)
    watch.started(first)
    now += 75
    assert watch.line().startswith(f"[0/{len(plan)} done] 1:15 so far, about ")
    assert watch.line().endswith(f" left: {first.name} 1:15")
    watch.root = root  # where it left what it says about itself
    watch.finished(first, 75.0, 2)
    assert said[0] == f"[0/{len(plan)}] {first.name} started"
    assert said[1].startswith(f"[1/{len(plan)}] {first.name}: 75.0 s, ") and said[1].endswith(" MiB, 2 threads")
    # It took longer than two processors should take, so the others will, too.
    assert cost < 75 and watch.seconds_left() > 1.2 * sum(cost for _, cost in others) / 2
    watch.failed(plan.stages["score"], "no reason")
    assert said[-1] == "score failed: no reason"


def test_estimates_are_those_of_this_machine(tmp_path: Path) -> None:
    """The demo took 200 s of processor time where the sample of work takes as long as on the reference."""
    with resources.as_file(resources.files("hyperbaton.run") / "demo.toml") as experiment:
        plan = plan_file(experiment, [], None, tmp_path)
    plan.slowness = slowness(lambda: None, iter([0.0, REFERENCE_SECONDS, 5.0]).__next__)
    assert 200 / 1.5 < plan_rows(plan, tmp_path)[-1]["cpu s"] < 200 * 1.5
    watch = Watch(plan, tmp_path, MachineLimits(jobs=1, threads=1), lambda line: None)
    assert watch.seconds_left() == pytest.approx(plan_rows(plan, tmp_path)[-1]["cpu s"], abs=1)


def test_the_time_left_follows_the_share_of_the_processors(done: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, root = done
    now = 0.0
    watch = Watch(plan, tmp_path, MachineLimits(jobs=1, threads=1), lambda line: None, clock=lambda: now)
    total = sum(stage.cost.seconds for stage in plan)
    first = next(iter(plan))
    watch.started(first)
    now += 100
    watch.used(first, 98.0)  # almost alone on the machine
    alone = watch.seconds_left()
    watch.used(first, 10.0)  # others have nine tenths of it
    shared = watch.seconds_left()
    assert alone < total and 7 * alone < shared
    # Once it is done, what it took for its cost counts, and how long it waited is remembered.
    watch.root = root
    watch.finished(first, 100.0, 1)
    assert watch.processor_seconds == {} and watch.seconds_left() > alone


def test_running_stages_report_their_processor_time() -> None:
    burn = "import time\nwhile time.process_time() < 0.1: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        used = _processor_seconds(process.pid)
        process.communicate(b"\n")
    assert used is None or used >= 0.05  # the system counts in hundredths
    assert _processor_seconds(process.pid) is None


def test_stages_share_threads_with_those_that_can_run_at_the_same_time(tmp_path: Path) -> None:
    def stage(name: str, mib: float, needs: frozenset[str] = frozenset()) -> Any:
        return SimpleNamespace(
            name=name, folder_name=name, needs=needs, cost=SimpleNamespace(mib=mib), is_done=lambda root: False
        )

    def together(stages: list[Any], jobs: int) -> int:
        limits = MachineLimits(jobs=jobs, threads=4, memory=100 << 20)
        return _Executor(stages, tmp_path, limits, Observer(), 0)._n_together(stages[0])

    large, small = stage("align", 80), stage("lm", 15)
    assert together([large, stage("other", 30)], 2) == 1, "alone, with all threads"
    assert together([large, stage("other", 30), small], 2) == 2
    assert together([large, small, stage("classes", 5)], 2) == 2 and together([large, small], 1) == 1
    assert together([large, small, stage("classes", 5)], 3) == 3
    assert together([large, stage("extract", 1, frozenset({"align"}))], 2) == 1


@pytest.mark.slow
def test_results_do_not_depend_on_jobs_and_threads(done: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, root = done
    execute(plan, tmp_path, MachineLimits(jobs=1, threads=3))
    assert numbers(gather(plan, tmp_path)) == numbers(gather(plan, root))


def test_a_stage_that_fails_is_named_with_its_reason(tmp_path: Path) -> None:
    for name in ("a.source", "a.target"):
        (tmp_path / name).write_text("a b\n" * 20, encoding="utf-8")
    (tmp_path / "a.links").write_text("0-0 1-7\n" * 20, encoding="utf-8")
    split = 'source = "a.source"\ntarget = "a.target"\nlinks = "a.links"\n'
    text = "".join(f"[corpus.{name}]\n{split}" for name in ("train", "dev", "test")) + "[models.pair]\n"
    plan = plan_of(write_experiment(tmp_path, text))
    with pytest.raises(
        StageFailed, match=r"^stage corpus.train failed: .*/a.links:1: link '1-7' .*; its log is .*corpus.train.log"
    ):
        execute(plan, tmp_path / "out")
    assert not plan.provided["corpus.train"].is_done(tmp_path / "out")


def test_another_development_text_retrains_nothing(tmp_path: Path) -> None:
    for name in ("a.source", "a.target"):
        (tmp_path / name).write_text("a b\n" * 20, encoding="utf-8")
    (tmp_path / "a.links").write_text("0-0 1-1\n" * 20, encoding="utf-8")
    split = 'source = "a.source"\ntarget = "a.target"\nlinks = "a.links"\n'
    text = "".join(f"[corpus.{name}]\n{split}" for name in ("train", "dev", "test"))
    text += '[models.pair]\nannotations = []\n[translation.systems]\npair = ["pair"]\n'
    first, other = (
        plan_of(write_experiment(tmp_path, text.replace("[corpus.dev]", f"[corpus.dev]\nlines = {n}"))) for n in (9, 8)
    )
    anew = {name for name, stage in other.stages.items() if stage.key != first.stages[name].key}
    tuned = {name for name in other.stages if name.partition(".")[0] in ("tune", "translate", "measure", "score")}
    assert anew == tuned | {"corpus.dev", "movement"}


@pytest.mark.slow
def test_kills_change_nothing(done: tuple[Plan, Path], tmp_path: Path) -> None:
    plan, root = done
    file = write_experiment(tmp_path)
    rng = random.Random(4)
    kills, attempt = 0, 0
    while kills < 4:
        out = tmp_path / f"out{attempt}"
        with started([sys.executable, "-c", RUN, str(file), str(out)], stderr=subprocess.PIPE) as process:
            time.sleep(rng.uniform(0.3, 3.0))
            if process.poll() is None:
                process.send_signal(rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT]))
                kills += 1
            process.communicate()
        attempt += all(stage.is_done(out) for stage in plan)  # on a fast machine one folder is not enough
    execute(plan, out)
    assert numbers(gather(plan, out)) == numbers(gather(plan, root))


def test_text_without_links_and_tags_gets_links_and_classes(tmp_path: Path) -> None:
    made = generate(120, style="chinese", seed=3).split(30, 30)
    text = ""
    for split, part in made.items():
        for side in ("source", "target"):
            lines = b"".join(getattr(part.bitext, side).pieces())
            (tmp_path / f"{split}.{side}").write_bytes(lines)
        text += f'[corpus.{split}]\nsource = "{split}.source"\ntarget = "{split}.target"\n'
    text += "[classes]\nclasses = 5\nruns = 1\n[corpus.clean]\nratio = 1.1\n"
    text += '[models.pair]\nannotations = ["source_classes"]\nlearner = "lbfgs:max-passes=2"\nmin-count = 1\n'
    text += "[translation]\nsystems = {}\n"
    plan = plan_of(write_experiment(tmp_path, text))
    corpus = ["corpus.train", "corpus.dev", "corpus.test"]
    assert list(plan.stages) == [*corpus, "align", "movement", "classes.source", "train.pair", "evaluate.pair"]
    do_stages(plan, tmp_path)
    results = gather(plan, tmp_path)
    assert results["corpus"]["test"]["links"] > 100 and "translation" not in results
    assert results["findings"][2] == "Nothing was translated."
    assert results["next_position"][0]["n"] > 100
    assert re.match(r"cleaning train: ratio 1\.1 drops \d+\.\d% of the pairs", finish(plan, tmp_path).warnings[0])


def test_a_folder_that_no_report_can_name_is_refused_first(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"\xff")
    with pytest.raises(OptionError, match=r"--output .*: the name is not UTF-8"):
        carry_out(tmp_path / "no-experiment.toml", folder, [], ExecutorOptions())
    assert not folder.exists()
