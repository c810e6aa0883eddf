"""Packed systems: only what translation with fixed weights needs, in one folder.

Of each source phrase, the search takes the best translations: as many as the table limit, ranked by the weighted scores
of the table and the language models' estimates. Others have no effect, so a packed system has only these, and only their
rows of reordering tables. All whole numbers of these tables take as few bits as possible (`base/packed.py`), and the
language models are sorted instead of hashed.

Exact packing changes no translation and no score. Otherwise the weighted sum of the scores of a phrase pair becomes its
only score, in ten bits; and the language models are also quantised, and lose n-grams of words that cannot follow each
other: those in no kept phrase, or never next to each other inside or at the edges of kept phrases. Only words that are
copied from the source or demanded by the user could have used them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.progress import Progress
from hyperbaton.base.scratch import Scratch
from hyperbaton.decode.reordering import FLOOR
from hyperbaton.decode.system import TRANSLATION, Packing, System
from hyperbaton.decode.translator import TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.lm.model import BOS, EOS, UNK
from hyperbaton.phrases import PhraseTable, RuleTable
from hyperbaton.phrases.pair_values import DistinctRows, PlainCounts, PlainScores, ScoreRows
from hyperbaton.phrases.rules import TARGET_GAPS

_BINS = 1024  # of the sums of scores
_PIECE, _ROW = 1 << 24, 64  # memory for a piece of the scores, and for a row


def pack(system: System, *, exact: bool = False, threads: int | None = None, progress: Progress | None = None) -> System:
    """A system that translates as `system` does with its weights and table limit, and takes much less space.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.decode import Decoding
    >>> from hyperbaton.phrases import extract
    >>> bitext = Bitext.of(["a", "a", "a"], ["x", "x", "y"], [[(0, 0)]] * 3)
    >>> system = System.of(PhraseTable.build(bitext, extract(bitext)), options=Decoding(table_limit=1))
    >>> len(system.table), len(pack(system).table)
    (2, 1)
    """
    system.need_unpacked("packing")
    keep = TokenTranslator(system, threads=threads).best_pairs(progress)
    table, weights = system.table.select(keep).without_unused(), dict(system.weights)
    if not exact:
        scores, weights[TRANSLATION] = _sums(table.scores, weights[TRANSLATION])
        table = replace(table, scores=scores, counts=PlainCounts(np.zeros((len(table), 0), np.float32)))
    packed = System.of(
        RuleTable(table) if system.is_hierarchical else table,
        {name: lm.packed(exact=exact, pairs=None if exact else _word_pairs(lm, table)) for name, lm in system.lms.items()},
        {name: model.packed(keep, system.table.offsets, exact) for name, model in system.reordering.items()},
        weights,
        system.options,
    )
    return replace(
        packed,
        table=table.packed(),
        index=packed.index.packed(),
        packed=Packing(system.options.table_limit, exact),
        text=system.text,
    )


def _sums(scores: ScoreRows, weights: list[float]) -> tuple[PlainScores, list[float]]:
    """The weighted sums of the logs of the pairs' scores, in bins of equal size, as their only score; and its weight."""
    scale = float(np.abs(weights).sum()) or 1.0  # divided by it, sums have the limits of logs
    sums = np.empty(len(scores))
    for rows in Scratch(_PIECE).rows(len(scores), _ROW):
        logs = np.clip(numeric.log(scores[rows].astype(np.float64)), FLOOR, -FLOOR)
        sums[rows] = (logs * (np.array(weights) / scale)).sum(axis=1)
    bins = np.zeros(len(scores), np.uint32)
    bins[np.argsort(sums, kind="stable")] = np.arange(len(scores)) * _BINS // max(len(scores), 1)
    means = np.bincount(bins, sums, _BINS) / np.maximum(np.bincount(bins, minlength=_BINS), 1)
    return PlainScores(DistinctRows(bins, numeric.exp(means).astype(np.float32)[:, None])), [scale]


def _word_pairs(lm: LanguageModel, table: PhraseTable) -> tuple[Array, Array, Array]:
    """Which words of a language model can follow each other in translations, for `LanguageModel.packed`."""
    words, offsets = table.target.gather()
    numbers = lm.numbers_of(table.target.vocabulary)[words]
    gaps = [table.target.vocabulary.number(gap) for gap in TARGET_GAPS]
    is_gap = np.isin(words, [gap for gap in gaps if gap >= 0])
    starts = np.zeros(len(words) + 1, np.bool_)  # whether a phrase or a gap ends before each word
    starts[offsets] = True
    starts[1:] |= is_gap
    starts[:-1] |= is_gap
    last, first = (np.zeros(len(lm.vocabulary), np.uint8) for _ in range(2))
    last[numbers[starts[1:]]] = last[[BOS, UNK]] = 1
    first[numbers[starts[:-1]]] = first[[EOS, UNK]] = 1
    before = np.flatnonzero(~starts[1:])
    inside = np.unique(numbers[before].astype(np.uint64) << np.uint64(32) | numbers[before + 1])
    return last, first, inside
