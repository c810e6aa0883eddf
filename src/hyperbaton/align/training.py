"""Training of the built-in aligner: rounds of expectation maximisation, counted by this process or in shards.

In every round the expected counts of links, jumps and null-aligned words are collected, and the next model is computed from
them. With a sharding, the workers of any executor count a shard each, and this process sums the counts. Counts are whole
units and shards begin at multiples of `COUNTED_TOGETHER` sentence pairs, so the model is bit-identical for any number of
shards.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shard_arrays import map_arrays, remove_arrays, write_arrays
from hyperbaton.base.store import Arrays
from hyperbaton.corpus import Text

WAYS = ("to-target", "to-source")
UNITS = "units"


@dataclass(frozen=True)
class Rounds:
    """The parameters of a round of training, besides the texts."""

    model1_iterations: int
    hmm_iterations: int
    freedom: float
    null_probability: float
    max_length: int

    def chained(self, number: int) -> bool:
        """Whether a round trains the hidden Markov model, and not model 1."""
        return number >= self.model1_iterations


def train(
    texts: tuple[Text, Text], training: _core.AlignerTraining, rounds: Rounds, resources: Resources
) -> npt.NDArray[np.float64]:
    """Train a model in place; returns log-probabilities before each round, p(target | source) and the reverse.

    Progress counts sentence pairs of all rounds, or shards.
    """
    shards = None if resources.sharding is None else _Shards(texts, training, rounds, resources.sharding)
    n_rounds = rounds.model1_iterations + rounds.hmm_iterations
    logprobs = []
    for number in range(n_rounds):
        chained, progress = rounds.chained(number), resources.part(number, of=n_rounds).progress
        if shards is None:
            training.count(chained=chained, progress=progress)
        else:
            shards.count(number, progress)
        logprobs.append(training.renew(chained=chained))
    return np.array(logprobs, np.float64).reshape(-1, 2)


def model_arrays(model: _core.AlignmentModel, smallest: float = 0.0) -> dict[str, Array]:
    """The arrays of a model, without word pairs whose probabilities are below `smallest` in both directions."""
    starts, targets, probabilities = model.lexicon(smallest)
    arrays = {"lexicon.starts": starts, "lexicon.targets": targets, "lexicon.probabilities": probabilities}
    nulls, jumps = model.null_emissions(), model.jump_weights()
    for k, way in reversed(list(enumerate(WAYS))):
        arrays[f"null.{way}"], arrays[f"jumps.{way}"] = nulls[k], jumps[k]
    return arrays


def model_of(
    arrays: Arrays, null_probability: float, max_length: int, network: _core.LinkNetwork | None = None
) -> _core.AlignmentModel:
    """The inverse of `model_arrays`."""
    return _core.AlignmentModel(
        arrays["lexicon.starts"],
        arrays["lexicon.targets"],
        arrays["lexicon.probabilities"],
        nulls=(arrays["null.to-target"], arrays["null.to-source"]),
        jumps=(arrays["jumps.to-target"], arrays["jumps.to-source"]),
        null_probability=null_probability,
        max_length=max_length,
        network=network,
    )


def _both_ways(name: str, parts: tuple[Array, Array]) -> dict[str, Array]:
    return {f"{name}.{way}": part for way, part in zip(WAYS, parts, strict=True)}


@dataclass(frozen=True)
class _CountJob:
    folder: Path
    rounds: Rounds
    number: int
    max_states: tuple[int, int]
    threads: int


class _Shards:
    """The corpus in shards, whose counts are collected by tasks."""

    def __init__(
        self, texts: tuple[Text, Text], training: _core.AlignerTraining, rounds: Rounds, sharding: Sharding
    ) -> None:
        n_chunks = -(-len(texts[0]) // _core.COUNTED_TOGETHER)
        starts = (min(len(texts[0]), _core.COUNTED_TOGETHER * start) for start in shard_starts(n_chunks, sharding.shards))
        for shard, (begin, end) in enumerate(pairwise(starts)):
            write_arrays(sharding.folder, _tokens(shard), _token_arrays(texts, begin, end))
        write_arrays(sharding.folder, UNITS, dict(zip(WAYS, training.scale.units, strict=True)))
        self._training, self._rounds, self._sharding = training, rounds, sharding

    def count(self, number: int, progress: Progress | None) -> None:
        """Add the expected counts of all shards in a round to the training; `progress` counts shards."""
        sharding, training = self._sharding, self._training
        folder = sharding.folder
        write_arrays(folder, _model(number), model_arrays(training.model))
        job = _CountJob(folder, self._rounds, number, training.scale.max_states, sharding.threads)
        for shard, _ in enumerate(sharding.do(_count_shard, job, progress)):
            counts = map_arrays(folder, _counts(number, shard))
            nulls, jumps = ((counts[f"{kind}.{WAYS[0]}"], counts[f"{kind}.{WAYS[1]}"]) for kind in ("nulls", "jumps"))
            training.add(counts["pairs"], counts["links"], nulls, jumps, counts["logprobs"])
            remove_arrays(folder, _counts(number, shard))
        remove_arrays(folder, _model(number))


def _count_shard(job: _CountJob, shard: int) -> int:
    """The expected counts of a shard; returns the number of its word pairs."""
    tokens, units = map_arrays(job.folder, _tokens(shard)), map_arrays(job.folder, UNITS)
    source, target = (_core.Tokens(words=tokens[f"{n}.words"], offsets=tokens[f"{n}.offsets"]) for n in (0, 1))
    model = map_arrays(job.folder, _model(job.number))
    pairs, links, nulls, jumps, logprobs = _core.expected_counts(
        model_of(model, job.rounds.null_probability, job.rounds.max_length),
        source,
        target,
        scale=_core.CountScale((units[WAYS[0]], units[WAYS[1]]), job.max_states),
        freedom=job.rounds.freedom,
        chained=job.rounds.chained(job.number),
        n_threads=job.threads,
    )
    counts: dict[str, Array] = {"pairs": pairs, "links": links, "logprobs": logprobs}
    both = _both_ways("nulls", nulls) | _both_ways("jumps", jumps)
    write_arrays(job.folder, _counts(job.number, shard), counts | both)
    return len(pairs)


def _token_arrays(texts: tuple[Text, Text], begin: int, end: int) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for n, text in enumerate(texts):
        offsets = text.offsets[begin : end + 1]
        arrays[f"{n}.words"] = text.tokens[offsets[0] : offsets[-1]]
        arrays[f"{n}.offsets"] = offsets - offsets[0]
    return arrays


def _tokens(shard: int) -> str:
    return f"tokens.{shard}"


def _model(number: int) -> str:
    return f"model.{number}"


def _counts(number: int, shard: int) -> str:
    return f"counts.{number}.{shard}"
