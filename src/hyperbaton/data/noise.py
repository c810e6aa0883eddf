"""Noise, which keeps generated text from being perfectly predictable.

Words are replaced by others of their kind, target words of the same kind and form are exchanged, and the *observed*
links lose and gain points. The true links follow the words, and the target stays grammatical.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperbaton.data.derivation import GeneratedPair
from hyperbaton.data.english import Draw, Tagged
from hyperbaton.data.lexicon import WordClass

Point = tuple[int, int]

# In proportion to the rate: source and target words replaced, target words exchanged, links added.
REPLACED_SOURCE, REPLACED_TARGET, EXCHANGED, ADDED = 0.4, 0.6, 1.0, 0.5


class Noise:
    """Noise of a given rate for one language."""

    def __init__(self, rate: float, lexicon: Mapping[str, WordClass]) -> None:
        self.rate = rate
        self.source: dict[str, list[str]] = {}
        self.target: dict[Tagged, list[str]] = {}  # words of the same class in the same form
        for words in lexicon.values():
            forms: dict[str, list[Tagged]] = {}
            if len(words.words) < 30:
                continue  # function words stay as they are
            for word in words.words:
                if len(word.tokens) == 1:
                    self.source.setdefault(words.tag, []).append(word.tokens[0])
                for form, tagged in word.senses[0].forms.items():
                    if len(tagged) == 1:
                        forms.setdefault(form, []).append(tagged[0])
            for same in forms.values():
                choices = [spelled for spelled, _ in same]
                for tagged_word in same:
                    self.target.setdefault(tagged_word, choices)

    def disturb(self, pair: GeneratedPair, draw: Draw) -> None:
        """Replace and exchange words of a sentence pair in place."""
        if not self.rate:
            return
        for i, tag in enumerate(pair.source_tags):
            if draw() < self.rate * REPLACED_SOURCE and tag in self.source:
                pair.source[i] = _pick(self.source[tag], draw)
        target = pair.target
        last: dict[int, int] = {}  # by their choices: where a word of the same kind stood last
        for j, (word, tag, _) in enumerate(target):
            u = draw()
            choices = self.target.get((word, tag))
            if choices is None:
                continue
            k = last.get(id(choices))
            last[id(choices)] = j
            if u < self.rate * REPLACED_TARGET:
                target[j] = target[j]._replace(word=_pick(choices, draw))
            elif k is not None and u > 1 - self.rate * EXCHANGED:
                target[k], target[j] = target[j], target[k]
        pair.spell_articles()

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
