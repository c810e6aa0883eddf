"""The text that stages share: columns of the splits, from the corpus stage, and links from the aligner's where it ran."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Tags, Trees
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import ModelUse, System


class Texts:
    """Finds the columns of a split among the inputs of a stage."""

    def __init__(self, inputs: Mapping[str, Path]) -> None:
        self.inputs = inputs

    def path(self, split: str, column: str) -> Path:
        """The file of a column; links of an aligner come before those of the corpus."""
        for stage in ("links", "corpus"):
            if stage in self.inputs and (path := self.inputs[stage] / f"{split}.{column}").exists():
                return path
        raise InputError(f"the {split} part of the corpus has no {column}")

    def has(self, split: str, column: str) -> bool:
        return any((self.inputs[s] / f"{split}.{column}").exists() for s in ("links", "corpus") if s in self.inputs)

    def bitext(self, split: str, *, links: bool = True) -> Bitext:
        """A split as a bitext, with links if there are any."""
        found = self.path(split, "links") if links else None
        return Bitext.read(self.path(split, "source"), self.path(split, "target"), found)

    def lines(self, split: str, column: str) -> list[str]:
        """A column as lines."""
        return list(read_lines(self.path(split, column)))

    def annotations(self, split: str, names: Iterable[str], bitext: Bitext) -> dict[str, Any]:
        """What models are trained with besides the bitext, by the names that `fit` has for it."""
        readers: dict[str, Callable[[], Any]] = {
            "source_tags": lambda: Tags.read(self.path(split, "tags"), bitext.source),
            "source_trees": lambda: Trees.read(self.path(split, "trees"), bitext.source),
            "source_classes": lambda: self._classes("source_classes", bitext.source.vocabulary),
            "target_classes": lambda: self._classes("target_classes", bitext.target.vocabulary),
        }
        return {name: readers[name]() for name in names}

    def for_decoder(self, split: str, system: System) -> dict[str, Any]:
        """What the models of a system want to know of each sentence besides its words, by the decoder's names for it."""
        models = [use.model for use in system.reordering.values() if isinstance(use, ModelUse)]
        return {
            what: self.lines(split, what)
            for what in ("tags", "trees")
            if any(getattr(m, f"needs_{what}", False) for m in models)
        }

    def _classes(self, name: str, vocabulary: Any) -> WordClasses:
        return WordClasses.read(self.inputs[name] / "classes", vocabulary)
