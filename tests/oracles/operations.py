"""Operation sequences word by word with plain sets and strings: of a sentence pair, and of the steps of a translation."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

Links = Collection[tuple[int, int]]


class Cept(NamedTuple):
    source: list[int]
    target: list[int]


def cepts(links: Links) -> list[Cept]:
    """Words that are linked to each other, directly or through others, by their first target word."""
    left = set(links)
    groups = []
    while left:
        group = {min(left, key=lambda link: (link[1], link[0]))}
        while True:
            more = {x for x in left for y in group if x[0] == y[0] or x[1] == y[1]}
            if more == group:
                break
            group = more
        left -= group
        groups.append(Cept(sorted({i for i, _ in group}), sorted({j for _, j in group})))
    return sorted(groups, key=lambda cept: cept.target[0])


class Walk:
    """Goes through the source words of a sentence, notes the operations, and counts what goes with them."""

    def __init__(self) -> None:
        self.at = self.end = 0
        self.gaps: set[int] = set()
        self.done: set[int] = set()
        self.operations: list[str] = []
        self.width = self.n_gaps = self.open = self.deletions = 0

    def go(self, word: int) -> None:
        """Move to a word."""
        made = False
        if self.at < word:
            if self.at not in self.done:
                made = self._gap()
            if self.at == self.end:
                self.at = word
            else:
                self.operations.append("_JMP_FWD_")
                self.at = self.end
        if word < self.at:
            if self.at < self.end and self.at not in self.done:
                made = self._gap()
            start = max(gap for gap in self.gaps if gap <= word)
            self.operations.append(f"_JMP_BCK_{sum(gap >= start for gap in self.gaps)}")
            self.at = start
            if start == word:
                self.gaps.remove(start)
        if self.at < word:
            made = self._gap()
            self.at = word
        self.n_gaps += made

    def generate(self, operation: str) -> None:
        """Translate the word that the walk has moved to."""
        self.operations.append(operation)
        if operation != "_CONT_CEPT_":
            self.width += self.at - next(i for i in range(self.at + 1) if i not in self.done)
        self.deletions += operation.startswith("_INS_")
        self.done.add(self.at)
        self.at += 1
        self.end = max(self.end, self.at)
        self.open += len(self.gaps)

    def _gap(self) -> bool:
        self.operations.append("_INS_GAP_")
        self.gaps.add(self.at)
        return True

    def phrase(self, source: Sequence[str], begin: int, end: int, target: Sequence[str], links: Links) -> None:
        """Translate a phrase; the links are inside it."""
        linked = {begin + i for i, _ in links}

        def unlinked() -> None:
            while self.at < end and self.at not in linked and self.at not in self.done:
                self.generate(f"_INS_{source[self.at]}")

        if begin not in linked:
            self.go(begin)
            unlinked()
        groups = {cept.target[0]: cept for cept in cepts(links)}
        inner = {j for cept in groups.values() for j in cept.target}
        for j, word in enumerate(target):
            if j in groups:
                name = f"_TRANS_{'^_^'.join(target[k] for k in groups[j].target)}_TO_"
                name += "^_^".join(source[begin + i] for i in groups[j].source)
                for k, i in enumerate(groups[j].source):
                    self.go(begin + i)
                    self.generate("_CONT_CEPT_" if k else "_TRANS_SLF_" if target[j] == "_TRANS_SLF_" else name)
                    unlinked()
            elif j not in inner:
                self.operations.append(f"_DEL_{word}")

    @property
    def counts(self) -> list[int]:
        """Gap width, gaps, open gaps, deletions: in the order of Moses' supporting features."""
        return [self.width, self.n_gaps, self.open, self.deletions]


def pair_operations(source: Sequence[str], target: Sequence[str], links: Links, alone: Collection[str] = ()) -> list[str]:
    """The operations of a sentence pair; `alone` are words that stand for themselves."""
    walk = Walk()
    walk.phrase(source, 0, len(source), target, links)
    return ["_TRANS_SLF_" if op.startswith("_TRANS_") and op.split("_TO_")[-1] in alone else op for op in walk.operations]


def singletons(pairs: Iterator[tuple[Sequence[str], Sequence[str], Links]]) -> set[str]:
    """Source words with a single link in the whole text, to an equal word that has no other link either."""
    counts: dict[str, int] = {}
    for source, target, links in pairs:
        for i, j in links:
            single = sum(link[0] == i for link in links) == 1 and sum(link[1] == j for link in links) == 1
            counts[source[i]] = counts.get(source[i], 0) + (1 if single and source[i] == target[j] else 2)
    return {word for word, count in counts.items() if count == 1}
