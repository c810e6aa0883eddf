"""Work that is done in shards: each kind returns the bytes that it writes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.align import Aligner
from hyperbaton.align.shards import LinkOutputs, align_shards
from hyperbaton.base.executors import Sharding, worker_name
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.classes import word_classes
from hyperbaton.decode import System
from hyperbaton.decode.annotated import SourceText
from hyperbaton.decode.shards import translate_shards
from hyperbaton.decode.writing import TranslationOutputs
from hyperbaton.lm import LanguageModel
from hyperbaton.models.pair import Pair
from hyperbaton.phrases import ExtractedPhrases
from hyperbaton.phrases.shards import extract_phrases as extract
from hyperbaton.run.child import do
from hyperbaton.run.experiment import read_experiment
from hyperbaton.run.plan import make_plan
from hyperbaton.tune.system import SystemDecoder

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
EXPERIMENT = """
title = "small"
[corpus.generate]
style = "japanese"
sentences = 200
dev = 20
test = 20
[lm]
order = 2
[models.msd]
model = "lexicalized"
orientations = "msd"
[translation]
metrics = ["bleu"]
samples = 20
[translation.tuning]
iterations = 1
[translation.decoding]
pop-limit = 20
stack = 20
"""
CLASSES = """
[classes]
classes = 5
runs = 3
[models.pair]
annotations = ["source_classes"]
"""
RULES = """
[models.hiero]
model = "rules"
"""
LINES = (GOLDEN / "test.src").read_text(encoding="utf-8").splitlines()[:12]
PAIRS = [(GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:400] for side in ("src", "tgt")]
KillOne = Callable[[], None]


def nothing() -> None:
    """Kills no worker."""


def after_one(kill: KillOne) -> Progress:
    """A progress that kills when the first task is done."""
    kills = iter([kill])

    def progress(done: int, total: int) -> None:
        next(kills, nothing)()

    return progress


def translate(system: System, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All outputs of a translation, one after the other; a worker may be killed after the first shard."""
    folder.mkdir()
    outputs = TranslationOutputs(("output", "links", "trace"), nbest=3, distinct=True, alignment=True)
    parts: dict[str, bytes] = dict.fromkeys(outputs.names, b"")
    (folder / "text").write_text("\n".join(LINES), encoding="utf-8")
    text = SourceText(folder / "text")
    for written in translate_shards(system, text, outputs, sharding=Sharding(folder, shards, executor)):
        for name, path in written.files.items():
            parts[name] += path.read_bytes()
        kill()
        kill = nothing
    return b"".join(parts.values())


@cache
def quick_aligner() -> Aligner:
    """An aligner that was trained on the pairs in two rounds."""
    return Aligner(model1_iterations=1, hmm_iterations=1).fit(Bitext.of(*PAIRS), threads=1)


