"""A translation system as the decoder for tuning, which translates in this process or in shards.

A task of a shard consists of the system, the file of the shard, and weights; it writes the n-best lists of the shard to a
file of arrays. The lists are joined in text order, and are the same for any number of shards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hyperbaton.base.errors import OptionError, SentenceError
from hyperbaton.base.executors import Sharding, shard_starts
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shard_arrays import map_arrays, write_arrays
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import Decoding, NBest, System, Translations, Translator
from hyperbaton.decode.annotated import AnnotatedLines
from hyperbaton.decode.shards import SYSTEM, read_shard, write_shards
from hyperbaton.tune.nbest import Candidates, Floats

# A line translated in pieces has no n-best list: tuning accepts the longest lines that the decoder translates whole.
MAX_WORDS = 2000


@dataclass(frozen=True)
class _Search:
    """How sentences are translated."""

    options: Decoding
    wanted: NBest

    def candidates(self, system: System, text: AnnotatedLines, resources: Resources) -> Candidates:
        """The lists of all sentences."""
        translator, done = Translator(system, self.options, threads=resources.threads), 0
        parts: list[Candidates] = []
        for translations in translator.batches(text.lines, self.wanted, annotations=text.annotations):
            parts.append(_whole(translations).moved(done))
            done += len(translations)
            resources.report(done, len(text.lines))
        return _joined(parts)


@dataclass(frozen=True)
class _Job:
    folder: Path
    starts: tuple[int, ...]
    weights: Floats
    search: _Search
    threads: int


class SystemDecoder:
    """Translates a text with a system whose weights are one flat array, in the order of the system's features.

    `annotations` are those that the models need. With `lattice`, lists also contain translations of the search graph
    along each dense feature: all translations that are best for some value of one weight, with the others unchanged.
    `first` is the number of sentences before these in their file, for messages. `fix` are weights that are not tuned,
    named as in `columns_of`. With `sharding` the text is translated in shards, whose folder the caller removes.
    """

    def __init__(
        self,
        system: System,
        sentences: Sequence[str],
        *,
        annotations: Annotations = NOTHING,
        fix: Mapping[str, float | list[float]] | None = None,
        first: int = 0,
        n_best: int = 100,
        lattice: bool = False,
        options: Decoding | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        sharding: Sharding | None = None,
    ) -> None:
        for n, line in enumerate(sentences, start=1):
            if line.count(" ") >= MAX_WORDS:
                raise SentenceError(f"a sentence of more than {MAX_WORDS} words; tune without it", first + n)
        if lattice and system.is_hierarchical:
            raise OptionError("--lattice searches graphs of phrases; leave it out for a system with rules")
        self.system, self.fixed = fix_weights(system, fix or {})
        self.text, self.first = AnnotatedLines(sentences, annotations), first
        self.resources = Resources.of(threads, progress, sharding=sharding)
        n_dense = sum(system.dense_features.values())
        wanted = NBest(n_best, directions=np.eye(n_dense)[~self.fixed[:n_dense]] if lattice else None)
        self.search = _Search(replace(options or system.options, max_words=MAX_WORDS), wanted)

    @property
    def start(self) -> Floats:
        """The system's own weights with the fixed ones; those of sparse features come last."""
        return flat_weights(self.system)

    def with_weights(self, weights: Floats) -> System:
        """The system with these weights."""
        return with_flat_weights(self.system, weights)

    def __call__(self, weights: Floats) -> Candidates:
        try:
            return self._translate(weights)
        except SentenceError as error:
            raise error.moved(self.first) from error

    def _translate(self, weights: Floats) -> Candidates:
        resources = self.resources
        if resources.sharding is not None:
            return _joined(self._shards(weights, resources.sharding))
        return self.search.candidates(self.with_weights(weights), self.text, resources)

    def _shards(self, weights: Floats, sharding: Sharding) -> Iterator[Candidates]:
        """The lists of each shard that has sentences."""
        folder, starts = sharding.folder, shard_starts(len(self.text.lines), sharding.shards)
        if not (folder / SYSTEM).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_shards(folder, self._groups(starts), starts)
            self.system.save(folder / SYSTEM)
        job = _Job(folder, tuple(starts), weights, self.search, sharding.threads)
        for shard, n_lists in enumerate(sharding.do(_translate_shard, job, self.resources.progress)):
            if n_lists:
                yield Candidates.from_arrays(map_arrays(folder, _lists(shard))).moved(starts[shard])

    def _groups(self, starts: Sequence[int]) -> Iterator[AnnotatedLines]:
        for begin, end in pairwise(starts):
            if begin < end:
                lines, annotations = self.text.lines[begin:end], self.text.annotations
                yield AnnotatedLines(lines, annotations.select(np.arange(begin, end)))


