"""Scores of links and sentence pairs by an aligner, and their file format.

A link has two posteriors: p(the target word comes from the source word) and p(the source word comes from the target
word), each between 0 and 1. A sentence pair has two mean log-probabilities per word, in nats (natural logarithms): that
of the target words given the source sentence, divided by the number of target words, and the same with the sides
exchanged. They are below 0, and higher is better.

A file of scores has one line for each sentence pair: both log-probabilities and then the mean posterior of each link in
the order of its line of links, separated by tabs and spaces:

    -2.4171<tab>-2.9035<tab>0.9981 0.7420

A pair without a score (a side that is empty or too long for the model) has an empty line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Links
from hyperbaton.corpus.files import AnyPath, read_lines, shown
from hyperbaton.corpus.text import Offsets

DIGITS = 4
_UNIT = 2**30  # scores are rounded to multiples of 1 / _UNIT where sums must be exact


@dataclass(frozen=True)
class AlignmentScores:
    """Scores of links and of sentence pairs, both with the columns (to target, to source).

    `posteriors` has a row for each link; `logprobs` a row for each sentence pair, per word, NaN if there is none.
    """

    posteriors: npt.NDArray[np.float32]  # (n_links, 2)
    logprobs: npt.NDArray[np.float64]  # (n_pairs, 2)

    @property
    def confidences(self) -> npt.NDArray[np.float32]:
        """The mean of both posteriors of each link, by which the aligner chooses."""
        return np.asarray(self.posteriors.mean(axis=1))

    def lines(self, links: Links) -> Iterator[str]:
        """A line of a file of scores for each sentence pair."""
        confidences = [f"{value:.{DIGITS}f}" for value in self.confidences.tolist()]
        for s, (to_target, to_source) in enumerate(self.logprobs.tolist()):
            if math.isnan(to_target):
                yield ""
                continue
            of_links = " ".join(confidences[links.offsets[s] : links.offsets[s + 1]])
            yield f"{to_target:.{DIGITS}f}\t{to_source:.{DIGITS}f}\t{of_links}"


@dataclass(frozen=True)
class StoredScores:
    """The content of a file of scores: the mean posteriors of pair s are `confidences[offsets[s]:offsets[s + 1]]`."""

    logprobs: npt.NDArray[np.float64]  # (n_pairs, 2), NaN where there is none
    confidences: npt.NDArray[np.floating]
    offsets: Offsets
    path: str = ""  # of the file, if there is one

    def __len__(self) -> int:
        return len(self.logprobs)

    @classmethod
    def read(cls, path: AnyPath) -> StoredScores:
        """Read a file that `align --scores` wrote."""
        logprobs: list[list[float]] = []
        confidences: list[float] = []
        offsets = [0]
        for number, line in enumerate(read_lines(path), start=1):
            if line:
                try:
                    to_target, to_source, of_links = line.split("\t")
                    pair = [float(to_target), float(to_source)]
                    sure = [float(value) for value in of_links.split()]
                except ValueError:
                    pair, sure = [math.nan], []
                if not all(map(math.isfinite, [*pair, *sure])):
                    what = f"expected two log-probabilities and the posteriors of links between tabs, found {line[:40]!r}"
                    raise InputError(what, shown(path), number)
                logprobs.append(pair)
                confidences += sure
            else:
                logprobs.append([math.nan, math.nan])
            offsets.append(len(confidences))
        return cls(np.array(logprobs).reshape(-1, 2), np.array(confidences), np.array(offsets, np.int64), shown(path))

    def check(self, n_pairs: int, links: Links | None = None) -> None:
        """Raise InputError unless there is a line for each pair, with a posterior for each link if links are given."""
        if len(self) != n_pairs:
            what = f"{counted(len(self), 'line')} of scores for {counted(n_pairs, 'sentence pair')}"
            raise InputError(what, self.path, min(len(self), n_pairs) + 1)
        if links is not None:
            n_links = np.diff(links.offsets)
            differs = (np.diff(self.offsets) != n_links) & ~np.isnan(self.logprobs[:, 0])
            if differs.any():
                s = int(np.argmax(differs))
                what = f"{self.offsets[s + 1] - self.offsets[s]} posteriors for the {n_links[s]} links of this pair"
                raise InputError(what, self.path, s + 1)


def most_certain(links: Links, confidences: npt.NDArray[np.floating], precision: float) -> Links:
    """Drop the least certain links of each sentence pair until the mean confidence of the others reaches `precision`.

    Equally certain links are kept or dropped together. A pair has no links if even its most certain one is below
    `precision`. The links of a pair do not depend on the other pairs.

    >>> links = Links.of([[(0, 0), (1, 1), (2, 1)], [(0, 0)]])
    >>> list(most_certain(links, np.array([0.7, 1.0, 0.5, 0.8]), 0.85))
    [[(0, 0), (1, 1)], []]
    """
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    # Sums of whole numbers are exact, so that they do not depend on the pairs before.
    scores, least = np.rint(np.asarray(confidences, np.float64) * _UNIT).astype(np.int64), round(precision * _UNIT)
    order = np.lexsort((-scores, sentence))
    # Running sums of the differences from `precision`, in order of certainty: within a pair they rise and then fall.
    sums = np.concatenate([[0], np.cumsum(scores[order] - least)])
    last = np.append(np.diff(scores[order]) | np.diff(sentence), 1).astype(bool)[: len(order)]  # last of equal scores
    ends = np.flatnonzero(last)[np.cumsum(last) - last]
    kept = np.empty(len(order), bool)
    kept[order] = sums[ends + 1] >= sums[links.offsets[sentence]]
    n_kept = offsets_of(kept)
    return Links(links.points[kept], n_kept[links.offsets])