def link(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Links and scores of a bitext."""
    folder.mkdir()
    paths, outputs = (folder / "src", folder / "tgt"), LinkOutputs(("output", "scores"), "json")
    for path, lines in zip(paths, PAIRS, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = b""
    for result in align_shards(quick_aligner(), *paths, outputs, sharding=Sharding(folder, shards, executor)):
        whole += b"".join(path.read_bytes() for path in result.value.values())
        kill()
        kill = nothing
    return b"".join(sorted(whole.splitlines()))


def learn(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Everything that an aligner learns."""
    folder.mkdir()
    sharding = Sharding(folder, shards, executor)
    return learned(replace(quick_aligner()).fit(Bitext.of(*PAIRS), threads=1, sharding=sharding, progress=after_one(kill)))


def learned(aligner: Aligner) -> bytes:
    arrays = [*aligner.__getstate__()["model_"].values(), aligner.logprobs_]
    return sha256(b"".join(array.tobytes() for array in arrays)).digest()


def extract_phrases(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All arrays of the phrase pairs of a bitext."""
    folder.mkdir()
    bitext = linked()
    how = Resources.of(progress=after_one(kill), sharding=Sharding(folder, shards, executor))
    extracted = extract(bitext, how)
    return arrays_of(extracted, bitext, folder / "phrases")


def estimate(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All arrays of a language model of the target sentences; each task has little memory, and sorts in runs."""
    folder.mkdir()
    how = {"memory": 1 << 15, "sharding": Sharding(folder, shards, executor), "progress": after_one(kill)}
    return digest_of_model(threads=1, **how)


def digest_of_model(**how: Any) -> bytes:
    model = LanguageModel.estimate(Text.of(PAIRS[1]), 3, prune="0 0 1", discount_fallback=True, **how)
    return sha256(b"".join(array.tobytes() for array in model.arrays().values())).digest()


def cluster_words(folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Classes, the best of eight runs."""
    folder.mkdir()
    sharding = Sharding(folder, shards, executor)
    return digest_of_classes(progress=after_one(kill), sharding=sharding)


def digest_of_classes(**how: Any) -> bytes:
    classes = word_classes(Text.of(PAIRS[1]), 12, runs=8, seed=2, **how)
    return classes.classes.tobytes() + classes.history.tobytes()


def do_stage(
    name: str, section: str, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing
) -> bytes:
    """The output of a stage of a run that distributes its work; a section of the experiment file asks for the stage."""
    folder.mkdir()
    (folder / "small.toml").write_text(EXPERIMENT + section)
    plan = make_plan(read_experiment(folder / "small.toml"))
    stage = plan.stages[name]
    for before in plan:
        if before.folder_name in stage.needs:
            do(before.order(folder, 1))
    kill()
    do(stage.order(folder, 1, executor=None if executor is None else "of the test", shards=shards), executor)
    if executor is not None:
        record = stage.record(folder)
        assert record["shards"] == shards and record["workers"] and worker_name() not in record["workers"]
    output = stage.folder(folder)
    files = [output / "classes"] if (output / "classes").exists() else sorted(output.glob("rules/*.npy"))
    return b"".join(sha256(file.read_bytes()).digest() for file in files)


def train_jumps(folder: Path, _shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """The weights of a jump model, which depend on the number of shards: always the same here."""
    folder.mkdir()
    sharding = Sharding(folder, 6, executor)
    model = Pair(min_count=2, learner="lbfgs:max-passes=4", threads=1).fit(
        linked(), progress=after_one(kill), sharding=sharding
    )
    return model.weights_.tobytes() + model.objective_.tobytes()


def linked() -> Bitext:
    sides = [GOLDEN / f"train.{side}" for side in ("src", "tgt")]
    return Bitext.read(*sides, GOLDEN / "train.links").select(range(300))


def arrays_of(extracted: ExtractedPhrases, bitext: Bitext, path: Path) -> bytes:
    extracted.save(path, bitext)
    return b"".join(sha256(file.read_bytes()).digest() for file in sorted(path.glob("*.npy")))


def lists(system: System, folder: Path, shards: int, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """N-best lists that tuning sees."""
    sharding = Sharding(folder, shards, executor)
    decoder = SystemDecoder(system, LINES, sharding=sharding, progress=after_one(kill), n_best=5, lattice=True)
    return digest_of_lists(decoder)


def digest_of_lists(decoder: SystemDecoder) -> bytes:
    nbest = decoder(decoder.start * np.float64(1.1))
    return sha256(nbest.sentence.tobytes() + nbest.features.tobytes() + repr(nbest.hypotheses).encode()).digest()


def every_kind(system: System) -> dict[str, Callable[..., Any]]:
    """All distributed work: each function takes a folder, a number of shards and an executor, and returns its
    output."""
    return {
        "translate": partial(translate, system),
        "link": link,
        "learn": learn,
        "extract": extract_phrases,
        "lm": estimate,
        "classes": cluster_words,
        "classes of a run": partial(do_stage, "classes.source", CLASSES),
        "rules of a run": partial(do_stage, "extract.hiero", RULES),
        "train": train_jumps,
        "lists": partial(lists, system),
    }
