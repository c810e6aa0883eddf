"""The student, which corrects the posteriors of the hidden Markov models; core/align/link_network has its formulas.

It learns the mixture p^½ · q^½ of the teachers' posteriors p, averaged as logarithms, and the models' posteriors q.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from hyperbaton.align.neural.pairs import Both, PairBatch, PairData, PairTask, Side
from hyperbaton.align.neural.teacher import Teacher
from hyperbaton.align.neural.texts import POSTERIOR_FLOOR, WINDOW_SCALE, PairTexts
from hyperbaton.network.training import ReaderShape, SentenceReader, StoredNetwork

_TEACHERS, _MODELS = 0.5, 0.5  # exponents of the mixture
_INNER = 8  # size of the hidden layer over neighbouring word pairs


class StudentShape(NamedTuple):
    """Sizes; `vector_size` is the size of the word and stem vectors that are compared directly."""

    sides: tuple[ReaderShape, ReaderShape]
    vector_size: int


class _SideReader(SentenceReader):
    """The states of a side as keys, and its word vectors."""

    heads = ("key", "null", "vector", "stem_vector")

    def __init__(self, shape: ReaderShape, vector_size: int, dropout: float) -> None:
        super().__init__(shape, dropout)
        state = 2 * shape.hidden
        self.key, self.null = nn.Linear(state, state), nn.Linear(state, 1)
        self.vector = nn.Embedding(shape.n_words, vector_size)
        self.stem_vector = nn.Embedding(shape.n_labels, vector_size)
        self._initialise()
        for embedding in (self.vector, self.stem_vector):
            nn.init.normal_(embedding.weight, std=0.3)
        nn.init.zeros_(self.null.bias)

    def forward(self, side: Side) -> tuple[Tensor, Tensor, Tensor]:
        """Keys, word vectors and scores of null, all (size, n, …)."""
        words, stems, lengths = side.seen
        states = self.read(words, stems, lengths)[:, 1:-1]
        vectors = (self.vector(words) + self.stem_vector(stems))[:, 1:-1]
        return self.key(states), vectors, self.null(states)


class Student(StoredNetwork):
    """The network that corrects posteriors."""

    def __init__(self, shape: StudentShape, dropout: float = 0.0) -> None:
        super().__init__()
        self.source, self.target = (_SideReader(side, shape.vector_size, dropout) for side in shape.sides)
        self.mix = nn.Parameter(torch.tensor([[1.0, 0.7, 0.3], [1.0, 0.7, 0.3]]))
        self.window, self.inner, self.outer = (nn.Conv2d(n, m, 3, padding=1) for n, m in ((2, 2), (5, _INNER), (_INNER, 2)))
        for layer in (self.window, self.outer):
            for weights in layer.parameters():
                nn.init.zeros_(weights)

    def forward(self, batch: PairBatch) -> Both:
        """Log posteriors."""
        source, target = self.source(batch.source), self.target(batch.target)
        by_context, by_word = (
            torch.einsum("bik,bjk->bij", source[k], target[k]) / math.sqrt(source[k].shape[-1]) for k in (0, 1)
        )
        scores = by_context + by_word
        q, r = batch.models
        log_q, log_r = (q + POSTERIOR_FLOOR).log(), (r + POSTERIOR_FLOOR).log()
        inside = (batch.source.inside[:, :, None] & batch.target.inside[:, None, :])[:, None]
        alike = torch.sigmoid(scores)
        near = WINDOW_SCALE * self.window(torch.stack([alike, (q[:, :-1] + r[:, :, :-1]) / 2], 1) * inside)
        mix, pairs = self.mix, (log_q[:, :-1], log_r[:, :, :-1])
        to_target = mix[0, 0] * scores + mix[0, 1] * pairs[0] + mix[0, 2] * pairs[1] + near[:, 0]
        to_source = mix[1, 0] * scores + mix[1, 1] * pairs[1] + mix[1, 2] * pairs[0] + near[:, 1]
        nulls = (
            target[2].transpose(1, 2) + (mix[0, 1] + mix[0, 2]) * log_q[:, -1:],
            source[2] + (mix[1, 1] + mix[1, 2]) * log_r[:, :, -1:],
        )
        first = batch.normalised(Both(torch.cat([to_target, nulls[0]], 1), torch.cat([to_source, nulls[1]], 2)))
        corrected = first.to_target[:, :-1].exp(), first.to_source[:, :, :-1].exp()
        seen = torch.stack([*corrected, alike, q[:, :-1], r[:, :, :-1]], 1) * inside
        near = WINDOW_SCALE * self.outer(torch.tanh(self.inner(seen)) * inside)
        pad = nn.functional.pad
        return batch.normalised(
            Both(first.to_target + pad(near[:, 0], (0, 0, 0, 1)), first.to_source + pad(near[:, 1], (0, 1)))
        )

    def stored(self) -> dict[str, list[Tensor]]:
        sides = {"source": self.source.stored(), "target": self.target.stored()}
        weights = {f"{name}.{part}": tensors for name, side in sides.items() for part, tensors in side.items()}
        weights["mix"] = [self.mix]
        for name in ("window", "inner", "outer"):
            layer = getattr(self, name)
            weights |= {f"{name}.weight": [layer.weight.flatten(1)], f"{name}.bias": [layer.bias]}
        return weights


class StudentTask(PairTask):
    """Correct the models' posteriors towards the teachers'."""

    def __init__(self, texts: PairTexts, shape: StudentShape, longest: int, teachers: Sequence[Teacher]) -> None:
        super().__init__(texts, longest)
        self.shape, self.teachers = shape, [teacher.eval() for teacher in teachers]

    def data(self, device: str) -> PairData:
        """The text, with the mixture that the student learns, which the teachers compute once."""
        data = super().data(device)
        with torch.no_grad():
            data.wanted = data.posteriors(self._mixture)
        return data

    def network(self, dropout: float) -> Student:
        return Student(self.shape, dropout)

    def loss(self, network: Student, batch: PairBatch, done: float) -> tuple[Tensor, int]:
        assert batch.wanted is not None
        return batch.cross_entropy(batch.wanted, network(batch)), batch.n_words

    def _mixture(self, batch: PairBatch) -> Both:
        posteriors = zip(*(teacher(batch)[1] for teacher in self.teachers), strict=True)
        parts = (
            _TEACHERS / len(ps) * sum(ps) + _MODELS * (q + POSTERIOR_FLOOR).log()
            for ps, q in zip(posteriors, batch.models, strict=True)
        )
        logprobs = batch.normalised(Both(*parts))
        return Both(logprobs.to_target.exp(), logprobs.to_source.exp())
