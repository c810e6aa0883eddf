"""Constituency trees of the sentences of a text, as flat arrays.

A file has one bracketed tree per line whose leaves are the tokens (brackets among them as -LRB- and -RRB-), or an empty
line; or, if few sentences have trees, lines of sentence number, tab, tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, gather
from hyperbaton.base.store import Arrays
from hyperbaton.corpus.files import AnyPath, feed, feed_lines, write_pieces
from hyperbaton.corpus.tags import Labels
from hyperbaton.corpus.text import Offsets, Text, Vocabulary


class Node(NamedTuple):
    """One bracket: its label, the tokens it covers, and the number of its parent among the sentence's nodes."""

    label: str
    begin: int
    end: int
    parent: int


@dataclass(frozen=True)
class Trees:
    """Trees of a text: the nodes of sentence s are `offsets[s]` to `offsets[s + 1]`, in pre-order.

    A node is a bracket; the lowest ones are those of the tokens' tags. A sentence without a tree has no nodes.

    >>> trees = Trees.of(["(S (NP he) (VP eats))", ""], Text.of(["he eats", "yes"]))
    >>> trees[0][2]
    Node(label='VP', begin=1, end=2, parent=0)
    """

    labels: Labels  # (n_nodes,)
    begins: npt.NDArray[np.uint16]  # (n_nodes,): tokens of the sentence, half-open
    ends: npt.NDArray[np.uint16]
    parents: npt.NDArray[np.int32]  # (n_nodes,): counted from the sentence's first node, -1 for the root
    offsets: Offsets  # (n_sentences + 1,)
    vocabulary: Vocabulary

    @classmethod
    def read(cls, path: AnyPath, text: Text) -> Trees:
        """Read the trees of a text, plain or compressed, and check their leaves against its tokens."""
        reader = _core.TreeReader(*text.columns)
        feed(reader, path)
        return cls._take(reader)

    @classmethod
    def of(cls, lines: Sequence[str], text: Text) -> Trees:
        """Make trees from lines in memory."""
        reader = _core.TreeReader(*text.columns)
        feed_lines(reader, lines)
        return cls._take(reader)

    @classmethod
    def _take(cls, reader: _core.TreeReader) -> Trees:
        labels, begins, ends, parents, offsets = reader.take()
        return cls(labels, begins, ends, parents, offsets, Vocabulary(*reader.labels().arrays()))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, sentence: int) -> list[Node]:
        if not -len(self) <= sentence < len(self):
            raise IndexError(f"sentence {sentence} of {len(self)}")
        sentence %= len(self)
        nodes = slice(self.offsets[sentence], self.offsets[sentence + 1])
        columns = (self.labels[nodes], self.begins[nodes], self.ends[nodes], self.parents[nodes])
        return [
            Node(self.vocabulary.word(label), begin, end, parent)
            for label, begin, end, parent in zip(*(column.tolist() for column in columns), strict=True)
        ]

    def select(self, sentences: npt.ArrayLike) -> Trees:
        """The trees of the chosen sentences, in that order."""
        where, offsets = gather(self.offsets, np.asarray(sentences, np.int64))
        return replace(
            self,
            labels=self.labels[where],
            begins=self.begins[where],
            ends=self.ends[where],
            parents=self.parents[where],
            offsets=offsets,
        )

    def pieces(self, text: Text, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[bytes]:
        """The trees of the chosen sentences as bracketed lines, in pieces; `text` gives the leaves."""
        chosen = np.arange(len(self)) if sentences is None else np.asarray(sentences, np.int64)
        columns = _core.TreeColumns(
            labels=self.labels, begins=self.begins, ends=self.ends, parents=self.parents, offsets=self.offsets
        )
        for chunk in np.array_split(chosen, max(1, len(chosen) // 10_000)):
            chunk = np.ascontiguousarray(chunk)
            yield _core.format_trees(columns, self.vocabulary.lookup, text.core_tokens, text.vocabulary.spelling, chunk)

    def write(self, path: AnyPath, text: Text) -> None:
        """Write one bracketed tree per line."""
        write_pieces(path, self.pieces(text))

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Everything as named arrays, for the store."""
        return {
            f"{prefix}.labels": self.labels,
            f"{prefix}.begins": self.begins,
            f"{prefix}.ends": self.ends,
            f"{prefix}.parents": self.parents,
            f"{prefix}.offsets": self.offsets,
            **self.vocabulary.arrays(f"{prefix}.vocabulary"),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Trees:
        """The inverse of `arrays`, names without the prefix."""
        vocabulary = Vocabulary.from_arrays(arrays, "vocabulary")
        return cls(arrays["labels"], arrays["begins"], arrays["ends"], arrays["parents"], arrays["offsets"], vocabulary)
