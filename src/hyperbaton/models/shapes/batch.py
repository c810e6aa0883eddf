"""Sentences and their translation options, as the search gives them to models."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.corpus import Annotations, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.phrases import TranslationOptions


class Batch(NamedTuple):
    """Sentences that are translated together, with their translation options and annotations.

    `pairs` is the row of the phrase table of each option, negative where it comes from elsewhere; `sources` the number of
    its source phrase. `table` is that phrase table: what follows from a row may be kept as long as it is the same object.
    """

    source: Text
    options: TranslationOptions
    pairs: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    annotations: Annotations = NOTHING
    table: object = None

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
