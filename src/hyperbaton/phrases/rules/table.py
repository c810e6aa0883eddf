"""Hierarchical rules: phrase pairs with gaps (Chiang 2005, 2007), and the rule table.

A rule is a phrase pair in which up to two shorter phrase pairs are replaced by gaps. A rule table is a phrase table
whose phrases have gaps among their words: `[X]` on the source side, `[X,1]` and `[X,2]` on the target side, which are
the first and second gap of the source side. Positions, in links too, count words and gaps; only words have links.

The rules of one phrase pair share a count of 1. Counts and scores equal those of Moses, digit by digit: its programs
exchange numbers of six digits, and count a target side regardless of the order of its gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike

import numpy as np

from hyperbaton.base.errors import DamagedError, InputError
from hyperbaton.base.forms import within
from hyperbaton.base.options import CheckedOptions, from_mapping, option, to_mapping
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.shown import Display
from hyperbaton.base.store import Artefact, Kind, is_artefact, read_artefact, save
from hyperbaton.corpus import Text, Vocabulary
from hyperbaton.phrases.table import PhraseTable

KIND = "rules"
SOURCE_GAPS = ("[X]",)
TARGET_GAPS = ("[X,1]", "[X,2]")
DECODED_SPAN = 20  # longest span that a decoder covers with a rule by default


@dataclass
class RuleLimits(CheckedOptions):
    """Options of rule extraction; the defaults are Moses'."""

    max_span: int = option(10, "rules: longest phrase pair they are extracted from, in words", minimum=1, maximum=255)
    max_symbols: int = option(5, "rules: maximum number of words and gaps on the source side", minimum=1, maximum=255)
    max_gaps: int = option(2, "rules: maximum number of gaps", minimum=0, maximum=2)
    min_gap: int = option(2, "rules: minimum number of source words that a gap stands for", minimum=1, maximum=255)


@dataclass(frozen=True, repr=False)
class RuleTable(Display, Picklable):
    """Rules with scores. `options` are the limits of the extraction; None if they are unknown."""

    table: PhraseTable
    options: RuleLimits | None = None

    def __post_init__(self) -> None:
        for phrases, gaps in ((self.table.source, SOURCE_GAPS), (self.table.target, TARGET_GAPS)):
            words, n = phrases.vocabulary, len(phrases.vocabulary)
            if n < len(gaps) or tuple(words.word(n - len(gaps) + k) for k in range(len(gaps))) != gaps:
                raise DamagedError("the last words of the vocabularies are not the gaps of rules")

    def __len__(self) -> int:
        return len(self.table)

    def facts(self) -> dict[str, int]:
        return {"rules": len(self), "source sides": len(self.table.source), "target sides": len(self.table.target)}

    def options_of(self, source: str) -> list[tuple[str, list[float]]]:
        """The target sides of a source side with their scores, best p(t|s) first.

        >>> from hyperbaton.corpus import Bitext
        >>> from hyperbaton.phrases import extract_rules
        >>> bitext = Bitext.of(["a b c"], ["x y z"], [[(0, 2), (1, 0), (2, 1)]])
        >>> extract_rules(bitext).options_of("a [X]")
        [('[X,1] z', [1.0, 1.0, 1.0, 1.0])]
        """
        return self.table.options_of(source)

    def save(
        self,
        path: str | PathLike[str],
        *,
        inputs: Mapping[str, str] | None = None,
        options: Mapping[str, object] | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        """Write the rules as an artefact; `options`, `inputs` and `details` describe how they were extracted."""
        limits = {} if self.options is None else to_mapping(self.options)
        sizes = {
            "n_rules": len(self),
            "n_source_sides": len(self.table.source),
            "n_target_sides": len(self.table.target),
        }
        save(
            path,
            STORED,
            self.table.arrays("table"),
            options={**limits, **(options or {})},
            inputs=inputs,
            details={**sizes, **(details or {}), "limits": limits},
        )

    @staticmethod
    def is_saved_at(path: str | PathLike[str]) -> bool:
        """Whether a path is that of saved rules."""
        return is_artefact(path, KIND)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> RuleTable:
        """Open saved rules, memory-mapped."""

        def read(artefact: Artefact) -> RuleTable:
            limits = artefact.details["limits"]
            table = PhraseTable.from_arrays(artefact.group("table"))
            return cls(table, from_mapping(RuleLimits, limits) if limits else None)

        return read_artefact(path, STORED, read)


STORED = Kind(KIND, within("table", PhraseTable.LAYOUT), {"details": {"limits": {"*": int}, "n_sentences?": int}})


def with_gaps(text: Text, gaps: tuple[str, ...]) -> Vocabulary:
    """The vocabulary of a text with gaps as its last words; InputError if a word of the text is spelled like a gap."""
    vocabulary = text.vocabulary
    for gap in gaps:
        number = vocabulary.number(gap)
        if number < 0:
            continue
        places = np.flatnonzero(text.tokens == number)
        if len(places):
            line = int(np.searchsorted(text.offsets, places[0], side="right"))
            escaped = gap.replace("[", "&#91;").replace("]", "&#93;")
            raise InputError(f"the word {gap!r} is reserved for gaps of rules; write it as {escaped}", text.path, line)
    return extended(vocabulary, gaps)


def extended(vocabulary: Vocabulary, words: tuple[str, ...]) -> Vocabulary:
    """A vocabulary with more words at its end."""
    return vocabulary.followed_by(Vocabulary.of(words))
