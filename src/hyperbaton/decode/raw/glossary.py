"""A glossary: terms whose translations are forced, in the same way as by markup in sentences.

A term matches if its words occur in a sentence in this form, regardless of case; inflected forms are different words. If
terms overlap, the longer one is used, then the one further left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    """The translation of a term, as tokens and as spelled in the glossary."""

    translation: str
    written: str


@dataclass
class Glossary:
    """A trie over the words of terms, in lower case, whose nodes are numbers; the root is 0.

    `after` has the node after a node and a word, `terms` the terms that end at nodes, and `conflicts` lists terms that
    could not be used, and why.

    >>> glossary = Glossary.of([("haus", "house"), ("altes Haus", "old friend"), ("Haus", "home")])
    >>> glossary.conflicts
    ["'Haus' has two translations, 'house' and 'home'; the first is used"]
    >>> glossary.find("ein altes haus".split())
    [(1, 3, 'old friend')]
    """

    after: dict[tuple[int, str], int] = field(default_factory=dict)
    terms: dict[int, Term] = field(default_factory=dict)
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
        glossary = cls()
        text = text or TextProcessing()
        source, target = text.source.make_tokenizer(), text.target.make_tokenizer()
        for n, (term, translation) in enumerate(pairs):
            place = places[n] if places else ""
            words = tuple(word.lower() for word in text.source.as_trained(source(term)[0]))
            # Translations keep the case of the glossary.
            tokens = target(translation)[0]
            if not words or not tokens or len(words) > LONGEST or len(tokens) > LONGEST:
                raise InputError(f"{place}a term and its translation must have between 1 and {LONGEST} words")
            node = 0
            for word in words:
                node = glossary.after.setdefault((node, word), len(glossary.after) + 1)
            entry = glossary.terms.setdefault(node, Term(" ".join(tokens), translation.strip()))
            if entry.translation != " ".join(tokens):
                glossary._report(
                    f"{place}{term.strip()!r} has two translations, {entry.written!r} and {translation.strip()!r}; "
                    "the first is used"
                )
        return glossary

    def copy(self) -> Glossary:
        """A copy of the glossary with a separate list of conflicts."""
        return Glossary(self.after, self.terms)

    def find(
        self, tokens: Sequence[str], label: str = "", check: Callable[[], None] = lambda: None
    ) -> list[tuple[int, int, str]]:
        """The terms of a sentence: first word, one past the last, translation.

        The time is at most the number of words times the length of the longest term. `check` is called for each word, and
        may raise an error to stop.
        """
        words = [token.lower() for token in tokens]
        matches: list[tuple[int, int, str]] = []
        for begin in range(len(words)):
            check()
            node, end = self.after.get((0, words[begin])), begin + 1
            while node is not None:
                if node in self.terms:
                    matches.append((begin, end, self.terms[node].translation))
                node, end = self.after.get((node, words[end])) if end < len(words) else None, end + 1
        taken: list[tuple[int, int, str]] = []
        owners = [len(matches)] * len(words)  # of each word, the number of the taken term that contains it
        for begin, end, translation in sorted(matches, key=lambda m: (m[0] - m[1], m[0])):
            # Taken terms are at least as long: one that overlaps contains the first or the last word.
            owner = min(owners[begin], owners[end - 1])
            if owner == len(matches):
                owners[begin:end] = [len(taken)] * (end - begin)
                taken.append((begin, end, translation))
            elif not (taken[owner][0] <= begin and end <= taken[owner][1]) and len(self.conflicts) < MOST_CONFLICTS:
                shown_terms = " ".join(tokens[slice(*taken[owner][:2])]), " ".join(tokens[begin:end])
                self._report(f"{label}the terms {shown_terms[0]!r} and {shown_terms[1]!r} overlap; the first is used")
        return sorted(taken)

    def add_to(
        self, constraints: Constraints, tokens: Sequence[str], number: int, check: Callable[[], None] = lambda: None
    ) -> Constraints:
        """Require the translations of the terms in a sentence, except where its constraints already require one.

        `number` is the number of the sentence, for conflicts; `check` is that of `find`.
        """
        terms = self.find(tokens, f"sentence {number}: ", check)
        for begin, end, _ in terms:
            if any(begin < e and b < end for b, e, _ in constraints.demands):
                term = " ".join(tokens[begin:end])
                self._report(f"sentence {number}: markup overrides the glossary's translation of {term!r}")
        return constraints.demand(terms)

    def take_conflicts(self) -> list[str]:
        """The conflicts since the last call."""
        taken, self.conflicts = self.conflicts, []
        return taken

    def _report(self, conflict: str) -> None:
        if len(self.conflicts) < MOST_CONFLICTS:
            self.conflicts.append(conflict)
