"""Orientation sets: the classes of a phrase's movement.

A set is one file in `phrases/orientations/`, found by its name. It either cuts the signed distance d at increasing points,
or uses Moses' orientations of a sample. The core computes both; a set only names and merges the classes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.base.registry import Registry
from hyperbaton.base.scratch import Scratch
from hyperbaton.phrases.coverage import possible_of_samples

if TYPE_CHECKING:
    from hyperbaton.corpus import Bitext
    from hyperbaton.phrases.samples import Samples

Classes = npt.NDArray[np.uint8]
Side = Literal["before", "after"]
Unit = Literal["word", "phrase", "hierarchical"]


def distances(samples: Samples, side: Side = "before") -> npt.NDArray[np.int16]:
    """The signed distance d of each sample towards the previous or next phrase."""
    return samples.distance_before if side == "before" else samples.distance_after


def near_samples(samples: Samples, max_distance: int, side: Side = "before", scratch: Scratch | None = None) -> Samples:
    """The samples with |d| ≤ max_distance, or all samples if it is 0; their columns are stored in `scratch`."""
    if max_distance == 0:
        return samples
    scratch, moved = scratch or Scratch(), distances(samples, side)
    near = scratch.filled(len(moved), np.bool_, 16, lambda rows: np.abs(moved[rows].astype(np.int32)) <= max_distance)
    return samples.select(near, scratch)


class OrientationSet(ABC):
    """Assigns samples to classes, named in `names`."""

    names: tuple[str, ...]

    @abstractmethod
    def classify(self, samples: Samples, side: Side = "before") -> Classes:
        """The class of each sample towards the previous (`before`) or next (`after`) phrase."""

    @property
    def possible_classes(self) -> _core.PossibleClasses:
        """The classes that a phrase can have towards the previous one, given the visited words."""
        raise OptionError("possible classes are known only for distance sets and Moses' sets")

    def possible(self, bitext: Bitext, samples: Samples) -> npt.NDArray[np.bool_]:
        """Whether each sample can have each class, (n_samples, n_classes), given the source words that are linked to
        target words left of it.

        The class of a sample by distance is always possible. Moses decides by the links at the corners of a box, and
        chooses *discontinuous right* if there are none: only that label may be impossible.
        """
        return possible_of_samples(self.possible_classes, len(self), bitext, samples)

    def __len__(self) -> int:
        return len(self.names)


class DistanceSet(OrientationSet):
    """Cuts the distance at increasing points: class c has the distances from cut c - 1 up to, but not including, cut c.

    >>> DistanceSet(0, 1).names
    ('d<0', 'd=0', 'd>0')
    >>> DistanceSet(-4, 0, 1, 5).classify_distances(np.array([-9, -4, 0, 4, 5], np.int16)).tolist()
    [0, 1, 2, 3, 4]
    """

    def __init__(self, *cuts: int) -> None:
        if not cuts or any(b <= a for a, b in pairwise(cuts)):
            raise OptionError(f"cut points must increase, not {', '.join(map(str, cuts)) or 'be missing'}")
        self.cuts = cuts
        self.names = tuple(_interval(a, b) for a, b in zip((None, *cuts), (*cuts, None), strict=True))

    def classify_distances(self, distances: npt.NDArray[np.int16]) -> Classes:
        """The class of each distance."""
        return _core.classify_distances(distances, np.array(self.cuts, np.int32))

    @property
    def possible_classes(self) -> _core.PossibleClasses:
        return _core.PossibleClasses.of_distances(list(self.cuts))

    def classify(self, samples: Samples, side: Side = "before") -> Classes:
        return self.classify_distances(distances(samples, side))


def _interval(start: int | None, end: int | None) -> str:
    """The name of the distances from `start` up to, but not including, `end`.

    >>> _interval(None, -4), _interval(-4, 0), _interval(0, 1), _interval(1, 5), _interval(5, None)
    ('d≤-5', '-5<d<0', 'd=0', '0<d<5', 'd≥5')
    """
    if end is None:
        return "d>0" if start == 1 else f"d≥{start}"
    if start is None:
        return "d<0" if end == 0 else f"d≤{end - 1}"
    return f"d={start}" if end - start == 1 else f"{start - 1}<d<{end}"


class MosesSet(OrientationSet):
    """Reads Moses' orientations, decided on words, on phrases, or hierarchically.

    `merge` maps Moses' four classes (monotone, swap, discontinuous left and right) to those of the set;
    `columns` are the short names of Moses' tables.
    """

    merge: ClassVar[tuple[int, int, int, int]]
    columns: ClassVar[tuple[str, ...]]

    def __init__(self, unit: Unit = "word") -> None:
        if unit not in get_args(Unit):
            raise OptionError(f"unknown unit {unit!r}; known: {', '.join(get_args(Unit))}")
        self.unit = unit

    @property
    def possible_classes(self) -> _core.PossibleClasses:
        return _core.PossibleClasses.of_orientations(list(self.merge))

    def classify_orientations(self, orientations: npt.NDArray[np.uint16], side: Side = "before") -> Classes:
        """The class of each of Moses' orientations, packed as in `Samples`."""
        shift = _core.orientation_shift(_core.Unit[self.unit], _core.Side[side])
        four = (orientations >> np.uint16(shift)) & np.uint16(3)
        return np.array(self.merge, np.uint8)[four]

    def classify(self, samples: Samples, side: Side = "before") -> Classes:
        return self.classify_orientations(samples.orientations, side)


ORIENTATIONS: Registry[OrientationSet] = Registry("orientation", "hyperbaton.phrases.orientations", OrientationSet)


def orientation_set(name: str) -> OrientationSet:
    """Make an orientation set from its name, or from cut points.

    `phrase-mslr` and `hier-mslr` are Moses' sets decided on phrases or hierarchically; plain `mslr` on words.

    >>> orientation_set("three").names
    ('d<0', 'd=0', 'd>0')
    >>> orientation_set("-2,0,1,3").names
    ('d≤-3', '-3<d<0', 'd=0', '0<d<3', 'd≥3')
    >>> orientation_set("hier-msd").names
    ('monotone', 'swap', 'discontinuous')
    """
    if name.lstrip("-")[:1].isdigit():
        try:
            return DistanceSet(*(int(cut) for cut in name.split(",")))
        except ValueError as error:
            raise OptionError(f"cut points must be whole numbers like -4,0,1,5, not {name!r}") from error
    unit, _, rest = name.partition("-")
    units: dict[str, Unit] = {"wbe": "word", "word": "word", "phrase": "phrase", "hier": "hierarchical"}
    if unit in units and rest:
        cls = ORIENTATIONS[rest]
        if not issubclass(cls, MosesSet):
            raise OptionError(f"orientation set {rest!r} is not decided on {unit}")
        return cls(units[unit])
    return ORIENTATIONS[name]()
