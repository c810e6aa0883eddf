"""Consensus decoding: of many translations of a sentence, the one most like the others (minimum Bayes risk).

The translations of a list have probabilities p(e) ∝ exp(scale · score). Several systems share one list: their probabilities
are those within each system, divided by the number of systems, because model scores of two systems cannot be compared. The
chosen translation h has the highest gain of its expected statistics (DeNero et al. 2009),

    G(Σ_e p(e) · s(h, e)),

where G is BLEU or chrF, and s are the statistics of h with e as its reference: n-grams, and matches with clipped counts.
They are computed exactly, in time linear in the number of n-grams (`expected_matches` in the core).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.decode.result import Translations
from hyperbaton.decode.translator import NBest, TokenTranslator

Floats = npt.NDArray[np.float64]
GAINS = {"bleu": 4, "chrf": 6}  # the longest n-gram of each


class _Pool(NamedTuple):
    """Translations of sentences, those of sentence s from `offsets[s]`, with their probabilities."""

    lines: list[str]
    probabilities: Floats
    offsets: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Consensus(CheckedOptions):
    """Options of consensus decoding."""

    mbr: int = option(
        0,
        "choose the consensus of this many translations of each sentence (minimum Bayes risk); 0 takes the best",
        minimum=0,
    )
    mbr_gain: str = option("bleu", "similarity of translations", choices=tuple(GAINS))
    mbr_scale: float = option(1.0, "factor of model scores in the probabilities of translations", minimum=0)

    @property
    def n_best(self) -> NBest:
        """The lists that it needs."""
        return NBest(self.mbr, distinct=True)

    def translate(self, translators: Sequence[TokenTranslator], sentences: Sequence[str]) -> list[str]:
        """Translate sentences by the consensus of several systems, or of one."""
        batches = zip(*(translator.batches(sentences, self.n_best) for translator in translators), strict=True)
        return [line for lists in batches for line in self.choose(lists, translators[0].threads)]

    def choose(self, lists: Sequence[Translations], threads: int) -> list[str]:
        """The consensus for each sentence; `lists` are the translations by each system."""
        pieces = lists[0].pieces
        if any(not np.array_equal(pieces, other.pieces) for other in lists):
            raise OptionError("the systems cut long lines differently: give one --max-words for all")
        pool = _pooled([_list_of(translations, self.mbr_scale) for translations in lists])
        gains = self._gains(pool, threads)
        best = [int(a + np.argmax(gains[a:b])) for a, b in pairwise(pool.offsets)]
        chosen = [pool.lines[i] for i in best]
        return [" ".join(filter(None, chosen[a:b])) for a, b in pairwise(pieces)]

    def _gains(self, pool: _Pool, threads: int) -> Floats:
        """The gain of each translation."""
        from hyperbaton.metrics import make_metric  # only here: most translations need no metric

        if self.mbr_gain == "bleu":
            numbers: dict[str, int] = {}
            symbols = [[numbers.setdefault(word, len(numbers)) for word in line.split()] for line in pool.lines]
        else:
            symbols = [list(map(ord, "".join(line.split()))) for line in pool.lines]
        offsets, max_order = offsets_of([len(line) for line in symbols]), GAINS[self.mbr_gain]
        words = np.array([number for line in symbols for number in line], np.uint32)
        matches = _core.expected_matches(
            candidates=_core.Tokens(words=words, offsets=offsets),
            lists=pool.offsets,
            probabilities=pool.probabilities,
            max_order=max_order,
            n_threads=threads,
        )
        totals = np.maximum(np.diff(offsets)[:, None] - np.arange(max_order), 0).astype(np.float64)
        starts, sizes = pool.offsets[:-1], np.diff(pool.offsets)
        expected = np.repeat(np.add.reduceat(totals * pool.probabilities[:, None], starts), sizes, axis=0)
        if self.mbr_gain == "bleu":
            statistics = np.column_stack([totals[:, 0], expected[:, 0], matches, totals])
        else:
            statistics = np.stack([totals, expected, matches], axis=2).reshape(len(totals), -1)
        return np.asarray(make_metric(self.mbr_gain).score(statistics), np.float64)


def _list_of(translations: Translations, scale: float) -> _Pool:
    """The translations by one system; a sentence that has none has an empty one."""
    lines, probabilities, sizes = list[str](), list[Floats](), list[int]()
    for piece in range(len(translations.path_offsets) - 1):
        paths = translations.paths(piece)
        lines += [" ".join(translations.text[path]) for path in paths] or [""]
        scores = translations.scores[paths.start : paths.stop] if len(paths) else np.zeros(1)
        weights = numeric.exp(scale * (scores - scores.max()))
        probabilities.append(weights / weights.sum())
        sizes.append(len(scores))
    return _Pool(lines, np.concatenate([np.zeros(0), *probabilities]), offsets_of(sizes))


def _pooled(lists: Sequence[_Pool]) -> _Pool:
    """The lists of all systems, sentence by sentence."""
    lines, probabilities = list[str](), [np.zeros(0)]
    for s in range(len(lists[0].offsets) - 1):
        for each in lists:
            part = slice(int(each.offsets[s]), int(each.offsets[s + 1]))
            lines += each.lines[part]
            probabilities.append(each.probabilities[part] / len(lists))
    return _Pool(lines, np.concatenate(probabilities), np.sum([each.offsets for each in lists], axis=0))
