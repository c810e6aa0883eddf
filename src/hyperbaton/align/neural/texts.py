"""Sentence pairs as the networks read them, and the constants that training and the core share; needs only NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from hyperbaton.base.arrays import Array

SMALLEST_POSTERIOR = 0.03  # posteriors of the models below this in both directions count as 0
POSTERIOR_FLOOR = 3e-3  # added to posteriors before taking the logarithm
WINDOW_SCALE = 4.0  # of the student's weighted sums over neighbouring word pairs


# The last parts of the names of arrays with a row for each word, and for each stem.
_WORDS, _STEMS = {"word", "vector", "output"}, {"stem", "label", "stem_vector"}


class SideText(NamedTuple):
    """Sentences as rows of the embeddings of words and of stems."""

    words: Array  # (n_tokens,), without start and end
    stems: Array  # (n_tokens,)
    offsets: Array  # (n_sentences + 1,)
    n_rows: Array  # (2,): rows of both embeddings, which may be more than these sentences need


class PairTexts(NamedTuple):
    """Both sides, and every link with its posteriors if one of them reaches `SMALLEST_POSTERIOR`."""

    source: SideText
    target: SideText
    points: Array  # (n_points, 2): positions
    point_offsets: Array  # (n_sentences + 1,)
    posteriors: Array  # (n_points, 2): to the target, to the source

    def arrays(self) -> dict[str, Array]:
        """All arrays by name, for a file."""
        sides = zip(self._fields, (self.source, self.target), strict=False)
        parts = {f"{name}.{part}": array for name, side in sides for part, array in side._asdict().items()}
        return parts | {name: getattr(self, name) for name in self._fields[2:]}

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> Self:
        """The inverse of `arrays`."""
        source, target = (SideText(*(arrays[f"{name}.{part}"] for part in SideText._fields)) for name in cls._fields[:2])
        return cls(source, target, *(arrays[name] for name in cls._fields[2:]))

    def usable(self, longest: int) -> Array:
        """The pairs without an empty side or one that is longer than `longest`."""
        lengths = np.diff(self.source.offsets), np.diff(self.target.offsets)
        return np.flatnonzero((np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= longest))


def moved_rows(arrays: Mapping[str, Array], origins: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of a network for other embeddings, whose rows come from the given ones; by side and part.

    Names begin with a side, or with a direction whose own `source` is the sentence that it reads; those of embeddings, and
    of layers that predict words, have a part like `word`.

    >>> arrays = {"to_target.output.bias": np.array([5, 6, 7, 8]), "to_target.source.label": np.array([1, 2, 3, 4])}
    >>> origins = {"target.words": np.array([0, 1, 2, 0, 3]), "source.stems": np.array([0, 1, 2])}
    >>> [array.tolist() for array in moved_rows(arrays, origins).values()]
    [[5, 6, 7, 5, 8], [1, 2, 3]]
    """
    moved, others = {}, {"to_target": "source", "to_source": "target"}
    for name, array in arrays.items():
        parts = name.split(".")
        first = parts[0]
        side = others[first] if first in others and "source" in parts else first.removeprefix("to_")
        kind = "words" if _WORDS & set(parts) else "stems" if _STEMS & set(parts) else None
        moved[name] = array if kind is None else array[origins[f"{side}.{kind}"]]
    return moved
