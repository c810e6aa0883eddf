"""The decoder that tuning sees, with the development text translated in shards by the workers of any executor.

A task is the system, the file of a shard, and weights; it leaves the n-best lists of the shard in a file of arrays. The
lists are joined in the order of the text, and are the same for any number of shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hyperbaton.base.executors import Sharding, ShardingFields, part_files, shard_starts, writing_parts
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import System
from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.decode.shards import SYSTEM, read_shard, write_shards
from hyperbaton.tune.nbest import Floats, NBest
from hyperbaton.tune.system import SystemDecoder

LISTS = "lists"


@dataclass(frozen=True)
class _Job:
    folder: Path
    starts: tuple[int, ...]
    weights: list[float]
    how: dict[str, Any]  # arguments of the decoder


class ShardedDecoder(SystemDecoder):
    """Does what `SystemDecoder` does, in shards.

    `sharding` is how, or its fields, `folder`, `shards`, `executor`, `threads`, are arguments; the caller removes the
    folder. `progress` counts shards; `how` is as for `SystemDecoder`.
    """

    def __init__(
        self,
        system: System,
        sentences: Sequence[str],
        *,
        sharding: Sharding | None = None,
        annotations: Annotations = NOTHING,
        first: int = 0,
        progress: Progress | None = None,
        **how: Any,
    ) -> None:
        fields: Any = {name: how.pop(name) for name in ShardingFields.__annotations__ if name in how}
        super().__init__(system, sentences, annotations=annotations, first=first, progress=progress, **how)
        self.sharding = Sharding.of(sharding, fields)
        self.how = how | {"threads": self.sharding.threads}

    def _translate(self, weights: Floats) -> NBest:
        folder, starts = self.sharding.folder, shard_starts(len(self.sentences), self.sharding.shards)
        if not (folder / SYSTEM).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_shards(folder, self._groups(starts), starts)
            self.system.save(folder / SYSTEM)
        job = _Job(folder, tuple(starts), weights.tolist(), self.how)
        parts: list[NBest] = []
        for start, path in zip(starts[:-1], self.sharding.do(_translate_shard, job, self.progress), strict=True):
            if path is not None:
                with np.load(path, allow_pickle=False) as arrays:
                    part = NBest.from_arrays(arrays)
                parts.append(part._replace(sentence=part.sentence + start))
        return NBest(
            np.concatenate([part.sentence for part in parts]),
            np.concatenate([part.features for part in parts]),
            [line for part in parts for line in part.hypotheses],
            sparse.vstack([part.sparse for part in parts], format="csr") if self.system.sparse else None,
        )

    def _groups(self, starts: Sequence[int]) -> Iterator[AnnotatedLines]:
        for begin, end in pairwise(starts):
            if begin < end:
                yield AnnotatedLines(self.sentences[begin:end], self.annotations.select(np.arange(begin, end)))


def _translate_shard(job: _Job, shard: int) -> Path | None:
    """The file with the lists of a shard; none where there are more shards than sentences."""
    group = next(read_shard(job.folder, shard), None)
    if group is None:
        return None
    system, first = System.load(job.folder / SYSTEM), job.starts[shard]
    decoder = SystemDecoder(system, group.lines, annotations=group.annotations, first=first, **job.how)
    with writing_parts(job.folder, shard, [LISTS]) as files:
        arrays: dict[str, Any] = decoder(np.array(job.weights)).arrays()
        np.savez(files[LISTS], **arrays)
    return part_files(job.folder, shard, [LISTS])[LISTS]
