"""Extraction and scoring of hierarchical rules, within a given amount of memory.

Sentence pairs are taken in chunks. The rules of a chunk become a sorted run of bytes, with the number of times that each
rule was seen with the same links and count; the runs are merged, and the merged rules are scored source side by source
side. Counts are not added before the merge, and sums are in the order of Moses' sorted files, so the result does not
depend on chunks, threads or memory.

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
from hyperbaton.base.arrays import Array
from hyperbaton.base.options import check_options
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Column, Scratch
from hyperbaton.corpus import Bitext, Text, Vocabulary
from hyperbaton.corpus.lengths import TextLengths
from hyperbaton.corpus.text import WordIds
from hyperbaton.phrases.inventory import Phrases, Runs, check_places, merge_phrases, number_rows
from hyperbaton.phrases.pair_values import LinkSetColumn, PlainCounts, PlainScores
from hyperbaton.phrases.rules.table import DECODED_SPAN, SOURCE_GAPS, TARGET_GAPS, RuleLimits, RuleTable, with_gaps
from hyperbaton.phrases.table import PhraseTable, lexical_arrays

# Memory for extraction, per target word of a chunk, and for scoring, per rule.
_WORD_BYTES = 10_000
_RULE_BYTES = 600
_MOST_WORDS = 1 << 15
_MOST_RULES = 1 << 18


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
    check_options(limits)
    work = RuleWork.of(bitext, limits, resources.threads)
    if text is not None:
        sources = work.matching(text, text_span)
        work = replace(work, sources=sources, targets=work.targets_of(sources, progress))
    runs = work.runs(resources)
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
        limits = self.limits
        return _core.RuleLimits(
            max_span=limits.max_span, max_symbols=limits.max_symbols, max_gaps=limits.max_gaps, min_gap=limits.min_gap
        )

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
        n_words = min(_MOST_WORDS, max(1, (scratch.n_rows(_WORD_BYTES * self.threads) or _MOST_WORDS)))
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
        total = sum(map(len, runs))
        numbers = [
            np.append(words, np.full(len(gaps), _core.UNKNOWN_WORD, np.uint32))
            for words, gaps in zip(
                lexical.numbers(self.bitext.source.vocabulary, self.bitext.target.vocabulary),
                (SOURCE_GAPS, TARGET_GAPS),
                strict=True,
            )
        ]
        n_rules = min(_MOST_RULES, scratch.n_rows(_RULE_BYTES) or _MOST_RULES)
        arrays = lexical_arrays(lexical)
        while True:
            batch: dict[str, Array] = merger.next(
                n_rules=n_rules,
                lexical=arrays,
                source_numbers=numbers[0],
                target_numbers=numbers[1],
                n_threads=self.threads,
            )
            if not len(batch["counts"]):
                return self._table(columns, min_count, scratch)
            columns.add(batch, self.threads)
            resources.report(len(self.bitext) * merger.n_read // total, len(self.bitext))

    def _table(self, columns: _Columns, min_count: int, scratch: Scratch) -> RuleTable:
        source = Phrases.of(columns.source_offsets.finish(), columns.source_words.finish(), self.source)
        target, targets = columns.number_targets(scratch)
        offsets, joint = columns.offsets.finish(), columns.counts.finish()
        source_counts, weights = columns.source_counts.finish(), columns.weights.finish()
        shapes = _core.gap_order_ignored(target.core, symbols=self.symbols, n_threads=self.threads)
        order = _core.order_rules(source.core, symbols=self.symbols, target=False, n_threads=self.threads)
        target_counts = _core.target_rule_counts(
            offsets=offsets,
            targets=targets,
            counts=joint,
            second=columns.second.finish(),
            source_order=order,
            shapes=shapes,
        )
        kept_sources = columns.kept.finish().astype(np.bool_)
        n = len(targets)
        scores, counts = scratch.array((n, 4), np.float32), scratch.array((n, 3), np.float32)
        keep: npt.NDArray[np.bool_] = scratch.array(n, np.bool_)

        def six(values: Array) -> npt.NDArray[np.float32]:
            """Numbers as Moses' programs exchange them: floats, written with six digits."""
            return _core.round_six_digits(values.astype(np.float64), self.threads)

        for begin, end in scratch.ranges(offsets, row_bytes=200):
            rows = slice(offsets[begin], offsets[end])
            per_source = np.diff(offsets[begin : end + 1])
            counts[rows, 0] = six(target_counts[shapes[targets[rows]]])
            counts[rows, 1] = np.repeat(six(source_counts[begin:end]), per_source)
            counts[rows, 2] = six(joint[rows])
            scores[rows, 0], scores[rows, 2] = (six(counts[rows, 2] / counts[rows, column]) for column in (0, 1))
            scores[rows, 1], scores[rows, 3] = (six(weights[rows, column]) for column in (0, 1))
            keep[rows] = np.repeat(kept_sources[begin:end], per_source)
            if min_count > 1:
                keep[rows] &= counts[rows, 2] >= min_count
        values = PlainScores(scores), PlainCounts(counts)
        lengths = TextLengths.of(self.bitext)
        table = PhraseTable(source, target, offsets, targets, *values, columns.links.finish(), lengths)
        if not keep.all():
            table = table.select(keep, scratch).without_unused()
        return RuleTable(table, self.limits)


class _Columns:
    """Columns of a rule table that grow batch by batch."""

    def __init__(self, scratch: Scratch, target: Vocabulary) -> None:
        self.source_offsets, self.source_words = Column(scratch, np.int64), Column(scratch, np.uint32)
        self.offsets, self.source_counts = Column(scratch, np.int64), Column(scratch, np.float32)
        self.kept, self.second = Column(scratch, np.uint8), Column(scratch, np.uint8)
        self.counts, self.weights = Column(scratch, np.float32), Column(scratch, np.float32)
        self.links = LinkSetColumn(scratch)
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
        for name in ("source_words", "source_counts", "kept", "second", "counts"):
            getattr(self, name).append(batch[name])
        self.links.append(batch["link_offsets"], batch["links"])
        self.weights.append(batch["weights"])
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
        target = merged.side_by_side(scratch)
        targets = Column(scratch, np.uint32)
        for new, of_batch in zip(numbers, self._targets.finish(), strict=True):
            targets.append(new[of_batch])
        return target, targets.finish()
