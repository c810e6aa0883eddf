"""Deriving one sentence pair from a transfer grammar, with its true links, tags and source tree.

The source sentence is written from left to right while categories are expanded from the top. Each expansion divides a
budget of words among its parts, which bounds the length of sentences at any depth of recursion. When all parts of a
rule are expanded, their translations are put in the order that the rule's first fitting move gives.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hyperbaton.data.english import FINITE, Tagged, article, auxiliary
from hyperbaton.data.grammar import MAX_BUDGET, TENSES, Category, CompiledRule, Item
from hyperbaton.data.lexicon import N_TOPICS, P_CUE_IGNORED, TOPICS, Sense, Word

MIN_BUDGET, LONG = 6, 5
_CUMULATIVE_TENSES = (0.25, 0.8, 1.0)


class TargetWord(NamedTuple):
    """A target word and the source positions that it translates."""

    word: str
    tag: str
    sources: tuple[int, ...]


@dataclass
class GeneratedPair:
    """A sentence pair with its true links, tags and source tree."""

    source: list[str]
    source_tags: list[str]
    brackets: list[str]  # tree text before each source word, and after the last
    target: list[TargetWord]

    def spell_articles(self) -> None:
        """Choose between a and an by the next word."""
        for j in range(len(self.target) - 1):
            if self.target[j].word in ("a", "an"):
                self.target[j] = self.target[j]._replace(word=article(self.target[j + 1].word))

    @property
    def tree(self) -> str:
        """The bracketed source tree, over the source words as they are now."""
        leaves = "".join([before + word for before, word in zip(self.brackets, self.source, strict=False)])
        return leaves[1:] + self.brackets[-1]


class _SourceParts(NamedTuple):
    """The parts of a rule in the source sentence."""

    features: list[frozenset[str]]  # of each part's head
    neighbours: list[frozenset[str]]  # without the subject, which does not affect the sense of a verb
    translations: list[Word | list[TargetWord]]  # a word still to be translated, or a translated phrase
    starts: list[int]  # where each part begins, and where the last ends


class Deriver:
    """Derives sentence pairs; sentence i depends on the seed and on i alone."""

    def __init__(self, root: Category, seed: int) -> None:
        self.root, self.seed = root, seed
        self.random = random.Random()
        self.draw = self.random.random

    def derive(self, index: int) -> GeneratedPair:
        """Derive sentence pair `index`; afterwards `draw` continues the same stream."""
        # An integer seed gives the same numbers on every platform and in every version of Python.
        self.random.seed(self.seed << 40 | index)
        draw = self.draw
        self.source: list[str] = []
        self.tags: list[str] = []
        self.brackets: list[str] = [""]
        self.topic = int(draw() * N_TOPICS)
        self.tense = self.target_tense = TENSES[bisect(_CUMULATIVE_TENSES, draw())]
        self.agreement = "s"
        budget = MIN_BUDGET + int((MAX_BUDGET - MIN_BUDGET) * min(draw(), draw()))
        _, target = self._expand(self.root, budget, [])
        pair = GeneratedPair(self.source, self.tags, self.brackets, target)
        pair.spell_articles()
        return pair

    def _expand(
        self, category: Category, budget: int, left: list[frozenset[str]]
    ) -> tuple[frozenset[str], list[TargetWord]]:
        """Write one category; return the features of its head and its translation.

        `left` holds the features of what stands before a verb phrase in its rule, where a verb looks for its object.
        """
        rules, cumulative = category.tables[self.tense][budget if budget < MAX_BUDGET else MAX_BUDGET]
        rule = rules[bisect(cumulative, self.draw())]
        outer = self.agreement, self.target_tense
        if category.agreement:
            self.agreement = category.agreement
        if not category.has_future and self.target_tense == "future":
            self.target_tense = "present"
        parts = self._write(rule, self._share_out(rule, budget))
        target = self._translate(rule, parts, left)
        self.agreement, self.target_tense = outer
        head = parts.features[rule.head]
        return head | rule.adds if rule.adds else head, target

    def _write(self, rule: CompiledRule, budgets: list[int]) -> _SourceParts:
        """Write the parts of a rule, in source order."""
        features, neighbours, translations, starts = parts = _SourceParts([], [], [], [])
        source, brackets = self.source, self.brackets
        for i, (subcategory, words, is_subject) in enumerate(rule.parts):
            starts.append(len(source))
            brackets[-1] += rule.brackets[i]
            if words is not None:
                word = words.draw_word(self.draw, self.topic)
                for token in word.tokens:
                    brackets[-1] += words.bracket
                    brackets.append(")")
                    source.append(token)
                    self.tags.append(words.tag)
                features.append(word.features)
                neighbours.append(word.features)
                translations.append(word)
            elif subcategory is not None:
                left = neighbours if subcategory.label == "VP" else []
                part_features, phrase = self._expand(subcategory, budgets[i], left)
                if is_subject:
                    self.agreement = "p" if "plural" in part_features else "i" if "first" in part_features else "s"
                else:
                    neighbours.append(part_features)
                features.append(part_features)
                translations.append(phrase)
        starts.append(len(source))
        brackets[-1] += rule.brackets[-1]
        return parts

    def _translate(self, rule: CompiledRule, parts: _SourceParts, left: list[frozenset[str]]) -> list[TargetWord]:
        """Put the translations of the parts of a rule in target order."""
        features, neighbours, translations, starts = parts
        target: list[TargetWord] = []
        for part, inserted, tag, form, linked in self._choose_order(rule, features, starts):
            links = tuple([starts[i] for i in linked]) if linked else ()
            tagged: Sequence[Tagged]
            if part < 0:
                tagged = self._inserted(inserted, tag, form)
            else:
                translation = translations[part]
                if isinstance(translation, list):
                    target += translation
                    continue
                links = (*range(starts[part], starts[part + 1]), *links)
                if form == "num":
                    form = "plural" if self.agreement == "p" else "base"
                if form == "fin":
                    form = FINITE[self.target_tense, self.agreement]
                    if form == "will":
                        target.append(TargetWord("will", "MD", ()))
                        form = "base"
                tagged = self._choose_sense(translation, neighbours, left).forms[form]
            for spelled, word_tag in tagged:
                target.append(TargetWord(spelled, word_tag, links))
        return target

    def _inserted(self, word: str, tag: str, form: str) -> Sequence[Tagged]:
        """A word that a rule inserts, in its form."""
        if form == "num":
            return [] if self.agreement == "p" else [(word, tag)]
        if form:
            return auxiliary(word, self.target_tense, "s" if form == "sg" else self.agreement)
        return [(word, tag)]

    def _share_out(self, rule: CompiledRule, budget: int) -> list[int]:
        """The budget of each part: the fewest words that it needs, and a random share of what is left."""
        spare = budget - rule.shortest
        if spare <= 0 or not rule.growing:
            return rule.needs
        budgets = rule.needs.copy()
        if len(rule.growing) == 1:
            budgets[rule.growing[0]] += spare
        else:
            shares = [self.draw() for _ in rule.growing]
            total = sum(shares)
            for i, share in zip(rule.growing, shares, strict=True):
                budgets[i] += round(spare * share / total)
        return budgets

    def _choose_order(self, rule: CompiledRule, features: list[frozenset[str]], starts: list[int]) -> list[Item]:
        for order in rule.orders:
            for part, feature, wanted in order.tests:
                has = starts[part + 1] - starts[part] > LONG if feature == "long" else feature in features[part]
                if has != wanted:
                    break
            else:
                if order.chance == 1 or self.draw() < order.chance:
                    return order.items
        return rule.orders[-1].items

    def _choose_sense(self, word: Word, neighbours: list[frozenset[str]], left: list[frozenset[str]]) -> Sense:
        """The first sense whose cue is a feature of a neighbour or the topic; the last has no cue."""
        if len(word.senses) > 1 and self.draw() >= P_CUE_IGNORED:
            topic = TOPICS[self.topic]
            for sense in word.senses[:-1]:
                if sense.cue == topic or any(sense.cue in part for parts in (neighbours, left) for part in parts):
                    return sense
        return word.senses[-1]
