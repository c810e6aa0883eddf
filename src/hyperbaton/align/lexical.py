"""Word translation probabilities from links: p(t|s) and p(s|t) by relative frequency, as Moses makes them.

An unlinked word counts as linked to the other side's empty word, which is numbered behind that side's vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.progress import default_threads
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.text import Offsets, WordIds

SMALLEST = 1e-7


@dataclass(frozen=True)
class LexicalTable:
    """Probabilities of linked word pairs, by source word.

    The entries of source word s are `targets[offsets[s]:offsets[s + 1]]`, increasing; the last row is the empty source
    word's. `probabilities` has the shape (entries, 2): p(target|source), p(source|target).
    """

    offsets: Offsets
    targets: WordIds
    probabilities: npt.NDArray[np.float64]
    n_source_words: int
    n_target_words: int

    @classmethod
    def from_links(cls, bitext: Bitext, threads: int | None = None) -> LexicalTable:
        """Count the links of a bitext.

        Probabilities are rounded to seven decimals and single precision, as when Moses reads its own files, so that
        lexical weights come out the same; none is rounded to zero.

        >>> table = LexicalTable.from_links(Bitext.of(["a b"], ["x y"], [[(0, 0)]]))
        >>> table.probability(0, 0)
        (1.0, 1.0)
        """
        source, target, links = bitext.source, bitext.target, bitext.need_links()
        sizes = len(source.vocabulary), len(target.vocabulary)
        offsets, targets, counts = _core.lexical_counts(
            source.tokens,
            source.offsets,
            target.tokens,
            target.offsets,
            links.points,
            links.offsets,
            *sizes,
            threads or default_threads(),
        )
        sources = np.repeat(np.arange(sizes[0] + 1), np.diff(offsets))
        by_source = np.bincount(sources, counts, sizes[0] + 1)
        by_target = np.bincount(targets, counts, sizes[1] + 1)
        exact = np.stack([counts / by_source[sources], counts / by_target[targets]], axis=1)
        return cls(offsets, targets, np.maximum(np.round(exact, 7), SMALLEST), *sizes)

    def probability(self, source: int, target: int) -> tuple[float, float]:
        """(p(target|source), p(source|target)) of two word numbers; zeros where they were never linked."""
        begin, end = self.offsets[source], self.offsets[source + 1]
        at = begin + np.searchsorted(self.targets[begin:end], target)
        if at == end or self.targets[at] != target:
            return 0.0, 0.0
        forward, backward = self.probabilities[at]
        return float(forward), float(backward)
