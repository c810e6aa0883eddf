"""Training of the network of `encoder`, on a processor or a GPU.

This file needs NumPy and PyTorch alone, so that a machine that has only these can train (benchmarks/encoder). What was
learned is a dictionary of arrays, in the names and shapes that the forward pass of the core reads (`Network.arrays`).

A sentence of n words is n + 2 tokens: the start, the words, the end. Rows of scores are the tokens 0 … n, columns the
tokens 1 … n + 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Array = npt.NDArray[Any]

# Rows of the embeddings of words and of labels; those of the vocabulary follow.
UNKNOWN, START, END, FIRST = 0, 1, 2, 3
# The smallest distances |j − i| of the buckets of one direction.
DISTANCES = (1, 2, 3, 4, 5, 6, 7, 9, 13, 21, 41)
N_BUCKETS = 2 * len(DISTANCES)
# An epoch has at least so many batches, unless they would have fewer tokens than the second number.
_FEWEST_BATCHES, _SMALLEST_BATCH = 200, 512
# Sentences of similar length are looked for among those of so many batches.
_POOL = 100
# The part of all steps in which the step size rises, and what it starts and ends with.
_RISE, _START_SIZE, _END_SIZE = 0.3, 0.04, 1e-4
_NEVER = 1 << 30


class Sentences(NamedTuple):
    """Sentences as rows of the embeddings, and the order in which their words are visited (none: not for training)."""

    words: Array  # (n_tokens,), without start and end
    labels: Array | None  # (n_tokens,)
    offsets: Array  # (n_sentences + 1,)
    visits: Array  # positions, in the order of visits
    visit_offsets: Array  # (n_sentences + 1,)

    @property
    def lengths(self) -> Array:
        """Words of each sentence."""
        return np.diff(self.offsets)


@dataclass(frozen=True)
class Shape:
    """Sizes of a network."""

    n_words: int  # rows of the embedding of words
    n_labels: int  # rows of the embedding of labels; 0: there are none
    word_size: int
    label_size: int
    hidden: int  # of an LSTM in one direction; also the size of queries and keys
    distances: bool


@dataclass(frozen=True)
class Schedule:
    """How to train."""

    remaining: bool  # normalise over the words not yet visited
    dropout: float
    word_dropout: float
    step: float
    epochs: int
    patience: int
    batch_tokens: int
    held_out: float
    seed: int
    device: str


class State(NamedTuple):
    """Training after an epoch; `arrays` are the parameters, those of the best epoch and the optimizer's moments."""

    epoch: int
    history: list[float]  # mean log P(NP | CP) of the held-out sentences after each epoch
    arrays: dict[str, Array]


