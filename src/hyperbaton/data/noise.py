"""Noise: what keeps generated text from being perfectly predictable.

Words are replaced by others of their kind, neighbouring target words change places, and the *observed* links lose
and gain points. The true links follow the words.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperbaton.data.derivation import SentencePair
from hyperbaton.data.english import Draw
from hyperbaton.data.lexicon import WordClass

Point = tuple[int, int]

# In proportion to the rate: source and target words replaced, target neighbours exchanged, links added.
REPLACED_SOURCE, REPLACED_TARGET, EXCHANGED, ADDED = 0.4, 0.6, 0.6, 0.5


class Noise:
    """Noise of a given rate for one language."""

    def __init__(self, rate: float, lexicon: Mapping[str, WordClass]) -> None:
        self.rate = rate
        self.source: dict[str, list[str]] = {}
        self.target: dict[str, list[str]] = {}
        for words in lexicon.values():
            if len(words.words) < 30:
                continue  # function words stay as they are
            for word in words.words:
                if len(word.tokens) == 1:
                    self.source.setdefault(words.tag, []).append(word.tokens[0])
                for form in word.senses[0].forms.values():
                    if len(form) == 1:
                        self.target.setdefault(form[0][1], []).append(form[0][0])

    def disturb(self, pair: SentencePair, draw: Draw) -> None:
        """Replace and exchange words of a sentence pair in place."""
        if not self.rate:
            return
        for i, tag in enumerate(pair.source_tags):
            if draw() < self.rate * REPLACED_SOURCE and tag in self.source:
                pair.source[i] = _pick(self.source[tag], draw)
        target = pair.target
        for j, (_, tag, sources) in enumerate(target):
            u = draw()
            if u < self.rate * REPLACED_TARGET and tag in self.target:
                target[j] = target[j]._replace(word=_pick(self.target[tag], draw))
            elif j and sources and u > 1 - self.rate * EXCHANGED and tag.isalpha() and target[j - 1].tag.isalpha():
                target[j - 1], target[j] = target[j], target[j - 1]

    def observe(self, points: list[Point], n_source: int, n_target: int, draw: Draw) -> list[Point]:
        """The links that an imperfect aligner would report, sorted."""
        if not self.rate:
            return points
        observed = {point for point in points if draw() >= self.rate}
        for i in range(n_source):
            if draw() < self.rate * ADDED:
                observed.add((i, int(draw() * n_target)))
        return sorted(observed)


def _pick(words: list[str], draw: Draw) -> str:
    return words[int(draw() * len(words))]
