"""Lexicalized reordering tables: p(orientation | phrase pair), by counting samples, as in Moses.

    p(o | s, t) = (c(o, s, t) + σ) / (c(s, t) + σ n),    σ = 0.5 by default, n orientations

A table is named as in Moses: `unit-orientations-direction-conditioning`, for example `hier-mslr-bidirectional-fe`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.progress import n_threads
from hyperbaton.base.scratch import Scratch
from hyperbaton.phrases.orientation import ORIENTATIONS, MosesSet, Side, orientation_set

if TYPE_CHECKING:
    from hyperbaton.phrases.extraction import PairOrientations

SMOOTHING = 0.5

# Memory for counting, per column of the table.
_BYTES = 32


@dataclass(frozen=True)
class ReorderingType:
    """The type of a reordering table of Moses, by its name.

    >>> ReorderingType.parse("msd-bidirectional-fe").name
    'wbe-msd-bidirectional-fe'
    >>> ReorderingType.parse("hier-mslr-backward-f").sides
    ('before',)
    """

    unit: str
    orientations: str
    direction: str
    conditioning: str

    UNITS: ClassVar = ("wbe", "phrase", "hier")
    DIRECTIONS: ClassVar[dict[str, tuple[Side, ...]]] = {
        "backward": ("before",),
        "forward": ("after",),
        "bidirectional": ("before", "after"),
    }
    CONDITIONINGS: ClassVar = ("f", "fe")

    @classmethod
    def parse(cls, name: str) -> ReorderingType:
        """Read a name as Moses does: any order, unit `wbe`, direction `backward` and conditioning `fe` by default."""
        parts = {"unit": "wbe", "direction": "backward", "conditioning": "fe"}
        kinds = {"unit": cls.UNITS, "direction": tuple(cls.DIRECTIONS), "conditioning": cls.CONDITIONINGS}
        for part in name.split("-"):
            part = {"unidirectional": "backward", "word": "wbe", "hierarchical": "hier"}.get(part, part)
            kind = next((kind for kind, values in kinds.items() if part in values), None)
            if kind is None and not _is_moses_set(part):
                kinds = {"unit": cls.UNITS, "orientations": _moses_sets(), **kinds}
                allowed = " ".join(f"{kind}: {', '.join(values)};" for kind, values in kinds.items())
                raise OptionError(f"unknown part {part!r} of the reordering type {name!r}; {allowed.rstrip(';')}")
            parts[kind or "orientations"] = part
        if "orientations" not in parts:
            raise OptionError(f"the reordering type {name!r} names no orientations: {', '.join(_moses_sets())}")
        return cls(**parts)

    @property
    def name(self) -> str:
        """Moses' name of the type."""
        return f"{self.unit}-{self.orientations}-{self.direction}-{self.conditioning}"

    @property
    def sides(self) -> tuple[Side, ...]:
        """The neighbours relative to which orientations are counted, in the order of the table's blocks."""
        return self.DIRECTIONS[self.direction]

    @property
    def set(self) -> MosesSet:
        """Its orientation set."""
        return cast("MosesSet", orientation_set(f"{self.unit}-{self.orientations}"))


def _is_moses_set(name: str) -> bool:
    return name in ORIENTATIONS and issubclass(ORIENTATIONS[name], MosesSet)


def _moses_sets() -> tuple[str, ...]:
    return tuple(name for name in ORIENTATIONS if _is_moses_set(name))


def reordering_probabilities(
    orientations: PairOrientations,
    kind: ReorderingType,
    *,
    smoothing: float = SMOOTHING,
    min_count: int = 1,
    threads: int | None = None,
    scratch: Scratch | None = None,
) -> Array:
    """The probabilities of a reordering table, a block of columns for each side.

    Shape: (pairs seen at least `min_count` times, columns), or (source phrases, columns) if the conditioning is on `f`
    alone. With `scratch` they are counted in pieces that fit into its memory, and stored there.
    """
    scratch = scratch or Scratch()
    return scratch.join(probability_pieces(orientations, kind, scratch, smoothing, min_count, threads), np.float64)


def probability_pieces(
    orientations: PairOrientations,
    kind: ReorderingType,
    scratch: Scratch,
    smoothing: float = SMOOTHING,
    min_count: int = 1,
    threads: int | None = None,
) -> Iterator[npt.NDArray[np.float64]]:
    """Consecutive rows of `reordering_probabilities`, in pieces that fit into the memory of `scratch`."""
    orientations.check()
    classes, by_source = kind.set, kind.conditioning == "f"
    for offsets, packed in orientations.groups(scratch, _BYTES * len(kind.sides) * len(classes), by_source=by_source):
        sides = [classes.classify_orientations(packed, side) for side in kind.sides]
        piece = _core.class_probabilities(offsets, sides, len(classes), smoothing, n_threads(threads))
        yield piece if by_source or min_count <= 1 else piece[np.diff(offsets) >= min_count]
