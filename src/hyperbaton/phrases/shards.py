"""Extraction and scoring of phrase pairs in shards, by the workers of any executor.

There are four kinds of tasks, each reading the files written by earlier ones; large arrays are stored in files, not sent:

1. a shard of the sentence pairs: its samples, and its distinct phrases and pairs, sorted; counts of linked words;
2. a key range of the source or target phrases, by first word: those of all shards merged;
3. a key range of the source phrases: their pairs merged;
4. a key range of the source phrases: inner links and lexical weights of their pairs.

The process that distributes the work joins the ranges and computes phrase probabilities from counts. The result is
bit-identical to that of `ExtractedPhrases.of` for any number of shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import accumulate, count
from pathlib import Path

import numpy as np

from hyperbaton import _core
from hyperbaton.align.lexical import LexicalTable, LinkCounts, count_links, sum_link_counts
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.options import check_options
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shard_arrays import ArrayFile, join_arrays, map_arrays, open_arrays, remove_arrays, write_arrays
from hyperbaton.base.small import SmallNumbers
from hyperbaton.base.store import Artefact
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.bitext import KIND as BITEXT
from hyperbaton.phrases.extracted import ExtractedPhrases
from hyperbaton.phrases.inventory import Inventory, MergedPairs, Phrases, merge_phrases
from hyperbaton.phrases.pair_orientations import PairOrientations
from hyperbaton.phrases.samples import Extraction, Samples, extract_range
from hyperbaton.phrases.table import LexicalPart, LexicalWeights, PhraseTable, Scoring, lexical_part

SIDES = ("source", "target")
PHRASES = ("begins", "lengths")
PAIRS = ("offsets", "targets", "sample_offsets", "sample_order")  # of a shard
LEXICON = ("offsets", "targets", "probabilities")
LINKS = ("offsets", "targets", "counts")
COLUMNS = ("sentence", "source_begin", "source_length", "target_begin", "target_length", "orientations")
N_STEPS = 6  # tasks for each shard


@dataclass(frozen=True)
class _PhraseJob:
    folder: Path
    starts: tuple[int, ...]  # sentence pairs of shards
    path: str | None  # of the source text, for messages
    max_length: int
    threads: int
    # Known when all shards are extracted: the first sample of each, and by side the ranks of the first words of key ranges.
    first_samples: tuple[int, ...] = ()
    ranges: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    # Known when phrases are merged: the first target phrase of each key range.
    first_targets: tuple[int, ...] = ()

    @property
    def n_shards(self) -> int:
        return len(self.starts) - 1

    def bitext(self) -> Bitext:
        """The bitext; only the pages in use are read."""
        bitext = Bitext.from_arrays(Artefact(self.folder / BITEXT, BITEXT).arrays())
        return replace(bitext, source=replace(bitext.source, path=self.path))

    def open(self, owner: str, number: int) -> AbstractContextManager[ArrayFile]:
        """The arrays that a task wrote, to be read in pieces."""
        return open_arrays(self.folder, f"{owner}.{number}")

    def remove(self, *owners: str) -> None:
        """Remove the arrays that tasks of some kinds wrote."""
        for owner in owners:
            for k in range(self.n_shards):
                remove_arrays(self.folder, f"{owner}.{k}")

    def joined(self, owner: str, name: str, scratch: Scratch) -> Array:
        """The arrays written by the tasks of one kind, concatenated."""
        return join_arrays(self.folder, [f"{owner}.{k}" for k in range(self.n_shards)], name, scratch)

    def pieces(self, owner: str, name: str) -> Iterator[Array]:
        """The arrays written by the tasks of one kind, one after the other."""
        for k in range(self.n_shards):
            with self.open(owner, k) as arrays:
                piece = arrays[name][:]
            yield piece

    def joined_offsets(self, owner: str, name: str, scratch: Scratch) -> Array:
        """The offsets written by the tasks of one kind, as offsets of the whole."""

        def moved() -> Iterator[Array]:
            yield np.zeros(1, np.int64)
            end = 0
            for offsets in self.pieces(owner, name):
                yield offsets[1:] + end
                end += int(offsets[-1])

        return scratch.join(moved(), np.int64)

    def phrases_in_range(self, arrays: ArrayFile, side: str, key_range: int) -> tuple[int, int]:
        """The phrases of a shard that belong to a key range."""
        first, last = self.ranges[SIDES.index(side)][key_range : key_range + 2]
        starts = arrays[f"{side}.starts"]
        return int(starts[first]), int(starts[last])


def extract_phrases(
    bitext: Bitext, resources: Resources, extraction: Extraction | None = None, scoring: Scoring | None = None
) -> ExtractedPhrases:
    """Extract and score the phrase pairs of a bitext with links.

    With a sharding, progress counts tasks, and the caller removes the folder of shards.
    """
    threads, progress, scratch = resources.threads, resources.progress, resources.scratch
    if resources.sharding is not None:
        return _extract_in_shards(bitext, resources, resources.sharding, extraction or Extraction(), scoring)
    return ExtractedPhrases.of(bitext, extraction, scoring, threads=threads, progress=progress, scratch=scratch)


def _extract_in_shards(
    bitext: Bitext, resources: Resources, sharding: Sharding, extraction: Extraction, scoring: Scoring | None
) -> ExtractedPhrases:
    folder, shards, threads, scratch = sharding.folder, sharding.shards, sharding.threads, resources.scratch
    check_options(extraction)
    check_options(scoring or Scoring())
    bitext.need_links()
    bitext.save(folder / BITEXT)
    starts = tuple(shard_starts(len(bitext), shards))
    job = _PhraseJob(folder, starts, bitext.source.path, extraction.max_length, threads)
    steps = count()

    def do(task: Callable[[_PhraseJob, int], int], job: _PhraseJob) -> Iterator[int]:
        return sharding.do(task, job, resources.part(next(steps), of=N_STEPS).progress)

    first_samples = (0, *accumulate(do(_extract_shard, job)))
    ranges = [tuple(_key_ranges(job, side)) for side in SIDES]
    job = replace(job, first_samples=first_samples, ranges=(ranges[0], ranges[1]))
    list(do(_merge_sources, job))
    job = replace(job, first_targets=(0, *accumulate(do(_merge_targets, job))))
    list(do(_number_targets, job))
    list(do(_merge_pairs, job))

    job.remove("numbered")
    samples = _samples({name: job.joined("shard", f"samples.{name}", scratch) for name in COLUMNS})
    source, target = (
        Phrases(job.joined(side, "begins", scratch), job.joined(side, "lengths", scratch), text.tokens, text.vocabulary)
        for side, text in zip(SIDES, (bitext.source, bitext.target), strict=True)
    )
    inventory = Inventory(
        source,
        target,
        job.joined_offsets("pairs", "offsets", scratch),
        job.joined("pairs", "targets", scratch),
        SmallNumbers.of(job.pieces("pairs", "counts"), scratch),
        job.joined("pairs", "sample_order", scratch),
    )
    lexical = LexicalTable.from_counts(bitext, *sum_link_counts(bitext, (_link_counts(job, k) for k in range(shards))))
    job.remove("shard", "target")
    write_arrays(folder, "samples", {name: getattr(samples, name) for name in COLUMNS})
    write_arrays(folder, "targets", {name: getattr(target, name) for name in PHRASES})
    write_arrays(folder, "lexicon", {name: getattr(lexical, name) for name in LEXICON})
    parts = (_lexical_part(job, r) for r, _ in enumerate(do(_score_range, job)))
    weights = LexicalWeights.joined(parts, scratch)
    orientations = PairOrientations.of(inventory, samples, scratch)
    del samples
    inventory = inventory.without_samples()
    return ExtractedPhrases(PhraseTable.scored(inventory, weights, scoring, scratch), orientations)


def _samples(columns: dict[str, Array]) -> Samples:
    """Samples with only the columns that tables need."""
    distances = {f"distance_{side}": np.zeros(0, np.int16) for side in ("before", "after")}
    return Samples.from_arrays({**columns, **distances, "offsets": np.zeros(1, np.int64)})


def _extract_shard(job: _PhraseJob, shard: int) -> int:
    """Samples, phrases and pairs of a shard; returns the number of samples."""
    bitext, (begin, end) = job.bitext(), job.starts[shard : shard + 2]
    columns = extract_range(bitext, begin, end, job.max_length, Resources(job.threads))
    columns["sentence"] += np.uint32(begin)
    samples = Samples.from_arrays(columns)
    run = Inventory.of_run(bitext, samples, slice(0, len(samples)), Resources(job.threads))
    counts: dict[str, Array] = dict(zip(LINKS, count_links(bitext, begin, end, job.threads), strict=True))
    arrays: dict[str, Array] = {
        **{f"samples.{name}": columns[name] for name in COLUMNS},
        **{f"pairs.{name}": getattr(run, name) for name in PAIRS},
        **{f"links.{name}": array for name, array in counts.items()},
    }
    for side, phrases in zip(SIDES, (run.source, run.target), strict=True):
        ranks = _core.byte_ranks(phrases.vocabulary.spelling)
        first_words = phrases.words[phrases.begins]
        n_of_rank = np.bincount(ranks[first_words], minlength=len(ranks) + 1)
        starts = offsets_of(n_of_rank)  # phrases are sorted by the rank of their first word first
        arrays |= {f"{side}.starts": starts, **{f"{side}.{name}": getattr(phrases, name) for name in PHRASES}}
    write_arrays(job.folder, f"shard.{shard}", arrays)
    return len(samples)


def _key_ranges(job: _PhraseJob, side: str) -> list[int]:
    """Ranks of first words that cut the phrases of all shards into one range of about equal size per shard."""
    starts = np.zeros(1, np.int64)
    for shard in range(job.n_shards):
        with job.open("shard", shard) as arrays:
            starts = starts + arrays[f"{side}.starts"][:]
    cuts = np.searchsorted(starts, [starts[-1] * k / job.n_shards for k in range(job.n_shards)])
    return [*map(int, cuts), len(starts) - 1]


def _merge_sources(job: _PhraseJob, key_range: int) -> int:
    return _merge_phrases(job, "source", key_range)


def _merge_targets(job: _PhraseJob, key_range: int) -> int:
    return _merge_phrases(job, "target", key_range)


def _merge_phrases(job: _PhraseJob, side: str, key_range: int) -> int:
    """The distinct phrases of a key range, and the number of each shard's phrase among them; returns how many there are."""
    begins, lengths = [], []
    for shard in range(job.n_shards):
        with job.open("shard", shard) as shard_arrays:
            rows = slice(*job.phrases_in_range(shard_arrays, side, key_range))
            begins.append(shard_arrays[f"{side}.begins"][rows])
            lengths.append(shard_arrays[f"{side}.lengths"][rows])
    bitext = job.bitext()
    text = bitext.source if side == "source" else bitext.target
    phrases, numbers = merge_phrases(begins, lengths, text.tokens, text.vocabulary, Scratch())
    arrays: dict[str, Array] = {
        **{name: getattr(phrases, name) for name in PHRASES},
        "numbers": np.concatenate(numbers),
        "ends": np.array([0, *accumulate(map(len, numbers))]),
    }
    write_arrays(job.folder, f"{side}.{key_range}", arrays)
    return len(phrases)


