"""The input of metrics: translations, their references, and the visit orders of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError

Offsets = npt.NDArray[np.int64]


class Orders(NamedTuple):
    """Visit orders of sentences: that of s is `positions[offsets[s]:offsets[s + 1]]`, source positions, none twice.

    >>> Orders.of([[1, 0], []]).offsets.tolist()
    [0, 2, 2]
    """

    positions: npt.NDArray[np.uint16]
    offsets: Offsets

    @classmethod
    def of(cls, orders: Sequence[Sequence[int]]) -> Orders:
        """Make orders from lists of positions."""
        offsets = np.cumsum([0, *map(len, orders)], dtype=np.int64)
        return cls(np.array([p for order in orders for p in order], np.uint16), offsets)

    @property
    def n_sentences(self) -> int:
        """Number of sentences."""
        return len(self.offsets) - 1


@dataclass(frozen=True)
class Outputs:
    """Hypotheses, each of one line of the references; an n-best list has several for each line.

    `references[r][s]` is reference r of line s, `orders` has a visit order for each hypothesis and
    `reference_orders[r]` one for each line, for every reference or for none.
    """

    hypotheses: Sequence[str]
    references: Sequence[Sequence[str]]
    line: npt.NDArray[np.int64]
    orders: Orders | None = None
    reference_orders: Sequence[Orders] = ()

    def lowercased(self) -> Outputs:
        """These outputs without upper case."""
        hypotheses, *references = ([line.lower() for line in text] for text in (self.hypotheses, *self.references))
        return replace(self, hypotheses=hypotheses, references=references)

    @classmethod
    def of(
        cls,
        hypotheses: Sequence[str],
        *references: Sequence[str],
        line: npt.NDArray[np.int64] | None = None,
        orders: Orders | None = None,
        reference_orders: Sequence[Orders] = (),
    ) -> Outputs:
        """Collect outputs and check that their numbers agree; without `line` there is one hypothesis per line."""
        n_lines = len(references[0]) if references else 0
        if not references:
            raise InputError("a metric needs at least one reference")
        for r, reference in enumerate(references):
            if len(reference) != n_lines:
                raise InputError(
                    f"reference {r + 1} has {counted(len(reference), 'line', form='d')}, the first one {n_lines}"
                )
        if line is None:
            if len(hypotheses) != n_lines:
                raise InputError(f"{len(hypotheses)} hypotheses for {n_lines} lines of references")
            line = np.arange(n_lines, dtype=np.int64)
        line = np.ascontiguousarray(line, np.int64)
        if len(line) != len(hypotheses) or (len(line) and not (line.min() >= 0 and line.max() < n_lines)):
            raise InputError("every hypothesis needs a line of the references")
        if orders is not None and orders.n_sentences != len(hypotheses):
            raise InputError(f"{orders.n_sentences} visit orders for {len(hypotheses)} hypotheses")
        if len(reference_orders) not in (0, len(references)):
            raise InputError(f"visit orders of {len(reference_orders)} references for {len(references)} references")
        for reference_order in reference_orders:
            if reference_order.n_sentences != n_lines:
                raise InputError(f"{reference_order.n_sentences} visit orders of references for {n_lines} lines")
        return cls(hypotheses, references, line, orders, reference_orders)

    @classmethod
    def of_orders(cls, orders: Orders, reference: Orders) -> Outputs:
        """Visit orders and those of a reference, without text."""
        lines = [""] * orders.n_sentences
        return cls.of(lines, lines, orders=orders, reference_orders=[reference])

    def __len__(self) -> int:
        return len(self.hypotheses)

    @property
    def n_references(self) -> int:
        """Number of references of each sentence."""
        return len(self.references)
