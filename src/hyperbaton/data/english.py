"""The target language: inflection, tags of function words, and words that could be English but are not."""

from __future__ import annotations

from collections.abc import Callable

Draw = Callable[[], float]  # the next number of a random stream, in [0, 1)
Tagged = tuple[str, str]  # a target word and its part of speech

# Parts of speech of the words that grammar rules insert themselves.
FUNCTION_WORDS = {
    word: tag
    for tag, words in {
        "DT": "the a that",
        "IN": "of by to for because if although ago with than from",
        "WP": "who",
        "CC": "and but",
        "RB": "not very more there",
        "MD": "will",
        "NN": "yesterday tomorrow",
        "NNP": "Mr",
        "VB": "be do have",
        "POS": "'s",
        ",": ",",
        ".": ". ?",
    }.items()
    for word in words.split()
}

# base, past and participle
_IRREGULAR = (
    "see saw seen, buy bought bought, write wrote written, eat ate eaten, take took taken, give gave "
    "given, send sent sent, tell told told, say said said, think thought thought, know knew known, come "
    "came come, go went gone, find found found, leave left left, teach taught taught, sell sold sold, "
    "build built built, understand understood understood, meet met met, lend lent lent, sleep slept "
    "slept, run ran run, fall fell fallen, hear heard heard, forget forgot forgotten, draw drew drawn, "
    "read read read, set set set, hit hit hit, make made made, drink drank drunk, sing sang sung, swim "
    "swam swum, sit sat sat, speak spoke spoken, hold held held, steal stole stolen, break broke broken, "
    "feel felt felt, begin began begun, show showed shown, lose lost lost "
)
IRREGULAR_VERBS = {base: (past, participle) for base, past, participle in (v.split() for v in _IRREGULAR.split(","))}
DOUBLED = {"plan", "run", "swim", "sit", "forget", "begin", "set", "hit"}
IRREGULAR_PLURALS = {
    "child": "children",
    "man": "men",
    "woman": "women",
    "policeman": "policemen",
    "chairman": "chairmen",
}

# Adjectives whose comparative ends in -er, or is irregular; the others take "more".
_ER = (
    "good better, big bigger, red redder, busy busier, cheap cheaper, funny funnier, great greater, happy happier, "
    "new newer, old older, poor poorer, quiet quieter, short shorter, simple simpler, small smaller, tall taller, "
    "young younger"
)
COMPARATIVES: dict[str, str] = dict(pair.split() for pair in _ER.split(","))

# (tense, agreement) → form; agreement is s (he), p (they), i (I) or bare (after can, did, not).
AUXILIARIES: dict[str, dict[str, str]] = {
    "be": {
        "present s": "is",
        "present p": "are",
        "present i": "am",
        "past s": "was",
        "past p": "were",
        "past i": "was",
    },
    "do": {"present s": "does", "present p": "do", "present i": "do", "past": "did", "future": "will", "bare": ""},
    "have": {"present s": "has", "present p": "have", "present i": "have", "past": "had"},
}

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
        inflected = COMPARATIVES.get(words[-1])
        return {"base": plain, "er": (*plain[:-1], (inflected, "JJR")) if inflected else (("more", "RBR"), *plain)}
    if tag != "NN":
        return {"base": plain}
    last = IRREGULAR_PLURALS.get(words[-1]) or _suffixed(words[-1], "s")
    return {"base": plain, "plural": (*plain[:-1], (last, "NNS"))}


def _suffixed(word: str, suffix: str) -> str:
    """English spelling: carry → carries, carried; use → using; go → goes."""
    vowel_before_y = len(word) > 1 and word[-2] in "aeiou"
    if suffix == "s":
        if word.endswith("y") and not vowel_before_y:
            return word[:-1] + "ies"
        return word + ("es" if word.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")
    if word in DOUBLED:
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


ONSETS = "b br c cl cr d dr f fl g gl gr h l m n p pl pr qu r s sl sp st t th tr v w"
VOWELS = "a a a e e e i i i o o o u u"
NUCLEI = f"{VOWELS} ai ea ou"
MIDDLES = "b d l l m n n nd nt r r rn s st t v"
SUFFIXES = {
    "person": "er er or ist ian ard",
    "thing": "el ent ion ment ance et ow ure ock in",
    "place": "ton field stead ora burn wick",
    "JJ": "al ous ive y ful ern ent",
    "RB": "ally ously ively enly",
    "VB": "ate ow el end ert ine ish er ify",
}


def invent(draw: Draw, kind: str) -> str:
    """A word that no dictionary has but that sounds English; its ending tells its kind, as English endings do."""

    def pick(text: str) -> str:
        choices = text.split()
        return choices[int(draw() * len(choices))]

    word = pick(ONSETS) + pick(NUCLEI) + pick(MIDDLES)
    if draw() < 0.1:
        word += pick(VOWELS) + pick(MIDDLES)
    return word + pick(SUFFIXES[kind])
