"""A transfer grammar: each rule gives the source order and the target order of the same parts.

    NP = (DNP NP-OWNER DEG:de) NN* → NP-OWNER 's+DEG NN [NP-OWNER:person] @0.95 | the NN of+DEG NP-OWNER ; weight 2

reads: a noun phrase may be made of an owner, the particle "de" and a noun (`*` marks the head); the owner and the
particle are a constituent DNP of the source tree. If the owner is a person, the target is "owner 's noun" in 95 % of the
cases, otherwise "the noun of owner"; the target word before + is linked to the particle. After `;` are options of the
rule: `weight`, `only` and `adds`.

Source side: `CATEGORY` is expanded further, by rules or from the lexicon, `TAG:word` is that very word, and `(LABEL
…)` is a constituent. Categories carry a function after a hyphen that the tree does not show (NP-OWNER is an NP);
`.2` tells two parts of the same category apart. Some functions mean something: the verb of a clause agrees with
SBJ, and verbs under BARE are bare ("did not see"); IP, and REL for relative clauses, are clauses whose verbs agree with
nothing outside them, and verbs under WHEN have no future ("when he comes").

Target side: names of parts, and words that the rule inserts. `/plural`, `/base`, `/ed`, `/en`, `/ing`, `/er`, `/fin`
choose a form; `fin`, the form for tense and subject, is the default of verbs. `/sg` is `fin` for a singular subject,
whatever the subject of the clause is; `/num` is plural if the subject of the clause is ("they are teachers"), and `a/num`
is then left out. `+NAME` links the word also to the source word NAME. Parts that the target does not mention stay
untranslated. Of several targets the first is taken whose condition in brackets holds and whose chance after `@` comes up;
the last has neither. A condition is a list of `PART:feature` or `PART:!feature`: features are those of the part's head
word, and `long` (more than five words).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hyperbaton.base.errors import OptionError
from hyperbaton.data.english import AUXILIARIES, FUNCTION_WORDS
from hyperbaton.data.lexicon import Word, WordClass

TENSES = ("present", "past", "future")
MAX_BUDGET = 58  # words; no sentence is planned longer
USE = 0.8  # share of its budget that a rule should be able to use
_FORMS = {"base", "s", "ed", "en", "ing", "er", "fin", "sg", "num", "plural"}


@dataclass(frozen=True)
class Move:
    """One order of the target, for where `when` holds, and there only with probability `chance`."""

    target: str
    when: str = ""
    chance: float = 1.0


class Rule:
    """One way to build a category; see the top of this file.

    Arguments:
        weight: how often, in proportion to the other rules of the category.
        only: the tense to which the rule is confined.
        adds: a feature that the whole has besides those of its head.
    """

    def __init__(
        self, category: str, source: str, *targets: str | Move, weight: float = 1.0, only: str = "", adds: str = ""
    ) -> None:
        self.category, self.source, self.weight, self.only, self.adds = category, source, weight, only, adds
        self.moves = [Move(target) if isinstance(target, str) else target for target in targets]

    @classmethod
    def parse(cls, text: str) -> Rule:
        """A rule written on one line.

        >>> rule = Rule.parse("NP = NN* → a NN [NN:new] @0.3 | the NN ; weight 1.5, adds bare")
        >>> rule, rule.weight, rule.adds, rule.moves[0]
        (NP → NN*, 1.5, 'bare', Move(target='a NN', when='NN:new', chance=0.3))
        """
        category, _, rest = text.partition(" = ")
        source, _, rest = rest.partition(" → ")
        targets, _, settings = rest.partition(" ; ")
        moves = []
        for target in targets.split(" | "):
            order, _, chance = target.partition(" @")
            order, _, when = order.removesuffix("]").partition(" [")
            moves.append(Move(order, when, float(chance or 1)))
        options = dict(setting.split() for setting in filter(None, settings.split(", ")))
        return cls(category, source, *moves, weight=float(options.pop("weight", 1)), **options)

    def __repr__(self) -> str:
        return f"{self.category} → {self.source}"


class Part(NamedTuple):
    """One part of a rule's source side: a category to expand, or a class to draw a word from."""

    category: Category | None
    words: WordClass | None
    is_subject: bool


class Item(NamedTuple):
    """One item of a rule's target side: a part (by number), or an inserted word (part is -1)."""

    part: int
    word: str
    tag: str
    form: str
    links: tuple[int, ...]


class Test(NamedTuple):
    """Whether a part has a feature."""

    part: int
    feature: str
    wanted: bool


class Order(NamedTuple):
    """A compiled `Move`."""

    items: list[Item]
    tests: list[Test]
    chance: float


@dataclass(eq=False)
class CompiledRule:
    """A rule with every name resolved."""

    parts: list[Part]
    brackets: list[str]  # tree text before each part, and after the last
    orders: list[Order]
    head: int
    adds: frozenset[str]
    weight: float
    only: str
    shortest: int = 0  # fewest words that it can cover
    longest: int = 0  # most words, up to MAX_BUDGET
    needs: list[int] = field(default_factory=list)  # fewest words of each part
    growing: list[int] = field(default_factory=list)  # parts that can cover more than their fewest words


