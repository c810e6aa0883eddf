"""Interpolated modified Kneser-Ney models (Chen and Goodman 1998), as lmplz estimates them (Heafield et al. 2013).

A text that fits into memory is estimated there (`core/lm/ngram_tree.hh`). The n-grams of one that does not become
rows of numbers: words and a count. Estimation sorts such rows and scans them: by suffix to count how many words
precede each n-gram, by context to sum the counts after each context, and by suffix again to interpolate each
probability with that of the shorter n-gram. Rows that do not fit into memory are kept in files; a run of rows that
fits is sorted, and the sorted runs are merged. `core/lm/kneser_ney.hh` has the formulas. The discounts of each order
depend on the numbers n_i of its n-grams with an adjusted count of i (Chen and Goodman, equation 26):

    Y = n_1 / (n_1 + 2 n_2),    D(i) = i − (i + 1) Y n_{i+1} / n_i    for i = 1, 2 and 3 (which stands for 3 and more).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import LARGEST, CheckedOptions, option
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus.text import Text, Vocabulary
from hyperbaton.lm.ngrams import Columns, Ngrams, Rows, RowSorter

MARKERS = ("<unk>", "<s>", "</s>")
FALLBACK = (0.5, 1.0, 1.5)  # discounts for texts that are too small to estimate them
MAX_ORDER = 9
_MOST_PLACES = 1 << 31  # words, <s> and </s> of the longest text that the core takes into memory
_TOKEN_BYTES = 16  # for numbering the words, per token
MEMORY = "4G"  # for counting and sorting, unless another amount is given


@dataclass
class Estimation(CheckedOptions):
    """How a language model is estimated."""

    order: int = option(5, "longest n-gram", minimum=1, maximum=MAX_ORDER)
    prune: str = option(
        "0",
        'drop n-grams seen at most this often, by order, e.g. "0 0 1"; the last value applies to higher orders',
        metavar='"N N …"',
    )
    max_words: int | None = option(None, "keep only this many words, the most frequent; others become <unk>", minimum=1)
    discount_fallback: bool = option(
        False, "use discounts 0.5, 1, 1.5 for orders where the text is too small to estimate them"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.thresholds()

    def thresholds(self) -> list[int]:
        """The largest count that is dropped, of each order."""
        try:
            thresholds = [int(part) for part in self.prune.split()]
        except ValueError:
            thresholds = []
        wrong = not thresholds or thresholds[0] != 0 or thresholds[-1] > LARGEST or len(thresholds) > self.order
        if wrong or any(a > b for a, b in pairwise(thresholds)):
            rule = f"at most {self.order} whole numbers, the first 0 (words are not pruned), none below the one before it"
            raise OptionError(f"prune must be {rule}, not {self.prune!r}")
        return thresholds + thresholds[-1:] * (self.order - len(thresholds))


class EstimationKeywords(TypedDict, total=False):
    """The options of `Estimation` besides the order, as keywords of a function."""

    prune: str
    max_words: int | None
    discount_fallback: bool


def estimate_ngrams(text: Text, options: Estimation, resources: Resources, vocabulary: Vocabulary | None = None) -> Ngrams:
    """The words of the model, and the n-grams of each order with their probabilities.

    Arguments:
        resources: counting and sorting take the memory of its scratch, or `MEMORY`; what does not
            fit goes to temporary files. Its progress counts steps.
        vocabulary: the words that may be in the model; others become <unk>.
    """
    if len(text) == 0:
        raise InputError("no sentences to estimate a language model from", text.path)
    limit = resources.scratch.memory or parse_memory(MEMORY)
    # Rows of all orders at most, once more for sorting, and the columns made of them.
    n_bytes = 8 * (text.n_tokens + len(text)) * sum(n + 2 for n in range(1, options.order + 1))
    scratch = Scratch(limit if n_bytes > limit else None)
    words, tokens = number_words(text, options.max_words, vocabulary, scratch)
    steps = _EstimationSteps(options, RowSorter(limit, scratch, resources.threads), resources)
    if scratch.memory is None and text.n_tokens + 2 * len(text) < _MOST_PLACES:
        return Ngrams(words, steps.estimate_in_memory(tokens, text.offsets, len(words)))
    return Ngrams(words, steps.estimate(tokens, text.offsets))


def number_words(
    text: Text, max_words: int | None, allowed: Vocabulary | None, scratch: Scratch | None = None
) -> tuple[Vocabulary, npt.NDArray[np.uint32]]:
    """The model's vocabulary, <unk>, <s>, </s> and then words as they appear in the text; and the text in its numbers."""
    scratch = scratch or Scratch()
    words = text.vocabulary
    for marker in MARKERS[1:]:
        if (number := words.number(marker)) >= 0 and (at := np.flatnonzero(text.tokens == number)).size:
            line = int(np.searchsorted(text.offsets, at[0], side="right"))
            raise InputError(f"the token {marker!r} is reserved for the edges of sentences: remove it", text.path, line)
    counts = np.zeros(len(words), np.int64)
    for rows in scratch.rows(text.n_tokens, _TOKEN_BYTES):
        counts += np.bincount(text.tokens[rows], minlength=len(words))
    kept = counts > 0
    if allowed is not None:
        kept &= allowed.find_all(words) < len(allowed)
    if (unknown := words.number(MARKERS[0])) >= 0:
        kept[unknown] = False
    if max_words is not None:
        # Ties go to the word that came first.
        by_count = np.argsort(-np.where(kept, counts, 0), kind="stable")
        kept[by_count[max_words:]] = False
    kept_words = np.flatnonzero(kept)
    numbers = np.zeros(len(words), np.uint32)
    numbers[kept_words] = np.arange(len(MARKERS), len(MARKERS) + len(kept_words), dtype=np.uint32)
    tokens = scratch.filled(text.n_tokens, np.uint32, _TOKEN_BYTES, lambda rows: numbers[text.tokens[rows]])
    return Vocabulary.of(MARKERS).followed_by(words.select(kept_words)), tokens


