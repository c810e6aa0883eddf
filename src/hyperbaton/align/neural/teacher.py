"""The teacher, which predicts each word of a sentence pair from all the others.

    p(y_j | x, y without y_j) = Σ_i p(a_j = i | context_j, x) · p(y_j | x_i)

in both directions, with null as one more origin i, whose word is predicted by the context. It learns three things at once:
to predict the words, to choose the origin a_j as the hidden Markov models do, and, after a quarter of the training, to
link alike in both directions. The alignment is p(a_j = i | x, y).

Each direction has a reader of the sentence it translates, whose states have read the word they stand for, and a reader of
the sentence it predicts, whose states have not. One pair of readers for both directions, without the former, trains twice
as fast, but links worse (docs/results/align.md).

It is used only to train the student: it is large, and needs a softmax over all words for each word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from hyperbaton.align.neural.pairs import Both, PairBatch, PairTask, Side
from hyperbaton.align.neural.texts import PairTexts
from hyperbaton.base.arrays import Array
from hyperbaton.network.training import FIRST, ReaderShape, SentenceReader, moved

_GUIDE, _AGREE = 0.5, 0.3  # weights of losses
_AGREE_FROM = 0.25  # the directions are trained to agree after this fraction of the training


class TeacherShape(NamedTuple):
    """Sizes; `sides` has those of the source and target readers.

    `samples` words stand for all in the softmax while training, beside those of the batch; 0: all words are in it.
    """

    sides: tuple[ReaderShape, ReaderShape]
    samples: int = 0


class _ContextReader(nn.Module):
    """States that have read the words before and after each word, but not the word."""

    def __init__(self, shape: ReaderShape, dropout: float) -> None:
        super().__init__()
        inputs = shape.word_size + shape.label_size
        self.word = nn.Embedding(shape.n_words, shape.word_size)
        self.stem = nn.Embedding(shape.n_labels, shape.label_size)
        self.before, self.after = (nn.LSTM(inputs, shape.hidden, 2, batch_first=True, dropout=dropout) for _ in range(2))
        self.dropout = nn.Dropout(dropout)
        for embedding in (self.word, self.stem):
            nn.init.normal_(embedding.weight, std=0.1)

    def forward(self, side: Side) -> Tensor:
        """States, (size, n, 2 · hidden)."""
        tokens = side.seen
        x = self.dropout(torch.cat([self.word(tokens.words), self.stem(tokens.labels)], -1))
        before = self.before(x[:, :-2])[0]
        place, lengths = np.arange(x.shape[1]), tokens.lengths[:, None]
        mirror = moved(np.where(place < lengths, lengths - 1 - place, place), x.device)
        reverse = x.gather(1, mirror[..., None].expand_as(x))
        after = self.after(reverse[:, :-2])[0]
        back = (mirror[:, 1:-1] - 1).clamp(min=0, max=after.shape[1] - 1)
        return self.dropout(torch.cat([before, after.gather(1, back[..., None].expand_as(after))], -1))


class _Direction(nn.Module):
    """p(y_j | x, y without y_j) as a sum over the word that y_j comes from, or null."""

    def __init__(self, source: ReaderShape, target: ReaderShape, unigrams: Tensor, samples: int, dropout: float) -> None:
        super().__init__()
        self.samples = samples
        self.register_buffer("frequencies", torch.exp(0.75 * unigrams), persistent=False)
        state, size = 2 * source.hidden, target.word_size
        self.source, self.context = SentenceReader(source, dropout), _ContextReader(target, dropout)
        self.source._initialise()
        self.dropout = nn.Dropout(dropout)
        self.query, self.key, self.null = nn.Linear(state, state), nn.Linear(state, state), nn.Linear(state, 1)
        self.from_word, self.from_state = nn.Linear(state, size), nn.Linear(state, size, bias=False)
        self.from_context = nn.Linear(state, size)
        self.output = nn.Linear(size, target.n_words)
        nn.init.constant_(self.null.bias, -1.0)
        nn.init.normal_(self.output.weight, std=0.1)
        with torch.no_grad():
            self.output.bias.copy_(unigrams)

    def forward(self, source: Side, target: Side) -> tuple[Tensor, Tensor, Tensor]:
        """log p(y_j), log p(a_j = i | x, y) and the scores of p(a_j = i), the latter two (size, n + 1, m)."""
        inputs = self.source.inputs(source.seen.words, source.seen.labels)
        states, inputs = self.source.states(inputs, source.seen.lengths)[:, 1:-1], inputs[:, 1:-1]
        context = self.context(target)
        scores = torch.einsum("bik,bjk->bij", self.key(states), self.query(context)) / math.sqrt(context.shape[-1])
        scores = torch.cat([scores, self.null(context)[:, None, :, 0]], 1)
        outside = ~torch.nn.functional.pad(source.inside, (0, 1), value=True)
        prior = scores.masked_fill(outside[:, :, None], -1e4).log_softmax(1)
        origins = self.dropout(torch.tanh(self.from_word(inputs) + self.from_state(states)))
        words = target.tokens.words[:, 1:-1]
        candidates = self._candidates(target.distinct)
        weights, bias = self.output.weight[words], self.output.bias[words]
        emissions = torch.einsum("bie,bje->bij", origins, weights) + bias[:, None, :]
        emissions = emissions - self._normalizer(origins, source.places, candidates)[..., None]
        nulls = self.dropout(torch.tanh(self.from_context(context)))
        null_emissions = (nulls * weights).sum(-1) + bias - self._normalizer(nulls, target.places, candidates)
        joint = prior + torch.cat([emissions, null_emissions[:, None]], 1)
        logprobs = torch.logsumexp(joint, 1)
        return logprobs, joint - logprobs[:, None], prior

    def _candidates(self, distinct: Array) -> tuple[Tensor, Tensor] | None:
        """Words that stand for all in a sum over words, with log weights; None: all words.

        They are the most frequent words, those of the batch, and a sample of the others, weighted by 1 / (expected count):
        the expected value of the weighted sum is the sum over all words.
        """
        n_words, half = self.output.weight.shape[0], self.samples // 2
        exact = np.concatenate([np.arange(half), distinct[distinct >= half]])
        if not self.training or not half or n_words <= max(4 * half, len(exact)):
            return None
        always = moved(exact, self.frequencies.device)
        shares = self.frequencies.index_fill(0, always, 0)
        drawn = torch.multinomial(shares, half, replacement=True)
        weights = -(half * shares[drawn] / shares.sum()).log()
        return torch.cat([always, drawn]), torch.cat([torch.zeros(len(exact), device=weights.device), weights])

    def _normalizer(self, vectors: Tensor, places: Tensor, candidates: tuple[Tensor, Tensor] | None) -> Tensor:
        """log Σ exp of the scores of all words, 0 outside sentences."""
        chosen = vectors.flatten(0, 1)[places]
        if candidates is None:
            scores = self.output(chosen)
        else:
            words, weights = candidates
            scores = nn.functional.linear(chosen, self.output.weight[words], self.output.bias[words] + weights)
        sums = torch.logsumexp(scores.float(), -1)
        return sums.new_zeros(vectors.shape[:2].numel()).index_copy(0, places, sums).view(vectors.shape[:2])


class Teacher(nn.Module):
    """Both directions."""

    def __init__(self, shape: TeacherShape, unigrams: tuple[Tensor, Tensor], dropout: float = 0.0) -> None:
        super().__init__()
        self.to_target = _Direction(*shape.sides, unigrams[1], shape.samples, dropout)
        self.to_source = _Direction(*shape.sides[::-1], unigrams[0], shape.samples, dropout)

    def forward(self, batch: PairBatch) -> tuple[Tensor, Both, Both]:
        """−Σ log p of all words, log posteriors, and log priors."""
        source, target = batch.source, batch.target
        to_target, to_source = self.to_target(source, target), self.to_source(target, source)
        loss = -(to_target[0] * target.inside).sum() - (to_source[0] * source.inside).sum()
        posteriors, priors = (Both(to_target[k], to_source[k].transpose(1, 2)) for k in (1, 2))
        return loss, posteriors, priors

    def arrays(self) -> dict[str, Array]:
        return {name: value.detach().cpu().numpy().astype(np.float16) for name, value in self.state_dict().items()}

    def take(self, arrays: Mapping[str, Array]) -> Self:
        self.load_state_dict({name: torch.from_numpy(array.astype(np.float32)) for name, array in arrays.items()})
        return self


class TeacherTask(PairTask):
    """Predict words, linking them like the hidden Markov models, and alike in both directions."""

    def __init__(self, texts: PairTexts, shape: TeacherShape, longest: int) -> None:
        super().__init__(texts, longest)
        self.shape = shape

    def network(self, dropout: float) -> Teacher:
        unigrams = [
            _log_frequencies(side.words, shape.n_words)
            for side, shape in zip((self.texts.source, self.texts.target), self.shape.sides, strict=True)
        ]
        return Teacher(self.shape, (unigrams[0], unigrams[1]), dropout)

    def loss(self, network: Teacher, batch: PairBatch, done: float) -> tuple[Tensor, int]:
        total, posteriors, priors = network(batch)
        total = total + _GUIDE * batch.cross_entropy(batch.models, priors)
        if done > _AGREE_FROM:
            total = total + _AGREE * _disagreement(posteriors, batch)
        return total, batch.n_words


def _log_frequencies(words: Array, n_words: int) -> Tensor:
    counts = np.bincount(words, minlength=n_words) + 0.5
    counts[1:FIRST] = 1e-9  # start and end are not predicted
    return torch.tensor(np.log(counts / counts.sum()), dtype=torch.float32).clamp(min=-15)


def _disagreement(posteriors: Both, batch: PairBatch) -> Tensor:
    """−Σ log of the probability that both directions link a word alike, or both do not link it."""
    to_target, to_source = posteriors.to_target.exp(), posteriors.to_source.exp()
    forward, backward = to_target[:, :-1], to_source[..., :-1]
    both = forward * backward
    unclaimed = [(1 - part).clamp(1e-4, 1).log().sum(dim).exp() for part, dim in ((backward, 1), (forward, 2))]
    target = (both.sum(1) + to_target[:, -1] * unclaimed[0] + 1e-3).log() * batch.target.inside
    source = (both.sum(2) + to_source[..., -1] * unclaimed[1] + 1e-3).log() * batch.source.inside
    return -target.sum() - source.sum()
