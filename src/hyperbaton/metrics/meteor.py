"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007).

Words are matched one to one in stages: equal words, then equal stems (Porter), then synonyms (words with a common synset of
WordNet). With m matches in hypotheses of h and references of r words, in c chunks of neighbouring words,

    P = m/h,  R = m/r,  F = P R / (α P + (1 − α) R),   METEOR = 100 · F · (1 − γ (c/m)^β)

on sums over all sentences, as METEOR's own program does it; of several references the best for each sentence counts. Where
words may match in several ways, the longest chunk is taken first, and of equally long ones that of the earlier stages.
Statistics: m, c, h, r.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._porter import stem
from hyperbaton.metrics._wordnet import synsets, wordnet_folder

Keys = Callable[[str], Iterable[Hashable]]


@dataclass
class Meteor(Metric):
    """METEOR: matched words, by stem too, more recall than precision, in as few chunks as possible.

    >>> round(Meteor().value(Outputs.of(["the cats sat on the mat"], ["on the mat sat the cat"])), 2)
    93.75
    """

    title: ClassVar[str] = "METEOR"

    stages: str = option("exact+stem", "how words may match, in this order: exact, stem, synonym")
    alpha: float = option(0.9, "weight of recall; the rest is precision's", minimum=0, maximum=1)
    beta: float = option(3.0, "exponent of the fragmentation", minimum=0)
    gamma: float = option(0.5, "largest penalty for fragmentation", minimum=0, maximum=1)
    lowercase: bool = option(True, "ignore case")
    wordnet: str | None = option(None, "folder of WordNet, for synonyms")

    def statistics(self, outputs: Outputs) -> Statistics:
        keys = self._stages()

        def split(lines: Sequence[str]) -> list[list[str]]:
            return [(line.lower() if self.lowercase else line).split() for line in lines]

        hypotheses, lines = split(outputs.hypotheses), outputs.line.tolist()
        found = []
        for text in outputs.references:
            reference = split(text)
            rows = [
                (*count_matches(words, reference[s], keys), len(words), len(reference[s]))
                for words, s in zip(hypotheses, lines, strict=True)
            ]
            found.append(np.array(rows, np.float64).reshape(-1, 4))
        return self.best_reference(found)

    def score(self, sums: Statistics) -> Values:
        matches, chunks, hypothesis, reference = (sums[..., i] for i in range(4))
        precision, recall = ratio(matches, hypothesis), ratio(matches, reference)
        mean = ratio(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        return 100 * mean * (1 - self.gamma * ratio(chunks, matches) ** self.beta)

    def _stages(self) -> list[Keys]:
        known: dict[str, Callable[[], Keys]] = {
            "exact": lambda: lambda word: (word,),
            "stem": lambda: lambda word: (stem(word),),
            "synonym": self._synonyms,
        }
        names = self.stages.split("+")
        for name in names:
            if name not in known:
                raise OptionError(f"unknown stage {name!r} of METEOR; known: {', '.join(known)}, joined by +")
        return [known[name]() for name in names]

    def _synonyms(self) -> Keys:
        known = synsets(wordnet_folder(self.wordnet))
        return lambda word: known.get(word, ())


def count_matches(hypothesis: Sequence[str], reference: Sequence[str], stages: Sequence[Keys]) -> tuple[int, int]:
    """The matched words and the chunks that they form: the longest chunk is taken first, then the next of what is left.

    >>> count_matches("a b a c".split(), "a c b a".split(), [lambda word: (word,)])
    (4, 3)
    """
    cells: dict[tuple[int, int], int] = {}  # what may match, and in which stage
    for stage, keys in enumerate(stages):
        places: dict[Hashable, list[int]] = {}
        for j, word in enumerate(reference):
            for key in keys(word):
                places.setdefault(key, []).append(j)
        for i, word in enumerate(hypothesis):
            for key in keys(word):
                for j in places.get(key, ()):
                    cells.setdefault((i, j), stage)
    matched: list[tuple[int, int]] = []
    while cells:
        length, i, j = min(_chunks(cells))[-3:]
        matched += ((i + k, j + k) for k in range(length))
        cells = {(a, b): stage for (a, b), stage in cells.items() if not (i <= a < i + length or j <= b < j + length)}
    matched.sort()
    n_chunks = sum(k == 0 or matched[k - 1] != (i - 1, j - 1) for k, (i, j) in enumerate(matched))
    return len(matched), n_chunks


def _chunks(cells: dict[tuple[int, int], int]) -> Iterator[tuple[int, int, int, int, int]]:
    """Runs of neighbouring matches as (−length, sum of stages, length, places): the smallest is the one to take."""
    for i, j in cells:
        if (i - 1, j - 1) not in cells:
            length = late = 0
            while (i + length, j + length) in cells:
                late += cells[i + length, j + length]
                length += 1
            yield -length, late, length, i, j
