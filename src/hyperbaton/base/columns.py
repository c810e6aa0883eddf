"""Data classes whose fields are arrays, which a store can keep, and sequences that have slices."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import ClassVar, Generic, Self, SupportsIndex, TypeVar, overload

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array
from hyperbaton.base.forms import Layout
from hyperbaton.base.packed import PackedNumbers, stored, stored_numbers
from hyperbaton.base.store import Arrays, group

T = TypeVar("T")


class ArrayFields:
    """Base of data classes whose fields are arrays or, as `PARTS` says, other such classes; the rest has defaults."""

    LAYOUT: ClassVar[Layout]
    PARTS: ClassVar[Mapping[str, type[ArrayFields]]] = {}

    def arrays(self, prefix: str = "") -> dict[str, Array]:
        """Everything as named arrays, for the store."""
        arrays: dict[str, Array] = {}
        for field in fields(self):  # type: ignore[arg-type]  # derived classes are data classes
            name, value = f"{prefix}.{field.name}" if prefix else field.name, getattr(self, field.name)
            if field.name in self.PARTS:
                arrays |= {} if value is None else value.arrays(name)
            elif isinstance(value, np.ndarray | PackedNumbers):
                arrays[name] = stored(value)
        return arrays

    def packed(self) -> Self:
        """Pack the columns that may be packed, as the layout says."""
        parts = {name: getattr(self, name).packed() for name in self.PARTS}
        may_be = [name for name, declared in self.LAYOUT.items() if "|packed" in declared and "." not in name]
        return replace(self, **{name: PackedNumbers.of(getattr(self, name)) for name in may_be}, **parts)  # type: ignore[type-var]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The inverse of `arrays`, names without the prefix."""
        values: dict[str, Array | ArrayFields] = {}
        layout = getattr(cls, "LAYOUT", {})
        for field in fields(cls):  # type: ignore[arg-type]
            required = field.default is MISSING
            if field.name in cls.PARTS:
                part = group(arrays, field.name)
                if part or required:
                    values[field.name] = cls.PARTS[field.name].from_arrays(part)
            elif required or field.name in arrays:
                array = arrays[field.name]
                values[field.name] = stored_numbers(array) if "packed" in layout.get(field.name, "packed") else array
        return cls(**values)


class Sliceable(Generic[T]):
    """Base of sequences that can be sliced."""

    noun: ClassVar = "sentence"  # in messages

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def item(self, at: int) -> T:
        """The item at a place, from 0."""

    @abstractmethod
    def sliced(self, places: npt.NDArray[np.int64]) -> Self:
        """The items at some places, in that order."""

    @overload
    def __getitem__(self, at: SupportsIndex) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Self: ...

    def __getitem__(self, at: SupportsIndex | slice) -> T | Self:
        if isinstance(at, slice):
            return self.sliced(np.arange(len(self))[at])
        place, n = operator.index(at), len(self)
        if not -n <= place < n:
            raise IndexError(f"{self.noun} {place} of {n}")
        return self.item(place % n)

    def __iter__(self) -> Iterator[T]:
        return (self.item(place) for place in range(len(self)))
