"""Shared code for training networks that encode whole sentences, on a CPU or a GPU.

`SentenceReader` encodes a sentence; the networks in models/networks and align/neural add layers to it. These files need
only NumPy and PyTorch, so that a machine with only these can train (benchmarks/encoder, benchmarks/align/neural). The
learned parameters are a dictionary of arrays, with the names and shapes that the forward pass of the core reads
(`SentenceReader.arrays`).

`train` performs a `Task`, which defines the network, the text, and the loss of a batch of sentences. A sentence of n
words is n + 2 tokens: the start, the words, the end.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from hyperbaton.base.arrays import Array

if TYPE_CHECKING:
    from hyperbaton.base.training_states import TrainingStates

# Special rows of the embeddings of words and labels, before those of the vocabulary.
UNKNOWN, START, END, FIRST = 0, 1, 2, 3
# An epoch has at least this many batches, unless they would have fewer tokens than the second number.
_FEWEST_BATCHES, _SMALLEST_BATCH = 200, 512
# Sentences of similar length are grouped within this many batches.
_POOL = 100
# The fraction of all steps in which the step size rises, and its initial and final values.
_RISE, _START_SIZE, _END_SIZE = 0.3, 0.04, 1e-4


@dataclass(frozen=True)
class ReaderShape:
    """Sizes of the encoder."""

    n_words: int  # rows of the embedding of words
    n_labels: int  # rows of the embedding of labels; 0: there are none
    word_size: int
    label_size: int
    hidden: int  # of an LSTM in one direction; for jumps also the size of queries and keys


@dataclass(frozen=True)
class Schedule:
    """Options of training."""

    dropout: float
    word_dropout: float
    step: float
    epochs: int
    patience: int
    batch_tokens: int
    held_out: float
    seed: int
    device: str


class StoredNetwork(nn.Module, abc.ABC):
    """A network whose learned parameters are stored as named arrays of half precision."""

    @abc.abstractmethod
    def stored(self) -> dict[str, list[Tensor]]:
        """Parameters by their stored names, each of which stands for their sum, and has the shape of the first."""

    def arrays(self) -> dict[str, Array]:
        """The learned parameters: matrices have the shape (outputs, inputs), gates are in PyTorch's order."""
        with torch.no_grad():
            sums = {name: first if not others else first + others[0] for name, (first, *others) in self.stored().items()}
            return {name: value.detach().cpu().numpy().astype(np.float16) for name, value in sums.items()}

    def take(self, arrays: Mapping[str, Array]) -> Self:
        """The inverse of `arrays`."""
        with torch.no_grad():
            for name, (first, *others) in self.stored().items():
                first.copy_(torch.from_numpy(arrays[name].astype(np.float32)).view(first.shape))
                for other in others:
                    other.zero_()
        return self


