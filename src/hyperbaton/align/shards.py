"""Links as text: group by group, or of a whole bitext in shards, by the workers of any executor.

A fitted aligner links each pair independently of the others, so links do not depend on the number of shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.align.base import WordAligner
from hyperbaton.align.streaming import GROUP, read_groups, read_pairs
from hyperbaton.align.writing import PLAIN, format_links
from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import Sharding, ShardResult, shard_starts, write_parts
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import AnyPath, read_byte_lines

ALIGNER = "aligner"


@dataclass(frozen=True)
class LinkOutputs:
    """The requested outputs, `output` and `scores`, and the format of the links."""

    names: tuple[str, ...] = ("output",)
    format: str = PLAIN

    def write(
        self, aligner: WordAligner, groups: Iterable[Bitext], first: int = 0, threads: int | None = None
    ) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Link groups of sentence pairs, numbered from `first`; yields the size and the outputs of each group."""
        scored = "scores" in self.names or self.format != PLAIN
        for group in groups:
            linked = replace(group, links=aligner.align(group, threads=threads))
            sure = aligner.score(linked, threads=threads) if isinstance(aligner, Aligner) and scored else None
            pieces = {"output": b"".join(format_links(linked, sure, self.format, first))}
            if sure is not None and "scores" in self.names:
                pieces["scores"] = "".join(f"{line}\n" for line in sure.lines(linked.need_links())).encode()
            yield len(group), pieces
            first += len(group)


@dataclass(frozen=True)
class _LinkJob:
    folder: Path
    starts: tuple[int, ...]
    outputs: LinkOutputs
    threads: int


def align_shards(
    aligner: Aligner,
    source: AnyPath,
    target: AnyPath,
    outputs: LinkOutputs | None = None,
    *,
    sharding: Sharding,
    progress: Progress | None = None,
) -> Iterator[ShardResult[dict[str, Path]]]:
    """Link a bitext in shards with a fitted aligner; yields the files that each wrote, in the order of the bitext.

    Arguments:
        sharding: how the work is distributed. The caller removes its folder.
        progress: counts shards.
    """
    folder = sharding.folder
    if "-" in (source, target):
        raise OptionError("a bitext that is linked in shards is read twice: give files, not standard input")
    starts = shard_starts(sum(1 for _ in read_byte_lines(source)), sharding.shards)
    aligner.save(folder / ALIGNER, smallest=0)  # complete, so that links are exactly those of this model
    pairs = read_pairs(source, target)
    for shard, (begin, end) in enumerate(pairwise(starts)):
        paths = _side_files(folder, shard)
        with paths[0].open("wb") as sources, paths[1].open("wb") as targets:
            for src, tgt in islice(pairs, end - begin):
                sources.write(f"{src}\n".encode())
                targets.write(f"{tgt}\n".encode())
    for _ in pairs:  # reports a longer target
        pass
    job = _LinkJob(folder, tuple(starts), outputs or LinkOutputs(), sharding.threads)
    yield from sharding.results(_align_shard, job, progress)


def _align_shard(job: _LinkJob, shard: int) -> dict[str, Path]:
    aligner = Aligner.load(job.folder / ALIGNER)
    groups = read_groups(*_side_files(job.folder, shard), GROUP)
    written = job.outputs.write(aligner, groups, job.starts[shard], job.threads)
    return write_parts(job.folder, shard, job.outputs.names, written)[1]


def _side_files(folder: Path, shard: int) -> tuple[Path, Path]:
    return folder / f"{shard}.source", folder / f"{shard}.target"
