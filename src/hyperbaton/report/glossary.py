"""Explanations of words in a report, shown on hovering: metrics, orientation classes, tags."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hyperbaton.metrics import METRICS
from hyperbaton.report.metric_names import title_of

_CLASSES = {
    "monotone": "the phrase follows the previous one in the source",
    "swap": "the phrase directly precedes the previous one in the source",
    "discontinuous": "neither directly after nor directly before the previous phrase",
    "discontinuous left": "somewhere before the previous phrase, not directly",
    "discontinuous right": "somewhere after the previous phrase, not directly",
    "not monotone": "anywhere but directly after the previous phrase",
    "left": "before the previous phrase in the source",
    "right": "after the previous phrase in the source",
    "d=0": "the phrase follows the previous one in the source",
}
_SETS = {
    "msd": "monotone, swap, discontinuous: Moses' classes",
    "mslr": "monotone, swap, discontinuous left and right",
    "leftright": "before or after the previous phrase",
    "three": "three classes of the distance d: below, at and above 0",
    "five": "five classes of the distance d, near and far",
}
# Part-of-speech tags of the Chinese and the English Penn Treebank.
_TAGS = {
    "AD": "adverb",
    "AS": "aspect particle",
    "AUX": "auxiliary",
    "BA": "ba",
    "CC": "coordinating conjunction",
    "CD": "number",
    "CS": "subordinating conjunction",
    "DEC": "relative-clause particle",
    "DEG": "possessive particle",
    "DEV": "adverbial particle",
    "DT": "determiner",
    "IN": "preposition or conjunction",
    "JJ": "adjective",
    "LB": "bei",
    "LC": "localizer",
    "M": "measure word",
    "MD": "modal verb",
    "NN": "noun",
    "NNP": "name",
    "NNS": "plural noun",
    "NR": "name",
    "NT": "time noun",
    "P": "preposition or postposition",
    "PN": "pronoun",
    "PRP": "pronoun",
    "PU": "punctuation",
    "RB": "adverb",
    "SP": "sentence-final particle",
    "VA": "predicative adjective",
    "VB": "verb",
    "VBD": "verb, past tense",
    "VC": "copula",
    "VE": "verb of existence",
    "VV": "verb",
    # Universal tags.
    "ADJ": "adjective",
    "ADP": "preposition or postposition",
    "ADV": "adverb",
    "CCONJ": "coordinating conjunction",
    "DET": "determiner",
    "NOUN": "noun",
    "NUM": "number",
    "PART": "particle",
    "PRON": "pronoun",
    "PROPN": "name",
    "PUNCT": "punctuation",
    "SCONJ": "subordinating conjunction",
    "VERB": "verb",
}


def about_metrics(names: Iterable[str]) -> dict[str, str]:
    """What metrics measure, by their titles in a report.

    >>> list(about_metrics(["wer", "mine"]))
    ['WER']
    """
    known = {METRICS[name].title.lower(): METRICS.describe(name) for name in METRICS}
    titles = {name: title_of(name) for name in names}
    return {title: known[stem] for title in titles.values() if (stem := title.partition(":")[0].lower()) in known}


def about_class(name: str) -> str:
    """What an orientation class or set is; "" if unknown.

    >>> about_class("left"), about_class("hier-msd"), about_class("mine")
    ('before the previous phrase in the source', "monotone, swap, discontinuous: Moses' classes", '')
    >>> about_class("-5<d<0"), about_class("d≥5")
    ('a jump forward: source words are skipped', 'a jump back, before the end of the previous phrase')
    """
    if re.fullmatch(r"[-\d<≤≥>]*d[-\d<≤≥>]+", name):  # an interval of the distance
        forward = name.endswith("<0") or "≤-" in name
        return f"a jump {'forward: source words are skipped' if forward else 'back, before the end of the previous phrase'}"
    return _CLASSES.get(name, _SETS.get(name.rpartition("-")[2], ""))


def about_tag(tag: str) -> str:
    """The meaning of a part-of-speech tag; "" if unknown."""
    return _TAGS.get(tag, _TAGS.get(tag.partition("-")[0], ""))
