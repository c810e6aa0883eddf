"""Preordering: put source sentences into the order in which their translations would visit their words.

`preorder` finds the most probable order under a jump model that is normalised over the remaining words:

    P(order) = Π P(jₜ | jₜ₋₁, visited)          over the words not visited and the end, by beam search

`link_orders` gives the order defined by word links. A word that a path or the links do not visit is inserted right after
the word before it in the source, or at the front if it is the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base.arrays import offsets_of, ranges
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Annotations, Links, Tags, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.models import NextPositionModel, ReorderingModel

# Approximate number of jumps whose probabilities are in memory at once.
_TOGETHER = 4_000_000


@dataclass(frozen=True)
class Permutations(VisitOrders):
    """Orders of all words of sentences: word k of the new sentence s is word `permutations[s][k]` of the old one."""

    def reorder(self, text: Text) -> Text:
        """The sentences in these orders."""
        return Text(text.tokens[self._places()], text.offsets, text.vocabulary)

    def reorder_tags(self, tags: Tags) -> Tags:
        """The tags of the sentences in these orders."""
        return Tags(tags.labels[self._places()], tags.offsets, tags.vocabulary)

    def reorder_links(self, links: Links) -> Links:
        """The links of the sentences in these orders."""
        places = np.empty(len(self.positions), np.uint16)  # new positions of the old words
        places[self._places()] = ranges(0, np.diff(self.offsets))
        sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
        points = np.column_stack([places[self.offsets[sentence] + links.points[:, 0]], links.points[:, 1]])
        return Links(np.ascontiguousarray(points[np.lexsort((points[:, 1], points[:, 0], sentence))]), links.offsets)

    def only(self, visits: VisitOrders) -> VisitOrders:
        """The orders restricted to the words that others visit."""
        kept = np.zeros(len(self.positions), bool)
        kept[np.repeat(self.offsets[:-1], np.diff(visits.offsets)) + visits.positions] = True
        is_kept = kept[self._places()]
        return VisitOrders(self.positions[is_kept], offsets_of(is_kept)[self.offsets])

    def lines(self) -> bytes:
        """A line of positions for each sentence, from 0."""
        return b"".join((" ".join(map(str, self[s])) + "\n").encode() for s in range(len(self)))

    def _places(self) -> npt.NDArray[np.int64]:
        """The old position of each word of the new text."""
        return np.repeat(self.offsets[:-1], np.diff(self.offsets)) + self.positions


@dataclass
class PreorderOptions(CheckedOptions):
    """Options of the search for the most probable order."""

    beam: int = option(10, "number of paths kept for each number of visited words", minimum=1, maximum=10_000)
    complete: bool = option(
        True, "visit every word; otherwise a path may end early, and a skipped word follows the word before it"
    )


def preorder(
    model: ReorderingModel,
    source: Text,
    annotations: Annotations = NOTHING,
    options: PreorderOptions | None = None,
    *,
    threads: int = 0,
    progress: Progress | None = None,
) -> tuple[Permutations, npt.NDArray[np.float64]]:
    """The most probable order of each sentence, and its natural log-probability.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.models import MODELS
    >>> bitext = Bitext.of(["a b c"] * 9, ["C A B"] * 9, [[(0, 1), (1, 2), (2, 0)]] * 9)
    >>> orders, logprobs = preorder(MODELS["pair"](min_count=1).fit(bitext), Text.of(["a b c"]))
    >>> orders[0]
    [2, 0, 1]
    """
    if not isinstance(model, NextPositionModel):
        raise OptionError(f"the model {model.name} does not predict jumps; train a jump model, e.g. encoder or sequence")
    options, resources = options or PreorderOptions(), Resources.of(threads, progress)
    source.check_lengths()
    chunks = np.cumsum((source.lengths + 1) ** 2) // _TOGETHER
    orders, logprobs = [np.empty(0, np.uint16)], [np.empty(0)]
    for chunk in np.unique(chunks):
        sentences = np.flatnonzero(chunks == chunk)
        part = source.select(sentences)
        jumps = model.jump_logprobs(part, annotations.select(sentences))
        if jumps.class_weights is not None:
            raise OptionError("preorder takes models without weights for the coverage: train without --coverage")
        columns = _core.preorder(
            jumps.values,
            part.offsets,
            beam=options.beam,
            complete=options.complete,
            n_threads=resources.threads,
        )
        orders.append(columns[0])
        logprobs.append(columns[1])
        resources.report(int(sentences[-1]) + 1, len(source))
    return Permutations(np.concatenate(orders), source.offsets), np.concatenate(logprobs)


def link_orders(source: Text, links: Links, *, threads: int = 0) -> Permutations:
    """The order in which the target words visit the source words.

    >>> link_orders(Text.of(["a b c d"]), Links.of([[(0, 1), (2, 0), (3, 0)]]))[0]
    [2, 3, 0, 1]
    """
    visits = visit_order(links, threads=threads)
    return Permutations(_core.complete_orders(visits.positions, visits.offsets, source.offsets), source.offsets)


def unchanged(source: Text) -> Permutations:
    """Every sentence in its original order."""
    return Permutations(ranges(0, source.lengths).astype(np.uint16), source.offsets)
