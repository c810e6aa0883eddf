"""The exceptions of the package. All of them are `HyperbatonError`, and say in one line what to do.

HyperbatonError
├── InputError       a file or line that cannot be used, with its place
├── OptionError      an option, name or argument that makes no sense
├── ArtefactError    a stored folder that is missing, damaged or of another version
├── MissingExtra     an optional library that is not installed
└── Cancelled        the user or a progress callback asked to stop
"""

from __future__ import annotations

from os import PathLike

from hyperbaton._core import Cancelled, HyperbatonError, LineError

__all__ = [
    "ArtefactError",
    "Cancelled",
    "HyperbatonError",
    "InputError",
    "LineError",
    "MissingExtra",
    "OptionError",
]


class InputError(HyperbatonError):
    """Input that cannot be used.

    >>> print(InputError("link '9-0' is out of range", path="train.links", line=3))
    train.links:3: link '9-0' is out of range
    """

    def __init__(self, what: str, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{place}{what}")
        self.what, self.path, self.line = what, path, line


class OptionError(HyperbatonError):
    """An option or name that makes no sense."""


class ArtefactError(HyperbatonError):
    """A stored folder that is missing, damaged, of another kind, or of another version."""


class MissingExtra(HyperbatonError):
    """An optional library is not installed.

    >>> print(MissingExtra("jieba", "chinese"))
    jieba is not installed: pip install 'hyperbaton[chinese]'
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'hyperbaton[{extra}]'")
