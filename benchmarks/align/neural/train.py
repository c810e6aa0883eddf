"""Train an alignment network on the posteriors of the hidden Markov model; needs NumPy and PyTorch, not hyperbaton.

    python benchmarks/align/neural/train.py packed/ja-en.npz -o trained --network teacher

reads a file of `pack` and writes the network's log posteriors of the gold sentences, for `score`.

The *student* reads both sentences with bidirectional LSTMs, scores each pair of words by the product of their states, and
learns the posteriors of the hidden Markov model (cross-entropy, in both directions, null included).

The *teacher* predicts each word from the other sentence and from the other words of the same sentence, in both directions:

    p(y_j | x, y without y_j) = Σ_i p(a_j = i | context_j, x) · p(y_j | x_i)

p(a_j) is learned with a second loss as well, the cross-entropy with the hidden Markov model's posteriors. Its posteriors
p(a_j = i | x, y) are the alignment; with `agree`, those of the two directions are trained to agree.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as nnf
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Array = npt.NDArray[Any]
SIDES = ("source", "target")
UNKNOWN, FIRST = 0, 3  # rows of the embeddings: the unknown word, and the first word
STEM = 4  # letters
IMPOSSIBLE = -1e4
_POOL = 50  # sentences of similar length are grouped within this many batches
_RISE, _START_SIZE, _END_SIZE = 0.2, 0.04, 1e-3  # of the step size
_AGREE_FROM = 0.25  # the fraction of training before the directions are trained to agree


@dataclass(frozen=True)
class Settings:
    """Options of a training; the defaults are the student's."""

    network: str = "student"
    word_size: int = 128
    stem_size: int = 32
    hidden: int = 96
    window: int = 3  # of the convolution over the scores of the student, odd; 0: none
    dropout: float = 0.3
    word_dropout: float = 0.3
    step: float = 3e-3
    epochs: int = 8
    batch_tokens: int = 8192
    max_words: int = 30_000
    max_length: int = 60
    guide: float = 0.5  # weight of the cross-entropy with the hidden Markov model's posteriors in the teacher's loss
    agree: float = 0.3  # weight of agreement in the teacher's loss
    seed: int = 1


TEACHER = {"word_size": 256, "stem_size": 64, "hidden": 256, "word_dropout": 0.1, "step": 1.5e-3}


class Side(NamedTuple):
    """Sentences of a batch."""

    words: Tensor  # (batch, n), rows of embeddings
    stems: Tensor
    lengths: Tensor
    inside: Tensor  # (batch, n), whether there is a word


