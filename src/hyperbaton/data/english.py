"""The target language: inflection, tags of function words, and words that could be English but are not."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from importlib.resources import files

Draw = Callable[[], float]  # the next number of a random stream, in [0, 1)
Tagged = tuple[str, str]  # a target word and its part of speech

_ENGLISH = tomllib.loads(files(__package__).joinpath("english.toml").read_text(encoding="utf-8"))
FUNCTION_WORDS = {word: tag for tag, words in _ENGLISH["function-words"].items() for word in words.split()}
AUXILIARIES: dict[str, dict[str, str]] = _ENGLISH["auxiliaries"]


def _entries(name: str) -> dict[str, list[str]]:
    """The words of a list by the first word of their entries."""
    return {first: rest for first, *rest in (entry.split() for entry in _ENGLISH[name].split(","))}


IRREGULAR_VERBS, IRREGULAR_PLURALS, COMPARATIVES = map(_entries, ("irregular-verbs", "irregular-plurals", "comparatives"))
# The form of a verb in a clause; "will" stands before the base form.
FINITE = {
    **{("past", agreement): "ed" for agreement in "spi"},
    **{("future", agreement): "will" for agreement in "spi"},
    **{("present", agreement): "s" if agreement == "s" else "base" for agreement in "spi"},
    **{(tense, "bare"): "base" for tense in ("present", "past", "future")},
}


def auxiliary(verb: str, tense: str, agreement: str) -> list[Tagged]:
    """An inserted verb in its finite form.

    >>> auxiliary("be", "past", "p"), auxiliary("have", "future", "s"), auxiliary("do", "past", "bare")
    ([('were', 'VBD')], [('will', 'MD'), ('have', 'VB')], [])
    """
    table = AUXILIARIES[verb]
    if agreement == "bare":
        form = table.get("bare", verb)
        return [(form, "VB")] if form else []
    inflected = table.get(f"{tense} {agreement}") or table.get(tense)
    if inflected is None:
        return [("will", "MD"), (verb, "VB")]
    tag = {"past": "VBD", "future": "MD"}.get(tense, "VBZ" if agreement == "s" else "VBP")
    return [(inflected, tag)]


def forms(words: tuple[str, ...], tag: str) -> dict[str, tuple[Tagged, ...]]:
    """Every form of a target expression: the first word of a verb and the last word of a noun or an adjective inflect.

    >>> forms(("look", "at"), "VB")["ed"], forms(("city", "wall"), "NN")["plural"]
    ((('looked', 'VBD'), ('at', 'RP')), (('city', 'NN'), ('walls', 'NNS')))
    >>> forms(("busy",), "JJ")["er"], forms(("useful",), "JJ")["er"]
    ((('busier', 'JJR'),), (('more', 'RBR'), ('useful', 'JJ')))
    """
    if tag == "VB":
        first, rest = words[0], tuple((word, "RP") for word in words[1:])
        past, participle = IRREGULAR_VERBS.get(first) or (_suffixed(first, "ed"), _suffixed(first, "ed"))
        return {
            "base": ((first, "VB"), *rest),
            "s": ((_suffixed(first, "s"), "VBZ"), *rest),
            "ed": ((past, "VBD"), *rest),
            "en": ((participle, "VBN"), *rest),
            "ing": ((_suffixed(first, "ing"), "VBG"), *rest),
        }
    plain = tuple((word, tag) for word in words)
    if tag == "JJ":
        comparative = [(form, "JJR") for form in COMPARATIVES.get(words[-1], [])]
        return {"base": plain, "er": (*plain[:-1], *comparative) if comparative else (("more", "RBR"), *plain)}
    if tag != "NN":
        return {"base": plain}
    (last,) = IRREGULAR_PLURALS.get(words[-1]) or [_suffixed(words[-1], "s")]
    return {"base": plain, "plural": (*plain[:-1], (last, "NNS"))}


def _suffixed(word: str, suffix: str) -> str:
    """English spelling: carry → carries, carried; use → using; go → goes."""
    vowel_before_y = len(word) > 1 and word[-2] in "aeiou"
    if suffix == "s":
        if word.endswith("y") and not vowel_before_y:
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if word in _ENGLISH["doubled"].split():
        return word + word[-1] + suffix
    if suffix == "ed" and word.endswith("y") and not vowel_before_y:
        return word[:-1] + "ied"
    return (word[:-1] if word.endswith("e") and not word.endswith("ee") else word) + suffix


def article(next_word: str) -> str:
    """a or an.

    >>> article("orvel"), article("teacher"), article("useful")
    ('an', 'a', 'a')
    """
    return "an" if next_word[0] in "aeiou" and not next_word.startswith("use") else "a"


def invent(draw: Draw, kind: str) -> str:
    """A word that no dictionary has but that sounds English; its ending tells its kind, as English endings do."""

    def pick(text: str) -> str:
        choices = text.split()
        return choices[int(draw() * len(choices))]

    onsets, vowels, nuclei, middles = (_ENGLISH[sounds] for sounds in ("onsets", "vowels", "nuclei", "middles"))
    word = pick(onsets) + pick(nuclei) + pick(middles)
    if draw() < 0.1:
        word += pick(vowels) + pick(middles)
    return word + pick(_ENGLISH["suffixes"][kind])