class SentenceReader(StoredNetwork):
    """Maps words and labels to a state for each token; a network adds its own layers.

    `heads` are the names of the linear layers and embeddings that it adds: they are stored as NAME.weight and NAME.bias, or
    as NAME without a bias.
    """

    heads: tuple[str, ...] = ()

    def __init__(self, shape: ReaderShape, dropout: float = 0.0) -> None:
        super().__init__()
        hidden, state = shape.hidden, 2 * shape.hidden
        self.word = nn.Embedding(shape.n_words, shape.word_size)
        self.label = nn.Embedding(shape.n_labels, shape.label_size) if shape.n_labels else None
        inputs = shape.word_size + (shape.label_size if shape.n_labels else 0)
        self.input = nn.Linear(inputs, state)
        self.lstm = nn.LSTM(state, hidden, 2, batch_first=True, dropout=dropout, bidirectional=True)
        self.dropout = nn.Dropout(dropout)

    def _initialise(self, *others: nn.Embedding) -> None:
        """Initialise embeddings with small values, after creating all layers, so that the layers do not depend on it."""
        for embedding in (self.word, self.label, *others):
            if embedding is not None:
                nn.init.normal_(embedding.weight, std=0.1)
        if self.label is not None:
            nn.init.zeros_(self.label.weight[UNKNOWN])  # training text has no unknown label

    def inputs(self, words: Tensor, labels: Tensor | None) -> Tensor:
        """Inputs of the LSTM, shape (batch, tokens, 2 · hidden)."""
        x = self.word(words)
        if self.label is not None:
            x = torch.cat([x, self.label(labels)], -1)
        return self.input(self.dropout(x))

    def read(self, words: Tensor, labels: Tensor | None, lengths: Array) -> Tensor:
        """States, shape (batch, tokens, 2 · hidden); `lengths` are the sentence lengths in tokens."""
        return self.states(self.inputs(words, labels), lengths)

    def states(self, x: Tensor, lengths: Array) -> Tensor:
        """States from inputs."""
        order = np.argsort(-lengths, kind="stable")  # if PyTorch sorted them, it would wait for the GPU
        ordered = x[moved(order, x.device)]
        packed = pack_padded_sequence(ordered, torch.from_numpy(lengths[order]), batch_first=True)
        states = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]
        return self.dropout(states[moved(np.argsort(order), x.device)])

    def stored(self) -> dict[str, list[Tensor]]:
        weights: dict[str, list[Tensor]] = {"word": [self.word.weight]}
        if self.label is not None:
            weights["label"] = [self.label.weight]
        for layer in range(2):
            for direction, suffix in (("forward", ""), ("backward", "_reverse")):
                name, end = f"lstm.{layer}.{direction}", f"l{layer}{suffix}"
                weights[f"{name}.inputs"] = [getattr(self.lstm, f"weight_ih_{end}")]
                weights[f"{name}.states"] = [getattr(self.lstm, f"weight_hh_{end}")]
                weights[f"{name}.bias"] = [getattr(self.lstm, f"bias_{kind}_{end}") for kind in ("ih", "hh")]  # it has two
        for name in ("input", *self.heads):
            part = getattr(self, name)
            if part is None:
                continue
            if isinstance(part, nn.Embedding):
                weights[name] = [part.weight]
            else:
                weights[f"{name}.weight"] = [part.weight]
                if part.bias is not None:
                    weights[f"{name}.bias"] = [part.bias]
        return weights


class Tokens(NamedTuple):
    """Sentences of similar length as padded rows of tokens."""

    words: Tensor  # (size, n + 2)
    labels: Tensor | None  # (size, n + 2)
    lengths: Array  # (size,), tokens


class Batching:
    """Sentences, or sentence pairs, in batches of similar length; `usable` lists those used in training."""

    lengths: Array
    usable: Array

    def batches(self, chosen: Array, tokens: int, rng: np.random.Generator | None = None) -> list[Array]:
        """Group sentences of similar length, with a limit on padded tokens; in random order if a generator is given."""
        if rng is not None:
            chosen = rng.permutation(chosen)
        per_pool = max(1, int(_POOL * tokens / max(1.0, float(self.lengths[chosen].mean() + 2))))
        parts: list[Array] = []
        for begin in range(0, len(chosen), per_pool):
            pool = chosen[begin : begin + per_pool]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            start = 0
            for end in range(1, len(pool) + 1):
                longest = int(self.lengths[pool[min(end, len(pool) - 1)]]) + 2
                if end == len(pool) or (end + 1 - start) * longest > tokens:
                    parts.append(pool[start:end])
                    start = end
        if rng is not None:
            order = rng.permutation(len(parts))
            parts = [parts[k] for k in order]
        return parts


class EncodedText(Batching):
    """Sentences whose batches are on a device.

    The columns are in the main memory, where batches are prepared: nothing that depends on their sizes waits for the GPU.
    """

    def __init__(self, words: Array, labels: Array | None, offsets: Array, device: str) -> None:
        self.device = torch.device(device)
        self.lengths, self._starts = np.diff(offsets), offsets[:-1]
        self.usable = np.arange(len(self.lengths))
        self._words, self._labels = words, labels

    def tokens(self, chosen: Array) -> Tokens:
        words, labels = (
            None if column is None else moved(self._padded(chosen, column, START, END, UNKNOWN), self.device)
            for column in (self._words, self._labels)
        )
        assert words is not None
        return Tokens(words, labels, self.lengths[chosen] + 2)

    def distinct(self, chosen: Array) -> Array:
        """The different words of sentences and the unknown word, in ascending order."""
        return np.flatnonzero(np.bincount(self._padded(chosen, self._words, UNKNOWN, UNKNOWN, UNKNOWN).ravel()))

    def hidden(self, batch: Any, rate: float) -> Any:
        """A batch with some words replaced by the unknown word."""
        return batch._replace(tokens=hide_words(batch.tokens, rate))

    def _padded(self, chosen: Array, column: Array, start: int, end: int, rest: int) -> Array:
        """A column of words, with values for the start, the end, and the padding, (size, n + 2)."""
        lengths, place = self.lengths[chosen][:, None], np.arange(self.lengths[chosen].max() + 2)
        inside = (place > 0) & (place <= lengths)
        rows = np.full(inside.shape, rest, np.int64)
        rows[inside] = column[(self._starts[chosen][:, None] + place - 1)[inside]]
        rows[:, 0] = start
        np.put_along_axis(rows, lengths + 1, end, 1)
        return rows


