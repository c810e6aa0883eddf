"""Sentences with their translation options, and steps of the search, as models get them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.corpus import Annotations, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.phrases import PhraseTable, TranslationOptions


class Batch(NamedTuple):
    """Sentences that are translated together, with their translation options and annotations.

    `pairs` is the row of the phrase table of each option, negative where it comes from elsewhere. `table` is that phrase
    table: what follows from a row may be kept as long as it is the same object.
    """

    source: Text
    options: TranslationOptions
    pairs: npt.NDArray[np.int64]
    annotations: Annotations = NOTHING
    table: PhraseTable | None = None

    @property
    def sources(self) -> npt.NDArray[np.int64]:
        """The number of the source phrase of each option; 0 for one from elsewhere."""
        ends = np.zeros(0, np.int64) if self.table is None else self.table.offsets[1:-1]
        return np.searchsorted(ends, self.pairs, side="right")

    def core_options(self, targets: _core.Tokens) -> _core.BlockOptions:
        """The options in the form of the core, with their target words in a model's numbers."""
        options, offsets = self.options, self.options.sentence_offsets
        if offsets is None:
            offsets = np.searchsorted(options.source.sentence, np.arange(len(self.source) + 1)).astype(np.int64)
        return _core.BlockOptions(
            offsets=offsets,
            begin=options.source.begin,
            length=options.source.length,
            targets=targets,
            links=options.links.points,
            link_offsets=options.links.offsets,
        )


@dataclass(frozen=True)
class Steps:
    """Steps of hypotheses of one sentence: option `options[i]` after a hypothesis that has translated `coverage[i]`.

    `states` is the model's result for the previous step, 0 at the start of the sentence; `previous_begin` and
    `previous_end` give the source span of the previous phrase (0 and 0 at the start).
    """

    batch: Batch
    sentence: int
    states: npt.NDArray[np.int64]
    coverage: npt.NDArray[np.bool_]  # (n_steps, n_words)
    previous_begin: npt.NDArray[np.int32]
    previous_end: npt.NDArray[np.int32]
    options: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.options)

    @property
    def begin(self) -> npt.NDArray[np.int64]:
        """First source word of each step's option."""
        return self.batch.options.source.begin[self.options].astype(np.int64)

    @property
    def end(self) -> npt.NDArray[np.int64]:
        """One past its last source word."""
        return self.begin + self.batch.options.source.length[self.options]
