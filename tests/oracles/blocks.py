"""The block model, slowly: paths, questions and probabilities by loops over plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import Any

from hyperbaton.corpus.trees import Node

JUMPS = range(-5, 6)
UNSEEN = 0.5
Links = Iterable[tuple[int, int]]


def path(links: Links, n_source: int) -> list[tuple[int, int, list[int], int]]:
    """(begin, end, target positions, target words before) of each block."""
    linked: dict[int, list[int]] = {}
    for i, j in sorted(links):
        linked.setdefault(i, []).append(j)
    order: list[int] = []
    for j in sorted({j for targets in linked.values() for j in targets}):
        order += [i for i in sorted(linked) if j in linked[i] and i not in order]
    steps: list[tuple[int, int, list[int], int]] = []

    def add_empty(i: int, before: int) -> None:
        while i < n_source and i not in linked:
            steps.append((i, i + 1, [], before))
            i += 1

    add_empty(0, 0)
    while order:
        begin = order.pop(0)
        end = begin + 1
        while order and order[0] == end and linked[end] == linked[begin]:
            order.pop(0)
            end += 1
        steps.append((begin, end, linked[begin], linked[begin][0]))
        add_empty(end, linked[begin][-1] + 1)
    return steps


def coverage(covered: set[int], begin: int, end: int) -> int:
    inside = sum(i in covered for i in range(begin, end))
    return 0 if inside == 0 else 1 if inside == end - begin else 2


@dataclass
class Sentence:
    """Words, tags (or none) and nodes (or none) of a source sentence."""

    words: list[str]
    tags: list[str] | None = None
    nodes: list[Node] = field(default_factory=list)

    def around(self, begin: int, end: int) -> tuple[Node, list[tuple[Node, int]]] | None:
        """The parent of a span and its siblings with −1 or 1."""
        exact = [node for node in self.nodes if (node.begin, node.end) == (begin, end)]
        covering = [node for node in self.nodes if node.begin <= begin and node.end >= end]
        if exact:
            parent = exact[0].parent
            if parent < 0:
                return None
        elif covering:
            parent = self.nodes.index(covering[-1])
        else:
            return None
        siblings = [node for node in self.nodes if node.parent == parent]
        sides = [(node, -1 if node.end <= begin else 1) for node in siblings if node.end <= begin or node.begin >= end]
        return self.nodes[parent], sides

    def questions(self, begin: int, end: int, covered: set[int], before: tuple[str, str]) -> set[tuple[Any, ...]]:
        """(family, whether of words, …) of all that is asked; `before`: last and second last target word."""
        n = len(self.words)
        s = " ".join(self.words[begin:end])

        def at(values: list[str], i: int) -> str:
            return values[i] if 0 <= i < n else "<edge>"

        asked: set[tuple[Any, ...]] = {("lexical", True, s)}
        asked |= {
            ("context", True, s, "previous", at(self.words, begin - 1)),
            ("context", True, s, "next", at(self.words, end)),
        }
        asked |= {("context", True, s, "target", before[0]), ("context", True, s, "targets", *before)}
        tag = None if self.tags is None else self.tags[end - 1]
        if self.tags is not None:
            asked |= {("tags", False, tag), ("tags", False, tag, "previous", at(self.tags, begin - 1))}
            asked |= {("tags", False, tag, "next", at(self.tags, end))}
        if begin > 0 and begin - 1 not in covered:
            asked.add(("coverage", True, s, "left open"))
        if end < n and end in covered:
            asked.add(("coverage", True, s, "right closed"))
        around = self.around(begin, end)
        if around is not None:
            parent, siblings = around
            asked.add(("parse-coverage", True, s, parent.label, coverage(covered, parent.begin, parent.end)))
            above = parent.parent
            while above >= 0:
                node = self.nodes[above]
                asked.add(("ancestor-coverage", True, s, node.label, coverage(covered, node.begin, node.end)))
                above = node.parent
            for node, side in siblings:
                state = coverage(covered, node.begin, node.end)
                asked.add(("sibling-word", True, s, node.label, state, side))
                if self.tags is not None:
                    asked.add(("sibling-tag", False, tag, node.label, state, side))
        return asked


@dataclass
class Event:
    """A step of a path, and what is asked there."""

    sentence: Sentence
    begin: int
    end: int
    target: tuple[str, ...]
    jump: int
    questions: set[tuple[Any, ...]]

    @property
    def source(self) -> str:
        return " ".join(self.sentence.words[self.begin : self.end])


def events(sentence: Sentence, phrases: Sequence[tuple[int, int, list[str], Links]]) -> list[Event]:
    """The steps of phrases (begin, end, target words, inner links) that are translated one after the other."""
    all_events: list[Event] = []
    covered: set[int] = set()
    last = -1
    written = ["<edge>", "<edge>"]
    for first, stop, target, links in phrases:
        for begin, end, positions, before in path(links, stop - first):
            begin, end = begin + first, end + first
            history = written + target[:before]
            questions = sentence.questions(begin, end, covered, (history[-1], history[-2]))
            jump = max(-5, min(5, begin - last))
            all_events.append(Event(sentence, begin, end, tuple(target[j] for j in positions), jump, questions))
            covered |= set(range(begin, end))
            last = end - 1
        written += target
    return all_events


def count_features(all_events: list[Event], families: set[str], tag_of: Any) -> dict[tuple[Any, ...], int]:
    """Occurrences of each (question, target, jump)."""
    counts: dict[tuple[Any, ...], int] = {}
    for event in all_events:
        for question in event.questions:
            if question[0] in families:
                key = (question, event.target if question[1] else tag_of(event.target), event.jump)
                counts[key] = counts.get(key, 0) + 1
    return counts


class Prior:
    """p0(t, j | s), from the blocks of training."""

    def __init__(self, training: list[Event], alpha: float | None, tags: bool) -> None:
        self.alpha, self.tags = alpha, tags
        self.pairs: dict[str, dict[tuple[str, ...], int]] = {}
        self.jumps: dict[Any, dict[int, int]] = {}
        for event in training:
            targets = self.pairs.setdefault(event.source, {})
            targets[event.target] = targets.get(event.target, 0) + 1
            length = event.end - event.begin
            keys: list[Any] = [(event.source, event.target), min(length, 8)]
            if tags and length == 1:
                keys.append(("tag", event.sentence.tags[event.begin]))  # type: ignore[index]
            for key in keys:
                row = self.jumps.setdefault(key, {})
                row[event.jump] = row.get(event.jump, 0) + 1

    def everywhere(self, event: Event, j: int) -> float:
        length = min(event.end - event.begin, 8)
        rows = self.jumps.get(length, {})
        by_length = (rows.get(j, 0) + 5 / 11) / (sum(rows.values()) + 5)
        tagged = self.jumps.get(("tag", event.sentence.tags[event.begin])) if self.tags and length == 1 else None  # type: ignore[index]
        if tagged is None:
            return by_length
        return (tagged.get(j, 0) + 5 * by_length) / (sum(tagged.values()) + 5)

    def __call__(self, event: Event, target: tuple[str, ...], j: int, training: bool = False) -> float:
        """In training, the event's own jump is left out of those of its pair."""
        targets = self.pairs.get(event.source, {})
        total, count = sum(targets.values()), targets.get(target, 0)
        share = count / total if count else UNSEEN / (total + UNSEEN)
        if self.alpha is None:
            return share / 11
        own = dict(self.jumps.get((event.source, target), {}))
        everywhere = self.everywhere(event, j)
        if training and target == event.target:
            own[event.jump] -= 1
        n = sum(own.values())
        return share * (self.alpha * own.get(j, 0) / n + (1 - self.alpha) * everywhere if n else everywhere)


Targets = set[tuple[str, ...]]


def logprob(
    event: Event,
    prior: Prior,
    weights: dict[tuple[Any, ...], float],
    tag_of: Any,
    chosen: dict[str, Targets] | None = None,
    training: bool = False,
) -> float:
    """log p(t, j | s) of a step, over all targets of s in training, or those chosen for it, and its own."""

    def score(target: tuple[str, ...], j: int) -> float:
        total = sum(weights.get((q, target if q[1] else tag_of(target), j), 0.0) for q in event.questions)
        return prior(event, target, j, training) * exp(total)

    seen = prior.pairs if chosen is None else chosen
    targets = {*seen.get(event.source, {}), event.target}
    return log(score(event.target, event.jump) / sum(score(target, j) for target in targets for j in JUMPS))
