"""An array of any type and shape, where a docstring says which; and lines of text as an array, for files of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def lines_as_array(lines: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Lines as bytes of UTF-8, a newline after each; no line may contain one.

    >>> array_as_lines(lines_as_array(["a b", "", "ü"]))
    ['a b', '', 'ü']
    """
    return np.frombuffer("".join(f"{line}\n" for line in lines).encode(), np.uint8)


def array_as_lines(array: npt.NDArray[np.uint8]) -> list[str]:
    """The inverse of `lines_as_array`."""
    return array.tobytes().decode().split("\n")[:-1]
