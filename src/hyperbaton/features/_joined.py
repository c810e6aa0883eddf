"""Several feature sets as one: the columns of each follow those of the set before it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array, offsets_of, ranges
from hyperbaton.base.forms import Layout, joined, within
from hyperbaton.base.registry import Registry
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import Rows, RowsOnDemand, TrainingRows
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Arrays, group
from hyperbaton.corpus import Vocabulary
from hyperbaton.features._set import FeatureSet
from hyperbaton.phrases import Occurrences


def side_by_side(parts: Sequence[Rows]) -> Rows:
    """Rows with the columns of all parts; indicators get the value 1 if a part has values.

    >>> indicators = Rows(np.array([0, 2, 2]), np.array([0, 1], np.int32), 2)
    >>> rows = side_by_side([indicators, Rows(np.array([0, 1, 2]), np.array([0, 0], np.int32), 1, np.array([0.5, 3.0]))])
    >>> rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist()
    ([0, 3, 4], [0, 1, 2, 2], [1.0, 1.0, 0.5, 3.0])
    """
    lengths = [np.diff(part.indptr) for part in parts]
    indptr = offsets_of(np.sum(lengths, axis=0))
    indices = np.empty(indptr[-1], np.int32)
    values = None if all(part.values is None for part in parts) else np.ones(len(indices))
    starts, width = indptr[:-1].copy(), 0
    for part, own in zip(parts, lengths, strict=True):
        where = ranges(starts, own)
        indices[where] = part.indices + width
        if values is not None and part.values is not None:
            values[where] = part.values
        starts += own
        width += part.n_features
    return Rows(indptr, indices, width, values)


class JoinedFeatures(FeatureSet):
    """The features of several sets, each described as in its own set."""

    def __init__(self, parts: Iterable[FeatureSet]) -> None:
        self.parts = list(parts)
        self.coverage = any(part.coverage for part in self.parts)

    def fit_rows(
        self, occurrences: Occurrences, labels: npt.NDArray[np.uint8], n_classes: int, resources: Resources
    ) -> TrainingRows:
        parts = [part.fit_rows(occurrences, labels, n_classes, resources) for part in self.parts]
        width = sum(part.n_features for part in parts)
        return RowsOnDemand(width, parts[0].n_rows, lambda numbers: side_by_side([part.at(numbers) for part in parts]))

    def rows(self, occurrences: Occurrences, *, threads: int | None = None) -> Rows:
        return side_by_side([part.rows(occurrences, threads=threads) for part in self.parts])

    @property
    def n_features(self) -> int:
        return self._ends[-1]

    @property
    def _ends(self) -> list[int]:
        """The first feature of each part, and the end."""
        return list(accumulate((part.n_features for part in self.parts), initial=0))

    def keep(self, features: npt.NDArray[np.bool_], scratch: Scratch) -> npt.NDArray[np.bool_]:
        columns = [features[begin:end] for begin, end in pairwise(self._ends)]
        return np.concatenate([part.keep(own, scratch) for part, own in zip(self.parts, columns, strict=True)])

    def describe(self, feature: int, source: Vocabulary, target: Vocabulary) -> str:
        at = int(np.searchsorted(self._ends, feature, side="right")) - 1
        return self.parts[at].describe(feature - self._ends[at], source, target)

    def arrays(self) -> dict[str, Array]:
        return {f"{i}.{name}": array for i, part in enumerate(self.parts) for name, array in part.arrays().items()}

    def layout(self, n_classes: int) -> Layout:
        return joined(within(str(i), part.layout(n_classes)) for i, part in enumerate(self.parts))

    def restore(self, arrays: Arrays) -> Self:
        for i, part in enumerate(self.parts):
            part.restore(group(arrays, str(i)))
        return self


class FeatureSets(Registry[FeatureSet]):
    """The feature sets; the names of several, joined by `+`, make one set with the features of all."""

    def make(self, plugin: str | FeatureSet, default: str = "") -> FeatureSet:
        if isinstance(plugin, JoinedFeatures):
            return JoinedFeatures(self.make(part, default) for part in plugin.parts)
        names = re.split(r"\+(?!\d)", plugin) if isinstance(plugin, str) else [plugin]  # a number may be 1e+3
        parts = [super(FeatureSets, self).make(name, default) for name in names]
        return parts[0] if len(parts) == 1 else JoinedFeatures(parts)

    def text(self, plugin: FeatureSet, default: str = "") -> str:
        parts = plugin.parts if isinstance(plugin, JoinedFeatures) else [plugin]
        return "+".join(super(FeatureSets, self).text(part, default) for part in parts)
