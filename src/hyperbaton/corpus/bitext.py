"""A bitext: two texts, in which line i translates line i, and the word links between them if known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.columns import ArrayFields, Sliceable
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import within
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.shown import Display, Drawing
from hyperbaton.base.store import Artefact, Kind, check_numbers, check_offsets, hash_arrays, read_artefact, save
from hyperbaton.corpus.files import AnyPath
from hyperbaton.corpus.links import Links
from hyperbaton.corpus.text import Text

if TYPE_CHECKING:
    from hyperbaton.corpus.processing import Languages, TextProcessing

KIND = "bitext"
LAYOUT = {
    **within("source", Text.LAYOUT, n="n_pairs"),
    **within("target", Text.LAYOUT, n="n_pairs"),
    **within("links?", Links.LAYOUT, n="n_pairs"),
}
STORED = Kind(
    KIND,
    lambda manifest: LAYOUT | (_processing().LAYOUT if "text" in manifest["details"] else {}),
    {"details": {"text?": lambda _: _processing().FORM}},
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
class Bitext(Display, ArrayFields, Sliceable[SentencePair]):
    """Source and target text, translations of each other line by line, with word links if there are any.

    `text` says how raw text was tokenized; without it, the bitext was read as tokens separated by spaces.

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
    >>> Bitext.of(["Isst er Reis?"], ["Does he eat rice?"], languages=("de", "en"))
    <Bitext: 1 sentence pair, 4 source words, 5 target words, raw text de-en>
    """

    source: Text
    target: Text
    links: Links | None = None
    text: TextProcessing | None = field(default=None, kw_only=True, compare=False)

    PARTS: ClassVar = {"source": Text, "target": Text, "links": Links}

    @classmethod
    def read(
        cls,
        source: AnyPath,
        target: AnyPath,
        links: AnyPath | None = None,
        *,
        languages: Languages | None = None,
        empty: bool = False,
        scratch: Scratch | None = None,
        processes: int = 1,
    ) -> Bitext:
        """Read two texts and Pharaoh links, plain or compressed (gz, xz, zst).

        Every fault of the input is an `InputError` with file and line.

        Arguments:
            languages: of raw text, for example `("de", "en")`; without them, the files contain tokens separated by spaces.
                Options of the text may follow a language: `"de:casing=truecase"`. Read a development text with the `text`
                of the training text, `languages=train.text`, so that both have the same spellings.
            empty: whether lines may be empty.
            scratch: where word numbers and links are stored, unless the text is raw.
            processes: that tokenize raw text.
        """
        text = None
        if languages is not None:
            src, tgt, text = _processing().TextProcessing.of(languages).read(source, target, processes)
        else:
            from concurrent.futures import ThreadPoolExecutor  # imported here: translating reads no bitext

            with ThreadPoolExecutor(2) as pool:
                texts = [pool.submit(Text.read, path, scratch=scratch) for path in (source, target)]
                src, tgt = texts[0].result(), texts[1].result()
        check_same_length(src, tgt)
        if not empty:
            for side in (src, tgt):
                refuse_empty(side)
        return cls(src, tgt, None if links is None else Links.read(links, src, tgt, scratch=scratch), text=text)

    @classmethod
    def of(
        cls,
        source: list[str],
        target: list[str],
        links: list[list[tuple[int, int]]] | None = None,
        *,
        languages: Languages | None = None,
    ) -> Bitext:
        """Make a bitext from sentences in memory; `languages` of raw text as for `read`."""
        if languages is None:
            src, tgt, text = Text.of(source), Text.of(target), None
        else:
            src, tgt, text = _processing().TextProcessing.of(languages).read(source, target)
        bitext = cls(src, tgt, None if links is None else Links.of(links), text=text)
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

    def item(self, at: int) -> SentencePair:
        return SentencePair(self.source[at], self.target[at], None if self.links is None else self.links[at])

    def sliced(self, places: npt.NDArray[np.int64]) -> Bitext:
        return self.select(places)

    def facts(self) -> dict[str, object]:
        return {
            "sentence pairs": len(self),
            "source words": self.source.n_tokens,
            "target words": self.target.n_tokens,
            **({} if self.links is None else {"links": len(self.links.points)}),
            **({} if self.text is None else {"raw text": [self.text.pair]}),
        }

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
        return replace(self, source=self.source.select(numbers), target=self.target.select(numbers), links=links)

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
        offsets = offsets_of([n_rest if size < 0 else size for size in sizes.values()])
        parts = np.split(np.random.default_rng(seed).permutation(len(self)), offsets[1:])
        return {name: self.select(np.sort(part)) for name, part in zip(sizes, parts, strict=False)}

    def signature(self) -> str:
        """A hash of texts and links, for manifests and reports."""
        return hash_arrays(self.arrays())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the bitext as an artefact."""
        arrays, details = self.arrays(), dict[str, object](n_sentences=len(self))
        if self.text is not None:
            arrays |= self.text.arrays("text")
            details["text"] = self.text.as_json()
        save(path, STORED, arrays, details=details)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Bitext:
        """Open a saved bitext, memory-mapped."""

        def read(artefact: Artefact) -> Bitext:
            bitext = cls.from_arrays(artefact.arrays())
            for text in (bitext.source, bitext.target):
                check_offsets(text.offsets, len(text.tokens))
                check_numbers(text.tokens, len(text.vocabulary), "word")
            if bitext.links is not None:
                check_offsets(bitext.links.offsets, len(bitext.links.points))
                bitext.links.check(bitext.source, bitext.target)
            if "text" in artefact.details:
                return replace(
                    bitext, text=_processing().TextProcessing.restore(artefact.details["text"], artefact.group("text"))
                )
            return bitext

        return read_artefact(path, STORED, read, content=True)


def _processing() -> ModuleType:
    from hyperbaton.corpus import processing  # imported here: most bitexts are tokenized

    return processing


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


def refuse_empty(text: Text) -> None:
    empty = text.lengths == 0
    if empty.any():
        line = int(np.argmax(empty)) + 1
        raise InputError("the line is empty; 'hyperbaton clean' drops such sentence pairs", text.path, line)
