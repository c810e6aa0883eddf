"""Training of the built-in aligner with the counting done in shards, by the workers of any executor.

In every round of expectation maximisation a task computes the expected counts of links, jumps and null-aligned words in its
shard; this process sums the counts and computes the next model. Counts are whole units and shards begin at multiples of
`COUNTED_TOGETHER` sentence pairs, so the model is bit-identical for any number of shards, and without shards.
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


@dataclass(frozen=True)
class _Job:
    folder: Path
    rounds: Rounds
    number: int
    max_states: tuple[int, int]
    threads: int


def train_in_shards(
    texts: tuple[Text, Text],
    training: _core.AlignerTraining,
    rounds: Rounds,
    sharding: Sharding,
    progress: Progress | None = None,
) -> npt.NDArray[np.float64]:
    """Train a model in place; returns log-probabilities before each round, p(target | source) and the reverse.

    `progress` counts shards of all rounds.
    """
    folder, shards = sharding.folder, sharding.shards
    n_chunks = -(-len(texts[0]) // _core.COUNTED_TOGETHER)
    starts = [min(len(texts[0]), _core.COUNTED_TOGETHER * start) for start in shard_starts(n_chunks, shards)]
    for shard, (begin, end) in enumerate(pairwise(starts)):
        write_arrays(folder, _tokens(shard), _token_arrays(texts, begin, end))
    scale = training.scale
    write_arrays(folder, UNITS, dict(zip(WAYS, scale.units, strict=True)))
    n_rounds, resources = rounds.model1_iterations + rounds.hmm_iterations, Resources(sharding.threads, progress)
    logprobs = []
    for number in range(n_rounds):
        model = _model_arrays(training.model)
        write_arrays(folder, _model(number), model)
        job = _Job(folder, rounds, number, scale.max_states, sharding.threads)
        counted = resources.part(number, of=n_rounds).progress
        links = np.zeros((len(model["targets"]), 2), np.uint32)
        others: list[npt.NDArray[np.uint64]] = []  # null-aligned words and jumps, in both directions
        sums: list[npt.NDArray[np.float64]] = []
        for shard, _ in enumerate(sharding.do(_count_shard, job, counted)):
            counts = map_arrays(folder, _counts(number, shard))
            links[counts["pairs"]] += counts["links"]
            own = [np.array(counts[f"{kind}.{way}"]) for kind in ("nulls", "jumps") for way in WAYS]
            others = own if not others else [total + part for total, part in zip(others, own, strict=True)]
            sums.append(np.array(counts["logprobs"]))
            remove_arrays(folder, _counts(number, shard))
        training.renew(links, (others[0], others[1]), (others[2], others[3]), chained=number >= rounds.model1_iterations)
        # In the order of the core: NumPy sums pairwise, which rounds differently.
        logprobs += [float(np.add.accumulate(column)[-1]) if len(column) else 0.0 for column in np.concatenate(sums).T]
        remove_arrays(folder, _model(number))
    return np.array(logprobs).reshape(-1, 2)


def _count_shard(job: _Job, shard: int) -> int:
    """The expected counts of a shard; returns the number of its word pairs."""
    tokens, units = map_arrays(job.folder, _tokens(shard)), map_arrays(job.folder, UNITS)
    source, target = (_core.Tokens(words=tokens[f"{n}.words"], offsets=tokens[f"{n}.offsets"]) for n in (0, 1))
    pairs, links, nulls, jumps, logprobs = _core.expected_counts(
        _read_model(job),
        source,
        target,
        scale=_core.CountScale((units[WAYS[0]], units[WAYS[1]]), job.max_states),
        freedom=job.rounds.freedom,
        chained=job.number >= job.rounds.model1_iterations,
        n_threads=job.threads,
    )
    both = {
        f"{kind}.{way}": part
        for kind, ways in (("nulls", nulls), ("jumps", jumps))
        for way, part in zip(WAYS, ways, strict=True)
    }
    write_arrays(job.folder, _counts(job.number, shard), {"pairs": pairs, "links": links, "logprobs": logprobs, **both})
    return len(pairs)


def _token_arrays(texts: tuple[Text, Text], begin: int, end: int) -> dict[str, Array]:
    arrays: dict[str, Array] = {}
    for n, text in enumerate(texts):
        offsets = text.offsets[begin : end + 1]
        arrays[f"{n}.words"] = text.tokens[offsets[0] : offsets[-1]]
        arrays[f"{n}.offsets"] = offsets - offsets[0]
    return arrays


def _model_arrays(model: _core.AlignmentModel) -> dict[str, Array]:
    """A model for the workers."""
    starts, targets, probabilities = model.lexicon(0.0)
    both = {
        f"{kind}.{way}": part
        for kind, parts in (("nulls", model.null_emissions()), ("jumps", model.jump_weights()))
        for way, part in zip(WAYS, parts, strict=True)
    }
    return {"starts": starts, "targets": targets, "probabilities": probabilities, **both}


def _read_model(job: _Job) -> _core.AlignmentModel:
    arrays = map_arrays(job.folder, _model(job.number))
    return _core.AlignmentModel(
        arrays["starts"],
        arrays["targets"],
        arrays["probabilities"],
        nulls=(arrays["nulls.to-target"], arrays["nulls.to-source"]),
        jumps=(arrays["jumps.to-target"], arrays["jumps.to-source"]),
        null_probability=job.rounds.null_probability,
        max_length=job.rounds.max_length,
    )


def _tokens(shard: int) -> str:
    return f"tokens.{shard}"


def _model(number: int) -> str:
    return f"model.{number}"


def _counts(number: int, shard: int) -> str:
    return f"counts.{number}.{shard}"
