"""The text shared by stages: columns of the splits from the corpus stages, and links from the aligner's stage, if any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from hyperbaton.base.errors import InputError
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import annotate
from hyperbaton.run.stage import CORPUS

# Annotations that are columns of the corpus, by the models' names for them.
FROM_CORPUS = {"source_tags": "tags", "source_trees": "trees"}


class Texts:
    """Finds the columns of a split among the inputs of a stage."""

    def __init__(self, inputs: Mapping[str, Path]) -> None:
        self.inputs = inputs

    def path(self, split: str, column: str) -> Path:
        """The file of a column; the aligner's links take precedence over those of the corpus."""
        path = self._find(split, column)
        if path is None:
            raise InputError(f"the {split} part of the corpus has no {column}")
        return path

    def has(self, split: str, column: str) -> bool:
        return self._find(split, column) is not None

    def _find(self, split: str, column: str) -> Path | None:
        folders = [self.inputs[name] for name in ("links", f"{CORPUS}{split}") if name in self.inputs]
        return next((path for folder in folders if (path := folder / f"{split}.{column}").exists()), None)

    def bitext(self, split: str, *, links: bool = True, scratch: Scratch | None = None) -> Bitext:
        """A split as a bitext, with links if there are any, stored where `scratch` says."""
        links_path = self.path(split, "links") if links else None
        return Bitext.read(self.path(split, "source"), self.path(split, "target"), links_path, scratch=scratch)

    def lines(self, split: str, column: str) -> list[str]:
        return list(read_lines(self.path(split, column)))

    def annotations(self, split: str, names: Iterable[str], bitext: Bitext) -> Annotations:
        """The given annotations of a split, for models."""
        files = {
            name: self.path(split, FROM_CORPUS[name]) if name in FROM_CORPUS else self.inputs[name] / "classes"
            for name in names
        }
        return Annotations.read(files, bitext.source, bitext.target)

    def for_decoder(self, split: str, columns: Iterable[str]) -> Annotations:
        """The annotations of each sentence for the decoder: its tags, its tree."""
        return annotate(self.lines(split, "source"), **{column: self.lines(split, column) for column in columns})
