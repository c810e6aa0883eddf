"""The network of `encoder` as its formulas say, a token at a time, in double precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

START, END = 1, 2
DISTANCES = (1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 41)


def logprobs(arrays: Mapping[str, Array], words: Sequence[int], labels: Sequence[int] | None) -> Array:
    """log P(NP | CP) of all jumps, shape (n + 1, n + 1)."""
    w = {name: array.astype(np.float64) for name, array in arrays.items()}
    states = read(w, words, labels)
    side = len(words) + 1
    scores = np.full((side, side), -np.inf)
    for i in range(side):
        for j in range(1, side + 1):
            if j != i:
                scores[i, j - 1] = score(w, states[i], states[j], j - i)
    best = scores.max(axis=1, keepdims=True)
    return scores - best - np.log(np.exp(scores - best).sum(axis=1, keepdims=True))


def class_scores(
    arrays: Mapping[str, Array],
    words: Sequence[int],
    labels: Sequence[int] | None,
    phrases: Sequence[tuple[int, int, int, int]],
) -> Array:
    """Scores of the classes of phrases: begin, end, rows of the first and last target words."""
    w = {name: array.astype(np.float64) for name, array in arrays.items()}
    states = read(w, words, labels)
    size = w["out.weight"].shape[1]
    rows = []
    for begin, end, first, last in phrases:
        v = w["first"][first] + w["last"][last] + w["length"][min(end - begin, len(w["length"])) - 1]
        # The word i is the token i + 1.
        for k, token in enumerate((begin, begin + 1, end, end + 1)):
            part = slice(k * size, (k + 1) * size)
            v = v + w["places.weight"][part] @ states[token] + w["places.bias"][part]
        rows.append(w["out.weight"] @ np.maximum(v, 0) + w["out.bias"])
    return np.array(rows)


def read(w: Mapping[str, Array], words: Sequence[int], labels: Sequence[int] | None) -> list[Array]:
    """The state of the start, each word and the end."""
    tokens = [START, *words, END]
    marks = None if labels is None else [START, *labels, END]
    states = []
    for t, token in enumerate(tokens):
        x = w["word"][token] if marks is None else np.concatenate([w["word"][token], w["label"][marks[t]]])
        states.append(w["input.weight"] @ x + w["input.bias"])
    for layer in range(2):
        forward = direction(w, f"lstm.{layer}.forward", states)
        backward = direction(w, f"lstm.{layer}.backward", states[::-1])[::-1]
        states = [np.concatenate(pair) for pair in zip(forward, backward, strict=True)]
    return states


def direction(w: Mapping[str, Array], name: str, inputs: Sequence[Array]) -> list[Array]:
    size = w[f"{name}.states"].shape[1]
    h, c, outputs = np.zeros(size), np.zeros(size), []
    for x in inputs:
        gates = w[f"{name}.inputs"] @ x + w[f"{name}.states"] @ h + w[f"{name}.bias"]
        i, f, g, o = (gates[k * size : (k + 1) * size] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return outputs


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def score(w: Mapping[str, Array], current: Array, following: Array, distance: int) -> float:
    query = w["query.weight"] @ current + w["query.bias"]
    key = w["key.weight"] @ following + w["key.bias"]
    value = query @ key / math.sqrt(len(query)) + w["bias"][0] @ following
    if "from_distance.weight" in w:
        place = max(k for k, smallest in enumerate(DISTANCES) if abs(distance) >= smallest)
        bucket = len(DISTANCES) + place if distance > 0 else len(DISTANCES) - 1 - place
        value += w["from_distance.weight"][bucket] @ current + w["from_distance.bias"][bucket]
        value += w["to_distance.weight"][bucket] @ following
    return float(value)
