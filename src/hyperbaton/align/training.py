"""Training of the built-in aligner with the counting done in shards, by the workers of any executor.

In every round of expectation maximisation a task counts the expected links, jumps and words from nothing of its shard; this
process adds the counts up and makes the next model. Counts are whole units and shards begin at multiples of
`COUNTED_TOGETHER` sentence pairs, so the model is the same to the last bit for any number of shards, and without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.executors import Sharding, part_files, shard_starts, writing_parts
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Text

WAYS = ("to-target", "to-source")


@dataclass(frozen=True)
class Rounds:
    """What a round of training depends on besides the texts."""

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
    """Train a model in place; log-probabilities before each round, p(target | source) and the reverse.

    `progress` counts shards of all rounds.
    """
    folder, shards = sharding.folder, sharding.shards
    n_chunks = -(-len(texts[0]) // _core.COUNTED_TOGETHER)
    starts = [min(len(texts[0]), _core.COUNTED_TOGETHER * start) for start in shard_starts(n_chunks, shards)]
    for shard, (begin, end) in enumerate(pairwise(starts)):
        _write_tokens(_token_file(folder, shard), texts, begin, end)
    scale = training.scale
    np.savez(folder / "units.npz", *scale.units)
    n_rounds = rounds.model1_iterations + rounds.hmm_iterations
    logprobs = []
    for number in range(n_rounds):
        n_pairs = _write_model(_model_file(folder, number), training.model)
        job = _Job(folder, rounds, number, scale.max_states, sharding.threads)

        def report(done: int, total: int, before: int = number * shards) -> bool | None:
            return None if progress is None else progress(before + done, n_rounds * shards)

        links = np.zeros((n_pairs, 2), np.uint32)
        others: list[npt.NDArray[np.uint64]] = []  # words from nothing and jumps, both ways
        sums: list[npt.NDArray[np.float64]] = []
        for path in sharding.do(_count_shard, job, report):
            with np.load(path) as counts:
                links[counts["pairs"]] += counts["links"]
                own = [counts[f"{kind}.{way}"] for kind in ("nulls", "jumps") for way in WAYS]
                others = own if not others else [total + part for total, part in zip(others, own, strict=True)]
                sums.append(counts["logprobs"])
            path.unlink()
        training.renew(links, (others[0], others[1]), (others[2], others[3]), chained=number >= rounds.model1_iterations)
        # One after the other, as the core adds them: numpy adds pairs first, which rounds in another way.
        logprobs += [float(np.add.accumulate(column)[-1]) if len(column) else 0.0 for column in np.concatenate(sums).T]
        _model_file(folder, number).unlink()
    return np.array(logprobs).reshape(-1, 2)


def _count_shard(job: _Job, shard: int) -> Path:
    with np.load(_token_file(job.folder, shard)) as arrays:
        source, target = (_core.Tokens(words=arrays[f"{n}.words"], offsets=arrays[f"{n}.offsets"]) for n in (0, 1))
    with np.load(job.folder / "units.npz") as arrays:
        scale = _core.CountScale((arrays["arr_0"], arrays["arr_1"]), job.max_states)
    pairs, links, nulls, jumps, logprobs = _core.expected_counts(
        _read_model(_model_file(job.folder, job.number), job.rounds),
        source,
        target,
        scale=scale,
        freedom=job.rounds.freedom,
        chained=job.number >= job.rounds.model1_iterations,
        n_threads=job.threads,
    )
    both = {
        f"{kind}.{way}": part
        for kind, ways in (("nulls", nulls), ("jumps", jumps))
        for way, part in zip(WAYS, ways, strict=True)
    }
    name = f"counts.{job.number}"
    with writing_parts(job.folder, shard, [name]) as files:
        np.savez(files[name], pairs=pairs, links=links, logprobs=logprobs, **both)
    return part_files(job.folder, shard, [name])[name]


def _write_tokens(path: Path, texts: tuple[Text, Text], begin: int, end: int) -> None:
    arrays: dict[str, Any] = {}
    for n, text in enumerate(texts):
        offsets = text.offsets[begin : end + 1]
        arrays[f"{n}.words"] = text.tokens[offsets[0] : offsets[-1]]
        arrays[f"{n}.offsets"] = offsets - offsets[0]
    np.savez(path, **arrays)


def _write_model(path: Path, model: _core.AlignmentModel) -> int:
    """Write a model for the workers, and say how many pairs of words it has."""
    starts, targets, probabilities = model.lexicon(0.0)
    both = {f"{kind}.{way}": part(way == "to-source") for kind, part in _parts(model) for way in WAYS}
    np.savez(path, starts=starts, targets=targets, probabilities=probabilities, **both)
    return len(targets)


def _parts(model: _core.AlignmentModel) -> list[tuple[str, Any]]:
    return [("nulls", model.null_emission), ("jumps", model.jump_weights)]


def _read_model(path: Path, rounds: Rounds) -> _core.AlignmentModel:
    with np.load(path) as arrays:
        return _core.AlignmentModel(
            arrays["starts"],
            arrays["targets"],
            arrays["probabilities"],
            nulls=(arrays["nulls.to-target"], arrays["nulls.to-source"]),
            jumps=(arrays["jumps.to-target"], arrays["jumps.to-source"]),
            null_probability=rounds.null_probability,
            max_length=rounds.max_length,
        )


def _token_file(folder: Path, shard: int) -> Path:
    return folder / f"{shard}.tokens.npz"


def _model_file(folder: Path, number: int) -> Path:
    return folder / f"model.{number}.npz"
