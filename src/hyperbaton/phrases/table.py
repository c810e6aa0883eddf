"""The phrase table: for each source phrase its target phrases with scores, counts and inner links.

The four scores of a pair (s, t) are Moses': p(s|t), lex(s|t), p(t|s), lex(t|s). Phrase probabilities are relative
frequencies or smoothed; lexical weights are the product over words of the mean probability given the linked words
(Koehn et al. 2003), under the links that the pair has most often.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import DamagedError, OptionError
from hyperbaton.base.forms import Layout, within
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.packed import PackedNumbers, core_numbers, stored, stored_numbers
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.base.shown import Display
from hyperbaton.base.store import Arrays, Kind, check_finite, check_numbers, check_offsets, group, read_artefact, save
from hyperbaton.base.workers import Shared, load_arrays, save_arrays
from hyperbaton.corpus.lengths import N_CLASSES, TextLengths
from hyperbaton.corpus.text import Offsets
from hyperbaton.phrases.inventory import SIDES, Inventory, Phrases
from hyperbaton.phrases.pair_values import (
    CountedScores,
    CountRows,
    DistinctRows,
    Floats,
    LinkedScores,
    LinkSetColumn,
    LinkSets,
    Owners,
    PhraseCounts,
    PlainCounts,
    PlainScores,
    ScoreRows,
    WordCounts,
)

if TYPE_CHECKING:
    from hyperbaton.align.lexical import LexicalTable
    from hyperbaton.align.lexicon import Lexicon
    from hyperbaton.corpus import Bitext, Links
    from hyperbaton.phrases.samples import Samples

KIND = "phrase-table"
SCORES = ("p(s|t)", "lex(s|t)", "p(t|s)", "lex(t|s)")


# Memory for scoring, per pair, with its inner links.
_BYTES = 200
_PART = 1 << 21  # pairs that a worker scores in a task


def _smoothings() -> list[str]:
    from hyperbaton.phrases.smoothing import SMOOTHINGS  # not needed to read tables

    return [name.replace("_", "-") for name in SMOOTHINGS.names()]


@dataclass
class Scoring(CheckedOptions):
    """Options of the phrase table."""

    smoothing: str = option("none", "smoothing of phrase probabilities", choices=_smoothings)
    min_count: int = option(1, "drop pairs seen fewer times", minimum=1)


@dataclass(frozen=True, repr=False)
class PhraseTable(Display, Picklable):
    """Phrase pairs with scores.

    Pairs of source phrase p are rows `offsets[p]` to `offsets[p + 1]`. `targets`: target phrase of each; `scores` (n, k),
    probabilities; `counts` (n, 3): of the target phrase, the source phrase and the pair; `links`: links inside the pairs.
    Scores and counts are stored, or computed when asked for: `table.scores[:]` is an array. `lengths`: those of the
    training text, if they are known; `words`: counts of its links, if lexical weights are those of the links.
    """

    source: Phrases
    target: Phrases
    offsets: Offsets
    targets: npt.NDArray[np.uint32]
    scores: ScoreRows
    counts: CountRows
    links: LinkSets
    lengths: TextLengths | None = None
    words: WordCounts | None = None

    LAYOUT: ClassVar[Layout] = {
        **within("source", Phrases.LAYOUT),
        **within("target", Phrases.LAYOUT),
        "offsets": "i8|packed source.n+1",
        "targets": "u4|packed n_pairs",
        "scores?": "f4 n_pairs *",  # or distinct rows, or the lexical weights of computed ones
        **within("score_rows?", DistinctRows.LAYOUT, n="n_pairs"),
        "lexical?": "f4 n_pairs 2",
        **within("weights?", LinkedScores.LAYOUT),
        **within("words?", WordCounts.LAYOUT),
        "counts?": "f4 n_pairs *",  # or those of phrases and pairs
        **within("phrase_counts?", PhraseCounts.LAYOUT),
        **within("links", LinkSets.LAYOUT, n_pairs="n_pairs"),
        "lengths?": f"i8 {N_CLASSES} 2",
    }

    def __len__(self) -> int:
        return len(self.targets)

    def facts(self) -> dict[str, int]:
        return {"phrase pairs": len(self), "source phrases": len(self.source), "target phrases": len(self.target)}

    @property
    def sources(self) -> npt.NDArray[np.uint32]:
        """The source phrase of each pair."""
        self.check()
        return np.repeat(np.arange(len(self.source), dtype=np.uint32), np.diff(self.offsets))

    def check(self) -> None:
        """Raise DamagedError unless all offsets and numbers fit; for code that reads the whole table without the core."""
        for phrases in (self.source, self.target):
            phrases.check()
        check_offsets(np.asarray(self.offsets, np.int64), len(self))
        check_numbers(self.targets, len(self.target), "target phrase")
        if isinstance(self.counts, PlainCounts):
            check_finite(self.counts.values, "a count")
        self.links.check()

    @cached_property
    def arrays_view(self) -> _core.TableArrays:
        """The arrays in the form of the core."""
        return self._arrays(self.source, self.target)

    def _arrays(self, source: Phrases, target: Phrases) -> _core.TableArrays:
        return _core.TableArrays(
            source=source.core,
            target=target.core,
            offsets=core_numbers(self.offsets),
            targets=core_numbers(self.targets),
            link_sets=core_numbers(self.links.numbers),
            link_offsets=core_numbers(self.links.offsets),
            links=self.links.points,
        )

    def lexical_weights(self, lexical: LexicalTable, threads: int | None = None) -> npt.NDArray[np.float64]:
        """(lex(s|t), lex(t|s)) of every pair, under the table's inner links."""
        self.check()
        return self._lexical_arrays(lexical).lexical_weights(lexical_arrays(lexical), n_threads(threads))

    def _lexical_arrays(self, lexical: LexicalTable) -> _core.TableArrays:
        """The arrays, with words numbered as in the lexical table."""
        own = self.source.vocabulary, self.target.vocabulary
        source, target = (
            phrases if phrases.vocabulary is theirs else replace(phrases, words=numbers[phrases.words])
            for phrases, theirs, numbers in zip(
                (self.source, self.target), (lexical.source, lexical.target), lexical.numbers(*own), strict=True
            )
        )
        return self._arrays(source, target)

    def options_of(self, phrase: str) -> list[tuple[str, list[float]]]:
        """The target phrases of a source phrase with their scores, best p(t|s) first."""
        number = self.source.number(phrase)
        if number < 0:
            return []
        begin, end = self.offsets[number], self.offsets[number + 1]
        if not 0 <= begin <= end <= len(self):
            raise DamagedError("offsets of phrase pairs are out of range")
        rows = slice(begin, end)
        check_numbers(self.targets[rows], len(self.target), "target phrase")
        phrases = map(self.target.__getitem__, self.targets[rows].tolist())
        translations = list(zip(phrases, self.scores[rows].tolist(), strict=True))
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
        scratch: Scratch | None = None,
    ) -> PhraseTable:
        """Score the phrase pairs of samples.

        Lexical weights come from the frequencies of links, as in Moses, unless a lexical table is given, for example an
        aligner's. With `scratch` pairs are scored in pieces that fit into its memory, and the table is stored there.

        >>> from hyperbaton.phrases import extract
        >>> from hyperbaton.corpus import Bitext
        >>> bitext = Bitext.of(["a b", "a"], ["x y", "z"], [[(0, 0), (1, 1)], [(0, 0)]])
        >>> table = PhraseTable.build(bitext, extract(bitext))
        >>> [(target, scores[2]) for target, scores in table.options_of("a")]
        [('x', 0.5), ('z', 0.5)]
        """
        resources = Resources.of(threads, progress, scratch)
        scratch = resources.scratch
        pairs = inventory or Inventory.of(bitext, samples, threads=threads, progress=progress, scratch=scratch)
        weights = LexicalWeights.of(bitext, samples, pairs, lexical, resources=resources)
        return cls.scored(pairs, weights, options, scratch, TextLengths.of(bitext))

    @classmethod
    def scored(
        cls,
        pairs: Inventory,
        lexical: LexicalWeights,
        options: Scoring | None = None,
        scratch: Scratch | None = None,
        lengths: TextLengths | None = None,
    ) -> PhraseTable:
        """The table of pairs; their samples are not needed, only the counts."""
        from hyperbaton.phrases.smoothing import SMOOTHINGS, PairCounts  # not needed to read tables

        options, scratch = options or Scoring(), scratch or Scratch()
        smoothing, joint = SMOOTHINGS[options.smoothing](), pairs.counts
        forward = PairCounts(joint, Owners(pairs.offsets), pairs.targets, len(pairs.source), len(pairs.target), scratch)
        backward = forward.reversed()
        of_sources, of_targets = (
            PackedNumbers.of_pieces((each.given_totals[rows] for rows in scratch.rows(each.n_given, 16)), scratch)
            for each in (forward, backward)
        )
        counts = PhraseCounts(joint, of_sources, of_targets, pairs.offsets, pairs.targets)
        scores: ScoreRows
        if smoothing.is_relative_frequency:
            scores = CountedScores(counts, lexical.weights)
        else:
            smoothed: Floats = scratch.array((pairs.n_pairs, len(SCORES)), np.float32)
            smoothed[:, 1::2] = lexical.weights
            for column, direction in ((0, backward), (2, forward)):
                for rows, probabilities in zip(direction.rows(), smoothing.probabilities(direction), strict=True):
                    smoothed[rows, column] = probabilities
            scores = PlainScores(smoothed)
        words = lexical.words if smoothing.is_relative_frequency else None
        table = cls(pairs.source, pairs.target, pairs.offsets, pairs.targets, scores, counts, lexical.links, lengths, words)
        if options.min_count <= 1:
            return table
        seen = scratch.filled(len(joint), np.bool_, 16, lambda rows: joint[rows] >= options.min_count)
        return table.select(seen, scratch)

    @classmethod
    def unscored(cls, pairs: Inventory) -> PhraseTable:
        """The table of pairs without scores, counts and inner links."""
        links = LinkSets(np.zeros(0, np.uint32), np.zeros(1, np.int64), np.zeros((0, 2), np.uint8))
        return cls._unscored(pairs.source, pairs.target, pairs.offsets, pairs.targets, links)

    @classmethod
    def _unscored(cls, source: Phrases, target: Phrases, offsets: Offsets, targets: Array, links: LinkSets) -> PhraseTable:
        none = np.zeros((len(targets), 0), np.float32)
        return cls(source, target, offsets, targets, PlainScores(none), PlainCounts(none), links)

    def select(self, keep: npt.NDArray[np.bool_], scratch: Scratch | None = None) -> PhraseTable:
        """The table with only the pairs where `keep` is true; phrases keep their numbers."""
        self.check()
        scratch = scratch or Scratch()
        offsets = scratch.array(len(self.offsets), np.int64)
        offsets[0] = 0
        n_kept = 0
        for begin, end in scratch.ranges(self.offsets, _BYTES):
            rows = slice(self.offsets[begin], self.offsets[end])
            kept = offsets_of(keep[rows])
            offsets[begin + 1 : end + 1] = n_kept + kept[self.offsets[begin + 1 : end + 1] - rows.start]
            n_kept += kept[-1]
        targets, links = scratch.select(self.targets, keep), self.links.select(keep, scratch)
        counts = self.counts.select(keep, offsets, targets, scratch)
        scores = self.scores.select(keep, counts, scratch)
        return PhraseTable(self.source, self.target, offsets, targets, scores, counts, links, self.lengths, self.words)

    def without_unused(self) -> PhraseTable:
        """The table without phrases and sets of links that have no pair; the others are renumbered."""
        in_use = np.zeros(len(self.target), np.bool_)
        in_use[self.targets] = True
        source, source_numbers = self.source.select(np.diff(self.offsets) > 0)
        target, target_numbers = self.target.select(in_use)
        numbers = np.zeros(len(self.target), np.uint32)
        numbers[target_numbers] = np.arange(len(target), dtype=np.uint32)
        offsets = np.append(self.offsets[:-1][source_numbers], len(self))
        targets, links = numbers[self.targets], self.links.without_unused()
        counts = self.counts.renumbered(source_numbers, target_numbers, offsets, targets)
        scores = self.scores.over(counts)
        return PhraseTable(source, target, offsets, targets, scores, counts, links, self.lengths, self.words)

    def packed(self) -> PhraseTable:
        """The table with packed numbers, for translating."""
        offsets, targets, links = PackedNumbers.of(self.offsets), PackedNumbers.of(self.targets), self.links.packed()
        counts = self.counts.packed(offsets, targets)
        source, target = self.source.packed(), self.target.packed()
        scores = self.scores.packed() if isinstance(self.scores, PlainScores) else self.scores.over(counts)
        if isinstance(scores, CountedScores) and self.words is not None:
            computed = self.arrays_view.lexical_weights(self.words.core, 1).astype(np.float32)
            pairs = self._unscored(source, target, offsets, targets, links)
            scores = LinkedScores.of(scores, self.words, computed, pairs)
        return PhraseTable(source, target, offsets, targets, scores, counts, links, self.lengths)

    def arrays(self, prefix: str = KIND) -> dict[str, Array]:
        return {
            **self.source.arrays(f"{prefix}.source"),
            **self.target.arrays(f"{prefix}.target"),
            f"{prefix}.offsets": stored(self.offsets),
            f"{prefix}.targets": stored(self.targets),
            **self.scores.arrays(prefix),
            **self.counts.arrays(prefix),
            **self.links.arrays(f"{prefix}.links"),
            **({} if self.lengths is None else {f"{prefix}.lengths": self.lengths.words}),
            **({} if self.words is None else self.words.arrays(f"{prefix}.words")),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> PhraseTable:
        """The inverse of `arrays`, names without the prefix.

        A table can be large, so only its sizes are checked. The core checks every number that it reads.
        """
        offsets, targets = stored_numbers(arrays["offsets"]), stored_numbers(arrays["targets"])
        source, target = (Phrases.from_arrays(group(arrays, side)) for side in SIDES)
        pairs = cls._unscored(source, target, offsets, targets, LinkSets.from_arrays(group(arrays, "links")))
        counts, scores = _stored_values(arrays, pairs)
        lengths = TextLengths(arrays["lengths"]) if "lengths" in arrays else None
        words = WordCounts.from_arrays(group(arrays, "words")) if "words.offsets" in arrays else None
        table = replace(pairs, scores=scores, counts=counts, lengths=lengths, words=words)
        if (table.offsets[-1], table.links.offsets[-1]) != (len(table), len(table.links.points)):
            raise DamagedError("the arrays of the phrase table do not fit each other")
        return table

    def save(self, path: str | PathLike[str]) -> None:
        """Write the table as an artefact."""
        save(path, STORED, self.arrays(), details={"n_pairs": len(self)})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PhraseTable:
        """Open a saved table, memory-mapped."""
        return read_artefact(path, STORED, lambda artefact: cls.from_arrays(artefact.group(KIND)))


def _stored_values(arrays: Arrays, pairs: PhraseTable) -> tuple[CountRows, ScoreRows]:
    counts: CountRows
    if "counts" in arrays:
        counts = PlainCounts(arrays["counts"])
    else:
        counts = PhraseCounts.restored(group(arrays, "phrase_counts"), pairs.offsets, pairs.targets)
        if "lexical" in arrays:
            return counts, CountedScores(counts, arrays["lexical"])
        if "weights.rows" in arrays:
            return counts, LinkedScores.restored(group(arrays, "weights"), counts, pairs)
    rows = group(arrays, "score_rows")
    return counts, PlainScores(DistinctRows.from_arrays(rows) if rows else arrays["scores"])


STORED = Kind(KIND, within(KIND, PhraseTable.LAYOUT))


@dataclass(frozen=True)
class LexicalWeights:
    """Lexical weights of all pairs, (lex(s|t), lex(t|s)) each, and their inner links."""

    weights: npt.NDArray[np.float32]
    links: LinkSets
    words: WordCounts | None

    @classmethod
    def of(
        cls,
        bitext: Bitext,
        samples: Samples,
        pairs: Inventory,
        lexical: LexicalTable | None = None,
        *,
        resources: Resources,
    ) -> LexicalWeights:
        """The weights of the pairs of samples, by the frequencies of links unless a lexical table is given."""
        from hyperbaton.align.lexical import LexicalTable  # not needed to read tables

        scratch, workers = resources.scratch, resources.workers
        lexical = lexical or LexicalTable.from_links(bitext, resources.threads, scratch=scratch)
        inputs = _ScoringInputs(bitext.need_links(), samples, pairs, lexical)
        ranges = Scratch(workers.size(scratch.memory or 0, _PART * _BYTES) or None).ranges(pairs.offsets, _BYTES)
        each = resources.tasks() if len(ranges) == 1 else Resources(resources.tasks().threads)
        task = _LexicalScoring(workers.share(inputs, inputs.save, _ScoringInputs.load), each)
        weights, links = Column(scratch, np.float32), LinkSetColumn(scratch)
        weights.append(np.zeros((0, 2), np.float32))
        for n, part in enumerate(workers.map_arrays(task, pairs.places(ranges)), start=1):
            weights.append(part["weights"])
            links.append(part["link_offsets"], part["links"])
            resources.report(n, len(ranges))
        return cls(weights.finish(), links.finish(), WordCounts.of(lexical))


@dataclass(frozen=True)
class _ScoringInputs:
    """Inputs of the lexical weights of phrase pairs."""

    links: Links
    samples: Samples
    pairs: Inventory
    lexical: LexicalTable

    def save(self, path: Path) -> None:
        lexical = {f"lexical.{name}": getattr(self.lexical, name) for name in ("offsets", "targets", "probabilities")}
        save_arrays(path, self.links.arrays("links") | self.samples.arrays("samples") | self.pairs.arrays() | lexical)

    @classmethod
    def load(cls, path: Path) -> _ScoringInputs:
        from hyperbaton.align.lexical import LexicalTable
        from hyperbaton.corpus import Links
        from hyperbaton.phrases.samples import Samples

        arrays = load_arrays(path)
        pairs, lexical = Inventory.from_arrays(arrays), group(arrays, "lexical")
        words = pairs.source.vocabulary, pairs.target.vocabulary
        return cls(
            Links.from_arrays(group(arrays, "links")),
            Samples.from_arrays(group(arrays, "samples")),
            pairs,
            LexicalTable(*words, lexical["offsets"], lexical["targets"], lexical["probabilities"]),
        )


@dataclass(frozen=True)
class _LexicalScoring:
    """Lexical weights, (lex(s|t), lex(t|s)), and inner links of the pairs of a range of source phrases."""

    inputs: Shared[_ScoringInputs]
    resources: Resources

    def __call__(self, place: tuple[int, int, int]) -> dict[str, Array]:
        inputs, resources = self.inputs.value, self.resources
        samples, pairs, lexical = inputs.samples, inputs.pairs.piece(*place), inputs.lexical
        places = _core.SampleArrays(
            sentence=samples.sentence,
            source_begin=samples.source_begin,
            target_begin=samples.target_begin,
            points=inputs.links.points,
            link_offsets=inputs.links.offsets,
        )
        table = PhraseTable.unscored(pairs)._lexical_arrays(lexical)
        weights, link_offsets, links = table.lexical_scores(
            pairs.sample_offsets,
            pairs.sample_order,
            places,
            lexical_arrays(lexical),
            resources.threads,
            resources.progress,
        )
        return {"weights": weights, "link_offsets": link_offsets, "links": links}


def lexical_arrays(lexical: LexicalTable) -> _core.LexicalArrays:
    """A lexical table as the core reads it."""
    return _core.LexicalArrays(
        offsets=core_numbers(lexical.offsets),
        targets=core_numbers(lexical.targets),
        probabilities=lexical.probabilities,
        n_source_words=len(lexical.source),
        n_target_words=len(lexical.target),
    )


def phrase_lexicon(table: PhraseTable) -> Lexicon:
    """The phrase probabilities and counts of a table.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a b"], ["x y"], [[(0, 0), (1, 1)]])
    >>> [entry[:3] for entry in phrase_lexicon(PhraseTable.build(bitext, extract(bitext)))]
    [('a', 'x', 1.0), ('a b', 'x y', 1.0), ('b', 'y', 1.0)]
    """
    from hyperbaton.align.lexicon import Lexicon  # not needed to translate

    if table.scores.shape[1] < 3:
        raise OptionError("the phrase table has no probabilities in both directions")
    return Lexicon(
        table.sources.astype(np.int64),
        table.targets.astype(np.int64),
        table.scores[:, [2, 0]].astype(np.float64),
        table.counts[:, 2].astype(np.int64),
        table.source,
        table.target,
    ).sorted()
