"""One side of a bitext: sentences of word numbers, with the vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import islice, pairwise, takewhile
from typing import ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, Integers, gather, offsets_of
from hyperbaton.base.columns import ArrayFields, Sliceable
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.packed import PackedNumbers, core_numbers
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.shown import Display
from hyperbaton.base.store import Arrays, check_offsets
from hyperbaton.corpus.files import AnyPath, feed, feed_lines, read_pieces, shown

WordIds = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]
CHUNK = 10_000  # sentences that are written together
SAMPLE = 2000  # sentences that show whether a text is tokenized
_COMMAS, _CLOSING = frozenset(",、，،"), "\"'”’»)」』）"
_MARKS = _COMMAS | frozenset(".!?;:。！？；：؟")
T = TypeVar("T")


@dataclass(frozen=True)
class Vocabulary(ArrayFields, Picklable):
    """Words numbered from 0 in order of first appearance; word i is `bytes[offsets[i]:offsets[i + 1]]`.

    `order`: their numbers in byte order, by which a stored vocabulary is searched without reading all of it.
    """

    bytes: npt.NDArray[np.uint8]
    offsets: Offsets
    order: npt.NDArray[np.uint32] | PackedNumbers | None = None

    LAYOUT: ClassVar[Layout] = {"bytes": "u1 n_bytes", "offsets": "i8 n_words+1", "order?": "u4|packed n_words"}

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """Number a list of distinct words.

        >>> Vocabulary.of(["a", "bc"]).word(1)
        'bc'
        """
        lookup = _core.Vocabulary()
        for word in words:
            lookup.add(word)
        return cls(*lookup.arrays())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def word(self, number: int) -> str:
        """The word with that number."""
        return bytes(self.bytes[self.offsets[number] : self.offsets[number + 1]]).decode("utf-8", "replace")

    def number(self, word: str) -> int:
        """The number of a word, -1 if it has none."""
        if self.order is None:
            return self.lookup.find(word)
        return int(self.find_all(Vocabulary.of([word])).view(np.int32)[0])

    def find_all(self, words: Vocabulary) -> npt.NDArray[np.uint32]:
        """The number of each word of another vocabulary, 2³² − 1 if it has none."""
        if self.order is not None:
            return _core.find_ordered(self.spelling, core_numbers(self.order), words.spelling)
        return self.lookup.find_all(words.spelling) if len(words) else np.zeros(0, np.uint32)

    def find_or_add(self, words: Vocabulary) -> tuple[npt.NDArray[np.uint32], Vocabulary]:
        """The number of each word of another vocabulary, and the words that are new; they have the next numbers."""
        numbers = self.find_all(words)
        new = np.flatnonzero(numbers == _core.UNKNOWN_WORD)
        numbers[new] = len(self) + np.arange(len(new), dtype=np.uint32)
        return numbers, words.select(new)

    def packed(self) -> Vocabulary:
        text, places = bytes(self.bytes), pairwise(self.offsets.tolist())
        words = [text[begin:end] for begin, end in places]
        return replace(self, order=PackedNumbers.of(np.array(sorted(range(len(words)), key=words.__getitem__), np.uint32)))

    def words(self) -> list[str]:
        """All words, in order."""
        try:
            text = bytes(self.bytes).decode()
        except UnicodeDecodeError:
            return [self.word(number) for number in range(len(self))]
        characters = offsets_of((self.bytes & 0xC0) != 0x80)  # before each byte
        return [text[a:b] for a, b in pairwise(characters[self.offsets].tolist())]

    def select(self, numbers: Integers) -> Vocabulary:
        """The chosen words, numbered in that order."""
        return Vocabulary(*_core.select_words(self.spelling, np.asarray(numbers, np.int64)))

    def followed_by(self, new: Vocabulary) -> Vocabulary:
        """These words, and after them new ones."""
        offsets = np.concatenate([self.offsets, self.offsets[-1] + new.offsets[1:]])
        return Vocabulary(np.concatenate([self.bytes, new.bytes]), offsets)

    @cached_property
    def lookup(self) -> _core.Vocabulary:
        """The numbers of words, as the core looks them up."""
        return _core.Vocabulary(self.bytes, self.offsets)

    @cached_property
    def spelling(self) -> _core.Spelling:
        """The words as the core reads them."""
        return _core.Spelling(bytes=self.bytes, offsets=self.offsets)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        vocabulary = super().from_arrays(arrays)
        check_offsets(vocabulary.offsets, len(vocabulary.bytes))
        return vocabulary


class SentenceRows(ArrayFields, Sliceable[T]):
    """Base of data classes with columns of rows by sentence: those of sentence s are `offsets[s]` to `offsets[s + 1]`.

    The fields are the columns, then `offsets`, then anything else.
    """

    offsets: Offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def select(self, sentences: npt.ArrayLike) -> Self:
        """The rows of the chosen sentences, in that order, over the same vocabularies."""
        where, offsets = gather(self.offsets, np.asarray(sentences, np.int64))
        names = takewhile(lambda name: name != "offsets", (field.name for field in fields(self)))  # type: ignore[arg-type]
        return replace(self, **{name: getattr(self, name)[where] for name in names}, offsets=offsets)  # type: ignore[type-var]

    def sliced(self, places: npt.NDArray[np.int64]) -> Self:
        return self.select(places)

    def chunks(self, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[npt.NDArray[np.int64]]:
        """The numbers of the chosen sentences, or of all, in chunks for writing."""
        numbers = np.arange(len(self)) if sentences is None else np.asarray(sentences, np.int64)
        return (np.ascontiguousarray(numbers[at : at + CHUNK]) for at in range(0, max(len(numbers), 1), CHUNK))


def read_in_parts(
    reader: _core.TextBuilder | _core.PharaohReader, path: AnyPath, scratch: Scratch, dtype: npt.DTypeLike
) -> tuple[Array, Offsets]:
    """Values and offsets of all lines of a file; if scratch is on disk, only small parts are in memory during reading."""
    values, offsets, n_values = Column(scratch, dtype), Column(scratch, np.int64), 0

    def take() -> None:
        nonlocal n_values
        part, part_offsets = reader.take()
        values.append(part)
        offsets.append(part_offsets if n_values == 0 and not offsets else part_offsets[1:] + n_values)
        n_values += len(part)

    def pieces() -> Iterator[bytes]:
        n_bytes = 0
        for piece in read_pieces(path):
            yield piece
            n_bytes += len(piece)
            if scratch.memory is not None and n_bytes > scratch.memory // 8:
                take()
                n_bytes = 0

    feed(reader, path, pieces())
    take()
    return values.finish(), offsets.finish()


class Faults(NamedTuple):
    """Lines that were emptied because they are broken, and what is wrong with each (`_core.describe_fault`)."""

    lines: npt.NDArray[np.int64]  # 0-based
    kinds: npt.NDArray[np.uint8]


@dataclass(frozen=True, repr=False)
class Text(Display, SentenceRows[list[str]]):
    """Tokenized sentences: sentence s is `tokens[offsets[s]:offsets[s + 1]]`.

    If they were raw text, `places[t]` is the first character of token t in its line, and one past the last.

    >>> text = Text.of(["the cat sleeps", "the dog"])
    >>> len(text), text.n_tokens, text[1]
    (2, 5, ['the', 'dog'])
    >>> text[1:]
    <Text: 1 sentence, 2 words, 4 vocabulary words>
    """

    tokens: WordIds
    offsets: Offsets
    vocabulary: Vocabulary
    path: str | None = field(default=None, compare=False)
    places: npt.NDArray[np.int32] | None = field(default=None, compare=False)  # (n_tokens, 2)

    LAYOUT: ClassVar[Layout] = {
        "tokens": "u4 n_tokens",
        "offsets": "i8 n+1",
        **within("vocabulary", Vocabulary.LAYOUT),
    }
    PARTS: ClassVar = {"vocabulary": Vocabulary}

    @classmethod
    def read(cls, path: AnyPath, vocabulary: Vocabulary | None = None, *, scratch: Scratch | None = None) -> Text:
        """Read a tokenized text, one sentence per line, plain or compressed.

        Words of a given vocabulary keep their numbers; new words get the next numbers. With `scratch` the word numbers are
        stored there, and only the vocabulary is in memory.
        """
        builder = _core.TextBuilder(_copy(vocabulary), False)
        tokens, offsets = read_in_parts(builder, path, scratch or Scratch(), np.uint32)
        return cls(tokens, offsets, Vocabulary(*builder.vocabulary().arrays()), shown(path))

    @classmethod
    def read_with_faults(cls, path: AnyPath, repair: bool) -> tuple[Text, Faults]:
        """Read a tokenized text; with `repair`, broken lines become empty and are listed instead of being errors.

        Byte order marks are then skipped, and carriage returns and tabs count as spaces.
        """
        builder = _core.TextBuilder(_core.Vocabulary(), repair)
        feed(builder, path)
        return cls.taken(builder, shown(path))

    @classmethod
    def of(cls, sentences: Sequence[str], vocabulary: Vocabulary | None = None) -> Text:
        """Make a text from sentences in memory."""
        if isinstance(sentences, str):
            raise OptionError("a text is made from a list of sentences, not from a single one: put it into a list")
        builder = _core.TextBuilder(_copy(vocabulary), False)
        feed_lines(builder, sentences)
        return cls.taken(builder, None)[0]

    @classmethod
    def taken(cls, builder: _core.TextBuilder, path: str | None) -> tuple[Text, Faults]:
        """The text of a finished builder, and the lines that it emptied."""
        tokens, offsets = builder.take()
        return cls(tokens, offsets, Vocabulary(*builder.vocabulary().arrays()), path), Faults(*builder.faults())

    def facts(self) -> dict[str, int]:
        return {"sentences": len(self), "words": self.n_tokens, "vocabulary words": len(self.vocabulary)}

    def item(self, at: int) -> list[str]:
        return [self.vocabulary.word(i) for i in self.tokens[self.offsets[at] : self.offsets[at + 1]]]

    def arrays(self, prefix: str = "") -> dict[str, Array]:
        # Places are not stored.
        return super().arrays(prefix) if self.places is None else replace(self, places=None).arrays(prefix)

    def select(self, sentences: npt.ArrayLike) -> Text:
        """The chosen sentences, in that order, over the same vocabulary."""
        chosen = super().select(sentences)
        if self.places is None:
            return chosen
        return replace(chosen, places=self.places[gather(self.offsets, np.asarray(sentences, np.int64))[0]])

    def places_of(self, sentence: int) -> list[tuple[int, int]]:
        """The characters of each token of a sentence in its raw line, half-open."""
        if self.places is None:
            raise OptionError("places of tokens need raw text: give its language")
        return [(begin, end) for begin, end in self.places[self.offsets[sentence] : self.offsets[sentence + 1]].tolist()]

    @property
    def n_tokens(self) -> int:
        """The number of words in all sentences."""
        return int(self.offsets[-1])

    @property
    def core_tokens(self) -> _core.Tokens:
        """The word numbers as the core reads them."""
        return _core.Tokens(words=self.tokens, offsets=self.offsets)

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of words of each sentence."""
        return np.diff(self.offsets)

    def check_lengths(self, begin: int = 0, end: int | None = None) -> None:
        """Raise InputError for a sentence in [begin, end) that is too long for work quadratic in its length."""
        long = np.flatnonzero(np.diff(self.offsets[begin : None if end is None else end + 1]) > _core.MAX_PAIRED_LENGTH)
        if len(long):
            limit = f"a sentence of more than {_core.MAX_PAIRED_LENGTH} words: split it, or drop it with 'hyperbaton clean'"
            raise InputError(limit, self.path, begin + int(long[0]) + 1)

    def over(self, vocabulary: Vocabulary) -> Text:
        """This text over another vocabulary, whose words keep their numbers; new words of the text get the next numbers.

        It takes time in proportion to the text, not to the vocabularies.

        >>> text = Text.of(["a new dog"]).over(Vocabulary.of(["a", "dog"]))
        >>> text.tokens.tolist(), text[0]
        ([0, 2, 1], ['a', 'new', 'dog'])
        """
        old = self.vocabulary
        if old is vocabulary:
            return self
        words, places = _core.distinct(self.tokens)
        numbers, new = vocabulary.find_or_add(old.select(words))
        return replace(self, tokens=numbers[places], vocabulary=vocabulary.followed_by(new) if len(new) else vocabulary)

    def pieces(self, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[bytes]:
        """The chosen sentences as lines of text, in pieces."""
        return (_core.format_text(self.core_tokens, self.vocabulary.spelling, chunk) for chunk in self.chunks(sentences))

    def lines(self, sentences: npt.NDArray[np.int64] | None = None) -> list[str]:
        """The chosen sentences, or all, as lines without their ends."""
        return b"".join(self.pieces(sentences)).decode("utf-8", "replace").split("\n")[:-1]


def joined(texts: Sequence[Text]) -> Text:
    """Texts one after the other, over one vocabulary."""
    vocabulary, parts = texts[0].vocabulary, list[Text]()
    for text in texts:
        parts.append(text.over(vocabulary))
        vocabulary = parts[-1].vocabulary
    lengths = np.concatenate([part.lengths for part in parts])
    return Text(np.concatenate([part.tokens for part in parts]), offsets_of(lengths), vocabulary)


def raw_word(sentences: Iterable[Sequence[str]]) -> str:
    """A word with a mark that a tokenizer would separate, if the first sentences look like raw text.

    >>> raw_word(Text.of(["He came, and left."] * 3)), raw_word(Text.of(["He came , and left ."] * 3))
    ('came,', '')
    """
    attached: list[str] = []
    n_sentences = n_separate = 0
    for words in islice(sentences, SAMPLE):
        n_sentences += 1
        marked = [word for word in words[:-1] if word[-1:] in _COMMAS] + list(words[-1:])
        attached += filter(has_attached_mark, marked)
        n_separate += sum(not any(map(str.isalnum, word)) for word in marked)
    return attached[0] if len(attached) >= max(3, n_sentences / 10) and len(attached) > 2 * n_separate else ""


def has_attached_mark(word: str) -> bool:
    """Whether a word ends in a mark that a tokenizer would separate.

    >>> has_attached_mark("came,"), has_attached_mark('came."'), has_attached_mark(",")
    (True, True, False)
    """
    return word.rstrip(_CLOSING)[-1:] in _MARKS and any(map(str.isalnum, word))


def _copy(vocabulary: Vocabulary | None) -> _core.Vocabulary:
    return _core.Vocabulary() if vocabulary is None else _core.Vocabulary(vocabulary.bytes, vocabulary.offsets)
