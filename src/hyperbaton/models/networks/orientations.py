"""The network of `encoder_orientation`, for `training`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from hyperbaton.base.arrays import Array
from hyperbaton.network.training import DecisionTask, EncodedText, ReaderShape, SentenceReader, Tokens, moved

# Vectors of a token for a phrase pair: of the word before the phrase, its first and last words, and the word after it.
_PLACES = 4
_NOTHING = -1e9


class PhraseSpans(NamedTuple):
    """Sentences as rows of the embeddings, and phrase pairs in them, by sentence."""

    words: Array  # (n_tokens,), without start and end
    labels: Array | None  # (n_tokens,)
    offsets: Array  # (n_sentences + 1,)
    phrase_offsets: Array  # (n_sentences + 1,)
    begin: Array  # of the source phrase
    end: Array
    first: Array  # rows of the first and last target words
    last: Array
    classes: Array  # true classes
    possible: Array  # bits: the classes that are possible
    states: Array  # of the coverage


@dataclass(frozen=True)
class OrientationShape(ReaderShape):
    """Sizes of a network."""

    n_target_words: int  # rows of the embeddings of target words
    n_lengths: int  # lengths of source phrases with vectors; longer ones use the last
    n_classes: int
    n_states: int  # of the coverage; 0: not used
    size: int  # of the vector of a phrase pair


class OrientationBatch(NamedTuple):
    """Sentences with their phrase pairs."""

    tokens: Tokens
    sentence: Tensor  # (n,): row of the sentence
    begin: Tensor
    end: Tensor
    first: Tensor
    last: Tensor
    classes: Tensor
    possible: Tensor
    states: Tensor


class OrientationNetwork(SentenceReader):
    """score = out · relu(Σ P hᵢ + F[first target word] + L[last target word] + S[length]) + weight of the coverage."""

    heads = ("places", "first", "last", "length", "out", "coverage")

    def __init__(self, shape: OrientationShape, dropout: float = 0.0) -> None:
        super().__init__(shape, dropout)
        self.shape = shape
        self.places = nn.Linear(2 * shape.hidden, _PLACES * shape.size)
        self.first = nn.Embedding(shape.n_target_words, shape.size)
        self.last = nn.Embedding(shape.n_target_words, shape.size)
        self.length = nn.Embedding(shape.n_lengths, shape.size)
        self.out = nn.Linear(shape.size, shape.n_classes)
        self.coverage = nn.Embedding(shape.n_states, shape.n_classes) if shape.n_states else None
        self._initialise(self.first, self.last, self.length)
        if self.coverage is not None:
            nn.init.zeros_(self.coverage.weight)

    def forward(self, batch: OrientationBatch) -> Tensor:
        """Scores of the classes of the phrase pairs, without the coverage, (n, n_classes)."""
        places = self.places(self.read(*batch.tokens)).unflatten(-1, (_PLACES, self.shape.size))
        # The word i is the token i + 1.
        tokens = (batch.begin, batch.begin + 1, batch.end, batch.end + 1)
        sums = sum(places[batch.sentence, token, k] for k, token in enumerate(tokens))
        length = (batch.end - batch.begin).clamp(max=self.shape.n_lengths) - 1
        sums = sums + self.first(batch.first) + self.last(batch.last) + self.length(length)
        return self.out(self.dropout(torch.relu(sums)))


class OrientationData(EncodedText):
    """Sentences with their phrase pairs, on a device."""

    def __init__(self, phrases: PhraseSpans, device: str) -> None:
        super().__init__(phrases.words, phrases.labels, phrases.offsets, device)
        self.n_phrases = np.diff(phrases.phrase_offsets)
        self.usable = np.flatnonzero(self.n_phrases > 0)
        self.starts = phrases.phrase_offsets[:-1]
        self._phrases = {name: getattr(phrases, name) for name in PhraseSpans._fields[4:]}

    def batch(self, chosen: Array) -> OrientationBatch:
        counts = self.n_phrases[chosen]
        sentence = np.repeat(np.arange(len(chosen)), counts)
        ends = np.cumsum(counts)
        which = np.arange(int(ends[-1])) - np.repeat(ends - counts - self.starts[chosen], counts)
        columns = {name: moved(column[which].astype(np.int64), self.device) for name, column in self._phrases.items()}
        return OrientationBatch(self.tokens(chosen), moved(sentence, self.device), **columns)


@dataclass(frozen=True)
class Orientations(DecisionTask):
    """The class of each phrase pair, among those that are possible."""

    shape: OrientationShape
    phrases: PhraseSpans

    def network(self, dropout: float) -> OrientationNetwork:
        return OrientationNetwork(self.shape, dropout)

    def data(self, device: str) -> OrientationData:
        return OrientationData(self.phrases, device)

    def decisions(self, network: OrientationNetwork, batch: OrientationBatch) -> tuple[Tensor, Tensor]:
        scores = network(batch)
        if network.coverage is not None:
            scores = scores + network.coverage(batch.states)
        place = torch.arange(self.shape.n_classes, device=scores.device)
        impossible = (batch.possible[:, None] >> place) & 1 == 0
        return torch.log_softmax(scores.masked_fill(impossible, _NOTHING), -1), batch.classes
