"""Input of the search: sentences, long ones in pieces, over the vocabularies of the phrase table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.errors import AnnotationError, SentenceError
from hyperbaton.corpus import Annotations, Text, Vocabulary
from hyperbaton.corpus.text import Offsets, WordIds
from hyperbaton.decode.annotated import AnnotatedLines, check_tags, without_control, without_separator
from hyperbaton.decode.markup import Constraints, punctuation_walls
from hyperbaton.decode.options import Decoding
from hyperbaton.phrases import PhraseTable

if TYPE_CHECKING:
    from hyperbaton.corpus import Trees


def cuts(n_words: int, most: int) -> list[tuple[int, int]]:
    """The spans of the pieces of a sentence, each of at most `most` words; an empty sentence is one piece.

    >>> cuts(5, 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    return [(at, min(at + most, n_words)) for at in range(0, max(n_words, 1), most)]


class Pieces(NamedTuple):
    """Sentences, with long ones split."""

    lines: list[str]
    offsets: npt.NDArray[np.int64]  # pieces of sentence s: [offsets[s], offsets[s + 1])

    @classmethod
    def of(cls, lines: Sequence[str], max_words: int) -> Pieces:
        """Split lines that are too long.

        >>> Pieces.of(["a b c", "d"], 2).lines
        ['a b', 'c', 'd']
        """
        pieces: list[str] = []
        offsets = [0]
        for line in lines:
            # A line of n characters has fewer than n words, so most lines need not be tokenized.
            tokens = line.split(" ") if len(line) > max_words else []
            if len(tokens) <= max_words:
                pieces.append(line)
            else:
                words = [token for token in tokens if token]
                pieces += [" ".join(words[begin:end]) for begin, end in cuts(len(words), max_words)]
            offsets.append(len(pieces))
        return cls(pieces, np.array(offsets, np.int64))

    def need_whole(self, sentences: Iterable[int], what: str) -> None:
        """Raise an error for the first of these sentences that was split."""
        for s in sentences:
            if self.offsets[s + 1] - self.offsets[s] > 1:
                raise SentenceError(what, s + 1)


def unforced(max_words: int) -> str:
    """The error message for a sentence that is too long for forced decoding."""
    return (
        f"a sentence of more than {max_words} words cannot be forced to its reference; raise --max-words, or leave it out"
    )


@dataclass(frozen=True)
class Request:
    """Sentences to translate, in pieces, with the constraints on their translations.

    `text` contains the pieces, then the required translations, then the forced ones. `target_words` has the number of each
    word of its vocabulary in the table's target vocabulary, which `new_words` follow. Nothing here takes time in proportion
    to the vocabularies of the table.
    """

    options: Decoding
    table: PhraseTable
    sentences: AnnotatedLines
    pieces: Pieces
    text: Text
    target_words: WordIds
    new_words: Vocabulary
    is_forced: bool

    @classmethod
    def of(
        cls, sentences: AnnotatedLines, table: PhraseTable, options: Decoding, forced: Sequence[str] | None = None
    ) -> Request:
        """Read sentences; `forced` are forced translations."""
        pieces = Pieces.of([without_control(line) for line in sentences.lines], options.max_words)
        if forced is not None:
            pieces.need_whole(range(len(sentences.lines)), unforced(options.max_words))
        constrained = [s for s, limits in enumerate(sentences.constraints) if limits]
        pieces.need_whole(constrained, f"sentences with markup may have {options.max_words} words")
        demanded = [translation for s in constrained for _, _, translation in sentences.constraints[s].demands]
        text = Text.of([without_separator(line) for line in [*pieces.lines, *demanded, *(forced or [])]])
        numbers, new_words = table.target.vocabulary.find_or_add(text.vocabulary)
        request = cls(options, table, sentences, pieces, text, numbers, new_words, forced is not None)
        request._check_annotations()
        return request

    def _check_annotations(self) -> None:
        tags, trees = self.sentences.annotations.source_tags, self.sentences.annotations.source_trees
        if tags is None and trees is None:
            return
        n_words = np.diff(self.source.offsets[self.pieces.offsets])
        for kind, column in (("tags", tags), ("trees", trees)):
            if column is not None and len(column) != len(n_words):
                raise AnnotationError(kind, f"{len(column)} {kind} for {len(n_words)} sentences", len(n_words) + 1)
        if tags is not None:
            check_tags(np.diff(tags.offsets), n_words)
        if trees is not None:
            parsed = np.flatnonzero(np.diff(trees.offsets))
            n_leaves = trees.ends[trees.offsets[parsed]]  # a root is the first of its nodes
            for s, n in zip(parsed[n_leaves != n_words[parsed]], n_leaves[n_leaves != n_words[parsed]], strict=True):
                raise AnnotationError("trees", f"a tree of {n} words for {n_words[s]} words", int(s) + 1)

    @cached_property
    def source(self) -> Text:
        """The pieces."""
        n_pieces = len(self.pieces.lines)
        return self.text if n_pieces == len(self.text) else self.text.select(np.arange(n_pieces))

    def spelled(self, words: WordIds, offsets: Offsets) -> Text:
        """Target phrases, given as numbers in the table's vocabulary and of new words, over a vocabulary of their words."""
        numbers, vocabulary = _core.spell(words, self.table.target.vocabulary.spelling, self.new_words.spelling)
        return Text(numbers, offsets, Vocabulary(*vocabulary))

    @cached_property
    def tokens(self) -> _core.SourceTokens:
        """The words of the pieces by the table's numbers, and the target words used when they are passed through."""
        source = self.source
        numbers = self.table.source.vocabulary.find_all(self.text.vocabulary)
        tokens = _core.Tokens(words=numbers[source.tokens], offsets=source.offsets)
        return _core.SourceTokens(tokens=tokens, copies=self.target_words[source.tokens])

    @cached_property
    def demands(self) -> _core.Demands:
        """The required translations."""
        first = len(self.source)
        spans = [(piece, begin, end) for piece, constraints in self._constraints for begin, end, _ in constraints.demands]
        words = self._target_tokens(first, first + len(spans))
        return _core.Demands(spans=spans, words=words)

    @cached_property
    def forced(self) -> _core.Tokens | None:
        """The forced translations."""
        first = len(self.source) + sum(len(constraints.demands) for _, constraints in self._constraints)
        return self._target_tokens(first, len(self.text)) if self.is_forced else None

    def _target_tokens(self, first: int, last: int) -> _core.Tokens:
        offsets = self.text.offsets[first : last + 1]
        words = self.target_words[self.text.tokens[offsets[0] : offsets[-1]]]
        return _core.Tokens(words=words, offsets=offsets - offsets[0])

    @property
    def walls(self) -> list[tuple[int, int]]:
        """The piece of each wall, and the word before it."""
        walls = [(piece, word) for piece, constraints in self._constraints for word in constraints.walls]
        return sorted({*walls, *punctuation_walls(self.source)}) if self.options.monotone_at_punctuation else walls

    @property
    def zones(self) -> list[tuple[int, int, int]]:
        """(piece, first word, one past the last) of each zone."""
        return [(piece, begin, end) for piece, constraints in self._constraints for begin, end in constraints.zones]

    @property
    def _constraints(self) -> Iterator[tuple[int, Constraints]]:
        """The constraints of sentences that have some, each with the piece that is its sentence."""
        firsts = self.pieces.offsets.tolist()
        return ((firsts[s], limits) for s, limits in enumerate(self.sentences.constraints) if limits)

    @cached_property
    def annotations(self) -> Annotations:
        """The annotations of the pieces; split sentences have no tree."""
        tags, trees = self.sentences.annotations.source_tags, self.sentences.annotations.source_trees
        return Annotations(
            source_tags=None if tags is None else replace(tags, offsets=self.source.offsets),
            source_trees=None if trees is None else self._trees_of_pieces(trees),
        )

    def _trees_of_pieces(self, trees: Trees) -> Trees:
        n_pieces = np.diff(self.pieces.offsets)
        whole = n_pieces == 1
        sizes = np.where(whole, np.diff(trees.offsets), 0)
        offsets = offsets_of(np.repeat(sizes, n_pieces))
        return replace(trees.select(np.flatnonzero(whole)), offsets=offsets)