def _number_targets(job: _PhraseJob, shard: int) -> int:
    """The target phrases of the pairs of a shard, by their numbers among all; returns the number of pairs."""
    numbers = []
    for key_range in range(job.n_shards):
        with job.open("target", key_range) as arrays:
            begin, end = arrays["ends"][shard : shard + 2]
            numbers.append(arrays["numbers"][begin:end] + np.uint32(job.first_targets[key_range]))
    with job.open("shard", shard) as arrays:
        targets = np.concatenate(numbers)[arrays["pairs.targets"][:]]
    write_arrays(job.folder, f"numbered.{shard}", {"targets": targets})
    return len(targets)


def _merge_pairs(job: _PhraseJob, key_range: int) -> int:
    """The pairs of the source phrases of a key range, with their samples; returns their number."""
    source = map_arrays(job.folder, f"source.{key_range}")
    runs, numbers = [], []
    for shard in range(job.n_shards):
        with job.open("shard", shard) as arrays:
            begin, end = job.phrases_in_range(arrays, "source", key_range)
            own = arrays["pairs.offsets"][begin : end + 1]
            samples = arrays["pairs.sample_offsets"][own[0] : own[-1] + 1]
            sample_order = arrays["pairs.sample_order"][samples[0] : samples[-1]]
        with job.open("numbered", shard) as arrays:
            targets = arrays["targets"][own[0] : own[-1]]
        runs.append(_core.encode_pairs(own - own[0], targets, samples - samples[0], sample_order))
        # Target phrases are numbered as among all phrases.
        numbers.append((source["numbers"][slice(*source["ends"][shard : shard + 2])], np.zeros(0, np.uint32)))
    merged = MergedPairs(Scratch())
    merged.merge(numbers, runs, job.first_samples[:-1])
    offsets, targets, counts, sample_order = merged.columns(len(source["lengths"]))
    columns: dict[str, Array] = {"offsets": offsets, "targets": targets, "counts": counts[:], "sample_order": sample_order}
    write_arrays(job.folder, f"pairs.{key_range}", columns)
    return len(targets)


