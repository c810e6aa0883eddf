"""The features of AL14 Table 1: linked word pairs inside the phrase pair, and the source words next to the phrase.

As in the paper, features of neighbouring words do not distinguish left from right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperbaton.features._templates import Template, TemplateFeatures


@dataclass
class AlignedWords(TemplateFeatures):
    """Linked word pairs of the phrase pair, and the source word on each side of it (Alrajeh 2014, Table 1)."""

    def templates(self) -> Iterator[Template]:
        yield Template("link", "source", "links")
        yield Template("context", "source", "before", -1)
        yield Template("context", "source", "after", 1)
