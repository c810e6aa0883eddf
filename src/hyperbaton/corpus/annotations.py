"""Annotations of a bitext (tags, trees and word classes), passed as one value."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from hyperbaton.base.errors import OptionError

if TYPE_CHECKING:
    from hyperbaton.corpus.classes import WordClasses
    from hyperbaton.corpus.files import AnyPath
    from hyperbaton.corpus.tags import Tags
    from hyperbaton.corpus.text import Text
    from hyperbaton.corpus.trees import Trees


@dataclass(frozen=True)
class Annotations:
    """Annotations of a text or bitext; missing ones are None.

    >>> from hyperbaton.corpus import Tags, Text
    >>> tagged = Annotations(source_tags=Tags.of(["PRP VBZ"], Text.of(["he eats"])))
    >>> tagged.names
    ('source_tags',)
    >>> tagged.only(["source_trees"]).names
    ()
    """

    source_tags: Tags | None = None
    source_trees: Trees | None = None
    source_classes: WordClasses | None = None
    target_classes: WordClasses | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotations that are present."""
        return tuple(field.name for field in dataclasses.fields(self) if getattr(self, field.name) is not None)

    @classmethod
    def read(cls, files: Mapping[str, AnyPath | None], source: Text, target: Text | None = None) -> Annotations:
        """Read annotations from files, by name; those without a file (None) are left out."""
        from hyperbaton.corpus.classes import WordClasses
        from hyperbaton.corpus.dependencies import read_trees
        from hyperbaton.corpus.tags import Tags

        readers: dict[str, Callable[[AnyPath], Any]] = {
            "source_tags": lambda path: Tags.read(path, source),
            "source_trees": lambda path: read_trees(path, source),
            "source_classes": lambda path: WordClasses.read(path, source.vocabulary),
            "target_classes": lambda path: WordClasses.read(path, (target or source).vocabulary),
        }
        return cls(**{name: readers[name](path) for name, path in files.items() if path is not None})

    def only(self, names: Iterable[str]) -> Annotations:
        """These annotations and no others."""
        return Annotations(**{name: getattr(self, name) for name in names})

    def select(self, sentences: npt.ArrayLike) -> Annotations:
        """The annotations of the chosen sentences, in that order; word classes are unchanged."""
        of_sentences = {name: getattr(self, name) for name in ("source_tags", "source_trees") if name in self.names}
        return dataclasses.replace(self, **{name: rows.select(sentences) for name, rows in of_sentences.items()})


NAMES = tuple(field.name for field in dataclasses.fields(Annotations))
NOTHING = Annotations()


def missing_tags(model: str) -> OptionError:
    """The error about sentences without tags for a model that was trained with some."""
    return OptionError(
        f"the model{model and f' {model}'} was trained with tags: give the tags of the sentences (--source-tags), "
        "which 'hyperbaton tag' makes"
    )
