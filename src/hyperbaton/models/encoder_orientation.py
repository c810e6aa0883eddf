"""Orientation of a phrase pair, from a network that encodes the whole sentence.

As in `encoder`, an LSTM computes a state hᵢ for the start, each word and the end of the sentence. A phrase pair with the
source words b … e − 1 has the scores

    v = relu(P₀ h_{b−1} + P₁ h_b + P₂ h_{e−1} + P₃ h_e + F[first target word] + L[last target word] + S[e − b])
    score(o) = out_o · v + c_o (+ weight of o and the coverage state of the phrase)

and p(o | s, t) ∝ exp score(o), over all classes or those that are possible. The sentence is encoded once, and Pₖ hᵢ
computed for each word; a phrase pair costs the sum of seven vectors, and the products with the classes.

It is trained with PyTorch and used without it: the forward pass is in the core, with half-precision weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array, gather
from hyperbaton.base.errors import DamagedError, importing
from hyperbaton.base.options import option
from hyperbaton.models.networks.encoder import SentenceNetwork
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.orientation import LogProbs, OrientationModel, TrainingSamples
from hyperbaton.network.words import FIRST, frequent_rows, rows_of
from hyperbaton.phrases import Occurrences
from hyperbaton.phrases.coverage import COVERAGE_STATES

if TYPE_CHECKING:
    from hyperbaton.models.networks.orientations import OrientationShape, PhraseSpans


@dataclass(eq=False)
class OrientationEncoder(SentenceNetwork, OrientationModel):
    """Orientation by a bidirectional LSTM over the sentence (needs PyTorch to train, not to use)."""

    size: int = option(128, "size of the vector of a phrase pair", minimum=1, maximum=4096)
    max_target_words: int = option(20_000, "maximum number of target words with vectors, the most frequent", minimum=1)
    coverage: bool = option(False, "use which words next to the phrase are translated, and how many remain")

    takes_scratch: ClassVar = False
    uses: ClassVar = ("source_classes", "source_tags")

    @property
    def sees_coverage(self) -> bool:
        return self.coverage

    def _fit(self, training: TrainingSamples) -> None:
        shape, phrases = self.prepare(training)
        self._train(_torch_side().Orientations(shape, phrases), phrases._asdict(), training.resources)
        self.take_coverage()

    def prepare(self, training: TrainingSamples) -> tuple[OrientationShape, PhraseSpans]:
        """The input of training in PyTorch: the sizes of the network, and the phrase pairs as rows of its embeddings."""
        source, target = training.occurrences.source, training.occurrences.target
        labels = training.occurrences.source_classes
        sizes = self._number_words(source.tokens, len(self.source_vocabulary_), labels)
        self.target_rows_ = frequent_rows(
            target.tokens, len(self.target_vocabulary_), self.max_target_words, self.min_count
        )
        shape = _torch_side().OrientationShape(
            **sizes,
            n_target_words=int(self.target_rows_.max(initial=FIRST - 1)) + 1,
            n_lengths=self.max_length,
            n_classes=len(self.class_names),
            n_states=COVERAGE_STATES if self.coverage else 0,
            size=self.size,
        )
        return shape, self.phrases(training)

    def phrases(self, training: TrainingSamples) -> PhraseSpans:
        """Phrase pairs as rows of the embeddings."""
        n, n_classes, occurrences = len(training.labels), len(self.class_names), training.occurrences
        source, sentence = occurrences.source, occurrences.source_spans.sentence
        every = np.full((n, n_classes), True) if training.possible is None else training.possible
        return _torch_side().PhraseSpans(
            *self._embedded(source.tokens, occurrences.source_classes),
            source.offsets,
            np.searchsorted(sentence, np.arange(len(source) + 1)),
            *self._places(occurrences),
            training.labels.astype(np.int32),
            (every << np.arange(n_classes)).sum(axis=1).astype(np.int32),
            np.zeros(n, np.int32) if training.coverage is None else training.coverage.astype(np.int32),
        )

    def _places(self, occurrences: Occurrences) -> tuple[Array, Array, Array, Array]:
        """For each phrase pair: first source word, one past the last; rows of the first and the last target word."""
        source, target = occurrences.source_spans, occurrences.target_spans
        begin = source.begin.astype(np.int32)
        first = occurrences.target.offsets[target.sentence] + target.begin
        last = first + np.maximum(target.length.astype(np.int64), 1) - 1
        # One more, for a phrase without words at the end of the text.
        tokens = np.append(occurrences.target.tokens, len(self.target_rows_))
        rows = [rows_of(self.target_rows_, tokens[np.minimum(at, len(tokens) - 1)]) for at in (first, last)]
        empty = target.length == 0
        first_row, last_row = (np.where(empty, 0, row).astype(np.int32) for row in rows)
        return begin, begin + source.length, first_row, last_row

    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        # Only sentences with phrase pairs are encoded, each once.
        numbers, which = np.unique(occurrences.source_spans.sentence.astype(np.int64), return_inverse=True)
        order = np.argsort(which, kind="stable")
        text = occurrences.source.select(numbers)
        labels = occurrences.source_classes
        if labels is not None:
            labels = labels[gather(occurrences.source.offsets, numbers)[0]]
        places = np.stack(self._places(occurrences), axis=1)[order].astype(np.int32)
        scores = self._network.class_scores(
            *self._embedded(text.tokens, labels),
            text.offsets,
            np.searchsorted(which[order], np.arange(len(numbers) + 1)),
            places,
            n_threads=self._n_threads,
        )
        result = np.empty(scores.shape)
        result[order] = scores
        return numeric.log_softmax(result)

    @cached_property
    def _network(self) -> _core.OrientationEncoder:
        return _core.OrientationEncoder(self._bits)

    def take_coverage(self) -> None:
        """Remove the weights of the coverage from the network: the caller that knows the coverage adds them."""
        weights = self.weights_.pop("coverage", None)
        self.coverage_weights_ = None if weights is None else weights.astype(np.float64)

    def _arrays(self) -> dict[str, Array]:
        return super()._arrays() | {"target_rows": self.target_rows_}

    def _layout(self) -> dict[str, str]:
        return super()._layout() | {"target_rows": "i4 target.vocabulary.n_words", "network.first": "f2 n_target_rows *"}

    def _restore(self, state: ModelState) -> None:
        super()._restore(state)
        self.target_rows_ = state.arrays["target_rows"]
        if np.any(self.target_rows_ >= len(self.weights_["first"])):
            raise DamagedError("the rows of target words do not match the embedding")
        _ = self._network  # raises an error if the artefact is inconsistent


def _torch_side() -> ModuleType:
    with importing("PyTorch", "torch", "torch"):
        from hyperbaton.models.networks import orientations
    return orientations
