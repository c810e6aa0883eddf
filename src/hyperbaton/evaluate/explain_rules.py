"""Explain a rule table for a phrase or a sentence: the rules that apply, and where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.evaluate.explain import Answer, Question, Rows, answer
from hyperbaton.phrases.rules import DECODED_SPAN, SOURCE_GAPS, RuleTable

GAP = SOURCE_GAPS[0]

_Places = list[tuple[int, list[tuple[int, int]]]]  # source sides with the spans that they cover


@dataclass(frozen=True)
class RuleAnswer(Answer):
    """Rules in display order; `spans` are places in the sentence, if there is one."""

    asked: str
    n_sides: int
    n_rules: int
    rules: list[ShownRule]

    def as_json(self) -> object:
        return [asdict(rule) for rule in self.rules]

    def parts(self) -> Iterator[str | Rows]:
        total = f"{counted(self.n_rules, 'rule')} with {counted(self.n_sides, 'source side')}"
        yield f"{total} {self.asked}" + (f"; {len(self.rules)} shown" if len(self.rules) < self.n_rules else "")
        yield [rule.row() for rule in self.rules]


@dataclass(frozen=True)
class ShownRule:
    """A rule with the count of its phrase pairs, its scores, and the spans of the sentence that its source side
    covers."""

    source: str
    target: str
    count: float
    scores: list[float]
    spans: list[tuple[int, int]]

    def row(self) -> JsonObject:
        where = {"spans": " ".join(f"{begin}-{end}" for begin, end in self.spans)} if self.spans else {}
        given = {"p(t|s)": f"{self.scores[2]:.3f}"} if len(self.scores) > 2 else {}
        return where | {"source": self.source, "target": self.target, "count": f"{self.count:g}"} | given


@answer.register
def _(rules: RuleTable, question: Question) -> RuleAnswer:
    if question.phrase is not None:
        symbols = question.phrase.split()
        sides: _Places = [(n, []) for n in _sides_with(rules, symbols) if _contains(rules.table.source[n].split(), symbols)]
        return _answer(rules, f"that have {question.phrase!r}", sides, question)
    if question.sentence is None:
        raise OptionError("rules can be explained for a phrase or a sentence: give --phrase or --sentence; see also 'show'")
    words = question.sentence.split()
    places = [(n, _places(rules.table.source[n].split(), words)) for n in _sides_within(rules, words)]
    if question.span is not None:
        places = [(n, [span for span in spans if span == question.span]) for n, spans in places]
    what = "in the sentence" if question.span is None else "for words {}-{}".format(*question.span)
    return _answer(rules, f"that apply {what}", [(n, spans) for n, spans in places if spans], question)


def _answer(rules: RuleTable, asked: str, sides: _Places, question: Question) -> RuleAnswer:
    """The most frequent rules of source sides; for a sentence, rules with longer source sides come first."""
    table, found = rules.table, []
    for side, spans in sides:
        source = table.source[side]
        rows = range(int(table.offsets[side]), int(table.offsets[side + 1]))
        for row in rows:
            target = table.target[int(table.targets[row])]
            if question.target and question.target not in target:
                continue
            found.append(ShownRule(source, target, float(table.counts[row, 2]), table.scores[row].tolist(), spans))
    found.sort(key=lambda rule: (-len(rule.source.split()) if rule.spans else 0, -rule.count, rule.source, rule.target))
    n_sides = len({rule.source for rule in found})
    return RuleAnswer(asked, n_sides, len(found), found if question.everything else found[: question.top])


def _sides_with(rules: RuleTable, symbols: Sequence[str]) -> list[int]:
    """Source sides that contain all these words and gaps, in any order."""
    phrases = rules.table.source
    wanted = {phrases.vocabulary.number(symbol) for symbol in symbols}
    if not wanted or min(wanted) < 0:
        return []
    has_all, (symbol_numbers, offsets) = np.ones(len(phrases), np.bool_), phrases.gather()
    for number in wanted:
        has = offsets_of(symbol_numbers == number)
        has_all &= has[offsets[1:]] > has[offsets[:-1]]
    return np.flatnonzero(has_all).tolist()


def _sides_within(rules: RuleTable, words: Sequence[str]) -> list[int]:
    """Source sides that contain only these words."""
    phrases = rules.table.source
    known = np.zeros(len(phrases.vocabulary) + 1, np.bool_)  # the last is for words without a number
    known[[phrases.vocabulary.number(symbol) for symbol in (*words, GAP)]] = True
    known[-1] = False
    symbols, offsets = phrases.gather()
    foreign = offsets_of(~known[symbols])
    return np.flatnonzero(foreign[offsets[1:]] == foreign[offsets[:-1]]).tolist()


def _contains(side: Sequence[str], symbols: Sequence[str]) -> bool:
    n = len(symbols)
    return any(list(side[k : k + n]) == list(symbols) for k in range(len(side) - n + 1))


def _places(side: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """The spans of a sentence that a source side covers.

    >>> _places(["a", "[X]", "b"], "a c b b".split())
    [(0, 3), (0, 4)]
    """
    found = set()
    for begin in range(len(words)):
        last = min(begin + DECODED_SPAN, len(words))
        ends = {begin}
        for symbol in side:
            if symbol == GAP:
                ends = set(range(min(ends) + 1, last + 1))
            else:
                ends = {end + 1 for end in ends if end < last and words[end] == symbol}
            if not ends:
                break
        found |= {(begin, end) for end in ends}
    return sorted(found)
