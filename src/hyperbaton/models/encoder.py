"""ENCODER: predicts the next source word with a network that encodes the whole sentence.

Words and labels (tags or classes, if there are any) become vectors; a linear layer and two bidirectional LSTM layers turn
them into a state hᵢ for the start, each word and the end. A jump from i to j has the score

    s(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]

with linear q, k, b, Q, K and 22 buckets of signed distances, and P(j | i) = exp s(i, j) / Σ exp s(i, j'), where j' runs
over all positions but i, or over those not yet translated (`candidates`).

It is trained with PyTorch and used without it: the forward pass is in the core, with half-precision weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import importing
from hyperbaton.base.options import option
from hyperbaton.models.networks.encoder import SentenceNetwork
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.next_position import JumpTraining, NextPositionModel, TaggedSentences

if TYPE_CHECKING:
    from hyperbaton.models.networks.jumps import JumpSentences, JumpShape


@dataclass(eq=False)
class Encoder(SentenceNetwork, NextPositionModel):
    """Next word by a bidirectional LSTM over the sentence (needs PyTorch to train, not to use)."""

    distances: bool = option(True, "also score the distance of a jump")

    def _fit(self, training: JumpTraining) -> None:
        shape, sentences = self.prepare(training)
        task = _torch_side().NextWords(shape, sentences, self.candidates == "remaining")
        self._train(task, sentences._asdict(), training.resources)

    def prepare(self, training: JumpTraining) -> tuple[JumpShape, JumpSentences]:
        """The input of training in PyTorch: the sizes of the network, and the sentences as rows of its embeddings."""
        text, labels = training.source.text, training.source.labels
        sizes = self._number_words(text.tokens, len(self.vocabulary_), labels)
        visits, side = training.visits, _torch_side()
        shape = side.JumpShape(**sizes, distances=self.distances)
        return shape, side.JumpSentences(*self._rows(training.source), text.offsets, visits.positions, visits.offsets)

    def _rows(self, source: TaggedSentences) -> tuple[Array, Array | None]:
        return self._embedded(source.text.tokens, source.labels)

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        words, labels = self._rows(source)
        return self._network.jump_logprobs(words, labels, source.text.offsets, n_threads=self._n_threads)

    @cached_property
    def _network(self) -> _core.Encoder:
        return _core.Encoder(self._bits)

    def _restore(self, state: ModelState) -> None:
        super()._restore(state)
        _ = self._network  # raises an error if the artefact is inconsistent


def _torch_side() -> ModuleType:
    with importing("PyTorch", "torch", "torch"):
        from hyperbaton.models.networks import jumps
    return jumps
