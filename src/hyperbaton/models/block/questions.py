"""Questions of `explain` that are specific to block models."""

from __future__ import annotations

from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.models.shapes.base import Questions

SORTS = ("weight", "count")


@dataclass(frozen=True)
class BlockQuestions(Questions):
    """Which features of a block model to show, or the jumps of a tag."""

    family: str | None = option(None, "block_me: show features of this family, e.g. sibling-word")
    tag: str | None = option(None, "block_me: show how far words with this tag jump; with -o as a picture")
    sort: str = option("weight", "block_me: sort features by this", choices=SORTS)

    @property
    def is_empty(self) -> bool:
        return self.family is None and self.tag is None
