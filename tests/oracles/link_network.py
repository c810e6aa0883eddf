"""The network that corrects posteriors of links as its formulas say, in double precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracles import encoder

Array = npt.NDArray[Any]
SMALLEST, FLOOR, WINDOW_SCALE = 0.03, 3e-3, 4.0
Rows = tuple[Sequence[int], Sequence[int]]  # of words and of stems


def correct(arrays: Mapping[str, Array], source: Rows, target: Rows, q: Array, r: Array) -> tuple[Array, Array]:
    """The corrected posteriors of (n, m) word pairs; q are those to the target, r those to the source."""
    w = {name: array.astype(np.float64) for name, array in arrays.items()}
    sides = [side(w, name, rows) for name, rows in (("source.", source), ("target.", target))]
    scores = sum(sides[0][k] @ sides[1][k].T / np.sqrt(sides[0][k].shape[1]) for k in (0, 1))
    kept = np.maximum(q, r) >= SMALLEST
    q, r = np.where(kept, q, 0), np.where(kept, r, 0)
    inputs = np.stack([1 / (1 + np.exp(-scores)), (q + r) / 2])
    posteriors = []
    for way, (this, other, words) in enumerate(((q, r, sides[1]), (r.T, q.T, sides[0]))):
        a, b, c = w["mix"][way]
        near = WINDOW_SCALE * (window(inputs, w["window.weight"][way].reshape(2, 3, 3)) + w["window.bias"][0, way])
        pairs = (scores, near) if way == 0 else (scores.T, near.T)
        logits = a * pairs[0] + b * np.log(this + FLOOR) + c * np.log(other + FLOOR) + pairs[1]
        null = words[2] + (b + c) * np.log(np.clip(1 - this.sum(axis=0), 0, 1) + FLOOR)
        weights = np.exp(logits)
        found = weights / (weights.sum(axis=0) + np.exp(null))
        posteriors.append(found if way == 0 else found.T)
    return posteriors[0], posteriors[1]


def side(w: Mapping[str, Array], name: str, rows: Rows) -> tuple[Array, Array, Array]:
    """Keys, vectors and scores of null."""
    own = {part.removeprefix(name): array for part, array in w.items() if part.startswith(name)}
    own = {part: array[0] if part.endswith(".bias") else array for part, array in own.items()}
    states = np.array(encoder.read(own, *rows)[1:-1])
    vectors = own["vector"][list(rows[0])] + own["stem_vector"][list(rows[1])]
    return states @ own["key.weight"].T + own["key.bias"], vectors, states @ own["null.weight"][0] + own["null.bias"][0]


def window(inputs: Array, weights: Array) -> Array:
    """Weighted sums of 3 × 3 neighbours, zero outside."""
    padded = np.pad(inputs, ((0, 0), (1, 1), (1, 1)))
    n, m = inputs.shape[1:]
    return np.array([[(padded[:, i : i + 3, j : j + 3] * weights).sum() for j in range(m)] for i in range(n)])
