"""Plain scores of a translation step by step, and the best one by trying all; slow, for short sentences.

A path is a list of steps (first source word, one past the last, target words, inner links). Spans are half-open.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FLOOR = -100.0


class Step(NamedTuple):
    begin: int
    end: int
    target: tuple[str, ...]


def log(p: float) -> float:
    return max(math.log(p), FLOOR) if p > 0 else FLOOR


def open_text(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        yield from (line.rstrip("\n") for line in file)


def read_table(path: Path) -> dict[tuple[str, str], list[float]]:
    """Log scores of a phrase or reordering table by (source, target)."""
    rows = (line.split(" ||| ") for line in open_text(path))
    return {(row[0], row[1]): [log(float(x)) for x in row[2].split()] for row in rows}


class Arpa:
    """A back-off model in dictionaries; natural logs."""

    def __init__(self, path: Path) -> None:
        self.probs: dict[tuple[str, ...], float] = {}
        self.backoffs: dict[tuple[str, ...], float] = {}
        order = 0
        for line in open_text(path):
            if line.endswith("-grams:"):
                order = int(line[1 : line.index("-")])
            elif order and "\t" in line:
                prob, words, *backoff = line.split("\t")
                key = tuple(words.split(" "))
                self.probs[key] = float(prob) * math.log(10)
                self.backoffs[key] = float(backoff[0]) * math.log(10) if backoff else 0.0
        self.order = order

    def word(self, context: Sequence[str], word: str) -> float:
        word = word if (word,) in self.probs else "<unk>"
        known = tuple(w if (w,) in self.probs else "<unk>" for w in context)[-(self.order - 1) :]
        return self._word(known, word)

    def _word(self, context: tuple[str, ...], word: str) -> float:
        if (*context, word) in self.probs:
            return self.probs[(*context, word)]
        return self.backoffs.get(context, 0.0) + self._word(context[1:], word)

    def sentence(self, words: Sequence[str]) -> float:
        whole = ["<s>", *words, "</s>"]
        return sum(self.word(whole[:i], whole[i]) for i in range(1, len(whole)))

    def inside(self, words: Sequence[str]) -> float:
        """The estimate for a phrase of which nothing before is known."""
        return sum(self.word(words[:i], words[i]) for i in range(len(words)))


def distortion(path: Sequence[Step]) -> float:
    ends = [0, *(step.end for step in path)]
    return -sum(abs(step.begin - end) for step, end in zip(path, ends, strict=False))


def early_distortion(path: Sequence[Step]) -> float:
    """Moore and Quirk (2007): the way over a gap and back is charged when a phrase after the gap is chosen."""
    covered: set[int] = set()
    previous: set[int] = set()
    total = 0
    for step in path:
        words = set(range(step.begin, step.end))
        gap = next(i for i in range(step.end) if i not in covered)
        prefix = set(range(gap))
        if gap in words:
            cost = 0
        elif previous and max(words) < min(previous):
            cost = len(words)
        elif previous <= prefix:
            cost = len(range(gap, min(words))) + len(words)
        else:
            cost = len(range(max(previous) + 1, min(words))) + len(words)
        total -= 2 * cost
        covered |= words
        previous = words
    return total


def phrase_orientation(previous: Step | None, step: Step) -> str:
    if previous is None:
        return "M" if step.begin == 0 else "DR"
    if step.begin == previous.end:
        return "M"
    if step.end == previous.begin:
        return "S"
    return "DR" if step.begin > previous.begin else "DL"


def stack_orientations(path: Sequence[Step]) -> list[str]:
    """Hierarchical, towards the previous block: a stack of source blocks, joined while neighbours."""
    stack: list[tuple[int, int]] = []
    orientations = []
    for step in path:
        last = stack[-1] if stack else (0, 0)
        if step.begin == last[1]:
            orientations.append("M")
        elif stack and step.end == last[0]:
            orientations.append("S")
        else:
            orientations.append("DR" if step.begin > last[0] or not stack else "DL")
        block = (step.begin, step.end)
        while stack and (stack[-1][1] == block[0] or stack[-1][0] == block[1]):
            other = stack.pop()
            block = (min(block[0], other[0]), max(block[1], other[1]))
        stack.append(block)
    return orientations


def coverage_orientation(previous: Step, step: Step, covered: set[int]) -> str:
    """Hierarchical, from the previous phrase towards what follows."""
    if step.begin == previous.end or (step.begin > previous.end and previous.end not in covered):
        return "M"
    if step.end == previous.begin or (step.end < previous.begin and previous.begin - 1 not in covered):
        return "S"
    return "DR" if step.begin > previous.begin else "DL"


def lexicalized(
    path: Sequence[Step], rows: Sequence[Sequence[float] | None], *, hierarchical: bool, columns: Sequence[str]
) -> list[float]:
    """Scores of a bidirectional table by class, backward block first; a row is None where the table has none."""
    names = {"M": "M", "S": "S", "DL": "DL", "DR": "DR"}
    if "D" in columns:
        names |= {"DL": "D", "DR": "D"}
    n = len(columns)
    scores = [0.0] * (2 * n)
    stacked = stack_orientations(path)
    covered: set[int] = set()
    for i, step in enumerate(path):
        before = stacked[i] if hierarchical else phrase_orientation(path[i - 1] if i else None, step)
        row = rows[i]
        if row is not None:
            column = columns.index(names[before])
            scores[column] += row[column]
        covered |= set(range(step.begin, step.end))
        if i and (last := rows[i - 1]) is not None:
            previous = path[i - 1]
            after = coverage_orientation(previous, step, covered) if hierarchical else phrase_orientation(previous, step)
            column = n + columns.index(names[after])
            scores[column] += last[column]
    return scores


def within_limit(path: Sequence[Step], limit: int) -> bool:
    """Moses' distortion limit; -1 is none."""
    if limit < 0:
        return True
    covered: set[int] = set()
    end = 0
    for step in path:
        gap = next(i for i in range(len(covered) + 1) if i not in covered)
        if abs(step.begin - end) > limit or (step.begin != gap and abs(step.end - gap) > limit):
            return False
        covered |= set(range(step.begin, step.end))
        end = step.end
    return True


def is_bracketing(path: Sequence[Step]) -> bool:
    """Whether the source order of the phrases is that of a binary bracketing whose parts may be swapped (Wu 1997)."""

    def contiguous(part: Sequence[Step]) -> bool:
        ends = [step.begin for step in part], [step.end for step in part]
        return max(ends[1]) - min(ends[0]) == sum(step.end - step.begin for step in part)

    return len(path) == 1 or any(
        contiguous(left) and contiguous(right) and is_bracketing(left) and is_bracketing(right)
        for left, right in ((path[:k], path[k:]) for k in range(1, len(path)))
    )


def all_paths(options: Sequence[Step], n_words: int) -> Iterator[list[Step]]:
    """Every way to cover the sentence with options, in every order."""

    def extend(path: list[Step], covered: frozenset[int]) -> Iterator[list[Step]]:
        if len(covered) == n_words:
            yield list(path)
            return
        for option in options:
            span = frozenset(range(option.begin, option.end))
            if not span & covered:
                path.append(option)
                yield from extend(path, covered | span)
                path.pop()

    yield from extend([], frozenset())


def best(paths: Iterator[list[Step]], score: Callable[[list[Step]], float]) -> float:
    return max((score(path) for path in paths), default=-math.inf)


def dot(features: Mapping[str, Sequence[float]], weights: Mapping[str, Sequence[float]]) -> float:
    return sum(w * x for name, ws in weights.items() for w, x in zip(ws, features[name], strict=True))
