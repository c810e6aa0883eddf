"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007).

Words are matched one to one in stages: equal words, then equal stems (Porter), then synonyms (words with a common synset of
WordNet). With m matches in hypotheses of h and references of r words, in c chunks of neighbouring words,

    P = m/h,  R = m/r,  F = P R / (α P + (1 − α) R),   METEOR = 100 · F · (1 − γ (c/m)^β)

on sums over all sentences, as in METEOR's own program; the best of several references is used for each sentence. If
words can match in several ways, the longest chunk is taken first, and ties go to the chunk of the earlier stages.
Statistics: m, c, h, r.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import default_threads
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._porter import stem
from hyperbaton.metrics._wordnet import synsets, wordnet_folder
from hyperbaton.metrics._words import Ints, NumberedText, number_words

Keys = Callable[[str], Iterable[Hashable]]


@dataclass
class Meteor(Metric):
    """METEOR: words matched exactly or by stem, mostly recall, with a penalty for many chunks.

    >>> round(Meteor().value(Outputs.of(["the cats sat on the mat"], ["on the mat sat the cat"])), 2)
    93.75
    """

    title: ClassVar[str] = "METEOR"

    stages: str = option("exact+stem", "stages of matching, in this order: exact, stem, synonym")
    alpha: float = option(0.9, "weight of recall; the rest is precision's", minimum=0, maximum=1)
    beta: float = option(3.0, "exponent of the fragmentation", minimum=0)
    gamma: float = option(0.5, "largest penalty for fragmentation", minimum=0, maximum=1)
    lowercase: bool = option(True, "ignore case")
    wordnet: str | None = option(None, "folder of WordNet, for synonyms", path=True)

    def statistics(self, outputs: Outputs) -> Statistics:
        outputs, stages, statistics = outputs.lowercased() if self.lowercase else outputs, self._stages(), []
        for text in outputs.references:
            counts, *lengths = count_matches(outputs.hypotheses, text, outputs.line, stages)
            statistics.append(np.column_stack([counts, *lengths]).astype(np.float64))
        return self.best_reference(statistics)

    def score(self, sums: Statistics) -> Values:
        matches, chunks, hypothesis, reference = (sums[..., i] for i in range(4))
        precision, recall = ratio(matches, hypothesis), ratio(matches, reference)
        mean = ratio(precision * recall, self.alpha * precision + (1 - self.alpha) * recall)
        penalty: Values = self.gamma * numeric.power(ratio(chunks, matches), self.beta)
        return 100 * mean * (1 - penalty)

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


def count_matches(
    hypotheses: Sequence[str], references: Sequence[str], line: Ints, stages: Sequence[Keys]
) -> tuple[Ints, Ints, Ints]:
    """Matched words and the chunks that they form, (n, 2); the lengths of the hypotheses, and of their references.

    The longest chunk is taken first, then the next of what is left. Hypothesis h belongs to line `line[h]`.

    >>> count_matches(["a b a c"], ["a c b a"], np.array([0]), [lambda word: (word,)])[0].tolist()
    [[4, 3]]
    """
    own, other = NumberedWords.of(hypotheses), NumberedWords.of(references)
    # Which kinds of words match, in the first stage that says so.
    kinds: list[dict[int, int]] = [{} for _ in own.kinds]
    for stage, keys in enumerate(stages):
        places: dict[Hashable, list[int]] = {}
        for number, word in enumerate(other.kinds):
            for key in keys(word):
                places.setdefault(key, []).append(number)
        for matches, word in zip(kinds, own.kinds, strict=True):
            for key in keys(word):
                for number in places.get(key, ()):
                    matches.setdefault(number, stage)
    counts = _core.count_chunks(
        words=own.numbered.words,
        offsets=own.numbered.offsets,
        reference_words=other.numbered.words,
        reference_offsets=other.numbered.offsets,
        line=line,
        n_threads=default_threads(),
        matches=_core.WordMatches(
            offsets=np.cumsum([0, *map(len, kinds)], dtype=np.int64),
            words=np.array([number for matches in kinds for number in matches], np.uint32),
            stages=np.array([stage for matches in kinds for stage in matches.values()], np.uint8),
        ),
    )
    return counts, own.numbered.lengths, other.numbered.lengths[line]


class NumberedWords(NamedTuple):
    """A text with its words numbered, and the word of each number."""

    numbered: NumberedText
    kinds: list[str]

    @classmethod
    def of(cls, text: Sequence[str]) -> NumberedWords:
        """Number the words in the order of their first occurrences, as `number_words` does."""
        return cls(number_words(text)[0], list(dict.fromkeys(word for line in text for word in line.split())))
