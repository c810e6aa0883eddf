"""Deriving one sentence pair from a transfer grammar, with its true links, tags and source tree.

The source sentence is written from left to right while categories are expanded from the top. Each expansion has a budget of words that it
shares out among its parts, which keeps sentences within bounds however deep the grammar recurs. When all parts
of a rule are there, their translations are put in the order that the rule's first fitting move gives.
"""

from __future__ import annotations

import random
from bisect import bisect
from dataclasses import dataclass
from typing import NamedTuple

from hyperbaton.data.english import Tagged, article, auxiliary
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
class SentencePair:
    """A sentence pair with everything that is known about it."""

    source: list[str]
    source_tags: list[str]
    tree: str
    target: list[TargetWord]


class Deriver:
    """Derives sentence pairs; sentence i depends on the seed and on i alone."""

    def __init__(self, root: Category, seed: int) -> None:
        self.root, self.seed = root, seed
        self.random = random.Random()
        self.draw = self.random.random

    def derive(self, index: int) -> SentencePair:
        """Derive sentence pair `index`; afterwards `draw` goes on with the same stream."""
        # An integer seed gives the same numbers on every platform and in every version of Python.
        self.random.seed(self.seed << 40 | index)
        draw = self.draw
        self.source: list[str] = []
        self.tags: list[str] = []
        self.tree: list[str] = []
        self.topic = int(draw() * N_TOPICS)
        self.tense = TENSES[bisect(_CUMULATIVE_TENSES, draw())]
        self.agreement = "s"
        budget = MIN_BUDGET + int((MAX_BUDGET - MIN_BUDGET) * min(draw(), draw()))
        _, target = self._expand(self.root, budget, [])
        for j in range(len(target) - 1):
            if target[j].word == "a":
                target[j] = target[j]._replace(word=article(target[j + 1].word))
        return SentencePair(self.source, self.tags, "".join(self.tree)[1:], target)

    def _expand(
        self, category: Category, budget: int, before: list[frozenset[str]]
    ) -> tuple[frozenset[str], list[TargetWord]]:
        """Write one category; return the features of its head and its translation.

        `before` holds the features of the parts to the left, in the rule that asked for this one.
        """
        rules, cumulative = category.tables[self.tense][min(budget, MAX_BUDGET)]
        rule = rules[bisect(cumulative, self.draw())]
        budgets = self._share_out(rule, budget)
        agreement = self.agreement
        if category.is_clause:
            self.agreement = "s"
        elif category.is_bare:
            self.agreement = "bare"

        features: list[frozenset[str]] = []
        words: list[Word | None] = []
        phrases: list[list[TargetWord]] = []
        starts: list[int] = []
        for i, part in enumerate(rule.parts):
            self.tree.append(rule.brackets[i])
            starts.append(len(self.source))
            if part.category is not None:
                part_features, phrase = self._expand(part.category, budgets[i], features)
                if part.is_subject:
                    self.agreement = "p" if "plural" in part_features else "i" if "first" in part_features else "s"
                features.append(part_features)
                words.append(None)
                phrases.append(phrase)
            elif part.words is not None:
                word = part.words.draw_word(self.draw, self.topic)
                for token in word.tokens:
                    self.source.append(token)
                    self.tags.append(part.words.tag)
                    self.tree.append(f" ({part.words.tag} {token})")
                features.append(word.features)
                words.append(word)
                phrases.append([])
        self.tree.append(rule.brackets[-1])
        starts.append(len(self.source))

        target: list[TargetWord] = []
        for item in self._choose_order(rule, features, starts):
            word_here = None if item.part < 0 else words[item.part]
            if item.part >= 0 and word_here is None:
                target += phrases[item.part]
                continue
            links = tuple(starts[i] for i in item.links)
            if word_here is None:
                tagged = [(item.word, item.tag)]
                if item.form:
                    tagged = auxiliary(item.word, self.tense, self.agreement)
            else:
                links = (*range(starts[item.part], starts[item.part + 1]), *links)
                tagged = self._inflect(self._choose_sense(word_here, features, before), item.form)
                if tagged[0][0] == "will":
                    target.append(TargetWord("will", "MD", ()))
                    tagged = tagged[1:]
            target += [TargetWord(word, tag, links) for word, tag in tagged]
        self.agreement = agreement
        return features[rule.head] | rule.adds, target

    def _share_out(self, rule: CompiledRule, budget: int) -> list[int]:
        """The budget of each part: the fewest words that it needs, and a random share of what is left."""
        budgets = [part.category.shortest if part.category else 1 for part in rule.parts]
        spare = budget - rule.shortest
        if spare > 0 and rule.growing:
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

    def _choose_sense(self, word: Word, *neighbours: list[frozenset[str]]) -> Sense:
        """The first sense whose cue is a feature of a neighbour or the topic; the last has no cue."""
        if len(word.senses) > 1 and self.draw() >= P_CUE_IGNORED:
            topic = TOPICS[self.topic]
            for sense in word.senses[:-1]:
                if sense.cue == topic or any(sense.cue in part for parts in neighbours for part in parts):
                    return sense
        return word.senses[-1]

    def _inflect(self, sense: Sense, form: str) -> list[Tagged]:
        if form != "fin":
            return list(sense.forms[form])
        if self.agreement == "bare":
            return list(sense.forms["base"])
        if self.tense == "past":
            return list(sense.forms["ed"])
        if self.tense == "future":
            return [("will", "MD"), *sense.forms["base"]]
        return list(sense.forms["s" if self.agreement == "s" else "base"])
