"""Phrase pairs in context: the input of a reordering model in training, evaluation and translation.

Samples of a bitext and translation options of a sentence have the same form: a source phrase inside its sentence, and a
target phrase with the links between the two. A sample's target phrase is part of the target sentence; an option's is a
separate sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Integers, offsets_of, ranges
from hyperbaton.base.errors import OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Links, Text, Vocabulary
from hyperbaton.corpus.annotations import missing_tags

if TYPE_CHECKING:
    from hyperbaton.corpus import Bitext, Tags
    from hyperbaton.corpus.classes import WordClasses
    from hyperbaton.phrases.samples import Samples

Keys = npt.NDArray[np.uint64]
# A selection by mask or by number.
Selection = npt.NDArray[np.bool_] | Integers
# Memory for computing the key of a phrase pair: its spans, and some keys.
_KEY_BYTES = 64


@dataclass(frozen=True)
class Spans:
    """Spans of phrases: the sentence, first word and number of words of each."""

    sentence: npt.NDArray[np.uint32]
    begin: npt.NDArray[np.uint16]
    length: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.sentence)

    def select(self, keep: Selection | slice) -> Spans:
        """The chosen spans, by mask or by number; a slice gives views."""
        return Spans(self.sentence[keep], self.begin[keep], self.length[keep])


@dataclass(frozen=True)
class TranslationOptions:
    """Translation options of sentences: source spans, and for each a target phrase with its inner links.

    `target` has one line for each option; `links` are positions inside the two phrases. Options of sentence s are
    `sentence_offsets[s]` up to `sentence_offsets[s + 1]`, if they are sorted by sentence.

    >>> options = TranslationOptions.of([(0, 1, 3, "hong kong", [(0, 0), (1, 1)])])
    >>> len(options), options.target[0]
    (1, ['hong', 'kong'])
    """

    source: Spans
    target: Text
    links: Links
    sentence_offsets: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.source)

    @classmethod
    def of(cls, options: Iterable[tuple[int, int, int, str, Sequence[tuple[int, int]]]]) -> TranslationOptions:
        """Make options from (sentence, first word, one past the last word, target phrase, inner links)."""
        rows = list(options)
        sentence, begin, end = (np.array([row[i] for row in rows], np.int64) for i in range(3))
        spans = Spans(sentence.astype(np.uint32), begin.astype(np.uint16), (end - begin).astype(np.uint8))
        return cls(spans, Text.of([row[3] for row in rows]), Links.of([row[4] for row in rows]))


@dataclass(frozen=True)
class Occurrences:
    """Phrase pairs in context: spans of both sides with their texts, and word links.

    `links` are absolute positions, one line for each sentence of `target`. Tokens can have labels, such as word
    classes: one number for each token of a side.
    """

    source: Text
    target: Text
    links: Links
    source_spans: Spans
    target_spans: Spans
    source_classes: npt.NDArray[np.uint32] | None = None
    target_classes: npt.NDArray[np.uint32] | None = None
    source_tags: Tags | None = None

    def __len__(self) -> int:
        return len(self.source_spans)

    @classmethod
    def of_samples(cls, bitext: Bitext, samples: Samples, source_tags: Tags | None = None) -> Occurrences:
        """The samples of a bitext with links, and with the tags of its source tokens if there are any."""
        return cls(
            bitext.source,
            bitext.target,
            bitext.need_links(),
            Spans(samples.sentence, samples.source_begin, samples.source_length),
            Spans(samples.sentence, samples.target_begin, samples.target_length),
            source_tags=source_tags,
        )

    @classmethod
    def of_options(cls, source: Text, options: TranslationOptions, source_tags: Tags | None = None) -> Occurrences:
        """Translation options of the sentences of a text, which may have tags."""
        n, lengths = len(options), options.target.lengths
        if n and int(lengths.max()) > 255:
            raise OptionError("a target phrase has more than 255 words")
        target = Spans(np.arange(n, dtype=np.uint32), np.zeros(n, np.uint16), lengths.astype(np.uint8))
        points = options.links.points.copy()
        points[:, 0] += np.repeat(options.source.begin, np.diff(options.links.offsets))
        links = Links(points, options.links.offsets)
        return cls(source, options.target, links, options.source, target, source_tags=source_tags)

    def over(self, source: Vocabulary, target: Vocabulary) -> Occurrences:
        """The occurrences over other vocabularies, see `Text.over`."""
        return replace(self, source=self.source.over(source), target=self.target.over(target))

    def with_classes(self, source: WordClasses | None, target: WordClasses | None) -> Occurrences:
        """The occurrences with the classes of their words."""
        return replace(
            self,
            source_classes=None if source is None else source.tags(self.source).astype(np.uint32),
            target_classes=None if target is None else target.tags(self.target).astype(np.uint32),
        )

    def with_tags(self, vocabulary: Vocabulary) -> Occurrences:
        """The occurrences with source tags instead of source classes, numbered as in training."""
        if self.source_tags is None:
            raise missing_tags("")
        return replace(self, source_classes=self.source_tags.over(vocabulary))

    def in_classes(self) -> Occurrences:
        """The occurrences with each word replaced by its class, on the sides that have classes."""
        source, target = self.source, self.target
        if self.source_classes is not None:
            source = replace(source, tokens=self.source_classes)
        if self.target_classes is not None:
            target = replace(target, tokens=self.target_classes)
        return replace(self, source=source, target=target)

    def select(self, keep: Selection) -> Occurrences:
        """The chosen phrase pairs, by mask or by number."""
        return replace(self, source_spans=self.source_spans.select(keep), target_spans=self.target_spans.select(keep))

    def source_keys(self, resources: Resources | None = None) -> Keys:
        """A key for each source phrase, equal for equal phrases."""
        return _phrase_keys(resources, (self.source, self.source_spans))

    def target_keys(self, resources: Resources | None = None) -> Keys:
        """A key for each target phrase, equal for equal phrases."""
        return _phrase_keys(resources, (self.target, self.target_spans))

    def pair_keys(self, resources: Resources | None = None) -> Keys:
        """A key for each phrase pair, equal for equal pairs."""
        return _phrase_keys(resources, (self.source, self.source_spans), (self.target, self.target_spans))

    def source_words(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """The words of all source phrases: offsets, and word numbers."""
        spans = self.source_spans
        begins = self.source.offsets[spans.sentence] + spans.begin
        return offsets_of(spans.length), self.source.tokens[ranges(begins, spans.length)]


def _phrase_keys(resources: Resources | None, *sides: tuple[Text, Spans]) -> Keys:
    """A key for each phrase of a side, or for each pair of phrases of two sides."""
    allowed = resources or Resources.of()

    def keys(rows: slice) -> Keys:
        first, *others = (
            _core.phrase_keys(
                text.core_tokens, spans.sentence[rows], spans.begin[rows], spans.length[rows], allowed.threads
            )
            for text, spans in sides
        )
        # Keys are well mixed, so an odd factor and a sum distinguish the two sides.
        return first * np.uint64(0x9E3779B97F4A7C15) + others[0] if others else first

    return allowed.scratch.filled(len(sides[0][1]), np.uint64, _KEY_BYTES, keys)
