"""The words of a generated language: a hand-written core of each class, and invented words after it.

A core is written as `form translation, form translation, …`. A translation of several words is joined by `_`, a
source expression of several words by `+`, `form:feature` gives a single word a feature, a form alone is never
translated, and `|cue=translation` adds a second sense that is used when a word with the feature `cue` is next
to it: `kan read|person=visit` is "read", but "visit" when the object is a person.

The rank of a word in its class gives its frequency, p(rank) ∝ 1 / (rank + 3), as Zipf and Mandelbrot say. Words
belong to topics in turn; a sentence has a topic and prefers its words, so that words of one topic keep company and
the sense of an ambiguous noun can be told from the words around it.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from hyperbaton.base.errors import OptionError
from hyperbaton.data.english import Draw, Tagged, forms, invent

N_TOPICS = 4
TOPICS = [f"topic{t}" for t in range(N_TOPICS)]
P_TOPICAL = 0.5  # how often a word is exchanged for its neighbour in rank that belongs to the topic
P_AMBIGUOUS, P_EXPRESSION, P_COMPOUND, P_SYNONYM = 0.35, 0.12, 0.06, 0.12
P_CUE_IGNORED = 0.1
PARTICLES = ("up", "out", "off", "over", "with")


@dataclass(frozen=True)
class Words:
    """One class of words, as a style writes it down.

    Arguments:
        core: hand-written words, most frequent first.
        english: part of speech of the translations.
        share: how much of the vocabulary is invented for this class.
        kind: which endings invented translations get; also a feature of every word of the class.
        features: further features of every word.
        flags: feature → share of the words that have it, told by nothing but the word itself.
        cues: features of neighbours that choose among the senses of an ambiguous word; topics if there are none.
        flat: all words equally frequent.
    """

    core: str
    english: str = ""
    share: float = 0.0
    kind: str = ""
    features: str = ""
    flags: Mapping[str, float] = field(default_factory=dict)
    cues: str = " ".join(TOPICS)
    flat: bool = False


@dataclass(frozen=True)
class Sense:
    """One translation of a word, in every form, and the feature of a neighbour that calls for it."""

    cue: str
    forms: dict[str, tuple[Tagged, ...]]


@dataclass(frozen=True)
class Word:
    """A word of the source language."""

    tokens: tuple[str, ...]
    features: frozenset[str]
    senses: tuple[Sense, ...] = ()


class WordClass:
    """Words of one class by rank; `draw_word` draws one."""

    def __init__(self, name: str, words: list[Word], english: str = "", flat: bool = False) -> None:
        self.name, self.tag, self.words, self.english = name, name.partition("-")[0], words, english
        self.bracket = f" ({self.tag} "
        weights = [1.0 if flat else 1 / (rank + 3) for rank in range(len(words))]
        total = sum(weights)
        self.cumulative = [w / total for w in accumulate(weights)]
        self.cumulative[-1] = 1.0
        self.topical = not flat and len(words) >= 4 * N_TOPICS

    def draw_word(self, draw: Draw, topic: int) -> Word:
        """A word at random, preferably of the topic."""
        rank = bisect(self.cumulative, draw())
        if self.topical and draw() < P_TOPICAL:
            rank = min(rank - rank % N_TOPICS + topic, len(self.words) - 1)
        return self.words[rank]


def build(classes: Mapping[str, Words], size: int, sound: Callable[[Draw, str], str], name: str) -> dict[str, WordClass]:
    """Make all word classes of a language, with about `size` words in all.

    Arguments:
        sound: makes a source word-form of a class.
        name: of the language; the words depend on it and on `size`, and on nothing else.
    """
    taken = {
        token
        for listing in classes.values()
        for entry in listing.core.split(",")
        for token in (entry.split() or [""])[0].partition(":")[0].split("+")
    }
    lexicon = {}
    for label, listing in classes.items():
        draw = random.Random(f"{name} {label}").random
        words = [_core_word(entry.split(), label, listing, draw) for entry in listing.core.split(",") if entry.strip()]
        n_invented = max(0, round(size * listing.share) - len(words)) if listing.share else 0
        used = [sense.forms["base"] for word in words for sense in word.senses]
        for _ in range(n_invented):
            words.append(_invented_word(label, listing, draw, sound, taken, used))
        lexicon[label] = WordClass(label, words, listing.english, listing.flat)
    return lexicon


def _features(tokens: tuple[str, ...], listing: Words, draw: Draw) -> frozenset[str]:
    flags = [flag for flag, share in listing.flags.items() if draw() < share]
    return frozenset([*listing.features.split(), *([listing.kind] if listing.kind else []), *flags, "_".join(tokens)])


def _core_word(entry: list[str], label: str, listing: Words, draw: Draw) -> Word:
    if len(entry) > 2:
        raise OptionError(f"class {label}: a word is written 'form translation', not {' '.join(entry)!r}")
    form, *features = entry[0].split(":")
    tokens = tuple(form.split("+"))
    senses = []
    for part in entry[1].split("|") if len(entry) == 2 else []:
        cue, _, text = part.rpartition("=")
        words = tuple(text.split("_"))
        senses.append(Sense(cue, forms(words, listing.english)))
    # Senses with a cue are tried first; the one without is the last resort.
    senses.sort(key=lambda sense: not sense.cue)
    return Word(tokens, _features(tokens, listing, draw) | frozenset(features), tuple(senses))


def _invented_word(
    label: str,
    listing: Words,
    draw: Draw,
    sound: Callable[[Draw, str], str],
    taken: set[str],
    used: list[tuple[Tagged, ...]],
) -> Word:
    n_tokens = 2 if listing.english == "NN" and draw() < P_COMPOUND else 1
    tokens: tuple[str, ...] = ()
    while len(tokens) < n_tokens:
        token = sound(draw, label)
        if token not in taken:
            taken.add(token)
            tokens += (token,)
    if listing.english == "NNP":
        return Word(tokens, _features(tokens, listing, draw), (Sense("", forms((tokens[0].capitalize(),), "NNP")),))
    cues = listing.cues.split()
    n_senses = 1 + (draw() < P_AMBIGUOUS) + (draw() < P_AMBIGUOUS / 3)
    senses = []
    for s in range(n_senses):
        # A compound of two source words stands for one target word.
        words = _translation(listing, draw, used, single=n_tokens == 2)
        senses.append(Sense(cues[int(draw() * len(cues))] if s < n_senses - 1 else "", forms(words, listing.english)))
    return Word(tokens, _features(tokens, listing, draw), tuple(senses))


def _translation(listing: Words, draw: Draw, used: list[tuple[Tagged, ...]], single: bool) -> tuple[str, ...]:
    if used and draw() < P_SYNONYM:
        words = tuple(word for word, _ in used[int(draw() * len(used))])
        if len(words) == 1 or not single:
            return words
    kind = listing.kind or listing.english
    words = (invent(draw, kind),)
    if not single and draw() < P_EXPRESSION:
        if listing.english == "VB":
            words = (*words, PARTICLES[int(draw() * len(PARTICLES))])
        elif listing.english == "NN":
            words = (invent(draw, "thing"), *words)
    used.append(tuple((word, "") for word in words))
    return words