class Pairs:
    """Sentence pairs on a device, with the posteriors of the hidden Markov model."""

    def __init__(self, path: Path, settings: Settings, device: str) -> None:
        arrays = np.load(path)
        self.device, self.n_gold = device, int(arrays["n_gold"])
        self.lengths = [np.diff(arrays[f"{side}.offsets"].astype(np.int64)) for side in SIDES]
        short = [(n > 0) & (n <= settings.max_length) for n in self.lengths]
        self.usable = np.flatnonzero(short[0] & short[1])
        self.gold = np.flatnonzero((self.lengths[0][: self.n_gold] > 0) & (self.lengths[1][: self.n_gold] > 0))
        self.n_rows: list[tuple[int, int]] = []
        self._rows: list[tuple[Tensor, Tensor]] = []
        self.unigrams: list[Tensor] = []
        for side in SIDES:
            tokens = arrays[f"{side}.words"].astype(np.int64)
            stems = arrays[f"{side}.stems"].tobytes().decode().split("\n")
            rows, stem_rows = _frequent(tokens, stems, settings.max_words)
            self.n_rows.append((max(FIRST, int(rows.max()) + 1), max(FIRST, int(stem_rows.max()) + 1)))
            self._rows.append((self._put(rows[tokens]), self._put(stem_rows[tokens])))
            counts = np.bincount(rows[tokens], minlength=self.n_rows[-1][0]) + 0.5
            counts[1:FIRST] = 1e-9  # start and end, which these networks do not use
            self.unigrams.append(torch.tensor(np.log(counts / counts.sum()), dtype=torch.float32, device=device))
        self._offsets = [self._put(arrays[f"{side}.offsets"].astype(np.int64)) for side in SIDES]
        self._point_offsets = self._put(arrays["points.offsets"].astype(np.int64))
        self._points = self._put(arrays["points"].astype(np.int64))
        self._values = self._put(arrays["posteriors"].astype(np.float32) / 255)

    def _put(self, array: Array) -> Tensor:
        return torch.tensor(array, device=self.device)

    def batches(self, chosen: Array, tokens: int, rng: np.random.Generator | None = None) -> list[Array]:
        """Group pairs of similar length, with a limit on padded tokens; in random order if there is a generator."""
        if rng is not None:
            chosen = rng.permutation(chosen)
        longest = np.maximum(*self.lengths) + 2
        per_pool = _POOL * max(1, tokens // 30)
        found: list[Array] = []
        for begin in range(0, len(chosen), per_pool):
            pool = chosen[begin : begin + per_pool]
            pool = pool[np.argsort(longest[pool], kind="stable")]
            start = 0
            for end in range(1, len(pool) + 1):
                if end == len(pool) or (end + 1 - start) * longest[pool[end]] > tokens:
                    found.append(pool[start:end])
                    start = end
        return found if rng is None else [found[k] for k in rng.permutation(len(found))]

    def sides(self, chosen: Array) -> tuple[Side, Side]:
        """Both sides of the chosen pairs."""
        made = []
        for (words, stems), offsets in zip(self._rows, self._offsets, strict=True):
            part = self._put(chosen)
            starts, lengths = offsets[part], offsets[part + 1] - offsets[part]
            place = torch.arange(int(lengths.max()), device=self.device)
            inside = place < lengths[:, None]
            where = (starts[:, None] + place).clamp(max=len(words) - 1)
            made.append(Side(torch.where(inside, words[where], 0), torch.where(inside, stems[where], 0), lengths, inside))
        return made[0], made[1]

    def posteriors(self, chosen: Array, n: int, m: int) -> tuple[Tensor, Tensor]:
        """The hidden Markov model's, with null: to the target (batch, n + 1, m), to the source (batch, n, m + 1)."""
        part = self._put(chosen)
        starts, sizes = self._point_offsets[part], self._point_offsets[part + 1] - self._point_offsets[part]
        pair = torch.repeat_interleave(torch.arange(len(part), device=self.device), sizes)
        at = torch.arange(len(pair), device=self.device) - (torch.cumsum(sizes, 0) - sizes)[pair] + starts[pair]
        both = torch.zeros(len(part), n, m, 2, device=self.device)
        both[pair, self._points[at, 0], self._points[at, 1]] = self._values[at]
        to_target, to_source = both[..., 0], both[..., 1]
        nulls = (1 - to_target.sum(1, keepdim=True)).clamp(0, 1), (1 - to_source.sum(2, keepdim=True)).clamp(0, 1)
        return torch.cat([to_target, nulls[0]], 1), torch.cat([to_source, nulls[1]], 2)


def _frequent(tokens: Array, stems: list[str], most: int) -> tuple[Array, Array]:
    """Rows of words and of their stems; those seen once are unknown."""
    counts = np.bincount(tokens, minlength=len(stems))
    frequent = np.argsort(-counts, kind="stable")[:most]
    frequent = np.sort(frequent[counts[frequent] >= 2])
    rows, stem_rows = np.zeros(len(stems), np.int64), np.zeros(len(stems), np.int64)
    rows[frequent] = FIRST + np.arange(len(frequent))
    totals: dict[str, int] = {}
    for stem, count in zip(stems, counts.tolist(), strict=True):
        totals[stem] = totals.get(stem, 0) + count
    known: dict[str, int] = {}
    for word, stem in enumerate(stems):
        if totals[stem] >= 2:
            stem_rows[word] = known.setdefault(stem, FIRST + len(known))
    return rows, stem_rows


class Reader(nn.Module):
    """From words and stems to inputs and states of two bidirectional LSTM layers."""

    def __init__(self, n_rows: tuple[int, int], s: Settings) -> None:
        super().__init__()
        self.words, self.stems = nn.Embedding(n_rows[0], s.word_size), nn.Embedding(n_rows[1], s.stem_size)
        self.input = nn.Linear(s.word_size + s.stem_size, 2 * s.hidden)
        self.lstm = nn.LSTM(2 * s.hidden, s.hidden, 2, batch_first=True, bidirectional=True, dropout=s.dropout)
        self.dropout = nn.Dropout(s.dropout)
        nn.init.normal_(self.words.weight, std=0.1)
        nn.init.normal_(self.stems.weight, std=0.1)

    def forward(self, side: Side) -> tuple[Tensor, Tensor]:
        """States and inputs, both (batch, n, 2 · hidden)."""
        inputs = self.input(self.dropout(torch.cat([self.words(side.words), self.stems(side.stems)], -1)))
        packed = pack_padded_sequence(inputs, side.lengths.cpu(), batch_first=True, enforce_sorted=False)
        states = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=side.words.shape[1])[0]
        return self.dropout(states), inputs


