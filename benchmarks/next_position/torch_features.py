"""The features of jumps computed by PyTorch alone, with the keys of the core, counted and numbered in the same way.

For benchmarks on machines without the package. core/features/jumps.hh lists the features; a test
compares the two. Keys are 64-bit numbers with the sign bit flipped, so that their order is that of unsigned numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]
Tensor = torch.Tensor

BOS, EOS, PADDING = 0xFFFFFFF0, 0xFFFFFFF1, 0xFFFFFFF2
N_CONSTANTS = 8
WORDS, TAG, TAG_BEFORE, TAG_AFTER, WORD_TAG = range(5), 5, 6, 7, 8
WORD_PAIRS = [(a, b) for a in WORDS for b in WORDS if a in (1, 2, 3) or b in (1, 2, 3)]
TAG_PAIRS = [
    (TAG, TAG),
    (TAG_BEFORE, TAG),
    (TAG_AFTER, TAG),
    (TAG, TAG_BEFORE),
    (TAG, TAG_AFTER),
    (WORD_TAG, TAG),
    (TAG, WORD_TAG),
]
ALWAYS = {(2, 2), (TAG, TAG), (WORD_TAG, TAG), (TAG, WORD_TAG)}
# Keys found at once: bounds the memory.
TOGETHER = 1 << 26


def _signed(x: int) -> int:
    return x - (1 << 64) if x >= 1 << 63 else x


def mix(x: Tensor) -> Tensor:
    for _ in range(2):
        x = (x ^ ((x >> 32) & 0xFFFFFFFF)) * _signed(0xD6E8FEB86659FD93)
    return x ^ ((x >> 32) & 0xFFFFFFFF)


def combine(seed: Tensor | int, value: Tensor) -> Tensor:
    seed = torch.as_tensor(seed, device=value.device)
    return mix(seed * _signed(0x9E3779B97F4A7C15) + value + 1)


def code(number: int, device: torch.device) -> Tensor:
    return mix(torch.tensor(number, device=device))


class Corpus(NamedTuple):
    """Sentences that have jumps, by length: word numbers, tags or None, and next[s, i] (0: none), each of (size, n …)."""

    words: dict[int, Tensor]
    tags: dict[int, Tensor] | None
    following: dict[int, Tensor]

    @property
    def lengths(self) -> list[int]:
        return sorted(self.words)


def read_pack(path: Any, size: int, device: torch.device, prefix: str = "") -> Corpus | None:
    """Sentences of a pack, grouped by length, in text order within a length. None if the pack has none with this prefix."""
    with np.load(path) as file:
        names = ("tokens", "lengths", "tags", "visits", "n_visits")
        arrays = {name: file[prefix + name] for name in names if prefix + name in file}
    if not arrays:
        return None
    lengths, n_visits = arrays["lengths"].astype(np.int64), arrays["n_visits"].astype(np.int64)
    starts, visit_starts = np.cumsum(lengths) - lengths, np.cumsum(n_visits) - n_visits
    used = np.flatnonzero(n_visits[: size or None])
    words, tags, following = {}, {}, {}
    for n in np.unique(lengths[used]).tolist():
        chosen = used[lengths[used] == n]
        where = starts[chosen, None] + np.arange(n)
        words[n] = torch.from_numpy(arrays["tokens"][where].astype(np.int64)).to(device)
        if "tags" in arrays:
            tags[n] = torch.from_numpy(arrays["tags"][where].astype(np.int64)).to(device)
        jumps = np.zeros((len(chosen), n + 1), np.int64)
        rows = np.repeat(np.arange(len(chosen)), n_visits[chosen])
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(n_visits[chosen]) - n_visits[chosen], n_visits[chosen])
        visited = arrays["visits"][np.repeat(visit_starts[chosen], n_visits[chosen]) + nth].astype(np.int64) + 1
        current = np.where(nth == 0, 0, np.roll(visited, 1))
        jumps[rows, current] = visited
        jumps[np.arange(len(chosen)), visited[np.cumsum(n_visits[chosen]) - 1]] = n + 1
        following[n] = torch.from_numpy(jumps).to(device)
    return Corpus(words, tags or None, following)


def position_parts(words: Tensor, tags: Tensor | None) -> Tensor:
    """The nine parts (five without tags) of positions 0 … n + 1 of sentences (size, n): (size, n + 2, parts)."""
    seen = _with_edges(words)
    n_positions = words.shape[1] + 2
    parts = [combine(1, seen[:, a : a + n_positions]) for a in WORDS]
    if tags is not None:
        labels = _with_edges(tags)
        here, before, after = (labels[:, a : a + n_positions] for a in (2, 1, 3))
        parts.append(combine(2, here))
        parts.append(combine(combine(3, before), here))
        parts.append(combine(combine(4, here), after))
        parts.append(combine(combine(5, seen[:, 2 : 2 + n_positions]), here))
    return torch.stack(parts, -1)


def _with_edges(values: Tensor) -> Tensor:
    def column(value: int) -> Tensor:
        return values.new_full((len(values), 1), value)

    return torch.cat([*[column(PADDING)] * 2, column(BOS), values, column(EOS), *[column(PADDING)] * 2], 1)


class Keys:
    """Keys of the features of jumps of one batch of sentences of the same length."""

    def __init__(self, words: Tensor, tags: Tensor | None) -> None:
        self.parts = position_parts(words, tags)
        self.size, self.n, self.device = len(words), words.shape[1], words.device
        self.pairs = WORD_PAIRS + (TAG_PAIRS if tags is not None else [])
        self.n_unary = 6 if tags is not None else 5
        i, j = torch.arange(self.n + 1, device=self.device)[:, None], torch.arange(1, self.n + 2, device=self.device)
        self.back, self.own = (i > j).long(), i == j

    def pair(self, number: int) -> Tensor:
        """Keys of all (i, j) for one template: (size, n + 1, n + 1)."""
        left, right = self.pairs[number]
        codes = torch.stack([code(2000 + 2 * number + o, self.device) for o in (0, 1)])[self.back]
        i, j = self.parts[:, :-1, None, left], self.parts[:, None, 1:, right]
        return _ordered(mix(i * _signed(0x9E3779B97F4A7C15) + j + codes))

    def unary(self, side: int, part: int) -> Tensor:
        """Keys of all CPs (side 0) or NPs (1) and both orientations: (size, n + 1, 2)."""
        codes = torch.stack([code(1000 + (side * 6 + part) * 2 + o, self.device) for o in (0, 1)])
        here = self.parts[:, :-1] if side == 0 else self.parts[:, 1:]
        return _ordered(mix(here[..., part, None] + codes))


def _ordered(keys: Tensor) -> Tensor:
    return keys ^ _signed(1 << 63)


def _batches(corpus: Corpus) -> Iterator[tuple[Tensor, Tensor | None, Tensor]]:
    for n in corpus.lengths:
        most = max(1, TOGETHER // (28 * (n + 1) ** 2))
        for begin in range(0, len(corpus.words[n]), most):
            part = slice(begin, begin + most)
            tags = None if corpus.tags is None else corpus.tags[n][part]
            yield corpus.words[n][part], tags, corpus.following[n][part]


def count_keys(corpus: Corpus, min_count: int) -> Tensor:
    """The keys that are frequent enough by the rule of footnote 12, in order."""
    keys_of_jumps = []
    for words, tags, following in _batches(corpus):
        keys = Keys(words, tags)
        s, i = torch.nonzero(following).unbind(1)
        j = following[s, i] - 1
        back = keys.back[i, j]
        anywhere = ~keys.own.expand(keys.size, -1, -1)
        for number, pair in enumerate(keys.pairs):
            values = keys.pair(number)
            keys_of_jumps.append(values[anywhere] if pair in ALWAYS else values[s, i, j])
        for part in range(keys.n_unary):
            keys_of_jumps += [keys.unary(0, part)[s, i, back], keys.unary(1, part)[s, j, back]]
    everything = torch.cat(keys_of_jumps)
    del keys_of_jumps
    values, counts = torch.unique_consecutive(torch.sort(everything).values, return_counts=True)
    return values[counts >= min_count]


def feature_lists(corpus: Corpus, keys: Tensor) -> dict[str, Any]:
    """The fields of `TorchLists` of the torch backend."""
    all_counts, all_ids, lengths, following = [], [], [], []
    for words, tags, jumps in _batches(corpus):
        made = Keys(words, tags)
        side = made.n + 1
        unary = [
            torch.stack([made.unary(s, p) for p in range(made.n_unary)], -1).view(made.size, 2 * side, -1) for s in (0, 1)
        ]
        pairs = torch.stack([made.pair(t) for t in range(len(made.pairs))], -1)
        different = ~made.own.view(1, side, side, 1)
        ids, known = _find(keys, torch.cat(unary, 1))
        pair_ids, pair_known = _find(keys, pairs)
        pair_known &= different
        counts = [known.sum(-1), pair_known.sum(-1).view(made.size, -1)]
        all_counts.append(torch.cat(counts, 1).to(torch.uint8).flatten())
        # Lists of unary features come before those of pairs, sentence by sentence.
        width = pairs.shape[-1]
        room = ids.new_zeros(made.size, 4 * side + side * side, width)
        there = torch.zeros_like(room, dtype=torch.bool)
        room[:, : 4 * side, : made.n_unary], there[:, : 4 * side, : made.n_unary] = ids, known
        room[:, 4 * side :], there[:, 4 * side :] = (
            pair_ids.view(made.size, -1, width),
            pair_known.view(made.size, -1, width),
        )
        all_ids.append(room[there])
        lengths.append(np.full(made.size, made.n))
        following.append(jumps.cpu().numpy().reshape(-1))
    return {
        "lengths": np.concatenate(lengths),
        "counts": torch.cat(all_counts),
        "ids": torch.cat(all_ids),
        "next": np.concatenate(following),
        "n_features": N_CONSTANTS + len(keys),
    }


def _find(keys: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """The feature number of each key, and whether the key exists."""
    rank = torch.searchsorted(keys, wanted.reshape(-1), out_int32=True).view(wanted.shape)
    rank.clamp_(max=max(len(keys) - 1, 0))
    return rank + N_CONSTANTS, keys[rank] == wanted
