"""Chinese-like source text: modifiers before nouns with "de", prepositional phrases and times before the verb.

What moves on the way to English, and what decides:

- `NP de NP`: "owner 's noun" for persons, "the noun of owner" otherwise, a plain compound for some head nouns.
- `VP de NP`, `NP V de NP`: relative clauses go after their noun, with "who" or "that".
- `PP VP`: the PP goes after the verb phrase, or between verb and object if the object is long or the verb requires
  it; a few prepositions (according to, apart from) stay in front.
- times precede the verb and go to the end of the clause; after a comma, or for words like "now", they stay.
- `adverb de VP`: manner goes after a short verb phrase and stays before a long one.
- `zai … li`: two words around a noun become one preposition before it.
- `ba`: the object before the verb goes after it; `bei`: the agent goes to the end, with "by".
- `yinwei …, suoyi …`, `ruguo …, jiu …`, `… yihou`: the clauses may change places.
- `… ma ?`: the last word of the question becomes its first.
"""

from __future__ import annotations

from hyperbaton.data.english import Draw
from hyperbaton.data.style import Style, read_style


class Chinese(Style):
    """Chinese-like: "de", prepositional phrases and times before the verb, localizers, ba and bei."""

    rules, words, syllables = read_style("chinese.toml")

    def sound(self, draw: Draw, label: str) -> str:
        """One to three syllables: verbs are often one, names never three."""
        u = draw()
        n_syllables = 1 if label.startswith("VV") and u < 0.1 else 3 if label == "NN-THING" and u > 0.85 else 2
        return "".join(self.syllables[int(draw() * len(self.syllables))] for _ in range(n_syllables))
