"""A translation system as the decoder for tuning: n-best lists of a text for any weights.

A task has the system and weights, and translates a group of sentences; the lists are joined in text order, and do not
depend on where they were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hyperbaton.base.errors import OptionError, SentenceError
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.workers import Shared, Workers
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator, Translations
from hyperbaton.decode.annotated import BATCH, AnnotatedLines, in_batches
from hyperbaton.tune.nbest import Candidates, Floats

# A line translated in pieces has no n-best list: tuning accepts the longest lines that the decoder translates whole.
MAX_WORDS = 2000
PART = 64  # sentences that a worker translates with one loading of the system


@dataclass(frozen=True)
class _Search(Picklable):
    """Translates groups of sentences."""

    system: Shared[System]
    weights: Floats
    options: Decoding
    wanted: NBest
    threads: int

    @cached_property
    def translator(self) -> TokenTranslator:
        return TokenTranslator(with_flat_weights(self.system.value, self.weights), self.options, threads=self.threads)

    def __call__(self, part: tuple[int, AnnotatedLines]) -> Candidates:
        first, group = part
        try:
            return _whole(self.translator.search(group, self.wanted)).moved(first)
        except SentenceError as error:
            raise error.moved(first) from error


class SystemDecoder:
    """Translates a text with a system whose weights are one flat array, in the order of the system's features.

    `annotations` are those that the models need. `first` is the number of sentences before these in their file, for
    messages. `fix` are weights that are not tuned, named as in `columns_of`. Progress counts sentences.
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
        options: Decoding | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
        workers: Workers | None = None,
    ) -> None:
        system.need_unpacked("tuning")
        for n, line in enumerate(sentences, start=1):
            if line.count(" ") >= MAX_WORDS:
                raise SentenceError(f"a sentence of more than {MAX_WORDS} words; tune without it", first + n)
        self.system, self.fixed = fix_weights(system, fix or {})
        self.sentences, self.annotations, self.first = sentences, annotations, first
        self.resources = Resources.of(threads, progress, workers=workers)
        self.wanted = NBest(n_best)
        self.options = replace(options or system.options, max_words=MAX_WORDS)

    @property
    def start(self) -> Floats:
        """The system's own weights with the fixed ones; those of sparse features come last."""
        return flat_weights(self.system)

    def with_weights(self, weights: Floats) -> System:
        """The system with these weights."""
        return with_flat_weights(self.system, weights)

    @cached_property
    def _shared(self) -> Shared[System]:
        return self.resources.workers.share(self.system, self.system.save, System.load)

    def __call__(self, weights: Floats) -> Candidates:
        resources, lists = self.resources, list[Candidates]()
        search = _Search(self._shared, weights, self.options, self.wanted, resources.tasks().threads)
        size, n = resources.workers.size(BATCH, PART), len(self.sentences)
        groups = in_batches(self.sentences, self.annotations, size, markup=self.options.markup)
        try:
            for nbest in resources.workers.map(search, zip(range(0, n, size), groups, strict=True)):
                lists.append(nbest)
                resources.report(min(len(lists) * size, n), n)
        except SentenceError as error:
            raise error.moved(self.first) from error
        return _joined(lists)


def _joined(parts: Iterable[Candidates]) -> Candidates:
    """The lists of consecutive parts of a text."""
    sentence, features, hypotheses, rows = zip(*parts, strict=True)
    lines = [line for translations in hypotheses for line in translations]
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
    lines = translations.text.lines()
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
