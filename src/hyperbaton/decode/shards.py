"""Translate a text in shards, with the workers of an executor.

The driver reads the text and its annotations once and writes each shard to a file; a task reads that file and the system,
and writes a file for each output; the driver joins them in order. A translation does not depend on the sentences around
it, and so not on the number of shards.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyperbaton.base.errors import SentenceError
from hyperbaton.base.executors import Sharding, shard_starts, write_parts
from hyperbaton.base.progress import Progress
from hyperbaton.decode.annotated import AnnotatedLines, SourceText
from hyperbaton.decode.glossary import Glossary
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import Translator
from hyperbaton.decode.writing import TranslationOutputs

SYSTEM = "system"


class ShardOutputs(NamedTuple):
    """Outputs of one shard: the number of lines, the files by output, and terms that could not be used."""

    n_lines: int
    files: dict[str, Path]
    conflicts: list[str]
    worker: str


@dataclass(frozen=True)
class _TranslationJob:
    folder: Path
    starts: tuple[int, ...]
    outputs: TranslationOutputs
    decoding: Decoding
    glossary: Glossary | None
    threads: int


def translate_shards(
    system: System,
    text: SourceText,
    outputs: TranslationOutputs | None = None,
    *,
    sharding: Sharding,
    decoding: Decoding | None = None,
    glossary: Glossary | None = None,
    progress: Progress | None = None,
) -> Iterator[ShardOutputs]:
    """Translate a text in shards; yields the outputs of each, in text order.

    Arguments:
        sharding: how the work is distributed. The caller removes its folder.
        progress: counts shards.
    """
    folder, starts = sharding.folder, shard_starts(text.n_lines(), sharding.shards)
    system.save(folder / SYSTEM)
    write_shards(folder, text.shards(starts), starts)
    own = None if glossary is None else glossary.copy()
    job = _TranslationJob(
        folder, tuple(starts), outputs or TranslationOutputs(), decoding or system.options, own, sharding.threads
    )
    for result in sharding.results(_translate_shard, job, progress):
        n_lines, files, conflicts = result.value
        yield ShardOutputs(n_lines, files, conflicts, result.worker)


def _translate_shard(job: _TranslationJob, shard: int) -> tuple[int, dict[str, Path], list[str]]:
    glossary = None if job.glossary is None else job.glossary.copy()
    translator = Translator(System.load(job.folder / SYSTEM), job.decoding, threads=job.threads, glossary=glossary)
    first = job.starts[shard]
    written = job.outputs.write(translator, read_shard(job.folder, shard), first)
    try:
        n_lines, parts = write_parts(job.folder, shard, job.outputs.names, written)
    except SentenceError as error:
        raise error.moved(first) from error
    return n_lines, parts, [] if glossary is None else glossary.take_conflicts()


def write_shards(folder: Path, groups: Iterable[AnnotatedLines], starts: Sequence[int]) -> None:
    """Write each shard of a text to a separate file; no group may span two shards.

    A file is a NumPy archive: the arrays of group n are called `n.lines`, `n.tags.labels` and so on.
    """
    numbered = enumerate(groups)
    for shard, (begin, end) in enumerate(pairwise(starts)):
        with zipfile.ZipFile(_shard_file(folder, shard), "w") as archive:
            while begin < end:
                number, group = next(numbered)
                for name, array in group.arrays().items():
                    with archive.open(f"{number}.{name}.npy", "w", force_zip64=True) as file:
                        np.lib.format.write_array(file, array, allow_pickle=False)
                begin += len(group.lines)
    for _ in numbered:  # reports annotations that continue after the end of the text
        pass


def read_shard(folder: Path, shard: int) -> Iterator[AnnotatedLines]:
    """The groups of a shard."""
    with np.load(_shard_file(folder, shard), allow_pickle=False) as arrays:
        for _, names in groupby(arrays.files, lambda name: name.partition(".")[0]):
            yield AnnotatedLines.from_arrays({name.partition(".")[2]: arrays[name] for name in names})


def _shard_file(folder: Path, shard: int) -> Path:
    return folder / f"{shard}.lines.npz"