class Network(nn.Module):
    """score(i, j) = q(hᵢ)·k(hⱼ)/√d + b(hⱼ) + Q(hᵢ)[bucket of j − i] + K(hⱼ)[bucket of j − i]."""

    def __init__(self, shape: Shape, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        hidden, state = shape.hidden, 2 * shape.hidden
        self.word = nn.Embedding(shape.n_words, shape.word_size)
        self.label = nn.Embedding(shape.n_labels, shape.label_size) if shape.n_labels else None
        inputs = shape.word_size + (shape.label_size if shape.n_labels else 0)
        self.input = nn.Linear(inputs, state)
        self.lstm = nn.LSTM(state, hidden, 2, batch_first=True, dropout=dropout, bidirectional=True)
        self.query, self.key = nn.Linear(state, hidden), nn.Linear(state, hidden)
        self.bias = nn.Linear(state, 1, bias=False)
        self.from_distance = nn.Linear(state, N_BUCKETS) if shape.distances else None
        self.to_distance = nn.Linear(state, N_BUCKETS, bias=False) if shape.distances else None
        self.dropout = nn.Dropout(dropout)
        for embedding in (self.word, self.label):
            if embedding is not None:
                nn.init.normal_(embedding.weight, std=0.1)
        if self.label is not None:
            nn.init.zeros_(self.label.weight[UNKNOWN])  # training text has no unknown label

    def forward(self, words: Tensor, labels: Tensor | None, lengths: Tensor) -> Tensor:
        """Scores, shape (batch, n + 1, n + 1) for n + 2 tokens; `lengths` are those of the sentences, in tokens."""
        x = self.word(words)
        if self.label is not None:
            x = torch.cat([x, self.label(labels)], -1)
        x = self.input(self.dropout(x))
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        h = self.dropout(pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0])
        current, following = h[:, :-1], h[:, 1:]
        scores = self.query(current) @ self.key(following).transpose(1, 2) / math.sqrt(self.shape.hidden)
        scores = scores + self.bias(following).transpose(1, 2)
        if self.from_distance is not None and self.to_distance is not None:
            side = scores.shape[1]
            place = torch.arange(side, device=h.device)
            buckets = torch.as_tensor(bucket_table(side), device=h.device)[place[None] + 1 - place[:, None] + side]
            buckets = buckets.expand(len(h), side, side)
            scores = scores + self.from_distance(current).gather(2, buckets)
            scores = scores + self.to_distance(following).gather(2, buckets.transpose(1, 2)).transpose(1, 2)
        return scores  # type: ignore[no-any-return]

    def arrays(self) -> dict[str, Array]:
        """What was learned, in half precision: matrices have the shape (outputs, inputs), gates are in PyTorch's order."""
        with torch.no_grad():
            found = {"word": self.word.weight, "input.weight": self.input.weight, "input.bias": self.input.bias}
            if self.label is not None:
                found["label"] = self.label.weight
            for layer in range(2):
                for direction, suffix in (("forward", ""), ("backward", "_reverse")):
                    name, end = f"lstm.{layer}.{direction}", f"l{layer}{suffix}"
                    found[f"{name}.inputs"] = getattr(self.lstm, f"weight_ih_{end}")
                    found[f"{name}.states"] = getattr(self.lstm, f"weight_hh_{end}")
                    found[f"{name}.bias"] = getattr(self.lstm, f"bias_ih_{end}") + getattr(self.lstm, f"bias_hh_{end}")
            found["query.weight"], found["query.bias"] = self.query.weight, self.query.bias
            found["key.weight"], found["key.bias"] = self.key.weight, self.key.bias
            found["bias"] = self.bias.weight
            if self.from_distance is not None and self.to_distance is not None:
                found["from_distance.weight"], found["from_distance.bias"] = (
                    self.from_distance.weight,
                    self.from_distance.bias,
                )
                found["to_distance.weight"] = self.to_distance.weight
            return {name: value.detach().cpu().numpy().astype(np.float16) for name, value in found.items()}

    def take(self, arrays: Mapping[str, Array]) -> Network:
        """The inverse of `arrays`."""

        def put(parameter: Tensor, name: str) -> None:
            parameter.copy_(torch.from_numpy(arrays[name].astype(np.float32)))

        with torch.no_grad():
            put(self.word.weight, "word")
            if self.label is not None:
                put(self.label.weight, "label")
            for layer in range(2):
                for direction, suffix in (("forward", ""), ("backward", "_reverse")):
                    name, end = f"lstm.{layer}.{direction}", f"l{layer}{suffix}"
                    put(getattr(self.lstm, f"weight_ih_{end}"), f"{name}.inputs")
                    put(getattr(self.lstm, f"weight_hh_{end}"), f"{name}.states")
                    put(getattr(self.lstm, f"bias_ih_{end}"), f"{name}.bias")
                    getattr(self.lstm, f"bias_hh_{end}").zero_()
            for name, layer_ in (("input", self.input), ("query", self.query), ("key", self.key)):
                put(layer_.weight, f"{name}.weight")
                put(layer_.bias, f"{name}.bias")
            put(self.bias.weight, "bias")
            if self.from_distance is not None and self.to_distance is not None:
                put(self.from_distance.weight, "from_distance.weight")
                put(self.from_distance.bias, "from_distance.bias")
                put(self.to_distance.weight, "to_distance.weight")
        return self