def _translate_shard(job: _Job, shard: int) -> int:
    """Compute the lists of a shard; returns their number, 0 if there are more shards than sentences."""
    group = next(read_shard(job.folder, shard), None)
    if group is None:
        return 0
    system = with_flat_weights(System.load(job.folder / SYSTEM), job.weights)
    try:
        lists = job.search.candidates(system, group, Resources(job.threads))
    except SentenceError as error:
        raise error.moved(job.starts[shard]) from error
    write_arrays(job.folder, _lists(shard), lists.arrays())
    return len(group.lines)


def _lists(shard: int) -> str:
    return f"lists.{shard}"


def _joined(parts: Iterable[Candidates]) -> Candidates:
    """The lists of consecutive parts of a text."""
    sentence, features, hypotheses, rows = zip(*parts, strict=True)
    lines = [line for own in hypotheses for line in own]
    fired = None if rows[0] is None else sparse.vstack(rows, format="csr")
    return Candidates(np.concatenate(sentence), np.concatenate(features), lines, fired)


def columns_of(system: System, name: str) -> slice:
    """The weights of a feature among all weights of a system: NAME, or NAME_i for its i-th value, from 0.

    Raises OptionError for an unknown name.
    """
    begin = 0
    for feature, n in _sizes(system).items():
        if name == feature:
            return slice(begin, begin + n)
        stem, _, number = name.rpartition("_")
        if stem == feature and number.isdecimal() and name not in system.features:
            if int(number) >= n:
                raise OptionError(f"{feature} has {n} weights, {feature}_0 to {feature}_{n - 1}; there is no {name}")
            return slice(begin + int(number), begin + int(number) + 1)
        begin += n
    raise OptionError(f"the system has no feature {name!r} to fix; it has {', '.join(system.features)}")


def fix_weights(system: System, fix: Mapping[str, float | list[float]]) -> tuple[System, npt.NDArray[np.bool_]]:
    """A system with the fixed weights, and which of all its weights are fixed."""
    weights = flat_weights(system)
    fixed = np.zeros(len(weights), bool)
    for name, value in fix.items():
        columns = columns_of(system, name)
        values = np.atleast_1d(np.asarray(value, np.float64))
        n = columns.stop - columns.start
        if len(values) not in (1, n):
            raise OptionError(f"{name} needs {n} weights, not {len(values)}")
        if fixed[columns].any():
            raise OptionError(f"weights of {name} are fixed twice")
        weights[columns], fixed[columns] = values, True
    if len(fixed) and fixed.all():
        raise OptionError("all weights are fixed, so there is nothing to tune")
    return with_flat_weights(system, weights), fixed


def flat_weights(system: System) -> Floats:
    """All weights of a system, in feature order, those of sparse features last."""
    return np.array([value for name in _sizes(system) for value in system.weights[name]])


def _sizes(system: System) -> dict[str, int]:
    """The number of weights of each feature, sparse ones last."""
    return system.dense_features | {name: model.n_features for name, model in system.sparse.items()}


def with_flat_weights(system: System, weights: Floats) -> System:
    """The system with these weights."""
    values = iter(weights.tolist())
    return system.with_weights({name: [next(values) for _ in range(n)] for name, n in _sizes(system).items()})


def _whole(translations: Translations) -> Candidates:
    """The translations of a batch; an empty one of a sentence that has none."""
    counts = np.diff(translations.path_offsets)
    sentence = np.repeat(np.arange(len(translations)), counts)
    columns = [column for name in translations.system.dense_features for column in translations.columns[name]]
    features = translations.totals[:, columns]
    lines = b"".join(translations.text.pieces()).decode("utf-8").split("\n")[:-1]
    missing = np.flatnonzero(counts == 0)
    rows = sparse.hstack(list(translations.sparse.values()), format="csr") if translations.sparse else None
    if len(missing) == 0:
        return Candidates(sentence, features, lines, rows)
    order = np.argsort(np.concatenate([sentence, missing]), kind="stable")
    every = [*lines, *[""] * len(missing)]
    padded = np.concatenate([features, np.zeros((len(missing), features.shape[1]))])
    if rows is not None:
        rows = sparse.vstack([rows, sparse.csr_array((len(missing), rows.shape[1]))], format="csr")[order]
    return Candidates(np.concatenate([sentence, missing])[order], padded[order], [every[i] for i in order.tolist()], rows)
