"""The exceptions of the package. All are subclasses of `HyperbatonError`, with a message of one line that says what to do.

HyperbatonError
├── InputError       a file or line that cannot be used, with its place
│   └── AnnotationError    tags or trees that do not fit their sentences
├── OptionError      an option, name or argument that makes no sense
├── ArtefactError    a stored folder that is missing, damaged or of another version
│   └── DamagedError       stored numbers that do not fit, found where the path is not known
├── MissingExtra     an optional library that is not installed
└── Cancelled        the user or a progress callback asked to stop
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike

from hyperbaton._core import Cancelled as Cancelled
from hyperbaton._core import HyperbatonError as HyperbatonError
from hyperbaton._core import LineError as LineError


def one_line(message: str) -> str:
    r"""Escape line breaks and control characters, since file names may contain any character.

    >>> print(one_line("two\nlines"))
    two\nlines
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in message)


class InputError(HyperbatonError):
    """Input that cannot be used.

    >>> print(InputError("link '9-0' is out of range", path="train.links", line=3))
    train.links:3: link '9-0' is out of range
    """

    def __init__(self, what: str, path: str | PathLike[str] | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{place}{what}")
        self.what, self.path, self.line = what, path, line


class SentenceError(InputError):
    """A fault in a sentence in memory, counted from 1; callers that know the file report the file instead.

    >>> print(SentenceError("not valid UTF-8", 7).moved(100))
    sentence 107: not valid UTF-8
    """

    def __init__(self, what: str, number: int) -> None:
        super().__init__(f"sentence {number}: {what}")
        self.what, self.line = what, number

    def __reduce__(self) -> tuple[type[InputError], tuple[str | int, ...]]:
        return SentenceError, (self.what, self.line or 0)  # raised in a worker, reported by another process

    def moved(self, n_lines: int) -> SentenceError:
        """Return this error for a text in which this number of sentences comes first."""
        return SentenceError(self.what, n_lines + (self.line or 0))


class AnnotationError(SentenceError):
    """Tags or trees that do not fit the sentences they were given with.

    Arguments:
        kind: "tags" or "trees".
        line: the number of the sentence, from 1.

    >>> print(AnnotationError("tags", "2 tags for 3 words", 7))
    tags:7: 2 tags for 3 words
    >>> print(AnnotationError("tags", "2 tags for 3 words", 7).moved(100))
    tags:107: 2 tags for 3 words
    """

    def __init__(self, kind: str, what: str, line: int) -> None:
        InputError.__init__(self, what, kind, line)
        self.kind = kind

    def __reduce__(self) -> tuple[type[InputError], tuple[str | int, ...]]:
        return AnnotationError, (self.kind, self.what, self.line or 0)

    def moved(self, n_lines: int) -> AnnotationError:
        return AnnotationError(self.kind, self.what, n_lines + (self.line or 0))


class OptionError(HyperbatonError):
    """An option or name that makes no sense."""


class ArtefactError(HyperbatonError):
    """A stored folder that is missing, damaged, of another kind, or of another version."""


class DamagedError(ArtefactError):
    """Stored numbers that do not fit each other, found by code that does not know where they are stored.

    >>> print(DamagedError("the words of phrases do not fit their offsets"))
    a stored array is damaged (the words of phrases do not fit their offsets); 'hyperbaton verify' names the file
    """

    def __str__(self) -> str:
        return f"a stored array is damaged ({self.args[0]}); 'hyperbaton verify' names the file"


def installing(extra: str) -> str:
    """How to install an extra. There is no release yet, so it is installed from a checkout."""
    return f"pip install '.[{extra}]' in a checkout of hyperbaton"


class MissingExtra(HyperbatonError):
    """An optional library is not installed.

    >>> print(MissingExtra("jieba", "chinese"))
    jieba is not installed: pip install '.[chinese]' in a checkout of hyperbaton
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: {installing(extra)}")
        self.library, self.extra = library, extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return MissingExtra, (self.library, self.extra)


@contextmanager
def importing(library: str, extra: str, modules: str) -> Iterator[None]:
    """Wrap imports of an optional library, which may be missing, or installed but broken.

    Arguments:
        modules: the names of its modules, separated by spaces.
    """
    try:
        yield
    except ImportError as error:
        raise import_failure(error, library, extra, modules) from error


def import_failure(error: ImportError, library: str, extra: str, modules: str) -> HyperbatonError:
    """The error to raise if an optional library cannot be imported because it is missing, or installed but broken.

    Arguments:
        modules: the names of its modules, separated by spaces.

    >>> print(import_failure(ModuleNotFoundError("No module named 'jieba'", name="jieba"), "jieba", "chinese", "jieba"))
    jieba is not installed: pip install '.[chinese]' in a checkout of hyperbaton
    >>> print(import_failure(ImportError("libmecab.so.2: no such file"), "fugashi", "japanese", "fugashi"))
    fugashi is installed but cannot be imported (libmecab.so.2: no such file); repair it, or install it again
    """
    if isinstance(error, ModuleNotFoundError) and error.name in modules.split():
        return MissingExtra(library, extra)
    return HyperbatonError(f"{library} is installed but cannot be imported ({error}); repair it, or install it again")
