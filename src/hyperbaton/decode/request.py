"""Input of the search: lines without markup, long ones in pieces, over the vocabularies of the phrase table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import AnnotationError, SentenceError
from hyperbaton.corpus import Annotations, Tags, Text, Trees, Vocabulary
from hyperbaton.decode.annotated import check_tags, without_control, without_separator
from hyperbaton.decode.markup import Markup, parse_markup, punctuation_walls
from hyperbaton.decode.options import Decoding
from hyperbaton.phrases import PhraseTable


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
            # A line of n characters has fewer than n words: most lines need not be tokenized to know this.
            tokens = line.split(" ") if len(line) > max_words else []
            if len(tokens) <= max_words:
                pieces.append(line)
            else:
                words = [token for token in tokens if token]
                pieces += [" ".join(words[i : i + max_words]) for i in range(0, max(len(words), 1), max_words)]
            offsets.append(len(pieces))
        return cls(pieces, np.array(offsets, np.int64))

    def need_whole(self, what: str) -> None:
        """Complain of a sentence that was split."""
        cut = np.flatnonzero(np.diff(self.offsets) > 1)
        if len(cut):
            raise SentenceError(what, int(cut[0]) + 1)


def unforced(max_words: int) -> str:
    """The error for a sentence that is too long to be forced to a translation."""
    return (
        f"a sentence of more than {max_words} words cannot be forced to its reference; raise --max-words, or leave it out"
    )


@dataclass(frozen=True)
class Request:
    """Sentences to translate, in pieces, with the constraints from their markup and from the caller.

    `text` contains the pieces, then the required translations, then the forced ones; `target` is this text over the
    table's target vocabulary, with new words after its own.
    """

    options: Decoding
    table: PhraseTable
    markup: Markup
    pieces: Pieces
    text: Text
    target: Text
    is_forced: bool
    of_sentences: Annotations

    @classmethod
    def of(
        cls,
        lines: Sequence[str],
        table: PhraseTable,
        options: Decoding,
        forced: Sequence[str] | None,
        annotations: Annotations,
        markup: Markup | None = None,
    ) -> Request:
        """Read lines with their annotations; `forced` are forced translations.

        `markup` replaces the markup in the lines.
        """
        if markup is None:
            markup = parse_markup(lines) if options.markup else Markup.none(lines)
        pieces = Pieces.of([without_control(line) for line in markup.lines], options.max_words)
        if forced is not None:
            pieces.need_whole(unforced(options.max_words))
        if markup.any():
            pieces.need_whole(f"sentences with markup may have {options.max_words} words")
        demanded = [demand.translation for demand in markup.demands]
        text = Text.of([without_separator(line) for line in [*pieces.lines, *demanded, *(forced or [])]])
        target = text.over(table.target.vocabulary)
        request = cls(options, table, markup, pieces, text, target, forced is not None, annotations)
        request._check_annotations()
        return request

    def _check_annotations(self) -> None:
        """Check that the annotations match the sentences."""
        tags, trees = self.of_sentences.source_tags, self.of_sentences.source_trees
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
        return self.text.select(np.arange(len(self.pieces.lines)))

    @cached_property
    def new_words(self) -> Vocabulary:
        """The words that are not in the table's target vocabulary, in the order of their numbers after it."""
        words, known = self.target.vocabulary, len(self.table.target.vocabulary)
        start = words.offsets[known]
        return Vocabulary(words.bytes[start:], words.offsets[known:] - start)

    @cached_property
    def tokens(self) -> _core.SourceTokens:
        """The words of the pieces by the table's numbers, and the target words used when they are passed through."""
        source, n = self.source, len(self.source.tokens)
        numbers = self.table.source.vocabulary.lookup.find_all(self.text.vocabulary.lookup)
        tokens = _core.Tokens(words=numbers[source.tokens], offsets=source.offsets)
        return _core.SourceTokens(tokens=tokens, copies=self.target.tokens[:n])

    @cached_property
    def demands(self) -> _core.Demands:
        """The translations required by the markup."""
        first = len(self.source)
        spans = np.array([demand.span for demand in self.markup.demands], np.int64).reshape(-1, 3)
        return _core.Demands(spans=spans, words=self._target_tokens(first, first + len(spans)))

    @cached_property
    def forced(self) -> _core.Tokens | None:
        """The forced translations."""
        return self._target_tokens(len(self.source) + len(self.markup.demands), len(self.text)) if self.is_forced else None

    def _target_tokens(self, first: int, last: int) -> _core.Tokens:
        offsets = self.target.offsets[first : last + 1]
        return _core.Tokens(words=self.target.tokens[offsets[0] : offsets[-1]], offsets=offsets - offsets[0])

    @property
    def walls(self) -> npt.NDArray[np.int64]:
        """(sentence, word before) of each wall."""
        walls = self.markup.walls
        if self.options.monotone_at_punctuation:
            walls = sorted({*walls, *punctuation_walls(self.source)})
        return np.array(walls, np.int64).reshape(-1, 2)

    @property
    def zones(self) -> npt.NDArray[np.int64]:
        """(sentence, first word, one past the last) of each zone."""
        return np.array(self.markup.zones, np.int64).reshape(-1, 3)

    @cached_property
    def annotations(self) -> Annotations:
        """The annotations of the pieces; split sentences have no tree."""
        tags, trees = self.of_sentences.source_tags, self.of_sentences.source_trees
        return Annotations(
            source_tags=None if tags is None else Tags(tags.labels, self.source.offsets, tags.vocabulary),
            source_trees=None if trees is None else self._trees_of_pieces(trees),
        )

    def _trees_of_pieces(self, trees: Trees) -> Trees:
        n_pieces = np.diff(self.pieces.offsets)
        whole = n_pieces == 1
        sizes = np.where(whole, np.diff(trees.offsets), 0)
        offsets = np.concatenate([[0], np.cumsum(np.repeat(sizes, n_pieces))])
        return replace(trees.select(np.flatnonzero(whole)), offsets=offsets)
