"""Japanese-like source text: the verb comes last, particles follow their nouns, every modifier precedes.

What moves on the way to English, and what decides:

- `NP wa … NP o V`: the verb leaves its last place for the second, over its object and all adjuncts, however long.
  Objects may also precede the subject (`NP o NP ga V`). The particles wa, ga, o are not translated.
- `NP P`: particles become prepositions; `NP no ue ni` (three words) becomes "on NP".
- `V mashita`, `V masen`, `V te imasu`: words after the verb go before it: "did not", "is … -ing".
- `VP NP`, `NP ga V NP`: relative clauses, without a marker, go after their noun, with "who" or "that".
- `NP no NP`: "owner 's noun", "the noun of owner" or a compound, as in the Chinese-like style.
- `S to V`: the verb of saying comes before what is said.
- `S node, S`, `S toki, S`: conjunctions follow their clause, and the clauses may change places.
- times stay in front after a comma and go to the end otherwise.
- `… ka`: the last word of the question becomes its first.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperbaton.data.english import Draw
from hyperbaton.data.style import Style, read_style

# Hepburn spelling of the syllables that are not regular.
HEPBURN = {"si": "shi", "ti": "chi", "tu": "tsu", "hu": "fu", "zi": "ji"}
VERB_ENDINGS = ("ki", "shi", "ri", "mi", "e", "bi", "gi", "chi", "ne", "me")


class Japanese(Style):
    """Japanese-like: verb-final clauses, particles after nouns, relative clauses without a marker."""

    rules, words, syllables = read_style("japanese.toml")

    def sound(self, draw: Draw, label: str) -> str:
        """Two to four morae, now and then closed by n; verbs and adjectives end as such words do."""

        def pick(choices: Sequence[str]) -> str:
            return choices[int(draw() * len(choices))]

        n_morae = 2 + int(draw() * (2 if label.startswith(("VV", "JJ")) else 3))
        morae = [pick(self.syllables) for _ in range(n_morae)]
        word = "".join(HEPBURN.get(mora, mora) for mora in morae)
        if label.startswith("VV"):
            return word + pick(VERB_ENDINGS)
        if label == "JJ":
            return word + "i"
        return word + "n" if draw() < 0.2 else word
