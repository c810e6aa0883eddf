"""A glossary: terms whose translations are forced, in the same way as by markup in sentences.

A term matches if its words occur in a sentence in this form, regardless of case; inflected forms are different words. If
terms overlap, the longer one is used, then the one further left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import NamedTuple

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines, shown
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.decode.markup import Constraints

LONGEST = 255  # words of a term
MOST_CONFLICTS = 100  # maximum number kept for a report


class Term(NamedTuple):
    """The words of a term in lower case, its translation as tokens, and the spelling of both in the glossary."""

    words: tuple[str, ...]
    translation: str
    written: str


@dataclass
class Glossary:
    """Terms by their first word, the longest first; `conflicts` lists terms that could not be used, and why.

    >>> glossary = Glossary.of([("haus", "house"), ("altes Haus", "old friend"), ("Haus", "home")])
    >>> glossary.conflicts
    ["'Haus' has two translations, 'house' and 'home'; the first is used"]
    >>> glossary.find("ein altes haus".split())
    [(1, 3, 'old friend')]
    """

    terms: dict[str, list[Term]] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, path: str | PathLike[str], text: TextProcessing | None = None) -> Glossary:
        """Read lines of the form `term TAB translation`; empty lines and those that start with # are ignored.

        Terms are tokenized by `text`; without it they are tokens separated by blanks.
        """
        pairs, places = [], []
        for n, line in enumerate(read_lines(path), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = line.rstrip("\r").split("\t")
            if len(fields) != 2 or not fields[0].strip() or not fields[1].strip():
                raise InputError("expected a term, a tab and its translation", shown(path), n)
            pairs.append((fields[0], fields[1]))
            places.append(f"{shown(path)}:{n}: ")
        return cls.of(pairs, text, places)

    @classmethod
    def of(
        cls, pairs: Iterable[tuple[str, str]], text: TextProcessing | None = None, places: Sequence[str] = ()
    ) -> Glossary:
        """Build a glossary from terms and translations; `places` are their origins, for messages."""
        made, seen = cls(), dict[tuple[str, ...], Term]()
        text = text or TextProcessing()
        source, target = text.source.make_tokenizer(), text.target.make_tokenizer()
        for n, (term, translation) in enumerate(pairs):
            place = places[n] if places else ""
            words = tuple(word.lower() for word in text.source.as_trained(source(term)[0]))
            # Translations keep the case of the glossary.
            tokens = [text.target.escaped(token) for token in target(translation)[0]]
            if not words or not tokens or len(words) > LONGEST or len(tokens) > LONGEST:
                raise InputError(f"{place}a term and its translation must have between 1 and {LONGEST} words")
            known = seen.setdefault(words, Term(words, " ".join(tokens), translation.strip()))
            if known.translation != " ".join(tokens):
                made._report(
                    f"{place}{term.strip()!r} has two translations, {known.written!r} and {translation.strip()!r}; "
                    "the first is used"
                )
        for found in sorted(seen.values(), key=lambda t: -len(t.words)):
            made.terms.setdefault(found.words[0], []).append(found)
        return made

    def copy(self) -> Glossary:
        """A copy of the glossary with a separate list of conflicts."""
        return Glossary(self.terms)

    def __len__(self) -> int:
        return sum(map(len, self.terms.values()))

    def find(self, tokens: Sequence[str], label: str = "") -> list[tuple[int, int, str]]:
        """The terms of a sentence: first word, one past the last, translation."""
        words = [token.lower() for token in tokens]
        matches = [
            (at, at + len(term.words), term.translation)
            for at, word in enumerate(words)
            for term in self.terms.get(word, ())
            if tuple(words[at : at + len(term.words)]) == term.words
        ]
        taken: list[tuple[int, int, str]] = []
        for begin, end, translation in sorted(matches, key=lambda m: (m[0] - m[1], m[0])):
            other = next((t for t in taken if begin < t[1] and t[0] < end), None)
            if other is None:
                taken.append((begin, end, translation))
            elif not (other[0] <= begin and end <= other[1]):
                shown_terms = " ".join(tokens[begin:end]), " ".join(tokens[other[0] : other[1]])
                self._report(f"{label}the terms {shown_terms[1]!r} and {shown_terms[0]!r} overlap; the first is used")
        return sorted(taken)

    def add_to(self, constraints: Constraints, tokens: Sequence[str], number: int) -> Constraints:
        """Require the translations of the terms in a sentence, except where its constraints already require one.

        `number` is the number of the sentence, for conflicts.
        """
        found = self.find(tokens, f"sentence {number}: ")
        for begin, end, _ in found:
            if any(begin < e and b < end for b, e, _ in constraints.demands):
                term = " ".join(tokens[begin:end])
                self._report(f"sentence {number}: markup overrides the glossary's translation of {term!r}")
        return constraints.demand(found)

    def take_conflicts(self) -> list[str]:
        """The conflicts since the last call."""
        found, self.conflicts = self.conflicts, []
        return found

    def _report(self, conflict: str) -> None:
        if len(self.conflicts) < MOST_CONFLICTS:
            self.conflicts.append(conflict)
