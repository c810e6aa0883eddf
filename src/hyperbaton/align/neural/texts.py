"""Sentence pairs as the networks read them, and the constants that training and the core share; needs only NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hyperbaton.base.arrays import Array

SMALLEST_POSTERIOR = 0.03  # posteriors of the models below this in both directions count as 0
POSTERIOR_FLOOR = 3e-3  # added to posteriors before taking the logarithm
WINDOW_SCALE = 4.0  # of the student's weighted sums over neighbouring word pairs


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

    def usable(self, longest: int) -> Array:
        """The pairs without an empty side or one that is longer than `longest`."""
        lengths = np.diff(self.source.offsets), np.diff(self.target.offsets)
        return np.flatnonzero((np.minimum(*lengths) > 0) & (np.maximum(*lengths) <= longest))
