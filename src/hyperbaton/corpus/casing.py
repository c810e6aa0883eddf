"""Letter case: truecasing learned from a text, and capitals in translations.

A truecaser knows the usual spelling of each word: the most frequent one inside sentences, where no spelling rule
requires a capital. Before translation it gives the first word of a sentence its usual spelling, so that *The* and *the*
are one word; a sentence all in capitals is respelled word by word. Afterwards the first word gets its capital again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.store import Arrays
from hyperbaton.corpus.text import Text, Vocabulary

CASINGS = ("none", "lowercase", "truecase")
_ENDS = frozenset(".!?:;")  # after these a capital may start a new sentence


def _is_word(token: str) -> bool:
    return any(c.isalpha() for c in token) and not token.startswith("&")


@dataclass(frozen=True)
class Casing:
    """The usual spelling of words, by their lower-case form; words that are usually in lower case are among them.

    >>> casing = Casing.learn(Text.of(["The cat saw Anna", "Then the cat slept", "IT IS LATE"]))
    >>> casing.truecase("The CAT saw anna".split())
    ['the', 'CAT', 'saw', 'anna']
    >>> casing.truecase("THE CAT SLEPT".split())
    ['the', 'cat', 'slept']
    >>> casing.recase("the cat saw anna".split())
    ['the', 'cat', 'saw', 'Anna']
    """

    forms: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def learn(cls, text: Text) -> Casing:
        """Count spellings inside sentences; sentences all in capitals are ignored."""
        words = text.vocabulary.words()
        counts = np.bincount(text.tokens[_inside(text, words)], minlength=len(words))
        by_lower: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for word, count in zip(words, counts.tolist(), strict=True):
            if count and _is_word(word):
                by_lower[word.lower()].append((count, word))
        # Among equally frequent spellings, take the one with fewer capitals.
        return cls({lower: max(found, key=lambda f: (f[0], f[1]))[1] for lower, found in by_lower.items()})

    def truecase(self, tokens: Sequence[str]) -> list[str]:
        """The words of a sentence, in their usual spelling where their position required a capital."""
        shouted = _is_shouted(tokens)
        cased, at_start = [], True
        for token in tokens:
            cased.append(self.forms.get(token.lower(), token) if at_start or shouted else token)
            at_start = token in _ENDS or (at_start and not _is_word(token))
        return cased

    def recase(self, tokens: Sequence[str]) -> list[str]:
        """Words of a lower-cased sentence in their usual spelling."""
        return [self.forms.get(token, token) for token in tokens]

    def arrays(self, prefix: str) -> dict[str, Array]:
        return Vocabulary.of(sorted(self.forms.values())).arrays(prefix)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Casing:
        return cls({form.lower(): form for form in Vocabulary.from_arrays(arrays).words()})


def capitalize(tokens: Sequence[str]) -> list[str]:
    """A sentence with a capital at its start.

    >>> capitalize(["(", "the", "cat", ")"]), capitalize(["iPhone"]), capitalize(["3", "cats"])
    (['(', 'The', 'cat', ')'], ['iPhone'], ['3', 'cats'])
    """
    for i, token in enumerate(tokens):
        if _is_word(token):
            plain = token.islower() and "://" not in token and "@" not in token
            return [*tokens[:i], token[0].upper() + token[1:] if plain else token, *tokens[i + 1 :]]
        if any(c.isalnum() for c in token):
            break
    return list(tokens)


def starts_low(tokens: Sequence[str]) -> bool:
    """Whether a sentence starts with a small letter, as list items and parts of sentences do."""
    first = next((token for token in tokens if any(c.isalnum() for c in token)), "")
    return first[:1].islower()


def _is_shouted(tokens: Sequence[str]) -> bool:
    words = [token for token in tokens if _is_word(token)]
    return len(words) > 1 and all(word.isupper() for word in words) and any(len(word) > 1 for word in words)


def _inside(text: Text, words: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Which tokens are where no rule requires a capital: not at the start of a sentence, nor in one all in capitals."""
    spelled = np.array([_is_word(word) for word in words], bool)
    ends = np.array([word in _ENDS for word in words], bool)
    upper = np.array([word.isupper() for word in words], bool)
    inside = np.ones(text.n_tokens, bool)
    if text.n_tokens == 0:
        return inside
    tokens = text.tokens
    inside[1:] &= ~ends[tokens[:-1]]
    sentence = np.repeat(np.arange(len(text)), text.lengths)
    # Words of each sentence up to and including each token: the start is the first word and everything before it.
    n_before = offsets_of(spelled[tokens])
    inside &= n_before[:-1] > n_before[text.offsets[sentence]]
    n_words = np.bincount(sentence, spelled[tokens], len(text))
    n_upper = np.bincount(sentence, (spelled & upper)[tokens], len(text))
    inside &= ~((n_words > 1) & (n_words == n_upper))[sentence]
    return inside
