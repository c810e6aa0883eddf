"""Sentence pairs with the posteriors of the hidden Markov models, for training with PyTorch."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from hyperbaton.align.neural.texts import PairTexts
from hyperbaton.base.arrays import Array
from hyperbaton.network.training import Batching, EncodedText, Tokens, hide_words

_IMPOSSIBLE = -1e4
_NEAR_ZERO = 1e-3  # posteriors up to this count as 0 where they are stored


class Side(NamedTuple):
    """One side of a batch; `seen` has its tokens, some of them replaced by the unknown word in training."""

    tokens: Tokens
    seen: Tokens

    @property
    def inside(self) -> Tensor:
        """Whether there is a word, (size, n)."""
        place = torch.arange(self.tokens.words.shape[1] - 2, device=self.tokens.words.device)
        return place < self.tokens.lengths[:, None] - 2

    @property
    def n_words(self) -> int:
        return int(self.tokens.lengths.sum()) - 2 * len(self.tokens.lengths)


class Both(NamedTuple):
    """Values of word pairs in both directions, null being the last row or column."""

    to_target: Tensor  # (size, n + 1, m)
    to_source: Tensor  # (size, n, m + 1)


class PairBatch(NamedTuple):
    """Sentence pairs with the models' posteriors, and those that a network should learn."""

    source: Side
    target: Side
    models: Both
    wanted: Both | None = None

    @property
    def n_words(self) -> int:
        return self.source.n_words + self.target.n_words

    def normalised(self, scores: Both) -> Both:
        """Log posteriors: a softmax over the words of the other side and null."""
        outside = (~torch.nn.functional.pad(side.inside, (0, 1), value=True) for side in (self.source, self.target))
        rows, columns = outside
        return Both(
            scores.to_target.masked_fill(rows[:, :, None], _IMPOSSIBLE).log_softmax(1),
            scores.to_source.masked_fill(columns[:, None, :], _IMPOSSIBLE).log_softmax(2),
        )

    def cross_entropy(self, wanted: Both, logprobs: Both) -> Tensor:
        """Cross-entropy, summed over the words of both sides."""
        to_target = ((wanted.to_target * logprobs.to_target).sum(1) * self.target.inside).sum()
        to_source = ((wanted.to_source * logprobs.to_source).sum(2) * self.source.inside).sum()
        return -(to_target + to_source)


class StoredPosteriors(NamedTuple):
    """Posteriors of the word pairs of many sentence pairs, without those near 0; null has what is missing to 1."""

    points: Tensor  # (n_points, 2): positions
    values: Tensor  # (n_points, 2), half precision: to the target, to the source
    offsets: Tensor  # (n_pairs + 1,)

    def dense(self, chosen: Tensor, n: int, m: int) -> Both:
        """The posteriors of the chosen sentence pairs."""
        starts = self.offsets[chosen]
        sizes = self.offsets[chosen + 1] - starts
        pair = torch.repeat_interleave(torch.arange(len(chosen), device=chosen.device), sizes)
        at = torch.arange(len(pair), device=chosen.device) - (torch.cumsum(sizes, 0) - sizes)[pair] + starts[pair]
        both = torch.zeros(len(chosen), n, m, 2, device=chosen.device)
        points = self.points[at].long()
        both[pair, points[:, 0], points[:, 1]] = self.values[at].float()
        to_target, to_source = both[..., 0], both[..., 1]
        nulls = (1 - to_target.sum(1, keepdim=True)).clamp(0, 1), (1 - to_source.sum(2, keepdim=True)).clamp(0, 1)
        return Both(torch.cat([to_target, nulls[0]], 1), torch.cat([to_source, nulls[1]], 2))


class PairData(Batching):
    """Sentence pairs on a device; those with an empty side or one longer than `longest` are left out."""

    wanted: StoredPosteriors | None = None

    def __init__(self, texts: PairTexts, device: str, longest: int) -> None:
        sides = (texts.source, texts.target)
        self.device = torch.device(device)
        self._sides = [EncodedText(side.words, side.stems, side.offsets, device) for side in sides]
        self.lengths = np.maximum(*(side.lengths for side in self._sides))
        self.usable = texts.usable(longest)
        self._models = StoredPosteriors(
            torch.as_tensor(texts.points.astype(np.int32), device=self.device),
            torch.as_tensor(texts.posteriors.astype(np.float16), device=self.device),
            torch.as_tensor(texts.point_offsets.astype(np.int64), device=self.device),
        )

    def batch(self, chosen: Array) -> PairBatch:
        source, target = (side.tokens(chosen) for side in self._sides)
        numbers, sizes = torch.as_tensor(chosen, device=self.device), (source.words.shape[1] - 2, target.words.shape[1] - 2)
        wanted = None if self.wanted is None else self.wanted.dense(numbers, *sizes)
        return PairBatch(Side(source, source), Side(target, target), self._models.dense(numbers, *sizes), wanted)

    def posteriors(self, posterior: Callable[[PairBatch], Both]) -> StoredPosteriors:
        """Ask for the posteriors of all usable sentence pairs, and keep those that are not near 0."""
        parts: list[tuple[Tensor, Tensor, Tensor]] = []
        for chosen in self.batches(self.usable, 1 << 13):
            batch = self.batch(chosen)
            to_target, to_source = posterior(batch)
            both = torch.stack([to_target[:, :-1], to_source[..., :-1]], -1)
            inside = batch.source.inside[:, :, None] & batch.target.inside[:, None, :]
            pair, *points = ((both.amax(-1) > _NEAR_ZERO) & inside).nonzero(as_tuple=True)
            numbers = torch.as_tensor(chosen, device=self.device)[pair]
            parts.append((numbers, torch.stack(points, 1).int(), both[pair, points[0], points[1]].half()))
        pairs, points, values = (torch.cat(column) for column in zip(*parts, strict=True))
        order = torch.argsort(pairs, stable=True)
        offsets = torch.cumsum(torch.bincount(pairs, minlength=len(self.lengths)), 0)
        return StoredPosteriors(points[order], values[order], torch.nn.functional.pad(offsets, (1, 0)))

    def hidden(self, batch: PairBatch, rate: float) -> PairBatch:
        """A batch with some words and half as many stems replaced by the unknown word."""

        def hide(side: Side) -> Side:
            seen = hide_words(side.tokens, rate)
            stems = side.tokens.labels
            if stems is not None:
                both = hide_words(seen._replace(words=stems), 0.5).words
                stems = torch.where(seen.words == side.tokens.words, stems, both)
            return side._replace(seen=seen._replace(labels=stems))

        return batch._replace(source=hide(batch.source), target=hide(batch.target))


class PairTask(abc.ABC):
    """Code shared by the training of the teacher and the student."""

    def __init__(self, texts: PairTexts, longest: int) -> None:
        self.texts, self.longest = texts, longest

    def data(self, device: str) -> PairData:
        return PairData(self.texts, device, self.longest)

    @abc.abstractmethod
    def loss(self, network: Any, batch: PairBatch, done: float) -> tuple[Tensor, int]:
        """A sum over words, and their number."""

    def held_out(self, network: Any, data: PairData, sentences: Array) -> float:
        """Minus the mean loss."""
        network.eval()
        total, n = 0.0, 0
        with torch.no_grad():
            for part in data.batches(sentences, 1 << 13):
                loss, n_words = self.loss(network, data.batch(part), 1.0)
                total, n = total + float(loss), n + n_words
        return -total / max(n, 1)
