"""Sparse reordering features (Cherry 2013), as in Moses: thousands of indicators, each with its own weight.

A feature fires if a word, or the class of a word, is in a certain place while a phrase moves in a certain way:

    phr-src-first-ID-WORD-C    the first word of the source phrase, whose orientation relative to the previous phrase is C
    phr-src-last, phr-tgt-first, phr-tgt-last      its last word, and the first and last word of its translation
    stk-…                      these features of the previous phrase, with its orientation relative to this one
    btn-src-first-ID-WORD-C    a word between the two, if the phrase is discontinuous

ID names a list of words or a file of classes, whose labels are written `cluster_LABEL`. C is the number of the
orientation: 0 monotone, 1 swap, then discontinuous, or discontinuous left and right. Weights are summed by option and
orientation before the search, so that their number does not slow it down.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, ranges
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.errors import DamagedError, InputError, OptionError
from hyperbaton.base.forms import Form, Json, Layout, joined, within
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.store import Arrays, check_numbers, group
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.corpus.files import AnyPath, read_lines
from hyperbaton.decode.locations import Location
from hyperbaton.decode.reordering import Reordering
from hyperbaton.models import Batch
from hyperbaton.phrases import MosesSet, orientation_set

if TYPE_CHECKING:
    from scipy import sparse

_FIRST_DISCONTINUOUS = 2
_SIDES = {"source": "src", "target": "tgt"}
# Places of a label, each with a weight for every orientation; words between are source words.
_PLACES = ("phr-first", "phr-last", "stk-first", "stk-last", "btn-first")


@dataclass(frozen=True)
class Labels(ArrayFields):
    """Words of a side used in features: each is its own label, or has the label of its class.

    `numbers[i]` is the label of word i of the vocabulary.
    """

    vocabulary: Vocabulary
    names: Vocabulary
    numbers: npt.NDArray[np.uint32]
    side: str = ""
    name: str = ""
    is_cluster: bool = False

    PARTS: ClassVar = {"vocabulary": Vocabulary, "names": Vocabulary}
    LAYOUT: ClassVar[Layout] = {
        "numbers": "u4 n_words",
        **within("vocabulary", Vocabulary.LAYOUT, n_words="n_words"),
        **within("names", Vocabulary.LAYOUT),
    }
    FORM: ClassVar[Mapping[str, Form]] = {"side": str, "name": str, "is_cluster": bool}

    @classmethod
    def of_words(cls, side: str, name: str, words: Sequence[str]) -> Labels:
        """A list of words, each its own label."""
        distinct = Vocabulary.of(list(dict.fromkeys(words)))
        return cls(distinct, distinct, np.arange(len(distinct), dtype=np.uint32), side, name)

    @classmethod
    def most_frequent(cls, side: str, vocabulary: Vocabulary, counts: Array, n_words: int) -> Labels:
        """The `n_words` words with the highest counts; words without any are left out."""
        frequent = [i for i in np.argsort(-counts, kind="stable")[:n_words].tolist() if counts[i] > 0]
        return cls.of_words(side, f"top{n_words}", [vocabulary.word(i) for i in frequent])

    @classmethod
    def of_clusters(cls, side: str, name: str, clusters: Mapping[str, str]) -> Labels:
        """Words with the names of their classes."""
        names = Vocabulary.of(list(dict.fromkeys(clusters.values())))
        numbers = np.array([names.number(label) for label in clusters.values()], np.uint32)
        return cls(Vocabulary.of(list(clusters)), names, numbers, side, name, is_cluster=True)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def places(self) -> tuple[str, ...]:
        return _PLACES if self.side == "source" else _PLACES[:-1]

    def of_text(self, text: Text) -> npt.NDArray[np.int64]:
        """The label of each token; words without one have the number after all labels."""
        numbers_here = self.vocabulary.find_all(text.vocabulary)
        is_listed = numbers_here < len(self.vocabulary)
        numbers = np.full(len(numbers_here), len(self), np.int64)
        numbers[is_listed] = self.numbers[numbers_here[is_listed]]
        return numbers[text.tokens]

    def feature_names(self, n_classes: int) -> Iterator[str]:
        """Moses' names of the features, in the order of their weights."""
        words = [f"cluster_{word}" if self.is_cluster else word for word in self.names.words()]
        for place in self.places:
            kind, position = place.split("-")
            for word in words:
                for c in range(n_classes):
                    yield f"{kind}-{_SIDES[self.side]}-{position}-{self.name}-{word}-{c}"


class _Phrases(NamedTuple):
    """Labels of the first and the last word of each option, and of each source token."""

    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    tokens: npt.NDArray[np.int64]


