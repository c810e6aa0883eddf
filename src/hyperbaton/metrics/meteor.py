"""METEOR (Banerjee and Lavie 2005; parameters of Lavie and Agarwal 2007).

Words are matched one to one in stages: equal words, then equal stems (Porter), then synonyms (words with a common synset of
WordNet). With m matches in hypotheses of h and references of r words, in c chunks of neighbouring words,

    P = m/h,  R = m/r,  F = P R / (α P + (1 − α) R),   METEOR = 100 · F · (1 − γ (c/m)^β)

on sums over all sentences, as in METEOR's own program; the best of several references is used for each sentence. If
words can match in several ways, the longest chunk is taken first, and ties go to the chunk of the earlier stages.
WordNet's `index.noun` (and verb, adj, adv) has a line for each word: word, part of speech, number of synsets, … and at the
end the numbers of its synsets. `noun.exc` has irregular forms with their base forms.
Statistics: m, c, h, r.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.options import option
from hyperbaton.metrics._metric import Metric, Statistics, Values, ratio
from hyperbaton.metrics._outputs import Outputs
from hyperbaton.metrics._words import Ints, NumberedText, edits_of, number_words

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
        makers: dict[str, Callable[[], Keys]] = {
            "exact": lambda: lambda word: (word,),
            "stem": _stems,
            "synonym": self._synonyms,
        }
        names = self.stages.split("+")
        for name in names:
            if name not in makers:
                raise OptionError(f"unknown stage {name!r} of METEOR; known: {', '.join(makers)}, joined by +")
        return [makers[name]() for name in names]

    def _synonyms(self) -> Keys:
        table = synsets(wordnet_folder(self.wordnet))
        return lambda word: table.get(word, ())


def _stems() -> Keys:
    """Porter's stems of lower-case English words; words of one or two letters are their own.

    >>> [stem for word in ("relational", "ponies", "hopping", "sky", "is") for stem in _stems()(word)]
    ['relat', 'poni', 'hop', 'sky', 'is']
    """
    import snowballstemmer  # imported here, since other metrics do without

    stemmer = snowballstemmer.stemmer("porter")
    return cache(lambda word: (stemmer.stemWord(word) if len(word) > 2 else word,))


def count_matches(
    hypotheses: Sequence[str], references: Sequence[str], line: Ints, stages: Sequence[Keys]
) -> tuple[Ints, Ints, Ints]:
    """Matched words and the chunks that they form, (n, 2); the lengths of the hypotheses, and of their references.

    The longest chunk is taken first, then the next of what is left. Hypothesis h belongs to line `line[h]`.

    >>> count_matches(["a b a c"], ["a c b a"], np.array([0]), [lambda word: (word,)])[0].tolist()
    [[4, 3]]
    """
    (hypothesis, words), (other, other_words) = _numbered(hypotheses), _numbered(references)
    # Which kinds of words match, in the first stage that says so.
    kinds: list[dict[int, int]] = [{} for _ in words]
    for stage, keys in enumerate(stages):
        places: dict[Hashable, list[int]] = {}
        for number, word in enumerate(other_words):
            for key in keys(word):
                places.setdefault(key, []).append(number)
        for matches, word in zip(kinds, words, strict=True):
            for key in keys(word):
                for number in places.get(key, ()):
                    matches.setdefault(number, stage)
    matched = _core.WordMatches(
        offsets=np.cumsum([0, *map(len, kinds)], dtype=np.int64),
        words=np.array([number for matches in kinds for number in matches], np.uint32),
        stages=np.array([stage for matches in kinds for stage in matches.values()], np.uint8),
    )
    (counts,) = edits_of(partial(_core.count_chunks, matches=matched), hypothesis, [other], line)
    return counts, hypothesis.lengths, other.lengths[line]


def _numbered(text: Sequence[str]) -> tuple[NumberedText, list[str]]:
    """A text with its words numbered, and the word of each number, in the order of their first occurrences."""
    return number_words(text)[0], list(dict.fromkeys(word for line in text for word in line.split()))


_PARTS = ("noun", "verb", "adj", "adv")


def wordnet_folder(folder: str | None) -> Path:
    """The folder of WordNet's files: the one given, that of $WNSEARCHDIR, or where Debian puts it."""
    places = [folder] if folder else [os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet"]
    for place in places:
        if place and (Path(place) / "index.noun").is_file():
            return Path(place)
    where = folder or "$WNSEARCHDIR or /usr/share/wordnet"
    raise OptionError(f"no WordNet in {where}; install one, or name its folder with the option wordnet")


@cache
def synsets(folder: Path) -> dict[str, frozenset[str]]:
    """The synsets of every word of a WordNet."""
    synsets: dict[str, set[str]] = {}
    base: list[tuple[str, str]] = []
    for part in _PARTS:
        for n, line in enumerate(_lines(folder / f"index.{part}"), start=1):
            fields = line.split()
            if line.startswith(" ") or "_" in line.partition(" ")[0]:
                continue  # the licence, and expressions of several words
            try:
                word, n_synsets = fields[0], int(fields[2])
            except (IndexError, ValueError):
                raise InputError("not a line of a WordNet index", folder / f"index.{part}", n) from None
            synsets.setdefault(word, set()).update(f"{part}{number}" for number in fields[-n_synsets:])
        if (folder / f"{part}.exc").is_file():
            base += [
                (fields[0], b) for line in _lines(folder / f"{part}.exc") if (fields := line.split()) for b in fields[1:]
            ]
    for form, word in base:
        synsets.setdefault(form, set()).update(synsets.get(word, ()))
    return {word: frozenset(numbers) for word, numbers in synsets.items()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
