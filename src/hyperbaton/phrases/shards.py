"""Extraction and scoring of phrase pairs: by this process, or in shards by the workers of any executor.

In shards there are five kinds of tasks, each reading the files written by earlier ones; large arrays are stored in files,
not sent:

1. a shard of the sentence pairs: its samples, and its distinct phrases and pairs, sorted; counts of linked words;
2. a key range of the target phrases, by first word: those of all shards merged;
3. a shard: the target phrases of its pairs, by their numbers among all;
4. a key range of the source phrases: those of all shards and their pairs merged;
5. a key range of the source phrases: inner links and lexical weights of their pairs.

The process that distributes the work joins the ranges and computes phrase probabilities from counts. The result is
bit-identical for any number of shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
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
from hyperbaton.base.store import Arrays, Artefact
from hyperbaton.corpus import Bitext, Text
from hyperbaton.corpus.bitext import KIND as BITEXT
from hyperbaton.corpus.bitext import need_bitext
from hyperbaton.phrases.extracted import ExtractedPhrases
from hyperbaton.phrases.inventory import Inventory, Phrases, merge_pairs, merge_phrases
from hyperbaton.phrases.pair_orientations import PairOrientations
from hyperbaton.phrases.samples import Extraction, Samples, extract_range
from hyperbaton.phrases.table import LexicalPart, LexicalWeights, PhraseTable, Scoring, lexical_part

PHRASES = ("begins", "lengths")
PAIRS = ("offsets", "targets", "sample_offsets", "sample_order")  # of a shard
LEXICON = ("offsets", "targets", "probabilities")
LINKS = ("offsets", "targets", "counts")
N_STEPS = 5  # tasks for each shard


@dataclass(frozen=True)
class _PhraseJob:
    folder: Path
    starts: tuple[int, ...]  # sentence pairs of shards
    path: str | None  # of the source text, for messages
    max_length: int
    threads: int
    # Known when all shards are extracted: the first sample of each, and by side the ranks of the first words of key ranges.
    first_samples: tuple[int, ...] = ()
    ranges: dict[str, list[int]] = field(default_factory=dict)
    # Known when target phrases are merged: the first of each key range.
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
        first, last = self.ranges[side][key_range : key_range + 2]
        starts = arrays[f"{side}.starts"]
        return int(starts[first]), int(starts[last])


def extract_phrases(
    bitext: Bitext, resources: Resources, extraction: Extraction | None = None, scoring: Scoring | None = None
) -> ExtractedPhrases:
    """Extract and score the phrase pairs of a bitext with links.

    With a sharding, progress counts tasks, and the caller removes the folder of shards.
    """
    need_bitext(bitext, "extract")
    extraction, scoring, scratch = extraction or Extraction(), scoring or Scoring(), resources.scratch
    check_options(extraction)
    check_options(scoring)
    sharding, max_length = resources.sharding, extraction.max_length
    shards = None if sharding is None else _PhraseShards(bitext, resources, sharding, max_length)
    if shards is None:
        samples = extract_range(bitext, 0, len(bitext), max_length, resources)
        samples = samples.without("distance_before", "distance_after")  # frees their room
        pairs = Inventory.of(bitext, samples, threads=resources.threads, progress=resources.progress, scratch=scratch)
    else:
        samples, pairs = shards.extract()
    orientations = PairOrientations.of(pairs, samples, scratch)
    samples = samples.without("source_length", "target_length", "orientations")
    if shards is None:
        weights = LexicalWeights.of(bitext, samples, pairs, resources=resources)
    else:
        weights = shards.score(samples, pairs.target)
    del samples
    pairs = pairs.without_samples()
    return ExtractedPhrases(PhraseTable.scored(pairs, weights, scoring, scratch), orientations)


class _PhraseShards:
    """The work of the process that distributes extraction."""

    def __init__(self, bitext: Bitext, resources: Resources, sharding: Sharding, max_length: int) -> None:
        self._bitext, self._resources, self._sharding, self._steps = bitext, resources, sharding, count()
        starts = tuple(shard_starts(len(bitext), sharding.shards))
        self._job = _PhraseJob(sharding.folder, starts, bitext.source.path, max_length, sharding.threads)

    def _do(self, task: Callable[[_PhraseJob, int], int]) -> Iterator[int]:
        return self._sharding.do(task, self._job, self._resources.part(next(self._steps), of=N_STEPS).progress)

    def extract(self) -> tuple[Samples, Inventory]:
        """The samples of all shards, and their phrases and pairs; writes the lexical table for `score`."""
        bitext, job, scratch = self._bitext, self._job, self._resources.scratch
        bitext.need_links()
        bitext.save(job.folder / BITEXT)
        first_samples = (0, *accumulate(self._do(_extract_shard)))
        ranges = {side: _key_ranges(job, side) for side in ("source", "target")}
        self._job = replace(job, first_samples=first_samples, ranges=ranges)
        self._job = replace(self._job, first_targets=(0, *accumulate(self._do(_merge_targets))))
        list(self._do(_number_targets))
        list(self._do(_merge_pairs))

        job.remove("numbered")
        columns = {name: job.joined("shard", f"samples.{name}", scratch) for name in Samples.LAYOUT if name != "offsets"}
        samples = Samples.from_arrays({**columns, "offsets": job.joined_offsets("shard", "samples.offsets", scratch)})
        source, target = (
            _phrases({name: job.joined(owner, name, scratch) for name in PHRASES}, text)
            for owner, text in (("pairs", bitext.source), ("target", bitext.target))
        )
        offsets, targets = job.joined_offsets("pairs", "offsets", scratch), job.joined("pairs", "targets", scratch)
        counts = SmallNumbers.of(job.pieces("pairs", "counts"), scratch)
        pairs = Inventory(source, target, offsets, targets, counts, job.joined("pairs", "sample_order", scratch))
        links = (_link_counts(job, shard) for shard in range(job.n_shards))
        lexical = LexicalTable.from_counts(bitext, *sum_link_counts(bitext, links))
        job.remove("shard", "target")
        write_arrays(job.folder, "lexicon", {name: getattr(lexical, name) for name in LEXICON})
        return samples, pairs

    def score(self, samples: Samples, target: Phrases) -> LexicalWeights:
        """The lexical weights of all pairs."""
        write_arrays(self._job.folder, "samples", {name: getattr(samples, name) for name in Samples.LAYOUT})
        write_arrays(self._job.folder, "targets", {name: getattr(target, name) for name in PHRASES})
        parts = (_lexical_part(self._job, key_range) for key_range, _ in enumerate(self._do(_score_range)))
        return LexicalWeights.joined(parts, self._resources.scratch)


def _extract_shard(job: _PhraseJob, shard: int) -> int:
    """Samples, phrases and pairs of a shard; returns the number of samples."""
    bitext, (begin, end) = job.bitext(), job.starts[shard : shard + 2]
    samples = extract_range(bitext, begin, end, job.max_length, Resources(job.threads))
    samples = samples.without("distance_before", "distance_after")
    pairs = Inventory.of(bitext, samples, threads=job.threads)
    counts: dict[str, Array] = dict(zip(LINKS, count_links(bitext, begin, end, job.threads), strict=True))
    arrays: dict[str, Array] = {
        **samples.arrays("samples"),
        **{f"pairs.{name}": getattr(pairs, name) for name in PAIRS},
        **{f"links.{name}": array for name, array in counts.items()},
    }
    for side, phrases in (("source", pairs.source), ("target", pairs.target)):
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


def _merge_phrases(job: _PhraseJob, side: str, key_range: int) -> tuple[Phrases, list[Array]]:
    """The distinct phrases of a key range, and the number of each shard's phrases among them."""
    begins, lengths = [], []
    for shard in range(job.n_shards):
        with job.open("shard", shard) as arrays:
            rows = slice(*job.phrases_in_range(arrays, side, key_range))
            begins.append(arrays[f"{side}.begins"][rows])
            lengths.append(arrays[f"{side}.lengths"][rows])
    text: Text = getattr(job.bitext(), side)
    return merge_phrases(begins, lengths, text.tokens, text.vocabulary, Scratch())


