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
from hyperbaton.network.training import Batching, EncodedText, Tokens, hide_words, moved

_IMPOSSIBLE = -1e4
_NEAR_ZERO = 1e-3  # posteriors up to this count as 0 where they are stored


class Side(NamedTuple):
    """One side of a batch; `seen` has its tokens, some of them replaced by the unknown word in training."""

    tokens: Tokens
    seen: Tokens
    inside: Tensor  # (size, n): whether there is a word
    places: Tensor  # (n_words,): where the words are in the flattened tokens without start and end
    distinct: Array  # the different words, in ascending order

    @property
    def n_words(self) -> int:
        return len(self.places)


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

    points: Array  # (n_points, 2): positions
    values: Array  # (n_points, 2), half precision: to the target, to the source
    offsets: Array  # (n_pairs + 1,)

    def dense(self, chosen: Array, source: Side, target: Side) -> Both:
        """The posteriors of the chosen sentence pairs, which are those of a batch."""
        shape, device = (*source.inside.shape, target.inside.shape[1]), source.inside.device
        starts, ends = self.offsets[chosen], self.offsets[chosen + 1]
        sizes = ends - starts
        pair = np.repeat(np.arange(len(chosen)), sizes)
        at = np.arange(len(pair)) + (ends - np.cumsum(sizes))[pair]
        places = np.ravel_multi_index((pair, *self.points[at].T), shape)
        both = torch.zeros(np.prod(shape), 2, device=device)
        both[moved(places, device)] = moved(self.values[at], device).float()
        to_target, to_source = both.view(*shape, 2).unbind(-1)
        nulls = (1 - to_target.sum(1, keepdim=True)).clamp(0, 1), (1 - to_source.sum(2, keepdim=True)).clamp(0, 1)
        return Both(torch.cat([to_target, nulls[0]], 1), torch.cat([to_source, nulls[1]], 2))


class PairData(Batching):
    """Sentence pairs, in batches on a device; those with an empty side or one longer than `longest` are left out."""

    wanted: StoredPosteriors | None = None

    def __init__(self, texts: PairTexts, device: str, longest: int) -> None:
        sides = (texts.source, texts.target)
        self.device = torch.device(device)
        self._sides = [EncodedText(side.words, side.stems, side.offsets, device) for side in sides]
        self.lengths = np.maximum(*(side.lengths for side in self._sides))
        self.usable = texts.usable(longest)
        posteriors = texts.posteriors.astype(np.float16)
        self._models = StoredPosteriors(texts.points, posteriors, texts.point_offsets.astype(np.int64))

    def batch(self, chosen: Array) -> PairBatch:
        source, target = (self._side(text, chosen) for text in self._sides)
        wanted = None if self.wanted is None else self.wanted.dense(chosen, source, target)
        return PairBatch(source, target, self._models.dense(chosen, source, target), wanted)

    def _side(self, text: EncodedText, chosen: Array) -> Side:
        tokens, lengths = text.tokens(chosen), text.lengths[chosen]
        inside = np.arange(lengths.max()) < lengths[:, None]
        places = moved(np.flatnonzero(inside), self.device)
        return Side(tokens, tokens, moved(inside, self.device), places, text.distinct(chosen))

    def posteriors(self, posterior: Callable[[PairBatch], Both]) -> StoredPosteriors:
        """Ask for the posteriors of all usable sentence pairs, and keep those that are not near 0."""
        parts: list[tuple[Array, Array, Array]] = []
        for chosen in self.batches(self.usable, 1 << 13):
            batch = self.batch(chosen)
            to_target, to_source = posterior(batch)
            both = torch.stack([to_target[:, :-1], to_source[..., :-1]], -1)
            inside = batch.source.inside[:, :, None] & batch.target.inside[:, None, :]
            places = ((both.amax(-1) > _NEAR_ZERO) & inside).nonzero()
            pair, points = np.split(places.cpu().numpy(), [1], axis=1)
            values = both[tuple(places.T)].half().cpu().numpy()
            parts.append((chosen[pair[:, 0]], points.astype(np.uint16), values))
        pairs, points, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(pairs, kind="stable")
        offsets = np.cumsum(np.bincount(pairs + 1, minlength=len(self.lengths) + 1))
        return StoredPosteriors(points[order], values[order], offsets)

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
