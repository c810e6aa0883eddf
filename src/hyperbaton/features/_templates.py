"""Feature sets made of templates, which the core applies.

A template takes the n-gram of one length at one place around or inside a phrase. The feature is the template's name with
the words found: templates of one name share their features. The core hashes both to a key of 64 bits; keys that enough
phrase pairs have, sorted, are the feature space, and a feature's number is the rank of its key.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import DamagedError
from hyperbaton.base.forms import Layout
from hyperbaton.base.options import option
from hyperbaton.base.progress import n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import Rows, RowsOnDemand, TrainingRows
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Arrays, check_numbers
from hyperbaton.corpus import Vocabulary
from hyperbaton.features._set import FeatureSet
from hyperbaton.phrases import Occurrences

Layer = Literal["source", "target", "source class", "target class"]
LAYERS: tuple[Layer, ...] = ("source", "target", "source class", "target class")


class Template(NamedTuple):
    """The words that make up a feature.

    `region`: before, inside or after the phrase; an n-gram does not leave its region. `offset` of its first word: from
    the first word of the phrase, or for `after` from the last one, so that 1 is the word after the phrase. The region
    `links` takes the pairs of linked words inside a phrase pair, and neither offset nor length. `number_before`,
    `number_inside` and `number_after` take the number of words instead, at most `length`.
    """

    name: str
    layer: Layer
    region: Literal["before", "inside", "after", "links", "number_before", "number_inside", "number_after"]
    offset: int = 0
    length: int = 1


@dataclass
class TemplateFeatures(FeatureSet):
    """Base of feature sets made of templates; a subclass adds options and `templates`."""

    min_count: int = option(2, "minimum number of phrase pairs with a feature in the training data", minimum=1)

    @abstractmethod
    def templates(self) -> Iterator[Template]:
        """All templates; those of layers that the data lacks are skipped."""

    def fit_rows(
        self, occurrences: Occurrences, labels: npt.NDArray[np.uint8], n_classes: int, resources: Resources
    ) -> TrainingRows:
        """Count features; keep those of at least `min_count` phrase pairs."""
        features = _core.TrainingFeatures(
            self._table(occurrences),
            core_occurrences(occurrences),
            min_count=self.min_count,
            n_threads=resources.threads,
            progress=resources.progress,
            room=resources.scratch.room,
        )
        vars(self).pop("_index", None)  # of an earlier feature space
        self.keys_, self.feature_names_, self.lengths_, words = features.take_space()
        self.words_ = words.reshape(-1, _core.MAX_WORDS)
        width, threads = self.n_features, resources.threads

        def at(numbers: npt.NDArray[np.uint32]) -> Rows:
            indptr, indices = features.rows(numbers, n_threads=threads, progress=None)
            return Rows(indptr, indices, width)

        return RowsOnDemand(width, len(occurrences), at)

    def rows(self, occurrences: Occurrences, *, threads: int | None = None) -> Rows:
        """Rows of phrase pairs, with the features of the feature space."""
        table, core = self._table(occurrences), core_occurrences(occurrences)
        indptr, indices = _core.feature_rows(table, core, self._index, n_threads=n_threads(threads))
        return Rows(indptr, indices, self.n_features)

    @cached_property
    def _index(self) -> _core.KeyIndex:
        return _core.KeyIndex(_plain(self.keys_))

    @property
    def n_features(self) -> int:
        return len(self.keys_)

    def keep(self, features: npt.NDArray[np.bool_], scratch: Scratch) -> npt.NDArray[np.bool_]:
        vars(self).pop("_index", None)  # of the larger feature space
        self.restore({name: scratch.select(array, features) for name, array in self.arrays().items()})
        return features

    def describe(self, feature: int, source: Vocabulary, target: Vocabulary) -> str:
        """The template's name and the words."""
        names = self._names()
        check_numbers(self.feature_names_[feature : feature + 1], len(names), "template")
        name = names[self.feature_names_[feature]]
        template = next(t for t in self.templates() if t.name == name)
        words = self.words_[feature, : self.lengths_[feature]].tolist()
        if template.region == "links":
            if len(words) != 2:
                raise DamagedError(f"a pair of words has {len(words)} words")
            check_numbers(np.array(words[:1]), len(source), "word")
            check_numbers(np.array(words[1:]), len(target), "word")
            return f"{name}: {source.word(words[0])} & {target.word(words[1])}"
        vocabulary = {"source": source, "target": target}.get(template.layer)
        if template.region.startswith("number"):
            vocabulary = None
        if vocabulary is not None:
            check_numbers(np.array(words), len(vocabulary), "word")
        return f"{name}: {' '.join(str(w) if vocabulary is None else vocabulary.word(w) for w in words)}"

    def arrays(self) -> dict[str, Array]:
        return {
            "keys": self.keys_,
            "names": self.feature_names_,
            "lengths": self.lengths_,
            "words": self.words_,
        }

    def layout(self, n_classes: int) -> Layout:
        return {"keys": "u8 n", "names": "i4 n", "lengths": "u1 n", "words": "u4 n *"}

    def restore(self, arrays: Arrays) -> Self:
        self.keys_, self.feature_names_ = arrays["keys"], arrays["names"]
        self.lengths_, self.words_ = arrays["lengths"], arrays["words"]
        return self

    def _names(self) -> list[str]:
        return list(dict.fromkeys(template.name for template in self.templates()))

    def _table(self, occurrences: Occurrences) -> npt.NDArray[np.int32]:
        """The templates in the form of the core: name, layer, region, offset, length, linked layer."""
        present = _layers(occurrences)
        numbers = {layer: i for i, layer in enumerate(present)}
        names = {name: i for i, name in enumerate(self._names())}
        rows = [
            (names[t.name], numbers[t.layer], int(_core.Region[t.region].value), t.offset, t.length, numbers["target"])
            for t in self.templates()
            if t.layer in present
        ]
        return np.array(rows, np.int32).reshape(-1, 6)


def _layers(occurrences: Occurrences) -> dict[Layer, Array]:
    layers = (
        occurrences.source.tokens,
        occurrences.target.tokens,
        occurrences.source_classes,
        occurrences.target_classes,
    )
    return {layer: tokens for layer, tokens in zip(LAYERS, layers, strict=True) if tokens is not None}


def core_occurrences(occurrences: Occurrences) -> _core.Occurrences:
    """The arrays in the form of the core, checked."""
    source, target = occurrences.source_spans, occurrences.target_spans
    arrays: list[Array] = [source.sentence, source.begin, source.length, target.sentence, target.begin, target.length]
    core = _core.Occurrences(*map(_plain, [*arrays, occurrences.links.points, occurrences.links.offsets]))
    for layer, tokens in _layers(occurrences).items():
        of_target = layer.startswith("target")
        text = occurrences.target if of_target else occurrences.source
        core.add_layer(_plain(tokens), _plain(text.offsets), of_target)
    core.check()
    return core


def _plain(array: Array) -> Array:
    """The array in memory as the core reads it; a memory-mapped one stays a view of its file."""
    return np.asarray(np.ascontiguousarray(array))
