"""Batch MIRA over sparse rows, plainly: dense candidates, one visit after the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def mira(
    candidates: Floats, lists: npt.NDArray[np.int64], gains: Floats, start: Floats, orders: npt.NDArray[np.uint32], c: float
) -> Floats:
    """The averaged weights after each pass; `orders` has a row of sentences for each."""
    weights, total, averages, n_visits = start.copy(), np.zeros(len(start)), [], 0
    for order in orders:
        for s in order.tolist():
            part = slice(int(lists[s]), int(lists[s + 1]))
            rows, gain = candidates[part], gains[part]
            scores = np.array([in_order(row * weights) for row in rows])
            hope, fear = int(np.argmax(scores + gain)), int(np.argmax(scores - gain))
            loss = gain[hope] - gain[fear] - scores[hope] + scores[fear]
            difference = rows[hope] - rows[fear]
            norm = in_order(difference * difference)
            if loss > 0 and norm > 0:
                weights = weights + min(c, loss / norm) * difference
            total += weights
            n_visits += 1
        averages.append(total / n_visits)
    return np.array(averages)


def in_order(terms: Floats) -> float:
    """A sum from the first term to the last."""
    return float(np.add.accumulate(terms)[-1])
