"""Common parts of models whose network encodes the whole sentence: options, word rows, training, checkpoints.

Words and labels (tags or classes, if there are any) become vectors; a linear layer and two bidirectional LSTM layers turn
them into a state for the start, each word and the end. Each model adds its own layers on top of the states. Networks are
trained with PyTorch and used without it: the forward pass is in the core, with half-precision weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import DamagedError, OptionError, importing
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import option, to_mapping
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import check_finite, hash_arrays
from hyperbaton.base.training_states import NETWORK, TrainingStates
from hyperbaton.models.shapes.base import ModelState, ReorderingModel
from hyperbaton.network.words import FIRST, UNKNOWN, NeedsTorch, frequent_rows, rows_of

if TYPE_CHECKING:
    from hyperbaton.network.training import Schedule, Task


@dataclass(eq=False)
class SentenceNetwork(ReorderingModel, NeedsTorch):
    """Base of models with such a network, in addition to their shape."""

    word_size: int = option(256, "size of word embeddings", minimum=1, maximum=4096)
    tag_size: int = option(32, "size of embeddings of tags or classes", minimum=1, maximum=4096)
    hidden: int = option(128, "size of an LSTM layer in one direction", minimum=1, maximum=4096)
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
    batch_tokens: int = option(16_384, "maximum number of words in a batch; fewer for small texts", minimum=1)
    device: str = option("cpu", "where PyTorch computes", metavar="cpu|cuda|cuda:N")

    def schedule(self) -> Schedule:
        """The training schedule for PyTorch."""
        schedule: type[Schedule] = _torch_side().Schedule
        return schedule(**{each.name: getattr(self, each.name) for each in fields(schedule)})

    def take(self, arrays: dict[str, Array], history: list[float]) -> None:
        """Store the learned arrays (half precision, by name), and the held-out log-probabilities by epoch."""
        self.weights_ = arrays
        self.history_ = np.array(history)
        vars(self).pop("_network", None)

    def _number_words(self, tokens: Array, n_words: int, labels: Array | None) -> dict[str, int]:
        """Assign rows of the embeddings to the frequent words of `n_words`, and to labels; returns the sizes of the
        encoder."""
        self.word_rows_ = frequent_rows(tokens, n_words, self.max_words, self.min_count)
        self.n_labels_ = 0 if labels is None else int(labels.max(initial=0)) + 1
        return {
            "n_words": int(self.word_rows_.max(initial=FIRST - 1)) + 1,
            "n_labels": FIRST + self.n_labels_ if self.n_labels_ else 0,
            "word_size": self.word_size,
            "label_size": self.tag_size,
            "hidden": self.hidden,
        }

    def _embedded(self, tokens: Array, labels: Array | None) -> tuple[Array, Array | None]:
        """The rows of the embeddings of words and of labels, for each word."""
        words = rows_of(self.word_rows_, tokens)
        if labels is None:
            return words, None
        labels = labels.astype(np.int64)
        return words, np.where(labels < self.n_labels_, labels + FIRST, UNKNOWN).astype(np.int32)

    def _train(self, task: Task, inputs: Mapping[str, Array | None], resources: Resources) -> None:
        """Train with PyTorch, resuming an interrupted training with the same options and inputs."""
        side = _torch_side()
        if fault := side.device_fault(self.device):
            raise OptionError(f"device {self.device}: {fault}")
        text = {"sentences": hash_arrays({name: a for name, a in inputs.items() if a is not None})}
        states = None
        if self.checkpoint is not None:
            states = TrainingStates(self.checkpoint, NETWORK, {**to_mapping(self), "seed": self.seed}, text, self.seed)
        arrays, history = side.train(
            task, self.schedule(), n_threads=self._n_threads, states=states, progress=resources.report
        )
        self.take(arrays, history)

    def summary(self) -> JsonObject:
        shape = super().summary()  # type: ignore[safe-super]  # of the model's shape, the next base class
        best = {"held_out_logprob": float(self.history_.max())} if len(self.history_) else {}
        return {**shape, "words": len(self.weights_["word"]) - FIRST, "epochs": len(self.history_), **best}

    @property
    def _bits(self) -> dict[str, Array]:
        return {name: np.atleast_2d(a).view(np.uint16) for name, a in self.weights_.items()}

    def _arrays(self) -> dict[str, Array]:
        arrays = {"word_rows": self.word_rows_, "n_labels": np.array([self.n_labels_]), "history": self.history_}
        return arrays | {f"network.{name}": array for name, array in self.weights_.items()}

    def _layout(self) -> dict[str, str]:
        return super()._layout() | {
            "word_rows": "i4 source.vocabulary.n_words",
            "n_labels": "i8 1",
            "history": "f8 n_epochs",
            "network.word": "f2 n_rows *",
            "network.*": "f2 ...",
        }

    def _restore(self, state: ModelState) -> None:
        self.word_rows_, self.n_labels_ = state.arrays["word_rows"], int(state.arrays["n_labels"][0])
        self.take(state.group("network"), state.arrays["history"].tolist())
        for name, array in self.weights_.items():
            check_finite(array, "a weight")
            if array.ndim > 2:
                raise DamagedError(f"{name} has more than two dimensions")
        if np.any(self.word_rows_ >= len(self.weights_["word"])):
            raise DamagedError("the rows of words do not match the embedding")


def _torch_side() -> ModuleType:
    with importing("PyTorch", "torch", "torch"):
        from hyperbaton.network import training
    return training