class Student(nn.Module):
    """One matrix of scores and two softmaxes, over source words and null, and over target words and null."""

    def __init__(self, pairs: Pairs, s: Settings) -> None:
        super().__init__()
        state = 2 * s.hidden
        self.source, self.target = Reader(pairs.n_rows[0], s), Reader(pairs.n_rows[1], s)
        self.source_key, self.target_key = nn.Linear(state, state), nn.Linear(state, state)
        self.source_word, self.target_word = nn.Linear(state, state), nn.Linear(state, state)
        self.source_null, self.target_null = nn.Linear(state, 1), nn.Linear(state, 1)
        self.scale = nn.Parameter(torch.ones(2))
        self.neighbours = nn.Conv2d(1, 1, s.window, padding=s.window // 2) if s.window else None
        if self.neighbours is not None:
            nn.init.zeros_(self.neighbours.weight)

    def forward(self, source: Side, target: Side) -> tuple[Tensor, Tensor]:
        """Log posteriors with null, (batch, n + 1, m) and (batch, n, m + 1)."""
        src, src_words = self.source(source)
        tgt, tgt_words = self.target(target)
        keys = self.source_key(src) + self.source_word(src_words), self.target_key(tgt) + self.target_word(tgt_words)
        scores = torch.einsum("bik,bjk->bij", *keys) / math.sqrt(keys[0].shape[-1])
        if self.neighbours is not None:
            inside = source.inside[:, :, None] & target.inside[:, None, :]
            scores = scores + 10 * self.neighbours((torch.sigmoid(scores - 2) * inside)[:, None])[:, 0]
        to_target = torch.cat([scores * self.scale[0], self.target_null(tgt)[:, None, :, 0]], 1)
        to_source = torch.cat([scores * self.scale[1], self.source_null(src)], 2)
        return (
            to_target.masked_fill(_outside(source)[:, :, None], IMPOSSIBLE).log_softmax(1),
            to_source.masked_fill(_outside(target)[:, None, :], IMPOSSIBLE).log_softmax(2),
        )

    def loss(self, seen: tuple[Side, Side], pairs: tuple[Side, Side], hmm: tuple[Tensor, Tensor], done: float) -> Tensor:
        """The sum over words; `seen` are the pairs with some words replaced by the unknown word."""
        return _cross_entropy(hmm, self(*seen), pairs)


class Direction(nn.Module):
    """p(y_j | x, y without y_j) as a sum over the source word that y_j comes from, or null."""

    def __init__(self, source_rows: tuple[int, int], target_rows: tuple[int, int], s: Settings, unigrams: Tensor) -> None:
        super().__init__()
        inputs, state = s.word_size + s.stem_size, 2 * s.hidden
        self.source = Reader(source_rows, s)
        self.words, self.stems = nn.Embedding(target_rows[0], s.word_size), nn.Embedding(target_rows[1], s.stem_size)
        self.before = nn.LSTM(inputs, s.hidden, 2, batch_first=True, dropout=s.dropout)
        self.after = nn.LSTM(inputs, s.hidden, 2, batch_first=True, dropout=s.dropout)
        self.dropout = nn.Dropout(s.dropout)
        nn.init.normal_(self.words.weight, std=0.1)
        nn.init.normal_(self.stems.weight, std=0.1)
        self.query, self.key, self.null = nn.Linear(state, state), nn.Linear(state, state), nn.Linear(state, 1)
        nn.init.constant_(self.null.bias, -1.0)
        self.from_word, self.from_state = nn.Linear(state, s.word_size), nn.Linear(state, s.word_size, bias=False)
        self.from_context = nn.Linear(state, s.word_size)
        self.output = nn.Linear(s.word_size, target_rows[0])
        nn.init.normal_(self.output.weight, std=0.1)
        with torch.no_grad():
            self.output.bias.copy_(unigrams.clamp(min=-15))

    def context(self, side: Side) -> Tensor:
        """States that have read the words before and the words after each word, but not the word, (batch, m, state)."""
        x = self.dropout(torch.cat([self.words(side.words), self.stems(side.stems)], -1))
        none, place = torch.zeros_like(x[:, :1]), torch.arange(x.shape[1], device=x.device)
        before = self.before(torch.cat([none, x[:, :-1]], 1))[0]
        mirror = torch.where(place < side.lengths[:, None], side.lengths[:, None] - 1 - place, place)[..., None]
        reverse = x.gather(1, mirror.expand_as(x))
        after = self.after(torch.cat([none, reverse[:, :-1]], 1))[0]
        both: Tensor = self.dropout(torch.cat([before, after.gather(1, mirror.expand_as(after))], -1))
        return both

    def forward(self, source: Side, target: Side, words: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """log p(y_j), log p(a_j = i | x, y) and log p(a_j = i), the latter two (batch, n + 1, m); `words` are the y_j."""
        states, inputs = self.source(source)
        context = self.context(target)
        scores = torch.einsum("bik,bjk->bij", self.key(states), self.query(context)) / math.sqrt(context.shape[-1])
        scores = torch.cat([scores, self.null(context)[:, None, :, 0]], 1)
        prior = scores.masked_fill(_outside(source)[:, :, None], IMPOSSIBLE).log_softmax(1)
        origins = self.dropout(torch.tanh(self.from_word(inputs) + self.from_state(states)))
        weights, bias = self.output.weight[words], self.output.bias[words]
        emissions = torch.einsum("bie,bje->bij", origins, weights) + bias[:, None, :]
        emissions = emissions - self._normalizer(origins, source.inside)[..., None]
        nulls = self.dropout(torch.tanh(self.from_context(context)))
        null_emissions = (nulls * weights).sum(-1) + bias - self._normalizer(nulls, target.inside)
        joint = prior + torch.cat([emissions, null_emissions[:, None]], 1)
        logprobs = torch.logsumexp(joint, 1)
        return logprobs, joint - logprobs[:, None], prior

    def _normalizer(self, vectors: Tensor, inside: Tensor) -> Tensor:
        """log Σ exp of the scores of all words, 0 outside sentences."""
        sums = torch.logsumexp(self.output(vectors[inside]).float(), -1)
        return torch.zeros(inside.shape, device=inside.device).masked_scatter(inside, sums)


class Teacher(nn.Module):
    """Both directions."""

    def __init__(self, pairs: Pairs, s: Settings) -> None:
        super().__init__()
        self.settings = s
        self.to_target = Direction(pairs.n_rows[0], pairs.n_rows[1], s, pairs.unigrams[1])
        self.to_source = Direction(pairs.n_rows[1], pairs.n_rows[0], s, pairs.unigrams[0])

    def forward(self, source: Side, target: Side) -> tuple[Tensor, Tensor]:
        """Log posteriors with null, (batch, n + 1, m) and (batch, n, m + 1)."""
        to_target = self.to_target(source, target, target.words)[1]
        return to_target, self.to_source(target, source, source.words)[1].transpose(1, 2)

    def loss(self, seen: tuple[Side, Side], pairs: tuple[Side, Side], hmm: tuple[Tensor, Tensor], done: float) -> Tensor:
        """The sum over words; `done` is the fraction of training that is done."""
        source, target = pairs
        logprobs, posterior, prior = self.to_target(*seen, target.words)
        logprobs_back, posterior_back, prior_back = self.to_source(seen[1], seen[0], source.words)
        posterior_back, prior_back = posterior_back.transpose(1, 2), prior_back.transpose(1, 2)
        total = -(logprobs * target.inside).sum() - (logprobs_back * source.inside).sum()
        if self.settings.guide:
            total = total + self.settings.guide * _cross_entropy(hmm, (prior, prior_back), pairs)
        if self.settings.agree and done > _AGREE_FROM:
            total = total + self.settings.agree * _disagreement(posterior.exp(), posterior_back.exp(), pairs)
        return total


def _outside(side: Side) -> Tensor:
    """Positions without a word; null, the last one, is always there."""
    return ~nnf.pad(side.inside, (0, 1), value=True)


def _cross_entropy(wanted: tuple[Tensor, Tensor], logprobs: tuple[Tensor, Tensor], pairs: tuple[Side, Side]) -> Tensor:
    to_target = ((wanted[0] * logprobs[0]).sum(1) * pairs[1].inside).sum()
    return -to_target - ((wanted[1] * logprobs[1]).sum(2) * pairs[0].inside).sum()


def _disagreement(to_target: Tensor, to_source: Tensor, pairs: tuple[Side, Side]) -> Tensor:
    """−Σ log of the probability that both directions link a word alike, or both do not link it."""
    forward, backward = to_target[:, :-1], to_source[..., :-1]
    both = forward * backward
    unclaimed = [(1 - part).clamp(1e-4, 1).log().sum(dim).exp() for part, dim in ((backward, 1), (forward, 2))]
    target = (both.sum(1) + to_target[:, -1] * unclaimed[0] + 1e-3).log() * pairs[1].inside
    source = (both.sum(2) + to_source[..., -1] * unclaimed[1] + 1e-3).log() * pairs[0].inside
    return -target.sum() - source.sum()


def _dropped(side: Side, rate: float) -> Side:
    """Replace words by the unknown word, and half of their stems."""
    words = (torch.rand(side.words.shape, device=side.words.device) < rate) & (side.words >= FIRST)
    stems = words & (torch.rand(side.words.shape, device=side.words.device) < 0.5)
    return side._replace(words=side.words.masked_fill(words, UNKNOWN), stems=side.stems.masked_fill(stems, UNKNOWN))


def _step_size(part: float) -> float:
    """The step size, as a fraction of the largest, after a fraction of the training."""
    if part < _RISE:
        return _START_SIZE + (1 - _START_SIZE) * (1 - math.cos(math.pi * part / _RISE)) / 2
    return _END_SIZE + (1 + math.cos(math.pi * (part - _RISE) / (1 - _RISE))) / 2


def train(pairs: Pairs, s: Settings) -> Iterator[tuple[nn.Module, float]]:
    """Yields the network and its mean loss per word after each epoch."""
    network = (Teacher if s.network == "teacher" else Student)(pairs, s).to(pairs.device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=s.step)
    for epoch in range(s.epochs):
        network.train()
        batches = pairs.batches(pairs.usable, s.batch_tokens, np.random.default_rng([s.seed, epoch]))
        total, n_words = 0.0, 0
        for k, chosen in enumerate(batches):
            done = (epoch + k / len(batches)) / s.epochs
            for group in optimizer.param_groups:
                group["lr"] = s.step * _step_size(done)
            sides = pairs.sides(chosen)
            seen = _dropped(sides[0], s.word_dropout), _dropped(sides[1], s.word_dropout)
            hmm = pairs.posteriors(chosen, sides[0].words.shape[1], sides[1].words.shape[1])
            n = int(sides[0].lengths.sum() + sides[1].lengths.sum())
            loss = network.loss(seen, sides, hmm, done)
            optimizer.zero_grad(set_to_none=True)
            (loss / n).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            total, n_words = total + float(loss.detach()), n_words + n
        yield network, total / n_words


def gold_posteriors(network: nn.Module, pairs: Pairs, tokens: int) -> dict[str, Array]:
    """Log posteriors of each gold pair s: `s.to-target` (n + 1, m) and `s.to-source` (n, m + 1)."""
    network.eval()
    found: dict[str, Array] = {}
    with torch.no_grad():
        for chosen in pairs.batches(pairs.gold, tokens):
            both = network(*pairs.sides(chosen))
            for k, s in enumerate(chosen.tolist()):
                n, m = int(pairs.lengths[0][s]), int(pairs.lengths[1][s])
                rows, columns = [*range(n), -1], [*range(m), -1]
                found[f"{s}.to-target"] = both[0][k][rows][:, :m].cpu().numpy().astype(np.float16)
                found[f"{s}.to-source"] = both[1][k][:n][:, columns].cpu().numpy().astype(np.float16)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packed", type=Path, help="a file that `pack` wrote")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for posteriors and a log")
    parser.add_argument("--network", choices=("student", "teacher"), default="student")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    for field in fields(Settings)[1:]:
        flag = "--" + field.name.replace("_", "-")
        parser.add_argument(flag, type=type(field.default), help="default: by network")
    options = vars(parser.parse_args())
    packed, output, device = options.pop("packed"), options.pop("output"), options.pop("device")
    chosen = {name: value for name, value in options.items() if value is not None}
    settings = Settings(**((TEACHER if options["network"] == "teacher" else {}) | chosen))
    torch.manual_seed(settings.seed)
    if device.startswith("cuda"):
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    pairs, name = Pairs(packed, settings, device), f"{packed.stem}.{settings.network}"
    output.mkdir(parents=True, exist_ok=True)
    print(json.dumps({"pairs": len(pairs.usable), **asdict(settings)}), flush=True)
    start = time.perf_counter()
    for epoch, (network, loss) in enumerate(train(pairs, settings), start=1):
        print(json.dumps({"epoch": epoch, "loss": loss, "seconds": time.perf_counter() - start}), flush=True)
        # After every epoch, so that a training that is stopped can be scored.
        np.savez_compressed(output / f"{name}.npz", **gold_posteriors(network, pairs, settings.batch_tokens))


if __name__ == "__main__":
    main()
