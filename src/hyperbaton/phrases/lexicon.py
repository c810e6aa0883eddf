"""The phrase table as a lexicon: phrase translations with probabilities in both directions."""

from __future__ import annotations

import numpy as np

from hyperbaton.align.lexicon import Lexicon
from hyperbaton.base.errors import OptionError
from hyperbaton.phrases.table import PhraseTable


def phrase_lexicon(table: PhraseTable) -> Lexicon:
    """The phrase probabilities and counts of a table.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a b"], ["x y"], [[(0, 0), (1, 1)]])
    >>> [entry[:3] for entry in phrase_lexicon(PhraseTable.build(bitext, extract(bitext)))]
    [('a', 'x', 1.0), ('a b', 'x y', 1.0), ('b', 'y', 1.0)]
    """
    if table.scores.shape[1] < 3:
        raise OptionError("the phrase table has no probabilities in both directions")
    return Lexicon(
        table.sources.astype(np.int64),
        table.targets.astype(np.int64),
        table.scores[:, [2, 0]].astype(np.float64),
        table.counts[:, 2].astype(np.int64),
        table.source,
        table.target,
    ).sorted()
