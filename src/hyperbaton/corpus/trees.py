"""Constituency trees of the sentences of a text, as flat arrays.

A file has one bracketed tree per line whose leaves are the tokens (brackets among them as -LRB- and -RRB-), or an empty
line; or, if few sentences have trees, lines of sentence number, tab, tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.corpus.files import AnyPath, feed, feed_lines, write_pieces
from hyperbaton.corpus.tags import Labels
from hyperbaton.corpus.text import Offsets, SentenceRows, Text, Vocabulary


class Node(NamedTuple):
    """One bracket: its label, the tokens it covers, and the number of its parent among the sentence's nodes."""

    label: str
    begin: int
    end: int
    parent: int


@dataclass(frozen=True)
class Trees(SentenceRows[list[Node]]):
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

    PARTS: ClassVar = {"vocabulary": Vocabulary}

    @classmethod
    def read(cls, path: AnyPath, text: Text) -> Trees:
        """Read the trees of a text, plain or compressed, and check their leaves against its tokens."""
        reader = _core.TreeReader(text.core_tokens, text.vocabulary.spelling)
        feed(reader, path)
        return cls._take(reader)

    @classmethod
    def of(cls, lines: Sequence[str], text: Text) -> Trees:
        """Make trees from lines in memory."""
        reader = _core.TreeReader(text.core_tokens, text.vocabulary.spelling)
        feed_lines(reader, lines)
        return cls._take(reader)

    @classmethod
    def _take(cls, reader: _core.TreeReader) -> Trees:
        labels, begins, ends, parents, offsets = reader.take()
        return cls(labels, begins, ends, parents, offsets, Vocabulary(*reader.labels().arrays()))

    def item(self, at: int) -> list[Node]:
        nodes = slice(self.offsets[at], self.offsets[at + 1])
        columns = (self.labels[nodes], self.begins[nodes], self.ends[nodes], self.parents[nodes])
        return [
            Node(self.vocabulary.word(label), begin, end, parent)
            for label, begin, end, parent in zip(*(column.tolist() for column in columns), strict=True)
        ]

    @property
    def core(self) -> _core.TreeColumns:
        """The nodes as the core reads them."""
        return _core.TreeColumns(
            labels=self.labels, begins=self.begins, ends=self.ends, parents=self.parents, offsets=self.offsets
        )

    def pieces(self, text: Text, sentences: npt.NDArray[np.int64] | None = None) -> Iterator[bytes]:
        """The trees of the chosen sentences as bracketed lines, in pieces; `text` gives the leaves."""
        for chunk in self.chunks(sentences):
            yield _core.format_trees(self.core, self.vocabulary.lookup, text.core_tokens, text.vocabulary.spelling, chunk)

    def write(self, path: AnyPath, text: Text) -> None:
        """Write one bracketed tree per line."""
        write_pieces(path, self.pieces(text))