def _merge_targets(job: _PhraseJob, key_range: int) -> int:
    """The target phrases of a key range; returns how many there are."""
    phrases, numbers = _merge_phrases(job, "target", key_range)
    arrays: dict[str, Array] = {
        **{name: getattr(phrases, name) for name in PHRASES},
        "numbers": np.concatenate(numbers),
        "ends": np.array([0, *accumulate(map(len, numbers))]),
    }
    write_arrays(job.folder, f"target.{key_range}", arrays)
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
    """The source phrases of a key range and their pairs, with the samples of these; returns the number of pairs."""
    source, numbers = _merge_phrases(job, "source", key_range)
    runs = []
    for shard in range(job.n_shards):
        with job.open("shard", shard) as arrays:
            begin, end = job.phrases_in_range(arrays, "source", key_range)
            own = arrays["pairs.offsets"][begin : end + 1]
            samples = arrays["pairs.sample_offsets"][own[0] : own[-1] + 1]
            sample_order = arrays["pairs.sample_order"][samples[0] : samples[-1]]
        with job.open("numbered", shard) as arrays:
            targets = arrays["targets"][own[0] : own[-1]]
        runs.append(_core.encode_pairs(own - own[0], targets, samples - samples[0], sample_order))
    none = np.zeros(0, np.uint32)  # target phrases are numbered as among all phrases
    offsets, targets, counts, sample_order = merge_pairs(
        [(own, none) for own in numbers], runs, job.first_samples[:-1], len(source), Scratch()
    )
    merged: dict[str, Array] = {
        **{name: getattr(source, name) for name in PHRASES},
        "offsets": offsets,
        "targets": targets,
        "counts": counts[:],
        "sample_order": sample_order,
    }
    write_arrays(job.folder, f"pairs.{key_range}", merged)
    return len(targets)