@dataclass(frozen=True)
class SparseReordering(Reordering, Picklable):
    """Sparse features of the orientations of one of Moses' sets, over lists of words and classes."""

    orientations: str
    labels: tuple[Labels, ...]

    KEY: ClassVar = "sparse"
    FORM: ClassVar[Mapping[str, Form]] = {"sparse": {"orientations": str, "labels": [Labels.FORM]}}

    def __post_init__(self) -> None:
        if not isinstance(orientation_set(self.orientations), MosesSet):
            raise OptionError(f"sparse features need Moses' orientations, like hier-mslr, not {self.orientations!r}")

    @classmethod
    def of_texts(cls, orientations: str, source: Text, target: Text, n_words: int = 80) -> SparseReordering:
        """Features of the most frequent words of both sides."""
        labels = (
            Labels.most_frequent(side, text.vocabulary, np.bincount(text.tokens, minlength=len(text.vocabulary)), n_words)
            for side, text in (("source", source), ("target", target))
        )
        return cls(orientations, tuple(labels))

    @cached_property
    def set(self) -> MosesSet:
        return cast(MosesSet, orientation_set(self.orientations))

    @property
    def n_features(self) -> int:
        """The number of weights."""
        return sum(len(labels.places) * len(labels) * len(self.set) for labels in self.labels)

    @property
    def start_weights(self) -> list[float]:
        return [0.0] * self.n_features

    @property
    def n_columns(self) -> int:
        """Columns of the search: the counts of each orientation, relative to the previous phrase, then the next."""
        return 2 * len(self.set)

    @cached_property
    def names(self) -> list[str]:
        """Moses' name of each feature, without that of the model."""
        return [name for labels in self.labels for name in labels.feature_names(len(self.set))]

    def _tables(self, weights: Array) -> Iterator[tuple[Labels, Array]]:
        """The weights of each list, (places, labels + 1, classes), 0 for words without a label."""
        at, n = 0, len(self.set)
        for labels in self.labels:
            size = len(labels.places) * len(labels) * n
            table = np.zeros((len(labels.places), len(labels) + 1, n))
            table[:, :-1] = weights[at : at + size].reshape(len(labels.places), len(labels), n)
            at += size
            yield labels, table

    def scorers(self, batch: Batch, weights: list[float]) -> list[_core.Feature]:
        n, options, source = len(self.set), batch.options, batch.source
        before, after = np.zeros((len(options), n)), np.zeros((len(options), n))
        between = np.zeros((source.n_tokens, n))
        for labels, table in self._tables(np.asarray(weights, np.float64)):
            numbered = _labelled(labels, batch)
            before += table[0, numbered.first] + table[1, numbered.last]
            after += table[2, numbered.first] + table[3, numbered.last]
            if labels.side == "source":
                between += table[4, numbered.tokens]
        rule = _core.StepRule.hierarchical if self.set.unit == "hierarchical" else _core.StepRule.neighbour
        nothing = np.zeros((0, n), np.float32)
        return [
            _core.SparseScorer(
                scores=scores.astype(np.float32),
                rule=rule,
                side=_core.Side[side],
                merge=list(self.set.merge),
                between=rows,
                source_offsets=source.offsets,
            )
            for scores, side, rows in ((before, "before", _sums(between, source)), (after, "after", nothing))
        ]

    def values(self, batch: Batch, steps: StepColumns) -> sparse.csr_array:
        """The counts of each feature in each translation, (n_translations, n_features)."""
        from scipy import sparse  # slow to load, and not needed without such features

        n = len(self.set)
        is_step = steps.option >= 0
        rows: list[Array] = []
        columns: list[Array] = []
        source, at = batch.options.source, 0
        begin = np.where(is_step, source.begin[steps.option].astype(np.int64), 0)
        end = np.where(is_step, begin + source.length[steps.option], 0)
        previous_begin, previous_end = (np.where(steps.is_first, 0, np.roll(place, 1)) for place in (begin, end))
        forward = previous_end <= begin
        gap = np.stack([np.where(forward, previous_end, end), np.where(forward, begin, previous_begin)], axis=1)
        passes = is_step & (steps.before >= _FIRST_DISCONTINUOUS)
        where = batch.source.offsets[source.sentence[steps.option]][passes][:, None] + gap[passes]
        lengths = np.maximum(where[:, 1] - where[:, 0], 0)
        tokens = ranges(where[:, 0], lengths)
        has_previous = is_step & ~steps.is_first
        for labels in self.labels:
            numbered = _labelled(labels, batch)
            before, previous = np.roll(steps.option, 1), steps.path[has_previous]
            # The words in each place, with the translation and the class of each.
            places = [(words[steps.option][is_step], steps.path[is_step], steps.before[is_step]) for words in numbered[:2]]
            places += [(words[before][has_previous], previous, steps.after[has_previous]) for words in numbered[:2]]
            if labels.side == "source":
                path, c = (np.repeat(column[passes], lengths) for column in (steps.path, steps.before))
                places.append((numbered.tokens[tokens], path, c))
            for place, (words, path, c) in enumerate(places):
                fires = words < len(labels)
                rows.append(path[fires])
                columns.append(at + (place * len(labels) + words[fires]) * n + c[fires])
            at += len(labels.places) * len(labels) * n
        row, column = np.concatenate(rows), np.concatenate(columns)
        counts = sparse.coo_array((np.ones(len(row)), (row, column)), shape=(steps.n_paths, self.n_features)).tocsr()
        counts.sum_duplicates()
        return counts

    def arrays(self, prefix: str) -> dict[str, Array]:
        return joined(labels.arrays(f"{prefix}.{i}") for i, labels in enumerate(self.labels))

    @classmethod
    def layout(cls, entry: Mapping[str, Json], prefix: str) -> Layout:
        return joined(within(f"{prefix}.{i}", Labels.LAYOUT) for i in range(len(entry["sparse"]["labels"])))

    def stored(self, name: str) -> dict[str, object]:
        lists = [{key: getattr(labels, key) for key in Labels.FORM} for labels in self.labels]
        return {"sparse": {"orientations": self.orientations, "labels": lists}}

    @classmethod
    def restored(cls, entry: Mapping[str, Json], location: Location) -> Self:
        def lists(arrays: Arrays) -> Iterator[Labels]:
            for i, form in enumerate(entry["sparse"]["labels"]):
                labels = replace(Labels.from_arrays(group(arrays, str(i))), **{key: form[key] for key in Labels.FORM})
                if labels.side not in _SIDES:
                    raise DamagedError(f"there is no side {labels.side!r}")
                check_numbers(labels.numbers, len(labels), "label")
                yield labels

        labels = location.open({}, lambda arrays: tuple(lists(arrays)))
        return cls(entry["sparse"]["orientations"], labels)


