"""Features of the block model: the families of questions, the (question, target, jump) with a weight, and what to show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Layout
from hyperbaton.base.options import option
from hyperbaton.models.shapes.base import Questions

FAMILIES = tuple(_core.block_families())
NEED_TAGS = {"tags", "sibling-tag"}
NEED_TREES = {"parse-coverage", "sibling-word", "sibling-tag", "ancestor-coverage"}
# The families of XI11; the coverage of nodes above the parent is not among them.
USUAL_FAMILIES = tuple(family for family in FAMILIES if family != "ancestor-coverage")

# Columns of features: keys of questions with targets, the first feature of each key, jump and count of each feature,
# and the question of each key.
LAYOUT: Layout = {
    "keys": "u8 n_keys",
    "starts": "i8 n_keys+1",
    "jumps": "u1 n",
    "counts": "u4 n",
    "asks": "u1 n_keys",
    "sources": "u4 n_keys",
    "as": "u4 n_keys",
    "bs": "u4 n_keys",
    "targets": "u4 n_keys",
}
COLUMNS = tuple(LAYOUT)

SORTS = ("weight", "count")


def families_of(text: str, *, tagged: bool, parsed: bool) -> tuple[str, ...]:
    """The families that an option names and the annotations allow, in the core's order.

    >>> families_of("tags, lexical", tagged=False, parsed=True)
    ('lexical',)
    """
    asked = {family.strip() for family in text.split(",") if family.strip()}
    for family in sorted(asked):
        if family not in FAMILIES:
            raise OptionError(f"unknown family of features {family!r}; there are {', '.join(FAMILIES)}")
    forbidden = (set() if tagged else NEED_TAGS) | (set() if parsed else NEED_TREES)
    return tuple(family for family in FAMILIES if family in asked - forbidden)


def family_bits(families: Iterable[str]) -> int:
    return sum(1 << FAMILIES.index(family) for family in families)


def core_features(columns: dict[str, Array]) -> _core.BlockFeatures:
    return _core.BlockFeatures(*(columns[name] for name in COLUMNS if name != "counts"))


@dataclass(frozen=True)
class BlockQuestions(Questions):
    """Which features of a block model to show, or the jumps of a tag."""

    family: str | None = option(None, "show features of this family of block_me, e.g. sibling-word", metavar="NAME")
    tag: str | None = option(None, "show how far words with this tag jump in block_me; with -o as a picture", metavar="TAG")
    sort: str = option("weight", "sort features of block_me by this", choices=SORTS)

    @property
    def is_empty(self) -> bool:
        return self.family is None and self.tag is None
