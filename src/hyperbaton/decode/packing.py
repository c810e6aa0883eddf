"""Packed systems: only what translation with fixed weights needs, in one folder.

Of each source phrase, the search takes the best translations: as many as the table limit, ranked by the weighted scores
of the table and the language models' estimates. Others have no effect, so a packed system has only these, and only their
rows of reordering tables. Its language models are packed: sorted instead of hashed.

Exact packing changes no translation and no score. Otherwise the language models are also quantised, and lose n-grams of
words that cannot follow each other: those in no kept phrase, or never next to each other inside or at the edges of kept
phrases. Only words that are copied from the source or demanded by the user could have used them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.progress import Progress
from hyperbaton.decode.system import Packing, System, lm_numbers
from hyperbaton.decode.translator import TokenTranslator
from hyperbaton.lm import LanguageModel
from hyperbaton.lm.model import BOS, EOS, UNK
from hyperbaton.phrases import PhraseTable, RuleTable
from hyperbaton.phrases.rules import TARGET_GAPS


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
    table = system.table.select(keep).without_unused()
    packed = System.of(
        RuleTable(table) if system.is_hierarchical else table,
        {name: lm.packed(exact=exact, pairs=None if exact else _word_pairs(lm, table)) for name, lm in system.lms.items()},
        {name: model.packed(keep, system.table.offsets, exact) for name, model in system.reordering.items()},
        system.weights,
        system.options,
    )
    return replace(packed, packed=Packing(system.options.table_limit, exact), text=system.text)


def _word_pairs(lm: LanguageModel, table: PhraseTable) -> tuple[Array, Array, Array]:
    """Which words of a language model can follow each other in translations, for `LanguageModel.packed`."""
    words, offsets = table.target.gather()
    numbers = lm_numbers(lm, table.target.vocabulary.lookup)[words]
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
