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
    alike = 1 / (1 + np.exp(-scores))
    near = WINDOW_SCALE * window(w, "window", np.stack([alike, (q + r) / 2]))
    logits, nulls = [], []
    for way, (this, other, words) in enumerate(((q, r, sides[1]), (r, q, sides[0]))):
        a, b, c = w["mix"][way]
        logits.append(a * scores + b * np.log(this + FLOOR) + c * np.log(other + FLOOR) + near[way])
        nulls.append(words[2] + (b + c) * np.log(np.clip(1 - this.sum(axis=way), 0, 1) + FLOOR))
    seen = np.stack([*(softmax(logits[way], nulls[way], way) for way in (0, 1)), alike, q, r])
    near = WINDOW_SCALE * window(w, "outer", np.tanh(window(w, "inner", seen)))
    return softmax(logits[0] + near[0], nulls[0], 0), softmax(logits[1] + near[1], nulls[1], 1)


def softmax(logits: Array, nulls: Array, axis: int) -> Array:
    """Probabilities over an axis and null."""
    weights = np.exp(logits)
    found: Array = weights / np.expand_dims(weights.sum(axis) + np.exp(nulls), axis)
    return found


def side(w: Mapping[str, Array], name: str, rows: Rows) -> tuple[Array, Array, Array]:
    """Keys, vectors and scores of null."""
    own = {part.removeprefix(name): array for part, array in w.items() if part.startswith(name)}
    own = {part: array[0] if part.endswith(".bias") else array for part, array in own.items()}
    states = np.array(encoder.read(own, *rows)[1:-1])
    vectors = own["vector"][list(rows[0])] + own["stem_vector"][list(rows[1])]
    return states @ own["key.weight"].T + own["key.bias"], vectors, states @ own["null.weight"][0] + own["null.bias"][0]


def window(w: Mapping[str, Array], name: str, inputs: Array) -> Array:
    """Weighted sums of 3 × 3 neighbours, zero outside."""
    padded = np.pad(inputs, ((0, 0), (1, 1), (1, 1)))
    (n, m), weights = inputs.shape[1:], w[f"{name}.weight"].reshape(-1, len(inputs), 3, 3)
    sums = [[(padded[:, i : i + 3, j : j + 3] * weights).sum((1, 2, 3)) for j in range(m)] for i in range(n)]
    return np.moveaxis(np.array(sums), 2, 0) + w[f"{name}.bias"][0][:, None, None]
