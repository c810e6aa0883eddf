"""Extraction and scoring of hierarchical rules, within a given amount of memory.

Sentence pairs are taken in chunks. The rules of a chunk become a sorted run of bytes, with the number of times that each
rule was seen with the same links and count. Threads merge and score slices of the runs, the source sides between two
bounds. Counts are not added before the merge, and sums are in the order of Moses' sorted files, so the result does not
depend on chunks, slices, threads or memory.

Rules for a text (`text`) are those whose source sides match one of its sentences. Their scores do not depend on the text:
p(s|t) needs the counts of other source sides with the same target side, so a first pass finds the target sides, and the
second keeps all rules that have one of these until they are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align.lexical import LexicalTable
from hyperbaton.base.arrays import Array, gather, offsets_of
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch, forget
from hyperbaton.corpus import Bitext, Text, Vocabulary
from hyperbaton.corpus.lengths import TextLengths
from hyperbaton.corpus.text import WordIds
from hyperbaton.phrases.inventory import Phrases, Runs, check_places, merge_phrases, number_rows
from hyperbaton.phrases.pair_values import LinkSets, PlainCounts, PlainScores
from hyperbaton.phrases.rules.table import DECODED_SPAN, SOURCE_GAPS, TARGET_GAPS, RuleLimits, RuleTable, with_gaps
from hyperbaton.phrases.table import PhraseTable, lexical_arrays

# Memory for extraction, per target word of a chunk; for merging, per byte of a slice; for the table, per rule.
_WORD_BYTES, _MOST_WORDS = 10_000, 1 << 15
_SLICE_BYTES, _MOST_BYTES = 25, 1 << 22
_RULE_BYTES, _MOST_RULES = 200, 1 << 16
# The disk space of runs is given back in pieces of this size.
_RELEASED = 1 << 16


def extract_rules(
    bitext: Bitext,
    limits: RuleLimits | None = None,
    *,
    text: Text | None = None,
    text_span: int = DECODED_SPAN,
    min_count: int = 1,
    lexical: LexicalTable | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    scratch: Scratch | None = None,
) -> RuleTable:
    """Extract and score the rules of a bitext with links.

    Arguments:
        text: keep only rules whose source side matches a sentence of this text, within `text_span` words, 0 for any number;
            it must be at least the span limit of the system that translates the text.
        min_count: drop rules whose count is lower; 1 keeps all, since counts are fractions.
        lexical: word probabilities; by default the frequencies of links, as in Moses.
        scratch: storage for the table, and the limit on memory.

    >>> bitext = Bitext.of(["a b c"], ["x y z"], [[(0, 2), (1, 0), (2, 1)]])
    >>> rules = extract_rules(bitext)
    >>> sorted(rules.table.source)
    ['a', 'a [X]', 'a b c', 'b', 'b c', 'c']
    """
    limits, resources = limits or RuleLimits(), Resources.of(threads, progress, scratch)
    work = RuleWork.of(bitext, limits, resources.threads)
    if text is not None:
        sources = work.matching(text, text_span)
        work = replace(work, sources=sources, targets=work.targets_of(sources, progress))
    runs = work.runs(resources)
    work = replace(work, targets=None)
    lexical = lexical or LexicalTable.from_links(bitext, resources.threads, scratch=resources.scratch)
    return work.score(runs, lexical, min_count, resources)


@dataclass(frozen=True)
class RuleWork:
    """The inputs of extraction from a bitext; `sources` and `targets` are the sides of the rules for a text."""

    bitext: Bitext
    limits: RuleLimits
    source: Vocabulary
    target: Vocabulary
    symbols: _core.RuleSymbols
    threads: int
    sources: _core.RuleSides | None = None
    targets: _core.RuleSides | None = None

    @classmethod
    def of(cls, bitext: Bitext, limits: RuleLimits, threads: int) -> RuleWork:
        """The work on a bitext."""
        bitext.need_links()
        source, target = with_gaps(bitext.source, SOURCE_GAPS), with_gaps(bitext.target, TARGET_GAPS)
        symbols = _core.RuleSymbols(source.spelling, target.spelling)
        return cls(bitext, limits, source, target, symbols, threads)

    def matching(self, text: Text, span: int) -> _core.RuleSides:
        """The source sides that match a sentence of a text, within a number of words, 0 for any."""
        numbers = self.bitext.source.vocabulary.find_all(text.vocabulary)
        return _core.matching_sources(
            _core.Tokens(words=numbers[text.tokens], offsets=text.offsets),
            self.core_limits,
            max_span=max(self.limits.max_span, span or int(text.lengths.max(initial=0))),
            symbols=self.symbols,
            n_threads=self.threads,
            progress=None,
        )

    def targets_of(self, sources: _core.RuleSides, progress: Progress | None) -> _core.RuleSides:
        """The target sides of rules with given source sides."""
        return _core.targets_of_sources(
            self.aligned,
            self.core_limits,
            first=0,
            last=len(self.bitext),
            symbols=self.symbols,
            sources=sources,
            n_threads=self.threads,
            progress=progress,
        )

    @property
    def core_limits(self) -> _core.RuleLimits:
        return _core.RuleLimits(**vars(self.limits))

    @property
    def aligned(self) -> _core.AlignedText:
        links = self.bitext.need_links()
        return _core.AlignedText(
            source=self.bitext.source.core_tokens,
            target=self.bitext.target.core_tokens,
            points=links.points,
            link_offsets=links.offsets,
        )

    def runs(self, resources: Resources) -> list[npt.NDArray[np.uint8]]:
        """Sorted runs of the rules of all sentence pairs, which progress counts."""
        scratch, runs = resources.scratch, Runs(resources.scratch, np.uint8)
        n_words = scratch.at_most(_MOST_WORDS, _WORD_BYTES * self.threads)
        bounds = [0, *(end for _, end in Scratch(n_words).ranges(self.bitext.target.offsets, row_bytes=1))]
        for begin in range(0, len(bounds) - 1, self.threads):
            some = bounds[begin : begin + self.threads + 1]
            for run in _core.extract_rules(
                self.aligned,
                np.array(some, np.int64),
                self.core_limits,
                symbols=self.symbols,
                targets=self.targets,
                n_threads=self.threads,
                progress=None,
            ):
                runs.append(run)
            resources.report(some[-1], len(self.bitext))
        return runs.finish()

    def score(
        self, runs: list[npt.NDArray[np.uint8]], lexical: LexicalTable, min_count: int, resources: Resources
    ) -> RuleTable:
        """Merge runs and score the rules."""
        scratch = resources.scratch
        merger = _core.RuleMerger(runs, self.symbols, self.sources)
        columns = _Columns(scratch, self.target)
        total, n_released = sum(map(len, runs)), [0] * len(runs)
        numbers = [
            np.append(words, np.full(len(gaps), _core.UNKNOWN_WORD, np.uint32))
            for words, gaps in zip(
                lexical.numbers(self.bitext.source.vocabulary, self.bitext.target.vocabulary),
                (SOURCE_GAPS, TARGET_GAPS),
                strict=True,
            )
        ]
        n_bytes = scratch.at_most(_MOST_BYTES, _SLICE_BYTES * self.threads)
        arrays = lexical_arrays(lexical)
        while batches := merger.next(
            n_bytes=n_bytes,
            lexical=arrays,
            source_numbers=numbers[0],
            target_numbers=numbers[1],
            n_threads=self.threads,
        ):
            for batch in batches:
                columns.add(batch, self.threads)
            n_read = [n - n % _RELEASED for n in merger.n_read()]
            for run, begin, end in zip(runs, n_released, n_read, strict=True):
                if begin < end:
                    scratch.release(run, slice(begin, end))
            n_released = n_read
            resources.report(len(self.bitext) * sum(n_read) // total, len(self.bitext))
        resources.report(len(self.bitext), len(self.bitext))
        return self._table(columns, merger, min_count, scratch)

    def _table(self, columns: _Columns, merger: _core.RuleMerger, min_count: int, scratch: Scratch) -> RuleTable:
        """The table of merged rules, with source sides in byte order."""
        source = Phrases.of(columns.source_offsets.finish(), columns.source_words.finish(), self.source)
        order = _core.order_rules(source.core, symbols=self.symbols, target=False, moses=False, n_threads=self.threads)
        source = replace(source, begins=source.begins[order], lengths=source.lengths[order]).gathered(scratch)
        target, merged_targets = columns.number_targets(scratch)
        target_counts = merger.target_counts(target.core, self.threads)
        source_counts, joint, weights = columns.source_counts.finish(), columns.counts.finish(), columns.weights.finish()
        merged_offsets, merged_sets = columns.offsets.finish(), columns.link_sets.finish()
        set_order, set_offsets, points = merger.link_sets()
        set_numbers = np.argsort(set_order).astype(np.uint32)
        points_order, set_offsets = gather(set_offsets, set_order)
        offsets = offsets_of(np.diff(merged_offsets)[order])
        n = len(joint)
        scores, counts = scratch.array((n, 4), np.float32), scratch.array((n, 3), np.float32)
        targets, sets = scratch.array(n, np.uint32), scratch.array(n, np.uint32)

        def six(values: Array) -> npt.NDArray[np.float32]:
            """Numbers as Moses' programs exchange them: floats, written with six digits."""
            return _core.round_six_digits(values.astype(np.float64), self.threads)

        n_rules = scratch.at_most(_MOST_RULES, _RULE_BYTES)
        for begin, end in Scratch(n_rules).ranges(offsets, row_bytes=1):
            rows, sources = slice(offsets[begin], offsets[end]), order[begin:end]
            merged, per_source = gather(merged_offsets, sources)
            targets[rows], sets[rows] = merged_targets[merged], set_numbers[merged_sets[merged]]
            counts[rows, 0] = six(target_counts[targets[rows]])
            counts[rows, 1] = np.repeat(six(source_counts[sources]), np.diff(per_source))
            counts[rows, 2] = six(joint[merged])
            scores[rows, 0], scores[rows, 2] = (six(counts[rows, 2] / counts[rows, column]) for column in (0, 1))
            scores[rows, 1], scores[rows, 3] = (six(column) for column in weights[merged].T)
            forget(merged_targets, merged_sets, joint, weights, targets, sets, counts, scores)
        links = LinkSets(sets, set_offsets, points[points_order])
        values = PlainScores(scores), PlainCounts(counts)
        table = PhraseTable(source, target, offsets, targets, *values, links, TextLengths.of(self.bitext))
        if min_count > 1:
            keep = scratch.filled(n, np.bool_, 16, lambda rows: counts[rows, 2] >= min_count)
            if not keep.all():
                return RuleTable(table.select(keep, scratch).without_unused(), self.limits)
        if merger.is_partial:
            table = replace(table, links=links.without_unused())
        return RuleTable(table, self.limits)