@dataclass(eq=False)
class Category:
    """A category with its rules, and for each tense and number of words to spend the rules that fit."""

    name: str
    rules: list[CompiledRule] = field(default_factory=list)
    shortest: int = MAX_BUDGET
    longest: int = 0
    tables: dict[str, list[tuple[list[CompiledRule], list[float]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.label = self.name.partition("-")[0]
        is_clause = self.label == "IP" or self.name.endswith("-REL")
        self.agreement = "bare" if self.name.endswith("-BARE") else "s" if is_clause else ""
        self.has_future = not self.name.endswith("-WHEN")


def compile_rules(rules: Sequence[Rule], lexicon: Mapping[str, WordClass], root: str) -> Category:
    """Resolve all names and return the root category; a name that nothing defines is an OptionError."""
    categories = {rule.category: Category(rule.category) for rule in rules}
    for rule in rules:
        try:
            categories[rule.category].rules.append(_compile(rule, categories, lexicon))
        except (KeyError, ValueError) as error:
            raise OptionError(f"grammar rule {rule}: {error}") from error
    _measure(list(categories.values()))
    for category in categories.values():
        _tabulate(category)
    return categories[root]


def _compile(rule: Rule, categories: Mapping[str, Category], lexicon: Mapping[str, WordClass]) -> CompiledRule:
    names: list[str] = []
    parts: list[Part] = []
    label = rule.category.partition("-")[0]
    brackets, head = [f" ({label}"], -1
    for token in re.findall(r"\([A-Z]+|\)|[^\s()]+", rule.source):
        if token.startswith("("):
            brackets[-1] += f" {token}"
        elif token == ")":
            brackets[-1] += ")"
        else:
            if token.endswith("*"):
                head, token = len(parts), token[:-1]
            name, _, word = token.partition(":")
            category = re.sub(r"\.\d$", "", name)
            names.append(name)
            if word:
                only_word = Word((word,), frozenset([word]))
                parts.append(Part(None, WordClass(category, [only_word], flat=True), False))
            elif category in categories:
                parts.append(Part(categories[category], None, category.endswith("-SBJ")))
            else:
                parts.append(Part(None, lexicon[category], False))
            brackets.append("")
    brackets[-1] += ")"
    if len(parts) == 1 and (only := parts[0].category) is not None and only.label == label:
        brackets = ["", ""]  # NP over a single NP is the same NP
    orders = [_compile_move(move, names, parts) for move in rule.moves]
    if orders[-1].tests or orders[-1].chance < 1:
        raise ValueError("the last target must have no condition")
    return CompiledRule(
        parts=parts,
        brackets=brackets,
        orders=orders,
        head=head if head >= 0 else len(parts) - 1,
        adds=frozenset(rule.adds.split()),
        weight=rule.weight,
        only=rule.only,
    )


def _find(name: str, names: list[str]) -> int:
    if names.count(name) != 1:
        raise ValueError(f"{name} names {names.count(name)} parts")
    return names.index(name)


def _compile_move(move: Move, names: list[str], parts: list[Part]) -> Order:
    items = []
    for token in move.target.split():
        text, *linked = token.split("+")
        name, _, form = text.partition("/")
        if form and form not in _FORMS:
            raise ValueError(f"unknown form {form!r}")
        links = tuple(_find(other, names) for other in linked)
        if name in names:
            part = _find(name, names)
            words = parts[part].words
            if words is None and (form or links):
                raise ValueError(f"{name} is a phrase, which cannot have a form or links")
            if words is not None and words.english == "VB":
                form = form or "fin"
            items.append(Item(part, "", "", form or "base", links))
        elif form in ("fin", "sg") and name not in AUXILIARIES:
            raise ValueError(f"{name!r} is not an auxiliary")
        else:
            items.append(Item(-1, name, FUNCTION_WORDS[name], form, links))
    tests = []
    for test in filter(None, (t.strip() for t in move.when.split(","))):
        name, _, feature = test.rpartition(":")
        tests.append(Test(_find(name, names), feature.removeprefix("!"), not feature.startswith("!")))
    return Order(items, tests, move.chance)


def _measure(categories: list[Category]) -> None:
    """Find how few and how many words each category and rule can cover: repeat until nothing changes."""
    changed = True
    while changed:
        changed = False
        for category in categories:
            for rule in category.rules:
                rule.shortest = sum(part.category.shortest if part.category else 1 for part in rule.parts)
                longest = sum(part.category.longest if part.category else 1 for part in rule.parts)
                rule.longest = min(MAX_BUDGET, longest)
            shortest = min(rule.shortest for rule in category.rules)
            longest = max(rule.longest for rule in category.rules)
            changed = changed or (shortest, longest) != (category.shortest, category.longest)
            category.shortest, category.longest = shortest, longest
    for category in categories:
        for rule in category.rules:
            rule.needs = [part.category.shortest if part.category else 1 for part in rule.parts]
            rule.growing = [
                i for i, part in enumerate(rule.parts) if part.category and part.category.longest > part.category.shortest
            ]


def _tabulate(category: Category) -> None:
    """For each tense and budget, list the rules that fit; rules that cannot use most of the budget become rarer."""
    for tense in TENSES:
        column = []
        for budget in range(MAX_BUDGET + 1):
            fitting = [rule for rule in category.rules if rule.only in ("", tense) and rule.shortest <= budget]
            fitting = fitting or [min(category.rules, key=lambda rule: (rule.only not in ("", tense), rule.shortest))]
            weights = [rule.weight * min(1.0, rule.longest / (USE * budget + 1)) ** 2 for rule in fitting]
            total, running, cumulative = sum(weights), 0.0, []
            for weight in weights:
                running += weight / total
                cumulative.append(running)
            cumulative[-1] = 1.0
            column.append((fitting, cumulative))
        category.tables[tense] = column
