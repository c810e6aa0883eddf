"""A bitext: two texts, in which line i translates line i, and the word links between them if known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, ClassVar, overload

import numpy as np
import numpy.typing as npt

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import within
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shown import Display, Drawing
from hyperbaton.base.store import Arrays, Kind, group, hash_arrays, read_artefact, save
from hyperbaton.corpus.files import AnyPath
from hyperbaton.corpus.links import Links
from hyperbaton.corpus.text import Text, chosen

KIND = "bitext"
STORED = Kind(
    KIND,
    {
        **within("source", Text.LAYOUT, n="n_pairs"),
        **within("target", Text.LAYOUT, n="n_pairs"),
        **within("links?", Links.LAYOUT, n="n_pairs"),
    },
)


@dataclass(frozen=True, repr=False)
class SentencePair(Drawing):
    """One sentence pair of a bitext, as lists; a notebook draws its links, phrases and jumps.

    `links` is None if the bitext has none. A pair can be unpacked: `source, target, links = bitext[0]`.
    """

    source: list[str]
    target: list[str]
    links: list[tuple[int, int]] | None = None

    drawn_by: ClassVar = "hyperbaton.report.picture:draw_sentence_pair"

    def __iter__(self) -> Iterator[Any]:  # each part has its own type
        return iter((self.source, self.target, self.links))

    def __repr__(self) -> str:
        links = () if self.links is None else (" ".join(f"{i}-{j}" for i, j in self.links),)
        return f"SentencePair{(' '.join(self.source), ' '.join(self.target), *links)!r}"


@dataclass(frozen=True, repr=False)
class Bitext(Display):
    """Source and target text, translations of each other line by line, with word links if there are any.

    >>> bitext = Bitext.of(["ta chi fan"], ["he eats rice"], [[(0, 0), (1, 1), (2, 2)]])
    >>> len(bitext), bitext.source[0]
    (1, ['ta', 'chi', 'fan'])
    >>> bitext
    <Bitext: 1 sentence pair, 3 source words, 3 target words, 3 links>
    >>> bitext[0]
    SentencePair('ta chi fan', 'he eats rice', '0-0 1-1 2-2')
    >>> for source, target, links in bitext:
    ...     print(source[2], target[2], links[2])
    fan rice (2, 2)
    """

    source: Text
    target: Text
    links: Links | None = None

    @classmethod
    def read(
        cls,
        source: AnyPath,
        target: AnyPath,
        links: AnyPath | None = None,
        *,
        empty: bool = False,
        scratch: Scratch | None = None,
    ) -> Bitext:
        """Read two tokenized texts and Pharaoh links, plain or compressed (gz, xz, zst).

        Every fault of the input is an `InputError` with file and line. Empty lines are faults too, unless `empty` is true.
        With `scratch`, word numbers and links are stored there.
        """
        from concurrent.futures import ThreadPoolExecutor  # imported here: translating reads no bitext

        with ThreadPoolExecutor(2) as pool:
            texts = [pool.submit(Text.read, path, scratch=scratch) for path in (source, target)]
            src, tgt = texts[0].result(), texts[1].result()
        check_same_length(src, tgt)
        if not empty:
            for text in (src, tgt):
                _refuse_empty(text)
        return cls(src, tgt, None if links is None else Links.read(links, src, tgt, scratch=scratch))

    @classmethod
    def of(cls, source: list[str], target: list[str], links: list[list[tuple[int, int]]] | None = None) -> Bitext:
        """Make a bitext from sentences in memory."""
        bitext = cls(Text.of(source), Text.of(target), None if links is None else Links.of(links))
        check_same_length(bitext.source, bitext.target)
        if bitext.links is not None:
            bitext.links.check(bitext.source, bitext.target)
        return bitext

    def with_links(self, links: Links | Iterable[Sequence[tuple[int, int]]]) -> Bitext:
        """These texts with other links, for example from an aligner: `bitext.with_links(align(bitext))`.

        >>> bitext = Bitext.of(["ta chi"], ["he eats"]).with_links([[(0, 0), (1, 1)]])
        >>> bitext.links
        <Links: 2 links, 1 sentence pair>
        """
        links = links if isinstance(links, Links) else Links.of(links)
        links.check(self.source, self.target)
        return replace(self, links=links)

    def __len__(self) -> int:
        return len(self.source)

    @overload
    def __getitem__(self, sentence: int) -> SentencePair: ...

    @overload
    def __getitem__(self, sentence: slice) -> Bitext: ...

    def __getitem__(self, sentence: int | slice) -> SentencePair | Bitext:
        at = chosen(sentence, len(self))
        if not isinstance(at, int):
            return self.select(at)
        return SentencePair(self.source[at], self.target[at], None if self.links is None else self.links[at])

    def __iter__(self) -> Iterator[SentencePair]:
        return (self[s] for s in range(len(self)))

    def facts(self) -> dict[str, int]:
        """The size of each part."""
        sizes = {
            "sentence pairs": len(self),
            "source words": self.source.n_tokens,
            "target words": self.target.n_tokens,
        }
        return sizes if self.links is None else {**sizes, "links": len(self.links.points)}

    def need_links(self) -> Links:
        """The links, or an error that says how to get some."""
        if self.links is None:
            raise OptionError(
                "the bitext has no word links: make some with bitext.with_links(hyperbaton.align.align(bitext)), "
                "or read them with Bitext.read(source, target, links)"
            )
        return self.links

    def check_lengths(self, begin: int = 0, end: int | None = None) -> None:
        """Raise InputError for a sentence in [begin, end) that is too long for work quadratic in its length."""
        for text in (self.source, self.target):
            text.check_lengths(begin, end)

    def select(self, sentences: npt.ArrayLike) -> Bitext:
        """The chosen sentence pairs, in that order, over the same vocabularies."""
        numbers = np.asarray(sentences, np.int64)
        links = None if self.links is None else self.links.select(numbers)
        return Bitext(self.source.select(numbers), self.target.select(numbers), links)

    def groups(self, size: int) -> Iterator[Bitext]:
        """The sentence pairs in groups of at most `size`, in order; an empty bitext gives one empty group."""
        for begin in range(0, max(len(self), 1), max(size, 1)):
            yield self.select(np.arange(begin, min(begin + size, len(self))))

    def split(self, sizes: Mapping[str, int], seed: int = 1) -> dict[str, Bitext]:
        """Draw disjoint parts of the given sizes at random; the part of size -1 takes the rest.

        Each part keeps the order of the corpus.

        >>> bitext = Bitext.of(list("abcdef"), list("ABCDEF"))
        >>> {name: len(part) for name, part in bitext.split({"train": -1, "test": 2}, seed=3).items()}
        {'train': 4, 'test': 2}
        """
        rests = [name for name, size in sizes.items() if size < 0]
        n_rest = len(self) - sum(size for size in sizes.values() if size >= 0)
        if len(rests) > 1 or n_rest < 0:
            raise OptionError(f"cannot split {len(self)} sentence pairs into {dict(sizes)}")
        order = np.random.default_rng(seed).permutation(len(self))
        parts, start = {}, 0
        for name, size in sizes.items():
            size = n_rest if size < 0 else size
            parts[name] = self.select(np.sort(order[start : start + size]))
            start += size
        return parts

    def arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Everything as named arrays, for the store."""
        links = {} if self.links is None else self.links.arrays("links")
        return {**self.source.arrays("source"), **self.target.arrays("target"), **links}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Bitext:
        """The inverse of `arrays`."""
        links = group(arrays, "links")
        return cls(
            Text.from_arrays(group(arrays, "source")),
            Text.from_arrays(group(arrays, "target")),
            Links.from_arrays(links) if links else None,
        )

    def signature(self) -> str:
        """A hash of texts and links, for manifests and reports."""
        return hash_arrays(self.arrays())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the bitext as an artefact."""
        save(path, STORED, self.arrays(), details={"n_sentences": len(self)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Bitext:
        """Open a saved bitext, memory-mapped."""
        return read_artefact(path, STORED, lambda artefact: cls.from_arrays(artefact.arrays()), content=True)


def need_bitext(value: object, asked: str, instead: str = "") -> None:
    """Raise OptionError unless a value is a bitext.

    Arguments:
        asked: the function that needs a bitext, for the message.
        instead: advice on what else the caller can do.
    """
    if not isinstance(value, Bitext):
        made = "Bitext.of(sources, targets, links) makes one from lists, Bitext.read from files"
        what = "text" if isinstance(value, str) else f"a {type(value).__name__}"
        raise OptionError(f"{asked} takes a Bitext, not {what}: {made}{instead and f'; {instead}'}")


def check_same_length(source: Text, target: Text) -> None:
    """Raise InputError unless both texts have the same number of lines."""
    if len(source) != len(target):
        shorter, longer = sorted((source, target), key=len)
        end, other = counted(len(shorter), "line", form="d"), longer.path or "the other text"
        raise InputError(f"the file ends after {end}; {other} has {len(longer)}", shorter.path, len(shorter) + 1)


def _refuse_empty(text: Text) -> None:
    empty = text.lengths == 0
    if empty.any():
        line = int(np.argmax(empty)) + 1
        raise InputError("the line is empty; 'hyperbaton clean' drops such sentence pairs", text.path, line)
