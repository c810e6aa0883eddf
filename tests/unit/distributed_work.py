"""Work that can be distributed: each kind returns the bytes that it writes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align import Aligner
from hyperbaton.align.linking import LinkOutputs
from hyperbaton.align.pair_text import PairText
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Workers
from hyperbaton.corpus import Bitext
from hyperbaton.decode import System
from hyperbaton.decode.annotated import SourceText
from hyperbaton.decode.translating import TranslationOutputs, translate_groups
from hyperbaton.phrases import extract_phrases, extraction, table
from hyperbaton.tune import system as tune_system
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


def translate(system: System, folder: Path, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All outputs of a translation, one after the other; a worker may be killed after the first part."""
    folder.mkdir()
    outputs = TranslationOutputs(("output", "links", "trace"), nbest=3, distinct=True, alignment=True)
    parts: dict[str, bytes] = dict.fromkeys(outputs.names, b"")
    (folder / "text").write_text("\n".join(LINES), encoding="utf-8")
    groups, resources = SourceText(folder / "text").groups(most=2), Resources.of(1, workers=Workers(executor, folder))
    for part in translate_groups(system, groups, outputs, system.options, None, resources):
        for name, piece in part.pieces.items():
            parts[name] += piece
        kill()
        kill = nothing
    return b"".join(parts.values())


@cache
def quick_aligner() -> Aligner:
    """An aligner that was trained on the pairs in two rounds."""
    return Aligner(model1_iterations=1, hmm_iterations=1).fit(Bitext.of(*PAIRS), threads=1)


def link(folder: Path, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """Links and scores of a bitext."""
    folder.mkdir()
    paths, outputs = (folder / "src", folder / "tgt"), LinkOutputs(("output", "scores"), "giza")
    for path, lines in zip(paths, PAIRS, strict=True):
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    resources, whole = Resources.of(1, workers=Workers(executor, folder)), dict.fromkeys(outputs.names, b"")
    for _, pieces in outputs.write(quick_aligner(), PairText(*paths).groups(40), resources):
        whole = {name: whole[name] + piece for name, piece in pieces.items()}
        kill()
        kill = nothing
    return b"".join(whole.values())


def extract(folder: Path, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """All arrays of the phrase pairs of a bitext; an executor has many small tasks."""
    folder.mkdir()
    bitext = linked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "PART", 40)
        patch.setattr(table, "_PART", 300)
        resources = Resources.of(1, after_one(kill), workers=Workers(executor, folder))
        extracted = extract_phrases(bitext, resources=resources)
    extracted.save(folder / "phrases", bitext)
    return b"".join(sha256(file.read_bytes()).digest() for file in sorted((folder / "phrases").glob("*.npy")))


def linked() -> Bitext:
    sides = [GOLDEN / f"train.{side}" for side in ("src", "tgt")]
    return Bitext.read(*sides, GOLDEN / "train.links").select(range(300))


def lists(system: System, folder: Path, executor: Executor | None, kill: KillOne = nothing) -> bytes:
    """N-best lists that tuning sees."""
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tune_system, "PART", 5)
        how = {"workers": Workers(executor, folder), "progress": after_one(kill)}
        decoder = SystemDecoder(system, LINES, n_best=5, **how)
        nbest = decoder(decoder.start * np.float64(1.1))
    return sha256(nbest.sentence.tobytes() + nbest.features.tobytes() + repr(nbest.hypotheses).encode()).digest()


def every_kind(system: System) -> dict[str, Callable[..., Any]]:
    """All distributed work: each function takes a folder and an executor, or None, and returns its output."""
    return {
        "translate": partial(translate, system),
        "link": link,
        "extract": extract,
        "lists": partial(lists, system),
    }
