"""Explain a rule table for a phrase or a sentence: the rules that apply, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.evaluate.explain import PlainAnswer, Question, answer
from hyperbaton.phrases.rules import DECODED_SPAN, SOURCE_GAPS, RuleTable

GAP = SOURCE_GAPS[0]

_Places = list[tuple[int, list[tuple[int, int]]]]  # source sides with the spans that they cover


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
def _(rules: RuleTable, question: Question) -> PlainAnswer:
    rules.table.check()
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


def _answer(rules: RuleTable, asked: str, sides: _Places, question: Question) -> PlainAnswer:
    """The most frequent rules of source sides; for a sentence, rules with longer source sides come first."""
    table, matching = rules.table, []
    for side, spans in sides:
        for row in range(int(table.offsets[side]), int(table.offsets[side + 1])):
            target = table.target[int(table.targets[row])]
            if question.target in target:  # by default, it is empty
                scores = table.scores[row].tolist()
                matching.append(ShownRule(table.source[side], target, float(table.counts[row, 2]), scores, spans))
    matching.sort(key=lambda rule: (-len(rule.source.split()) if rule.spans else 0, -rule.count, rule.source, rule.target))
    n_sides, shown = len({rule.source for rule in matching}), matching if question.everything else matching[: question.top]
    total = f"{counted(len(matching), 'rule')} with {counted(n_sides, 'source side')} {asked}"
    total += f"; {len(shown)} shown" if len(shown) < len(matching) else ""
    return PlainAnswer([asdict(rule) for rule in shown], [total, [rule.row() for rule in shown]])


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
    foreign_symbols = np.ones(len(phrases.vocabulary) + 1, np.bool_)  # the last is for words without a number
    foreign_symbols[[phrases.vocabulary.number(symbol) for symbol in (*words, GAP)]] = False
    foreign_symbols[-1] = True
    symbols, offsets = phrases.gather()
    foreign = offsets_of(foreign_symbols[symbols])
    return np.flatnonzero(foreign[offsets[1:]] == foreign[offsets[:-1]]).tolist()


def _contains(side: Sequence[str], symbols: Sequence[str]) -> bool:
    n = len(symbols)
    return any(list(side[k : k + n]) == list(symbols) for k in range(len(side) - n + 1))


def _places(side: Sequence[str], words: Sequence[str]) -> list[tuple[int, int]]:
    """The spans of a sentence that a source side covers.

    >>> _places(["a", "[X]", "b"], "a c b b".split())
    [(0, 3), (0, 4)]
    """
    spans = set()
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
        spans |= {(begin, end) for end in ends}
    return sorted(spans)
