"""Tokenizers by name: one file each, over libraries that are optional extras of the package."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import RLock
from typing import ClassVar

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import from_mapping, options_of
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.registry import Registry

_LOCK = RLock()  # libraries share state, and a tokenizer is called on any thread


class Tokenizer(Picklable, ABC):
    """Splits one raw line into tokens, with tags if it has any. Derived classes are dataclasses of options.

    A tokenizer's library is loaded with the first line, so that listing tokenizers needs none of them.
    """

    has_tags: ClassVar[bool] = False
    language_code: ClassVar[str] = ""  # its language, if it has only one

    @abstractmethod
    def split(self, line: str) -> list[tuple[str, str]]:
        """(token, tag) of a line, with an empty tag if there is none; both may contain blanks, which are removed later."""

    def __call__(self, line: str) -> tuple[list[str], list[str]]:
        """Tokens and tags of a line; no token is empty or contains a blank or the field separator of Moses files."""
        tokens, tags = [], []
        # Inside a line a byte order mark is invisible; at the start of a line the reader refuses it.
        with _LOCK:
            pieces = self.split(line.replace("\ufeff", ""))
        for raw, tag in pieces:
            for token in raw.split():
                tokens.append(token.replace("|", "&#124;") if "|||" in token else token)
                tags.append(tag)
        return tokens, tags


TOKENIZERS: Registry[Tokenizer] = Registry("tokenizer", __name__, Tokenizer)


def tokenizer_for(language: str) -> str:
    """The name of the tokenizer for a language: the one made for it, or that of European languages.

    >>> tokenizer_for("ja"), tokenizer_for("de"), tokenizer_for("")
    ('fugashi', 'sacremoses', 'none')
    """
    made_for_it = (name for name in TOKENIZERS if TOKENIZERS[name].language_code == language)
    return next(made_for_it, "sacremoses") if language else "none"


def make_tokenizer(name: str, language: str | None = None, *, escapes: bool = False) -> Tokenizer:
    """Make a tokenizer by name; a tokenizer for a single language needs no `language`.

    Arguments:
        escapes: write the escapes of Moses' tokenizer, if this is it.

    >>> make_tokenizer("none", "ja")
    Traceback (most recent call last):
        ...
    hyperbaton.base.errors.OptionError: the tokenizer none takes no language, not 'ja'; leave it out
    """
    cls = TOKENIZERS[name]
    known = {opt.name for opt in options_of(cls)}
    options: dict[str, object] = {"escapes": True} if escapes and "escapes" in known else {}
    if language is None or (cls.language_code and language == cls.language_code):
        return from_mapping(cls, options)
    if "language" not in known:
        own = f"is for the language {cls.language_code!r}" if cls.language_code else "takes no language"
        raise OptionError(f"the tokenizer {name} {own}, not {language!r}; leave it out")
    return from_mapping(cls, {"language": language, **options})
