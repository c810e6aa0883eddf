"""Dependency trees and tags from CoNLL-U files, as columns parallel to the tokens of a text.

For languages without constituency parsers these trees can be read as constituents: `Dependencies.constituents`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import AnyPath, feed, read_lines, shown
from hyperbaton.corpus.tags import Labels
from hyperbaton.corpus.text import Offsets, SentenceRows, Text, Vocabulary
from hyperbaton.corpus.trees import Trees


@dataclass(frozen=True)
class Dependencies(SentenceRows[None]):
    """Heads, relations and tags of the tokens of a text; sentence s has rows `offsets[s]` to `offsets[s + 1]`.

    Missing values have the label `_`.
    """

    heads: npt.NDArray[np.int32]  # (n_tokens,): position in the sentence, -1 for a root
    relations: Labels  # (n_tokens,)
    upos: Labels
    xpos: Labels
    offsets: Offsets
    relation_vocabulary: Vocabulary
    upos_vocabulary: Vocabulary
    xpos_vocabulary: Vocabulary

    PARTS: ClassVar = dict.fromkeys(("relation_vocabulary", "upos_vocabulary", "xpos_vocabulary"), Vocabulary)

    @classmethod
    def read(cls, path: AnyPath, text: Text) -> Dependencies:
        """Read the CoNLL-U file of a text and check its words; an empty line of the text has no sentence there."""
        reader = _core.ConlluReader(text.core_tokens, text.vocabulary.spelling)
        feed(reader, path)
        return cls._take(reader)

    @classmethod
    def _take(cls, reader: _core.ConlluReader) -> Dependencies:
        vocabularies = (reader.relations(), reader.upos(), reader.xpos())
        return cls(*reader.take(), *(Vocabulary(*labels.arrays()) for labels in vocabularies))

    def constituents(self) -> Trees:
        """These trees as constituents (head spans).

        Each word with its dependents is a node labelled with the word's relation, the word alone is one labelled with its
        universal tag, and the sentence is the node ROOT. A word with a crossing (non-projective) arc is attached to its
        head's head, until its arc does not cross others.
        """
        relations = self.relation_vocabulary.words()
        tags = [f"{tag}+" if tag in relations else tag for tag in self.upos_vocabulary.words()]
        labels = Vocabulary.of(["ROOT", *relations, *tags])
        nodes, begins, ends, parents, offsets = _core.head_spans(
            self.heads, self.relations, self.upos, self.offsets, first_tag=1 + len(relations)
        )
        return Trees(nodes, begins, ends, parents, offsets, labels)


def read_conllu(path: AnyPath) -> tuple[Text, Dependencies]:
    """Read text and annotation from a CoNLL-U file alone; a space inside a word becomes `_`."""
    reader = _core.ConlluReader()
    feed(reader, path)
    words = Vocabulary(*reader.words().arrays())
    dependencies = Dependencies._take(reader)
    return Text(reader.take_tokens(), dependencies.offsets, words, shown(path)), dependencies


def read_trees(path: AnyPath, text: Text) -> Trees:
    """Read the trees of a text: bracketed ones, or CoNLL-U (by name, `*.conllu`, also compressed) as constituents."""
    return Dependencies.read(path, text).constituents() if _is_conllu(path) else Trees.read(path, text)


def read_tree_lines(path: AnyPath) -> Iterator[str]:
    """Yield the trees of a text as bracketed lines, one for each sentence, to read in parallel with the text.

    After a sparse file (lines of sentence number, tab, tree), empty lines follow without end.
    """
    if _is_conllu(path):
        text, dependencies = read_conllu(path)
        for piece in dependencies.constituents().pieces(text):
            yield from piece.decode("utf-8").splitlines()
        return
    done, sparse = 0, False
    for line in read_lines(path):
        number, tab, tree = line.partition("\t")
        sparse = (done == 0 and bool(tab)) or sparse
        if not sparse:
            yield line
            done += 1
            continue
        if not number.isdigit() or int(number) <= done:
            raise InputError(
                f"expected the number of a sentence after {done} and a tab, found {number[:20]!r}", shown(path)
            )
        yield from repeat("", int(number) - done - 1)
        yield tree
        done = int(number)
    if sparse:
        yield from repeat("")


def _is_conllu(path: AnyPath) -> bool:
    return ".conllu" in Path(path).name
