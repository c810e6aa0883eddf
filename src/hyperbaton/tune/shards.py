"""The decoder for tuning, with the development text translated in shards by the workers of an executor.

A task consists of the system, the file of a shard, and weights; it writes the n-best lists of the shard to a file of
arrays. The lists are joined in text order, and are the same for any number of shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.options import Arguments
from hyperbaton.base.progress import Progress
from hyperbaton.base.shard_arrays import map_arrays, write_arrays
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import System
from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.decode.shards import SYSTEM, read_shard, write_shards
from hyperbaton.tune.nbest import Candidates, Floats
from hyperbaton.tune.system import SystemDecoder


@dataclass(frozen=True)
class _Job:
    folder: Path
    starts: tuple[int, ...]
    weights: list[float]
    arguments: Arguments  # arguments of the decoder


class ShardedDecoder(SystemDecoder):
    """Translates like `SystemDecoder`, in shards.

    The caller removes the folder of `sharding`. `progress` counts shards; `arguments` are as for `SystemDecoder`.
    """

    def __init__(
        self,
        system: System,
        sentences: Sequence[str],
        *,
        sharding: Sharding,
        annotations: Annotations = NOTHING,
        first: int = 0,
        progress: Progress | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(system, sentences, annotations=annotations, first=first, progress=progress, **arguments)
        self.sharding = sharding
        self.arguments = arguments | {"threads": self.sharding.threads}

    def _translate(self, weights: Floats) -> Candidates:
        folder, starts = self.sharding.folder, shard_starts(len(self.sentences), self.sharding.shards)
        if not (folder / SYSTEM).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_shards(folder, self._groups(starts), starts)
            self.system.save(folder / SYSTEM)
        job = _Job(folder, tuple(starts), weights.tolist(), self.arguments)
        parts: list[Candidates] = []
        for shard, n_lists in enumerate(self.sharding.do(_translate_shard, job, self.progress)):
            if n_lists:
                part = Candidates.from_arrays(map_arrays(folder, _lists(shard)))
                parts.append(part._replace(sentence=part.sentence + starts[shard]))
        return Candidates(
            np.concatenate([part.sentence for part in parts]),
            np.concatenate([part.features for part in parts]),
            [line for part in parts for line in part.hypotheses],
            sparse.vstack([part.sparse for part in parts], format="csr") if self.system.sparse else None,
        )

    def _groups(self, starts: Sequence[int]) -> Iterator[AnnotatedLines]:
        for begin, end in pairwise(starts):
            if begin < end:
                yield AnnotatedLines(self.sentences[begin:end], self.annotations.select(np.arange(begin, end)))


def _translate_shard(job: _Job, shard: int) -> int:
    """Compute the lists of a shard; returns their number, 0 if there are more shards than sentences."""
    group = next(read_shard(job.folder, shard), None)
    if group is None:
        return 0
    system, first = System.load(job.folder / SYSTEM), job.starts[shard]
    decoder = SystemDecoder(system, group.lines, annotations=group.annotations, first=first, **job.arguments)
    write_arrays(job.folder, _lists(shard), decoder(np.array(job.weights)).arrays())
    return len(group.lines)


def _lists(shard: int) -> str:
    return f"lists.{shard}"