def discounts(count_of_counts: npt.NDArray[np.uint64], order: int, fallback: bool) -> npt.NDArray[np.float32]:
    """The discounts of adjusted counts 1, 2, and 3 or more, given how many n-grams have a count of 1, 2, 3 and 4.

    >>> discounts(np.array([100, 50, 20, 10], np.uint64), order=2, fallback=False).tolist()
    [0.5, 1.399999976158142, 2.0]
    """
    n = [np.float32(int(count)) for count in count_of_counts]
    if all(n[:3]):
        y = n[0] / np.float32(n[0] + np.float32(2) * n[1])
        discounts = np.array([np.float32(i) - np.float32(i + 1) * y * n[i] / n[i - 1] for i in (1, 2, 3)], np.float32)
        if all(0 <= amount <= i for i, amount in enumerate(discounts, start=1)):
            return discounts
    if not fallback:
        seen = ", ".join(str(int(count)) for count in count_of_counts)
        raise InputError(
            f"the text is too small or too odd for a model of order {order}: its {order}-grams with a count of 1, 2, 3, 4 "
            f"are {seen}, which give no discounts; use more text, a lower order, or --discount-fallback"
        )
    return np.array(FALLBACK, np.float32)


class _EstimationSteps:
    """The state that the steps of one estimation share."""

    def __init__(self, options: Estimation, sorter: RowSorter, resources: Resources) -> None:
        self.options, self.sorter, self.resources = options, sorter, resources
        self.scratch = sorter.scratch
        self.steps_done, self.n_steps = 0, 2 + options.order

    def estimate_in_memory(
        self, tokens: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], n_words: int
    ) -> _core.NgramTree:
        order, n_threads = self.options.order, self.sorter.n_threads
        self.n_steps = 2 * order + 1
        tree = _core.NgramTree(tokens, offsets, n_words=n_words, thresholds=self.options.thresholds())
        for _ in range(order):
            tree.add_level()
            self.step()
        counts = [tree.count_of_counts(n) for n in range(1, order + 1)]
        for n, amounts in enumerate(self.discounts(counts), start=1):
            tree.estimate(n, amounts, n_threads=n_threads)
            self.step()
        tree.finish(n_threads=n_threads)
        self.step()
        return tree

    def estimate(self, tokens: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64]) -> list[Columns]:
        order, thresholds = self.options.order, self.options.thresholds()
        full = self.sorter.count(tokens, offsets, order)
        self.step()
        orders = [self.rows(n, size) for n, size in enumerate(_core.count_orders(full), start=1)]
        counts = _core.adjust_counts(full, thresholds, orders)
        del full
        amounts = self.discounts(counts)
        self.step()

        lower = orders[0]
        _core.estimate_unigrams(lower, amounts[0])
        columns: list[Columns] = []
        for n in range(2, order + 1):
            rows, orders[n - 1] = self.sorter.sort(orders[n - 1], by_context=True), np.empty((0, n + 2), np.uint32)
            weights = self.scratch.array(len(lower), np.float32)
            n_left = _core.estimate_order(rows, amounts[n - 1], lower, weights)
            rows = self.sorter.sort(rows[:n_left], by_context=False)
            _core.interpolate_order(rows, lower)
            columns.append(self.columns(lower, weights))
            lower = rows
            self.step()
        columns.append(self.columns(lower, np.empty(0, np.float32)))
        self.step()
        return columns

    def discounts(self, counts: Iterable[npt.NDArray[np.uint64]]) -> list[npt.NDArray[np.float32]]:
        """Those of each order."""
        return [discounts(c, n, self.options.discount_fallback) for n, c in enumerate(counts, start=1)]

    def columns(self, rows: Rows, weights: npt.NDArray[np.float32]) -> Columns:
        words: Rows = self.scratch.array((len(rows), rows.shape[1] - 2), np.uint32)
        prob: npt.NDArray[np.float32] = self.scratch.array(len(rows), np.float32)
        _core.finish_order(rows, words, prob, weights)
        return words, prob, weights

    def rows(self, order: int, size: int) -> Rows:
        return self.scratch.array((size, order + 2), np.uint32)

    def step(self) -> None:
        self.steps_done += 1
        self.resources.report(self.steps_done, self.n_steps)