def moved(array: Array, device: torch.device) -> Tensor:
    """An array on a device, without waiting for a GPU to finish its work."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def hide_words(tokens: Tokens, rate: float) -> Tokens:
    """Replace words by the unknown word, at random."""
    words = tokens.words
    hidden = torch.rand(words.shape, device=words.device) < rate
    return tokens._replace(words=words.masked_fill(hidden & (words >= FIRST), UNKNOWN))


class Task(Protocol):
    """A training task: a network, a text, and a loss."""

    def network(self, dropout: float) -> Any:
        """An untrained network, whose method `arrays` returns the learned parameters."""

    def data(self, device: str) -> Any:
        """The text: a `Batching` with methods `batch` and `hidden`."""

    def loss(self, network: Any, batch: Any, done: float) -> tuple[Tensor, int]:
        """A sum and the number of its terms; `done` is the completed fraction of the training."""

    def held_out(self, network: Any, data: Any, sentences: Array) -> float:
        """A measure that is higher for better networks."""


class DecisionTask(abc.ABC):
    """A task whose loss is −Σ log p of decisions."""

    @abc.abstractmethod
    def decisions(self, network: Any, batch: Any) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the possible choices, (n, choices), and the actual choices, (n,)."""

    def loss(self, network: Any, batch: Any, done: float) -> tuple[Tensor, int]:
        logprobs, targets = self.decisions(network, batch)
        return -logprobs.gather(1, targets[:, None]).sum(), len(targets)

    def held_out(self, network: Any, data: Any, sentences: Array) -> float:
        return figures(self, network, data, sentences)[1]


