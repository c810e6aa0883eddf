"""The network of `encoder`, which scores jumps, for `training`.

Rows of scores of jumps are the tokens 0 … n, columns the tokens 1 … n + 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from hyperbaton.base.arrays import Array
from hyperbaton.network.training import DecisionTask, EncodedText, ReaderShape, SentenceReader, Tokens, moved

# The smallest distances |j − i| of the buckets of one direction.
DISTANCES = (1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 41)
N_BUCKETS = 2 * len(DISTANCES)
_NEVER = 1 << 30


class JumpSentences(NamedTuple):
    """JumpSentences as rows of the embeddings, and their visit orders (empty except for training)."""

    words: Array  # (n_tokens,), without start and end
    labels: Array | None  # (n_tokens,)
    offsets: Array  # (n_sentences + 1,)
    visits: Array  # positions, in the order of visits
    visit_offsets: Array  # (n_sentences + 1,)

    @property
    def lengths(self) -> Array:
        return np.diff(self.offsets)


@dataclass(frozen=True)
class JumpShape(ReaderShape):
    """Sizes of a jump network."""

    distances: bool


class JumpNetwork(SentenceReader):
    """score(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]."""

    heads = ("query", "key", "bias", "from_distance", "to_distance")

    def __init__(self, shape: JumpShape, dropout: float = 0.0) -> None:
        super().__init__(shape, dropout)
        self.shape = shape
        hidden, state = shape.hidden, 2 * shape.hidden
        self.query, self.key = nn.Linear(state, hidden), nn.Linear(state, hidden)
        self.bias = nn.Linear(state, 1, bias=False)
        self.from_distance = nn.Linear(state, N_BUCKETS) if shape.distances else None
        self.to_distance = nn.Linear(state, N_BUCKETS, bias=False) if shape.distances else None
        self._initialise()

    def forward(self, words: Tensor, labels: Tensor | None, lengths: Array) -> Tensor:
        """Scores, shape (batch, n + 1, n + 1) for n + 2 tokens; `lengths` are those of the sentences, in tokens."""
        h = self.read(words, labels, lengths)
        current, following = h[:, :-1], h[:, 1:]
        scores = self.query(current) @ self.key(following).transpose(1, 2) / math.sqrt(self.shape.hidden)
        scores = scores + self.bias(following).transpose(1, 2)
        if self.from_distance is not None and self.to_distance is not None:
            side = scores.shape[1]
            place = torch.arange(side, device=h.device)
            buckets = torch.as_tensor(bucket_table(side), device=h.device)[place[None] + 1 - place[:, None] + side]
            buckets = buckets.expand(len(h), side, side)
            scores = scores + self.from_distance(current).gather(2, buckets)
            scores = scores + self.to_distance(following).gather(2, buckets.transpose(1, 2)).transpose(1, 2)
        return scores  # type: ignore[no-any-return]

    def arrays(self) -> dict[str, Array]:
        columns = super().arrays()
        columns["bias"] = columns.pop("bias.weight")
        return columns

    def take(self, arrays: Mapping[str, Array]) -> Self:
        return super().take({**arrays, "bias.weight": arrays["bias"]})


def bucket_table(farthest: int) -> Array:
    """The bucket of the distances −farthest … farthest: backward ones first, from far to near; that of 0 is arbitrary.

    >>> bucket_table(3).tolist()
    [8, 9, 10, 10, 11, 12, 13]
    """
    distance = np.arange(-farthest, farthest + 1)
    place = np.searchsorted(DISTANCES, np.maximum(np.abs(distance), 1), side="right") - 1
    return np.where(distance > 0, len(DISTANCES) + place, len(DISTANCES) - 1 - place)


class JumpBatch(NamedTuple):
    """Sentences with the jumps through them."""

    tokens: Tokens
    ranks: Tensor  # (size, n + 2): when a token is visited, 0 for the start; _NEVER if it is not
    targets: Tensor  # (size, n + 1): the column of the next token, −1 if there is none

    def candidates(self, remaining: bool) -> Tensor:
        """Where a jump may go, shape (size, n + 1, n + 1)."""
        place = np.arange(self.tokens.words.shape[1])
        exists = moved(place[1:] < self.tokens.lengths[:, None], self.ranks.device)[:, None, :]
        if remaining:
            return exists & (self.ranks[:, None, 1:] > self.ranks[:, :-1, None])
        return exists & moved(place[None, 1:] != place[:-1, None], self.ranks.device)


class JumpData(EncodedText):
    """Sentences with their visit orders."""

    def __init__(self, sentences: JumpSentences, device: str) -> None:
        super().__init__(sentences.words, sentences.labels, sentences.offsets, device)
        n_visits = np.diff(sentences.visit_offsets)
        self.usable = np.flatnonzero(n_visits > 0)
        of = np.repeat(np.arange(len(n_visits)), n_visits)
        nth = np.arange(len(of)) - sentences.visit_offsets[of]
        ranks = np.full(len(sentences.words), _NEVER, np.int32)
        ranks[sentences.offsets[of] + sentences.visits] = nth + 1
        # The position after each word; the length represents the end. The first visit follows the start.
        last = nth == n_visits[of] - 1
        following = np.full(len(sentences.words), -1, np.int32)
        after = np.where(last, self.lengths[of], np.append(sentences.visits[1:], 0).astype(np.int64))
        following[sentences.offsets[of] + sentences.visits] = after
        first = np.full(len(n_visits), -1, np.int64)
        first[self.usable] = sentences.visits[sentences.visit_offsets[self.usable]]
        self._ranks, self._following, self._first = ranks, following, first

    def batch(self, chosen: Array) -> JumpBatch:
        ranks = self._padded(chosen, self._ranks, 0, _NEVER, _NEVER)
        targets = self._padded(chosen, self._following, -1, -1, -1)[:, :-1]
        targets[:, 0] = self._first[chosen]
        return JumpBatch(self.tokens(chosen), moved(ranks, self.device), moved(targets, self.device))


@dataclass(frozen=True)
class NextWords(DecisionTask):
    """The next word of each jump, among all, or among those not yet visited."""

    shape: JumpShape
    sentences: JumpSentences
    remaining: bool

    def network(self, dropout: float) -> JumpNetwork:
        return JumpNetwork(self.shape, dropout)

    def data(self, device: str) -> JumpData:
        return JumpData(self.sentences, device)

    def decisions(self, network: JumpNetwork, batch: JumpBatch) -> tuple[Tensor, Tensor]:
        jumps = batch.targets >= 0
        scores = network(*batch.tokens).masked_fill(~batch.candidates(self.remaining), -1e9)
        return torch.log_softmax(scores, -1)[jumps], batch.targets[jumps]