def _score_range(job: _PhraseJob, key_range: int) -> int:
    """Inner links and lexical weights of the pairs of a key range; returns the number of pairs."""
    bitext = job.bitext()
    vocabularies = bitext.source.vocabulary, bitext.target.vocabulary
    phrases = map_arrays(job.folder, f"source.{key_range}"), map_arrays(job.folder, "targets")
    source, target = (
        Phrases(own["begins"], own["lengths"], text.tokens, text.vocabulary)
        for own, text in zip(phrases, (bitext.source, bitext.target), strict=True)
    )
    own_pairs, lexicon = map_arrays(job.folder, f"pairs.{key_range}"), map_arrays(job.folder, "lexicon")
    counts = SmallNumbers.of([own_pairs["counts"]])
    pairs = Inventory(source, target, own_pairs["offsets"], own_pairs["targets"], counts, own_pairs["sample_order"])
    lexical = LexicalTable(*vocabularies, lexicon["offsets"], lexicon["targets"], lexicon["probabilities"])
    samples = _samples(map_arrays(job.folder, "samples"))
    part = lexical_part(bitext, samples, pairs, lexical, Resources(job.threads))
    write_arrays(job.folder, f"scored.{key_range}", part._asdict())
    return len(part.weights)


def _lexical_part(job: _PhraseJob, key_range: int) -> LexicalPart:
    with job.open("scored", key_range) as arrays:
        part = LexicalPart(*(arrays[name][:] for name in LexicalPart._fields))
    for owner in ("source", "pairs", "scored"):
        remove_arrays(job.folder, f"{owner}.{key_range}")
    return part


def _link_counts(job: _PhraseJob, shard: int) -> LinkCounts:
    with job.open("shard", shard) as arrays:
        offsets, targets, counts = (arrays[f"links.{name}"][:] for name in LINKS)
    return offsets, targets, counts
