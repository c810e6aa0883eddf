"""The expected length of translations: target words for each source word, by the length of the source sentence.

It is a property of the training text, and stored with its phrases. A class is a range of source lengths; the ratio of a
class is that of its sentences together with `_PRIOR` source words of the average ratio, so that rare classes are close to
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hyperbaton.corpus.bitext import Bitext

_LONGEST = np.array([3, 6, 10, 15, 20, 30, 40, 60])  # source sentence of each class; the last class has longer ones
_PRIOR = 1000.0
N_CLASSES = len(_LONGEST) + 1


@dataclass(frozen=True)
class TextLengths:
    """Source and target words of the sentence pairs of each length class.

    >>> from hyperbaton.corpus import Bitext
    >>> lengths = TextLengths.of(Bitext.of(["a b", "a b c d"] * 1000, ["x", "x y z"] * 1000))
    >>> lengths.ratio, lengths.expected(np.array([2, 4, 100])).round(2).tolist()
    (0.6666666666666666, [1.11, 2.93, 66.67])
    """

    words: npt.NDArray[np.int64]  # (n_classes, 2)

    @classmethod
    def of(cls, bitext: Bitext) -> TextLengths:
        """Count the words of a bitext."""
        source, target = bitext.source.lengths, bitext.target.lengths
        classes = np.searchsorted(_LONGEST, source)
        counts = [np.bincount(classes, side, minlength=N_CLASSES) for side in (source, target)]
        return cls(np.column_stack(counts).astype(np.int64))

    @property
    def ratio(self) -> float:
        """Target words for each source word; 1 without text."""
        source, target = self.words.sum(axis=0).tolist()
        return float(target / source) if source else 1.0

    def expected(self, source: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The expected number of target words of source sentences with these numbers of words."""
        words, target = self.words[:, 0], self.words[:, 1]
        ratios = (target + _PRIOR * self.ratio) / (words + _PRIOR)
        return np.asarray(source * ratios[np.searchsorted(_LONGEST, source)], np.float64)
