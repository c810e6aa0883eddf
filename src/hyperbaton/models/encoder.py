"""ENCODER: which word is translated next, from a network that reads the whole sentence.

Words and labels (tags or classes, where there are some) become vectors; a linear layer and two bidirectional LSTM layers
make of them a state hᵢ for the start, each word and the end. A jump from i to j has the score

    s(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]

with linear q, k, b, Q, K and 22 buckets of signed distances, and P(j | i) = exp s(i, j) / Σ exp s(i, j'), where j' runs
over all positions but i, or over those not yet translated (`candidates`).

It is trained with PyTorch and answers without: the forward pass is in the core, from weights of half precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import Cancelled, MissingExtra, OptionError
from hyperbaton.base.options import option, to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.base.store import hash_arrays
from hyperbaton.models._next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models._store import ModelState
from hyperbaton.models._training_states import TrainingStates

if TYPE_CHECKING:
    from hyperbaton.models._encoder_torch import Schedule, Sentences, Shape, State

# Rows of the embeddings before those of words and labels: unknown, start and end of sentence.
UNKNOWN, FIRST = 0, 3
_STATE = "encoder-training"


@dataclass(eq=False)
class Encoder(NextPositionModel):
    """Next word by a bidirectional LSTM over the sentence (needs PyTorch to train, not to use)."""

    word_size: int = option(256, "size of word embeddings", minimum=1, maximum=4096)
    tag_size: int = option(32, "size of embeddings of tags or classes", minimum=1, maximum=4096)
    hidden: int = option(128, "size of an LSTM layer in one direction", minimum=1, maximum=4096)
    distances: bool = option(True, "score the distance of a jump too")
    max_words: int = option(50_000, "maximum number of words with embeddings, the most frequent", minimum=1)
    min_count: int = option(2, "minimum number of occurrences for a word to have an embedding", minimum=1)
    dropout: float = option(0.3, "dropout of inputs, layers and states", minimum=0, maximum=0.95)
    word_dropout: float = option(
        0.05, "fraction of words replaced by the unknown word in training", minimum=0, maximum=0.95
    )
    step: float = option(0.001, "largest step size of AdamW", minimum=1e-9)
    epochs: int = option(5, "maximum number of passes over the text", minimum=1)
    patience: int = option(2, "stop after this many epochs without improvement on held-out text", minimum=1)
    held_out: float = option(0.01, "fraction of sentences held out, at most 2,000", minimum=0, maximum=0.5)
    batch_tokens: int = option(16_384, "maximum number of words in a batch; less for small texts", minimum=1)
    device: str = option("cpu", "where PyTorch computes, e.g. cpu or cuda")

    def _fit(self, training: JumpTraining) -> None:
        torch_side = _torch_side()
        if fault := torch_side.device_fault(self.device):
            raise OptionError(f"device {self.device}: {fault}")
        shape, sentences = self.prepare(training)
        arrays, history = torch_side.train(
            shape,
            self.schedule(),
            sentences,
            n_threads=self._n_threads,
            state=self._saved_state(sentences),
            after_epoch=self._save_state(sentences),
            progress=_stopping(training.progress),
        )
        self.take(arrays, history)

    def prepare(self, training: JumpTraining) -> tuple[Shape, Sentences]:
        """What training in PyTorch reads: the sizes of the network, and the sentences as rows of its embeddings."""
        torch_side = _torch_side()
        counts = np.bincount(training.source.text.tokens, minlength=len(self.vocabulary_))
        frequent = np.argsort(-counts, kind="stable")[: self.max_words]
        frequent = np.sort(frequent[counts[frequent] >= self.min_count])
        self.word_rows_ = np.zeros(len(self.vocabulary_), np.int32)
        self.word_rows_[frequent] = FIRST + np.arange(len(frequent), dtype=np.int32)
        labels = training.source.labels
        self.n_labels_ = 0 if labels is None else int(labels.max(initial=0)) + 1
        shape = torch_side.Shape(
            n_words=FIRST + len(frequent),
            n_labels=FIRST + self.n_labels_ if self.n_labels_ else 0,
            word_size=self.word_size,
            label_size=self.tag_size,
            hidden=self.hidden,
            distances=self.distances,
        )
        rows = self._rows(training.source)
        offsets = training.source.text.offsets
        return shape, torch_side.Sentences(*rows, offsets, training.visits.positions, training.visits.offsets)

    def schedule(self) -> Schedule:
        """How PyTorch trains."""
        return _torch_side().Schedule(  # type: ignore[no-any-return]
            remaining=self.candidates == "remaining",
            dropout=self.dropout,
            word_dropout=self.word_dropout,
            step=self.step,
            epochs=self.epochs,
            patience=self.patience,
            batch_tokens=self.batch_tokens,
            held_out=self.held_out,
            seed=self.seed,
            device=self.device,
        )

    def take(self, arrays: dict[str, Array], history: list[float]) -> None:
        """Have learned these arrays (of half precision, by name), with these held-out log-probabilities by epoch."""
        self.weights_ = arrays
        self.history_ = np.array(history)
        vars(self).pop("_network", None)

    def summary(self) -> dict[str, Any]:
        best = {"held_out_logprob": float(self.history_.max())} if len(self.history_) else {}
        return {**super().summary(), "words": len(self.weights_["word"]) - FIRST, "epochs": len(self.history_), **best}

    def _rows(self, source: TaggedSentences) -> tuple[Array, Array | None]:
        """The rows of the embeddings of words and of labels, for each word."""
        tokens = source.text.tokens
        words = np.where(
            tokens < len(self.word_rows_), self.word_rows_[np.minimum(tokens, len(self.word_rows_) - 1)], UNKNOWN
        )
        if source.labels is None:
            return words.astype(np.int32), None
        labels = source.labels.astype(np.int64)
        return words.astype(np.int32), np.where(labels < self.n_labels_, labels + FIRST, UNKNOWN).astype(np.int32)

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        words, labels = self._rows(source)
        return self._network.jump_logprobs(words, labels, source.text.offsets, n_threads=self._n_threads, progress=None)

    @cached_property
    def _network(self) -> _core.Encoder:
        return _core.Encoder({name: np.atleast_2d(a).view(np.uint16) for name, a in self.weights_.items()})

    def _arrays(self) -> dict[str, Array]:
        known = {"word_rows": self.word_rows_, "n_labels": np.array([self.n_labels_]), "history": self.history_}
        return known | {f"network.{name}": array for name, array in self.weights_.items()}

    def _restore(self, state: ModelState) -> None:
        self.word_rows_, self.n_labels_ = state.arrays["word_rows"], int(state.arrays["n_labels"][0])
        self.take(state.group("network"), state.arrays["history"].tolist())
        if len(self.word_rows_) != len(self.vocabulary_) or np.any(self.word_rows_ >= len(self.weights_["word"])):
            raise ValueError("the rows of words do not fit the embedding")
        _ = self._network  # fits together, or is an error of the artefact

    def _saved_state(self, sentences: Sentences) -> State | None:
        """Where an interrupted training of the same options and text stopped."""
        states = self._states(sentences)
        last = None if states is None else states.last()
        if last is None:
            return None
        arrays = {name: np.array(array) for name, array in last.arrays().items()}
        return _torch_side().State(last.details["epoch"], last.details["history"], arrays)  # type: ignore[no-any-return]

    def _save_state(self, sentences: Sentences) -> Callable[[State], None] | None:
        states = self._states(sentences)
        if states is None:
            return None

        def write(state: State) -> None:
            states.save(state.arrays, {"epoch": state.epoch, "history": state.history})

        return write

    def _states(self, sentences: Sentences) -> TrainingStates | None:
        if self.checkpoint is None:
            return None
        return TrainingStates(self.checkpoint, _STATE, self._kept_options(), _inputs(sentences), self.seed)

    def _kept_options(self) -> dict[str, Any]:
        return {**to_mapping(self), "seed": self.seed}


def _torch_side() -> ModuleType:
    """What needs PyTorch."""
    try:
        from hyperbaton.models import _encoder_torch
    except ImportError:
        raise MissingExtra("PyTorch", "torch") from None
    return _encoder_torch


def _stopping(progress: Progress | None) -> Progress | None:
    """Progress that raises where it should stop."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        if progress(done, total) is False:
            raise Cancelled("cancelled")

    return report


def _inputs(sentences: Sentences) -> dict[str, str]:
    return {"sentences": hash_arrays({name: a for name, a in sentences._asdict().items() if a is not None})}