def train(
    task: Task,
    schedule: Schedule,
    *,
    start: Mapping[str, Array] | None = None,
    n_threads: int = 0,
    states: TrainingStates | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Array], list[float]]:
    """Train; returns the arrays of the best epoch and the held-out measure after each epoch.

    Arguments:
        start: the arrays of the network to begin with; otherwise they are random.
        n_threads: number of CPU threads; 0 leaves the choice to PyTorch.
        states: where to find the state of an interrupted training, and to save one after each epoch.
        progress: called with the number of processed sentences and the total; may raise an error to stop.
    """
    devices = [torch.device(schedule.device)] if schedule.device.startswith("cuda") else []
    with computing(n_threads, fast=bool(devices)), torch.random.fork_rng(devices):
        torch.manual_seed(schedule.seed)
        network = task.network(schedule.dropout)
        if start is not None:
            network.take(start)
        network.to(schedule.device)
        data = task.data(schedule.device)
        rng = np.random.default_rng(schedule.seed)
        order = rng.permutation(data.usable)
        n_held_out = min(int(len(order) * schedule.held_out), 2000)
        held_out, training = order[:n_held_out], order[n_held_out:]
        n_tokens = int((data.lengths[training] + 2).sum())
        tokens = min(schedule.batch_tokens, max(_SMALLEST_BATCH, n_tokens // _FEWEST_BATCHES))
        optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.step, fused=True)
        best, history, first = {}, [], 0
        if states is not None and (last := states.last()) is not None:
            first, history = last.details["epoch"], list(last.details["history"])
            best = _restore(network, optimizer, last.arrays())
        for epoch in range(first, schedule.epochs):
            if history and len(history) - 1 - int(np.argmax(history)) >= schedule.patience:
                break
            torch.manual_seed(schedule.seed + 1_000_003 * (epoch + 1))
            batches = data.batches(training, tokens, np.random.default_rng([schedule.seed, epoch]))
            network.train()
            done = epoch * len(training)
            for k, part in enumerate(batches):
                for group in optimizer.param_groups:
                    group["lr"] = schedule.step * _step_size((epoch + k / len(batches)) / schedule.epochs)
                batch = data.batch(part)
                if schedule.word_dropout:
                    batch = data.hidden(batch, schedule.word_dropout)
                optimizer.zero_grad(set_to_none=True)
                total, n = task.loss(network, batch, (epoch + k / len(batches)) / schedule.epochs)
                (total / n).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                done += len(part)
                if progress is not None:
                    progress(done, schedule.epochs * len(training))
            history.append(task.held_out(network, data, held_out if n_held_out else training[:2000]))
            if len(history) == 1 or history[-1] > max(history[:-1]):
                best = network.arrays()
            if states is not None:
                states.save(_state_arrays(network, optimizer, best), {"epoch": epoch + 1, "history": history})
        return best, history


def device_fault(name: str) -> str:
    """Why PyTorch cannot use a device, in one line; empty if it can."""
    try:
        torch.zeros(1, device=name).cpu()
    except Exception as error:
        return str(error).partition("\n")[0].rstrip(".")
    return ""


@contextmanager
def computing(n: int, fast: bool) -> Iterator[None]:
    """Compute with n threads, and on a GPU with its fast matrix products."""
    before = torch.get_num_threads(), torch.get_float32_matmul_precision()
    if fast:
        torch.set_float32_matmul_precision("high")
    if n:
        torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.set_float32_matmul_precision(before[1])


def _step_size(part: float) -> float:
    """One-cycle schedule: the step size, as a fraction of the largest, after a fraction of the training."""
    if part < _RISE:
        return _START_SIZE + (1 - _START_SIZE) * (1 - math.cos(math.pi * part / _RISE)) / 2
    return _END_SIZE + (1 - _END_SIZE) * (1 + math.cos(math.pi * (part - _RISE) / (1 - _RISE))) / 2


def figures(task: DecisionTask, network: SentenceReader, data: Any, sentences: Array) -> tuple[float, float]:
    """Percentage of correctly predicted decisions in these sentences, and their mean log-probability."""
    network.eval()
    right, total, n = 0, 0.0, 0
    with torch.no_grad():
        for part in data.batches(np.intersect1d(sentences, data.usable), 1 << 14):
            logprobs, targets = task.decisions(network, data.batch(part))
            target_logprobs = logprobs.gather(1, targets[:, None])[:, 0]
            right += int((target_logprobs >= logprobs.amax(-1)).sum())
            total += float(target_logprobs.double().sum())
            n += len(target_logprobs)
    return 100 * right / max(n, 1), total / max(n, 1)


def _state_arrays(network: nn.Module, optimizer: torch.optim.Optimizer, best: Mapping[str, Array]) -> dict[str, Array]:
    """Everything that changes in training, by name."""
    arrays: dict[str, Array] = {f"best.{name}": array for name, array in best.items()}
    for name, parameter in network.named_parameters():
        moments = optimizer.state[parameter]
        for kind, value in (("now", parameter), ("first", moments["exp_avg"]), ("second", moments["exp_avg_sq"])):
            arrays[f"{kind}.{name}"] = value.detach().cpu().numpy()
        arrays[f"steps.{name}"] = np.array([float(moments["step"])])
    return arrays


def _restore(network: nn.Module, optimizer: torch.optim.Optimizer, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Restore the result of `_state_arrays`; returns the best arrays."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.from_numpy(np.array(arrays[f"now.{name}"])))
            optimizer.state[parameter] = {
                "step": torch.tensor(float(arrays[f"steps.{name}"][0]), device=parameter.device),
                "exp_avg": torch.from_numpy(np.array(arrays[f"first.{name}"])).to(parameter.device),
                "exp_avg_sq": torch.from_numpy(np.array(arrays[f"second.{name}"])).to(parameter.device),
            }
    return {name.removeprefix("best."): np.array(a) for name, a in arrays.items() if name.startswith("best.")}