class _Columns:
    """Columns of merged rules that grow batch by batch."""

    def __init__(self, scratch: Scratch, target: Vocabulary) -> None:
        self.source_offsets, self.source_words = Column(scratch, np.int64), Column(scratch, np.uint32)
        self.offsets, self.source_counts = Column(scratch, np.int64), Column(scratch, np.float32)
        self.counts, self.weights = Column(scratch, np.float32), Column(scratch, np.float32)
        self.link_sets = Column(scratch, np.uint32)
        self._target = target
        self._target_begins, self._target_lengths = Runs(scratch, np.uint32), Runs(scratch, np.uint8)
        self._target_words = Column(scratch, np.uint32)
        self._targets = Runs(scratch, np.uint32)  # numbered within the batch
        for offsets in (self.source_offsets, self.offsets):
            offsets.append(np.zeros(1, np.int64))
        self.weights.append(np.zeros((0, 2), np.float32))

    def add(self, batch: dict[str, Array], threads: int) -> None:
        """Add the next batch."""
        for name, n_before in (("source_offsets", len(self.source_words)), ("offsets", len(self.counts))):
            getattr(self, name).append(batch[name][1:] + n_before)
        for name in ("source_words", "source_counts", "counts", "weights", "link_sets"):
            getattr(self, name).append(batch[name])
        targets, ids = number_rows(batch["target_words"], batch["target_offsets"], self._target, threads)
        check_places(len(self._target_words) + len(targets.words))
        self._target_begins.append(targets.begins + np.uint32(len(self._target_words)))
        self._target_lengths.append(targets.lengths)
        self._target_words.append(targets.words)
        self._targets.append(ids)

    def number_targets(self, scratch: Scratch) -> tuple[Phrases, WordIds]:
        """All target sides, and the number of each rule's target side."""
        begins, lengths = self._target_begins.finish(), self._target_lengths.finish()
        merged, numbers = merge_phrases(begins, lengths, self._target_words.finish(), self._target, scratch)
        target = merged.gathered(scratch)
        pairs = zip(numbers, self._targets.finish(), strict=True)
        targets = scratch.join((new[of_batch] for new, of_batch in pairs), np.uint32)
        forget(merged.begins, merged.lengths, merged.words, *numbers)
        return target, targets