class StepColumns(NamedTuple):
    """Steps of translations as columns, and a row for the end of each, whose option is -1.

    `before` and `after` are the classes of the step relative to the previous phrase, and of the previous phrase relative
    to it.
    """

    path: npt.NDArray[np.int64]
    option: npt.NDArray[np.int64]
    is_first: npt.NDArray[np.bool_]
    before: npt.NDArray[np.int64]
    after: npt.NDArray[np.int64]
    n_paths: int


def read_weights(path: AnyPath, name: str, model: SparseReordering) -> list[float]:
    """Read a file of Moses' sparse weights: `NAME_feature weight` on each line; other features have weight 0."""
    numbers = {feature: i for i, feature in enumerate(model.names)}
    weights = [0.0] * len(numbers)
    for number, line in enumerate(read_lines(path), start=1):
        feature, _, value = line.strip().rpartition(" ")
        try:
            weight = float(value)
        except ValueError:
            weight = float("nan")
        if not feature or not np.isfinite(weight):
            raise InputError(f"expected a feature and its weight, found {line.strip()!r}", path, number)
        short_name = feature.removeprefix(f"{name}_")
        if short_name == feature:
            continue
        if short_name not in numbers:
            raise InputError(f"{name} has no sparse feature {short_name!r}", path, number)
        weights[numbers[short_name]] = weight
    return weights


def weight_lines(name: str, model: SparseReordering, weights: Sequence[float]) -> Iterator[bytes]:
    """The lines of a file of sparse weights, without weights of 0."""
    for feature, weight in zip(model.names, weights, strict=True):
        if weight:
            yield f"{name}_{feature} {weight!r}\n".encode()


def _labelled(labels: Labels, batch: Batch) -> _Phrases:
    options = batch.options
    if labels.side == "source":
        tokens = labels.of_text(batch.source)
        start = batch.source.offsets[options.source.sentence] + options.source.begin
        return _Phrases(tokens[start], tokens[start + options.source.length - 1], tokens)
    # An option without words has no label.
    tokens = np.append(labels.of_text(options.target), len(labels))
    offsets, empty = options.target.offsets, options.target.lengths == 0
    nowhere = len(tokens) - 1
    return _Phrases(
        tokens[np.where(empty, nowhere, offsets[:-1])], tokens[np.where(empty, nowhere, offsets[1:] - 1)], tokens
    )


def _sums(rows: Array, source: Text) -> npt.NDArray[np.float32]:
    """Prefix sums over the words of each sentence, with a row of zeros before each sentence."""
    starts, sizes = source.offsets[:-1], source.lengths + 1
    sums = np.concatenate([np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)])
    return (sums[ranges(starts, sizes)] - np.repeat(sums[starts], sizes, axis=0)).astype(np.float32)
