"""The phrase table: for each source phrase its target phrases with scores, counts and inner links.

The four scores of a pair (s, t) are Moses': p(s|t), lex(s|t), p(t|s), lex(t|s). Phrase probabilities are relative
frequencies or smoothed; lexical weights are the product over words of the mean probability given the linked words
(Koehn et al. 2003), under the links that the pair has most often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align.lexical import LexicalTable
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.options import check_options, option
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.store import Arrays, Artefact, check_offsets, group, save
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.text import Offsets, WordIds
from hyperbaton.phrases.inventory import Inventory, Phrases
from hyperbaton.phrases.samples import Samples
from hyperbaton.phrases.smoothing import SMOOTHINGS, PairCounts

KIND = "phrase-table"
SCORES = ("p(s|t)", "lex(s|t)", "p(t|s)", "lex(t|s)")


@dataclass
class Scoring:
    """Options of the phrase table."""

    smoothing: str = option("none", "smoothing of phrase probabilities: none, good-turing or kneser-ney")
    min_count: int = option(1, "drop pairs seen fewer times", minimum=1)


@dataclass(frozen=True)
class PhraseTable(Picklable):
    """Phrase pairs with scores.

    Pairs of source phrase p are rows `offsets[p]` to `offsets[p + 1]`. `targets`: target phrase of each; `scores` (n, k),
    probabilities; `counts` (n, 3): of the target phrase, the source phrase and the pair; `links` (m, 2) with
    `link_offsets`: positions inside the phrases.
    """

    source: Phrases
    target: Phrases
    offsets: Offsets
    targets: npt.NDArray[np.uint32]
    scores: npt.NDArray[np.float32]
    counts: npt.NDArray[np.float32]
    link_offsets: Offsets
    links: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def sources(self) -> npt.NDArray[np.uint32]:
        """The source phrase of each pair."""
        self.check()
        return np.repeat(np.arange(len(self.source), dtype=np.uint32), np.diff(self.offsets))

    def check(self) -> None:
        """Raise ArtefactError unless all offsets fit; for what looks at the whole table without the core."""
        try:
            for phrases in (self.source, self.target):
                check_offsets(phrases.offsets, len(phrases.words))
            check_offsets(self.offsets, len(self))
            check_offsets(self.link_offsets, len(self.links))
        except ValueError as error:
            raise ArtefactError(f"the phrase table is damaged ({error}); 'hyperbaton verify' names the file") from error

    @cached_property
    def arrays_view(self) -> _core.TableArrays:
        """The arrays as the core wants them."""
        return self._arrays(self.source.words, self.target.words)

    def _arrays(self, source_words: WordIds, target_words: WordIds) -> _core.TableArrays:
        return _core.TableArrays(
            self.source.offsets,
            source_words,
            self.target.offsets,
            target_words,
            self.offsets,
            self.targets,
            self.link_offsets,
            self.links,
        )

    def lexical_weights(self, lexical: LexicalTable, threads: int | None = None) -> npt.NDArray[np.float64]:
        """(lex(s|t), lex(t|s)) of every pair, under the table's inner links."""
        sides = ((self.source, lexical.source), (self.target, lexical.target))
        words = [
            phrases.words
            if phrases.vocabulary is vocabulary
            else normalization.numbers(phrases.vocabulary, vocabulary)[phrases.words]
            for (phrases, vocabulary), normalization in zip(sides, lexical.normalizations, strict=True)
        ]
        return self._arrays(*words).lexical_weights(
            lexical.offsets,
            lexical.targets,
            lexical.probabilities,
            len(lexical.source),
            len(lexical.target),
            threads or default_threads(),
        )

    def options_of(self, phrase: str) -> list[tuple[str, list[float]]]:
        """The target phrases of a source phrase with their scores, best p(t|s) first."""
        number = self.source.number(phrase)
        if number < 0:
            return []
        rows = range(self.offsets[number], self.offsets[number + 1])
        translations = [(self.target[self.targets[row]], self.scores[row].tolist()) for row in rows]
        return sorted(translations, key=lambda pair: -pair[1][2 if len(pair[1]) > 2 else 0])

    @classmethod
    def build(
        cls,
        bitext: Bitext,
        samples: Samples,
        options: Scoring | None = None,
        *,
        inventory: Inventory | None = None,
        lexical: LexicalTable | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> PhraseTable:
        """Score the phrase pairs of samples.

        Lexical weights come from the frequencies of links, as in Moses, unless a lexical table is given, for example an
        aligner's.

        >>> from hyperbaton.phrases import extract
        >>> bitext = Bitext.of(["a b", "a"], ["x y", "z"], [[(0, 0), (1, 1)], [(0, 0)]])
        >>> table = PhraseTable.build(bitext, extract(bitext))
        >>> [(target, scores[2]) for target, scores in table.options_of("a")]
        [('x', 0.5), ('z', 0.5)]
        """
        options = options or Scoring()
        check_options(options)
        threads = threads or default_threads()
        pairs = inventory or Inventory.of(bitext, samples, threads=threads, progress=progress)
        joint = np.diff(pairs.sample_offsets).astype(np.uint32)
        sources = np.repeat(np.arange(len(pairs.source), dtype=np.uint32), np.diff(pairs.offsets))
        forward = PairCounts(joint, sources, pairs.targets, len(pairs.source), len(pairs.target))
        backward = PairCounts(joint, pairs.targets, sources, len(pairs.target), len(pairs.source))
        smoothing = SMOOTHINGS[options.smoothing]()
        counts = np.stack([backward.given_totals()[pairs.targets], forward.given_totals()[sources], joint], axis=1)
        scores = np.empty((pairs.n_pairs, 4), np.float32)
        scores[:, 0] = smoothing.probabilities(backward)
        scores[:, 2] = smoothing.probabilities(forward)

        lexical = lexical or LexicalTable.from_links(bitext, threads)
        links = bitext.need_links()
        # Equally frequent inner links are told apart by each direction in its own way, as Moses does.
        spans = _core.PairSpans(
            sentence=samples.sentence,
            source_begin=samples.source_begin,
            source_length=samples.source_length,
            target_begin=samples.target_begin,
            target_length=samples.target_length,
        )
        for ties_by_source, column, weight in ((True, 1, 0), (False, 3, 1)):
            inner = _core.most_frequent_links(
                pairs.sample_offsets,
                pairs.sample_order,
                spans,
                links.points,
                links.offsets,
                ties_by_source,
                threads,
                progress,
            )
            table = cls(pairs.source, pairs.target, pairs.offsets, pairs.targets, scores, counts.astype(np.float32), *inner)
            scores[:, column] = table.lexical_weights(lexical, threads)[:, weight]
        return table if options.min_count <= 1 else table.select(joint >= options.min_count)

    def select(self, keep: npt.NDArray[np.bool_]) -> PhraseTable:
        """The table with only the pairs where `keep` is true; phrases keep their numbers."""
        self.check()
        kept = np.concatenate([[0], np.cumsum(keep)]).astype(np.int64)
        lengths = np.diff(self.link_offsets)
        return PhraseTable(
            self.source,
            self.target,
            kept[self.offsets],
            self.targets[keep],
            self.scores[keep],
            self.counts[keep],
            np.concatenate([[0], np.cumsum(lengths[keep])]).astype(np.int64),
            self.links[np.repeat(keep, lengths)],
        )

    def arrays(self, prefix: str = KIND) -> dict[str, npt.NDArray[Any]]:
        """Everything as named arrays, for the store."""
        return {
            **self.source.arrays(f"{prefix}.source"),
            **self.target.arrays(f"{prefix}.target"),
            f"{prefix}.offsets": self.offsets,
            f"{prefix}.targets": self.targets,
            f"{prefix}.scores": self.scores,
            f"{prefix}.counts": self.counts,
            f"{prefix}.link_offsets": self.link_offsets,
            f"{prefix}.links": self.links,
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> PhraseTable:
        """The inverse of `arrays`, names without the prefix.

        A table can be large: only its sizes are looked at. The core checks every number that it takes from it.
        """
        table = cls(
            Phrases.from_arrays(group(arrays, "source")),
            Phrases.from_arrays(group(arrays, "target")),
            *(arrays[name] for name in ("offsets", "targets", "scores", "counts", "link_offsets", "links")),
        )
        n_pairs, scores = len(table), table.scores
        if (
            (len(table.offsets), len(table.link_offsets)) != (len(table.source) + 1, n_pairs + 1)
            or (table.counts.shape, table.links.shape[1:]) != ((n_pairs, 3), (2,))
            or (scores.ndim, len(scores)) != (2, n_pairs)
            or (table.offsets[-1], table.link_offsets[-1]) != (n_pairs, len(table.links))
        ):
            raise ValueError("the arrays of the phrase table do not fit each other")
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as an artefact."""
        save(path, KIND, self.arrays(), details={"n_pairs": len(self)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PhraseTable:
        """Open a saved table, memory-mapped."""
        artefact = Artefact(path, KIND)
        with artefact.reading():
            return cls.from_arrays(artefact.group(KIND))
