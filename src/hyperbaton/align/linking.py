"""Links as text, group by group: a fitted aligner links each pair by itself, so groups may be linked by any worker."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from hyperbaton.align.base import WordAligner, load_aligner
from hyperbaton.align.link_files import PLAIN, format_links
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Shared
from hyperbaton.corpus import Bitext

PART = 1 << 16  # sentence pairs that a worker links with one loading of the aligner
AHEAD = 64  # parts in memory


@dataclass(frozen=True)
class LinkOutputs:
    """The requested outputs, `output` and `scores`, and the format of the links."""

    names: tuple[str, ...] = ("output",)
    format: str = PLAIN

    def write(
        self, aligner: WordAligner, groups: Iterable[Bitext], resources: Resources
    ) -> Iterator[tuple[int, dict[str, bytes]]]:
        """Link groups of sentence pairs; yields the size and the outputs of each group."""
        load = partial(load_aligner, like=aligner.linking())
        # Saved completely, so that links are exactly those of this model.
        shared = resources.workers.share(aligner, partial(aligner.save, smallest=0), load)
        task = _Linking(shared, self, resources.tasks().threads)
        return resources.workers.map(task, _numbered(groups), AHEAD)


def _numbered(groups: Iterable[Bitext]) -> Iterator[tuple[int, Bitext]]:
    """Groups with the number of sentence pairs before each."""
    first = 0
    for group in groups:
        yield first, group
        first += len(group)


@dataclass(frozen=True)
class _Linking:
    """Links groups of sentence pairs."""

    aligner: Shared[WordAligner]
    outputs: LinkOutputs
    threads: int

    def __call__(self, part: tuple[int, Bitext]) -> tuple[int, dict[str, bytes]]:
        aligner, outputs, (first, group) = self.aligner.value, self.outputs, part
        scored = "scores" in outputs.names or outputs.format != PLAIN
        linked = replace(group, links=aligner.align(group, threads=self.threads))
        sure = aligner.score(linked, threads=self.threads) if scored else None
        pieces = {"output": b"".join(format_links(linked, sure, outputs.format, first))}
        if sure is not None and "scores" in outputs.names:
            pieces["scores"] = "".join(f"{line}\n" for line in sure.lines(linked.need_links())).encode()
        return len(group), pieces