def bucket_table(farthest: int) -> Array:
    """The bucket of the distances −farthest … farthest: backward ones first, from far to near; 0 has any.

    >>> bucket_table(3).tolist()
    [8, 9, 10, 10, 11, 12, 13]
    """
    distance = np.arange(-farthest, farthest + 1)
    place = np.searchsorted(DISTANCES, np.maximum(np.abs(distance), 1), side="right") - 1
    return np.where(distance > 0, len(DISTANCES) + place, len(DISTANCES) - 1 - place)


class Batch(NamedTuple):
    """Sentences of similar length as padded rows of tokens."""

    words: Tensor  # (size, n + 2)
    labels: Tensor | None  # (size, n + 2)
    lengths: Tensor  # (size,), tokens
    ranks: Tensor  # (size, n + 2): when a token is visited, 0 for the start; _NEVER for those that are not
    targets: Tensor  # (size, n + 1): the column of the next token, −1 where there is none

    def candidates(self, remaining: bool) -> Tensor:
        """Where a jump may go, shape (size, n + 1, n + 1)."""
        place = torch.arange(self.words.shape[1], device=self.words.device)
        exists = (place[1:] < self.lengths[:, None])[:, None, :]
        if remaining:
            return exists & (self.ranks[:, None, 1:] > self.ranks[:, :-1, None])
        return exists & (place[None, 1:] != place[:-1, None])


class Data:
    """Sentences on a device, cut into batches."""

    def __init__(self, sentences: Sentences, device: str) -> None:
        self.device = torch.device(device)
        self.sentences, self.lengths = sentences, sentences.lengths
        n_visits = np.diff(sentences.visit_offsets)
        self.usable = np.flatnonzero(n_visits > 0)
        of = np.repeat(np.arange(len(n_visits)), n_visits)
        nth = np.arange(len(of)) - sentences.visit_offsets[of]
        ranks = np.full(len(sentences.words), _NEVER, np.int32)
        ranks[sentences.offsets[of] + sentences.visits] = nth + 1
        # The position after each word; the length stands for the end. The first visit follows the start.
        last = nth == n_visits[of] - 1
        following = np.full(len(sentences.words), -1, np.int32)
        after = np.where(last, self.lengths[of], np.append(sentences.visits[1:], 0).astype(np.int64))
        following[sentences.offsets[of] + sentences.visits] = after
        first = np.full(len(n_visits), -1, np.int64)
        first[self.usable] = sentences.visits[sentences.visit_offsets[self.usable]]
        labels = np.zeros(0, np.int32) if sentences.labels is None else sentences.labels
        self._columns = {
            name: torch.as_tensor(np.ascontiguousarray(column).astype(np.int32), device=self.device)
            for name, column in (
                ("words", sentences.words),
                ("labels", labels),
                ("ranks", ranks),
                ("following", following),
                ("first", first),
                ("offsets", sentences.offsets),
                ("lengths", self.lengths),
            )
        }

    def batches(self, chosen: Array, tokens: int, rng: np.random.Generator | None = None) -> list[Array]:
        """Sentences by similar length, at most so many padded tokens in each; in random order if there is a generator."""
        if rng is not None:
            chosen = rng.permutation(chosen)
        per_pool = max(1, int(_POOL * tokens / max(1.0, float(self.lengths[chosen].mean() + 2))))
        found: list[Array] = []
        for begin in range(0, len(chosen), per_pool):
            pool = chosen[begin : begin + per_pool]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            start = 0
            for end in range(1, len(pool) + 1):
                longest = int(self.lengths[pool[min(end, len(pool) - 1)]]) + 2
                if end == len(pool) or (end + 1 - start) * longest > tokens:
                    found.append(pool[start:end])
                    start = end
        if rng is not None:
            order = rng.permutation(len(found))
            found = [found[k] for k in order]
        return found

    def batch(self, chosen: Array) -> Batch:
        """The chosen sentences."""
        part = torch.as_tensor(chosen, device=self.device)
        lengths = self._columns["lengths"][part].long()
        side = int(self.lengths[chosen].max()) + 1
        place = torch.arange(side + 1, device=self.device)
        inside = (place > 0) & (place <= lengths[:, None])
        where = (self._columns["offsets"][part].long()[:, None] + place - 1)[inside]

        def padded(name: str, start: int, end: int, rest: int) -> Tensor:
            rows = torch.full(inside.shape, rest, dtype=torch.long, device=self.device)
            rows[inside] = self._columns[name][where].long()
            rows[:, 0] = start
            rows.scatter_(1, (lengths + 1)[:, None], end)
            return rows

        words = padded("words", START, END, UNKNOWN)
        labels = None if self.sentences.labels is None else padded("labels", START, END, UNKNOWN)
        ranks = padded("ranks", 0, _NEVER, _NEVER)
        targets = padded("following", -1, -1, -1)[:, :-1]
        targets[:, 0] = self._columns["first"][part].long()
        return Batch(words, labels, lengths + 2, ranks, targets)