def _score_range(job: _PhraseJob, key_range: int) -> int:
    """Inner links and lexical weights of the pairs of a key range; returns the number of pairs."""
    bitext, folder = job.bitext(), job.folder
    own, targets, lexicon = (map_arrays(folder, owner) for owner in (f"pairs.{key_range}", "targets", "lexicon"))
    source, target = _phrases(own, bitext.source), _phrases(targets, bitext.target)
    counts = SmallNumbers.of([own["counts"]])
    pairs = Inventory(source, target, own["offsets"], own["targets"], counts, own["sample_order"])
    lexical = LexicalTable(
        source.vocabulary, target.vocabulary, lexicon["offsets"], lexicon["targets"], lexicon["probabilities"]
    )
    samples = Samples.from_arrays(map_arrays(folder, "samples"))
    part = lexical_part(bitext, samples, pairs, lexical, Resources(job.threads))
    write_arrays(folder, f"scored.{key_range}", part._asdict())
    return len(part.weights)


def _phrases(arrays: Arrays, text: Text) -> Phrases:
    """Phrases of a text, given their places."""
    return Phrases(arrays["begins"], arrays["lengths"], text.tokens, text.vocabulary)


def _lexical_part(job: _PhraseJob, key_range: int) -> LexicalPart:
    with job.open("scored", key_range) as arrays:
        part = LexicalPart(*(arrays[name][:] for name in LexicalPart._fields))
    for owner in ("pairs", "scored"):
        remove_arrays(job.folder, f"{owner}.{key_range}")
    return part


def _link_counts(job: _PhraseJob, shard: int) -> LinkCounts:
    with job.open("shard", shard) as arrays:
        offsets, targets, counts = (arrays[f"links.{name}"][:] for name in LINKS)
    return offsets, targets, counts