def train(
    shape: Shape,
    schedule: Schedule,
    sentences: Sentences,
    *,
    n_threads: int = 0,
    state: State | None = None,
    after_epoch: Callable[[State], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, Array], list[float]]:
    """Learn; returns the arrays of the best epoch and the held-out mean log-probability after each epoch.

    Arguments:
        n_threads: of a processor; 0 leaves PyTorch's choice.
        state: where to go on, as `after_epoch` got it.
        progress: called with sentences done and all; may raise to stop.
    """
    devices = [torch.device(schedule.device)] if schedule.device.startswith("cuda") else []
    with _threads(n_threads), torch.random.fork_rng(devices):
        torch.manual_seed(schedule.seed)
        network = Network(shape, schedule.dropout).to(schedule.device)
        data = Data(sentences, schedule.device)
        rng = np.random.default_rng(schedule.seed)
        order = rng.permutation(data.usable)
        n_held_out = min(int(len(order) * schedule.held_out), 2000)
        held_out, chosen = order[:n_held_out], order[n_held_out:]
        n_tokens = int((data.lengths[chosen] + 2).sum())
        tokens = min(schedule.batch_tokens, max(_SMALLEST_BATCH, n_tokens // _FEWEST_BATCHES))
        optimizer = torch.optim.AdamW(network.parameters(), lr=schedule.step)
        best, history, first = {}, [], 0
        if state is not None:
            first, history = state.epoch, list(state.history)
            best = _restore(network, optimizer, state.arrays)
        for epoch in range(first, schedule.epochs):
            if _out_of_patience(history, schedule.patience):
                break
            torch.manual_seed(schedule.seed + 1_000_003 * (epoch + 1))
            batches = data.batches(chosen, tokens, np.random.default_rng([schedule.seed, epoch]))
            network.train()
            done = epoch * len(chosen)
            for k, part in enumerate(batches):
                for group in optimizer.param_groups:
                    group["lr"] = schedule.step * _step_size((epoch + k / len(batches)) / schedule.epochs)
                batch = data.batch(part)
                if schedule.word_dropout:
                    dropped = torch.rand(batch.words.shape, device=data.device) < schedule.word_dropout
                    batch = batch._replace(words=batch.words.masked_fill(dropped & (batch.words >= FIRST), UNKNOWN))
                optimizer.zero_grad(set_to_none=True)
                total, n = _loss(network, batch, schedule.remaining)
                (total / n).backward()  # type: ignore[no-untyped-call]
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimizer.step()
                done += len(part)
                if progress is not None:
                    progress(done, schedule.epochs * len(chosen))
            history.append(mean_logprob(network, data, held_out if n_held_out else chosen[:2000], schedule.remaining))
            if len(history) == 1 or history[-1] > max(history[:-1]):
                best = network.arrays()
            if after_epoch is not None:
                after_epoch(State(epoch + 1, history, _state_arrays(network, optimizer, best)))
        return best, history


def device_fault(name: str) -> str:
    """Why PyTorch cannot compute there, in one line; empty if it can."""
    try:
        torch.zeros(1, device=name).cpu()
    except Exception as error:
        return str(error).partition("\n")[0].rstrip(".")
    return ""


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    if n:
        torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _out_of_patience(history: list[float], patience: int) -> bool:
    """Whether the best epoch was too long ago."""
    return bool(history) and len(history) - 1 - int(np.argmax(history)) >= patience


def _step_size(part: float) -> float:
    """One cycle: the step size, as part of the largest, after a part of the training."""
    if part < _RISE:
        return _START_SIZE + (1 - _START_SIZE) * (1 - math.cos(math.pi * part / _RISE)) / 2
    return _END_SIZE + (1 - _END_SIZE) * (1 + math.cos(math.pi * (part - _RISE) / (1 - _RISE))) / 2


def _loss(network: Network, batch: Batch, remaining: bool) -> tuple[Tensor, int]:
    """−Σ log P(NP | CP), and the number of jumps."""
    logprobs = _logprobs(network, batch, remaining)
    jumps = batch.targets >= 0
    return -logprobs[jumps].gather(1, batch.targets[jumps][:, None]).sum(), int(jumps.sum())


def _logprobs(network: Network, batch: Batch, remaining: bool) -> Tensor:
    scores = network(batch.words, batch.labels, batch.lengths)
    return torch.log_softmax(scores.masked_fill(~batch.candidates(remaining), -1e9), -1)


def mean_logprob(network: Network, data: Data, chosen: Array, remaining: bool) -> float:
    """The mean of log P(NP | CP) over the jumps of the chosen sentences."""
    return figures(network, data, chosen, remaining)[1]


def figures(network: Network, data: Data, chosen: Array, remaining: bool) -> tuple[float, float]:
    """Percent of the jumps of the chosen sentences that are predicted, and the mean of log P(NP | CP)."""
    network.eval()
    right, total, n = 0, 0.0, 0
    with torch.no_grad():
        for part in data.batches(np.intersect1d(chosen, data.usable), 1 << 14):
            batch = data.batch(part)
            logprobs = _logprobs(network, batch, remaining)
            jumps = batch.targets >= 0
            made = logprobs[jumps].gather(1, batch.targets[jumps][:, None])[:, 0]
            right += int((made >= logprobs[jumps].amax(-1)).sum())
            total += float(made.double().sum())
            n += len(made)
    return 100 * right / max(n, 1), total / max(n, 1)


def matrices(network: Network, sentences: Sentences) -> Iterator[Array]:
    """log P(NP | CP) of each sentence over all words, shape (n + 1, n + 1), as the core computes it."""
    data = Data(sentences, "cpu")
    network.eval()
    with torch.no_grad():
        for s in range(len(data.lengths)):
            yield _logprobs(network, data.batch(np.array([s])), False)[0].numpy()


def _state_arrays(network: Network, optimizer: torch.optim.Optimizer, best: Mapping[str, Array]) -> dict[str, Array]:
    """Everything that changes in training, by name."""
    found: dict[str, Array] = {f"best.{name}": array for name, array in best.items()}
    for name, parameter in network.named_parameters():
        moments = optimizer.state[parameter]
        for kind, value in (("now", parameter), ("first", moments["exp_avg"]), ("second", moments["exp_avg_sq"])):
            found[f"{kind}.{name}"] = value.detach().cpu().numpy()
        found[f"steps.{name}"] = np.array([float(moments["step"])])
    return found


def _restore(network: Network, optimizer: torch.optim.Optimizer, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Take back what `_state_arrays` gave; returns the best arrays."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.from_numpy(np.array(arrays[f"now.{name}"])))
            optimizer.state[parameter] = {
                "step": torch.tensor(float(arrays[f"steps.{name}"][0])),
                "exp_avg": torch.from_numpy(np.array(arrays[f"first.{name}"])).to(parameter.device),
                "exp_avg_sq": torch.from_numpy(np.array(arrays[f"second.{name}"])).to(parameter.device),
            }
    return {name.removeprefix("best."): np.array(a) for name, a in arrays.items() if name.startswith("best.")}
