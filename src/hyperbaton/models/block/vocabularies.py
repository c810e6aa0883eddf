"""The two sides of the block model's training text: vocabularies, and sentences as word numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array, array_as_text
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import within
from hyperbaton.corpus import Annotations, Bitext, Text, Trees, Vocabulary
from hyperbaton.corpus.annotations import missing_tags
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.corpus.tree_rules import TreeRule, apply_rules, parse_rules
from hyperbaton.models.shapes.base import ModelState, restored_side, side_arrays, side_layout


@dataclass(frozen=True)
class BlockSides:
    """The words, tags and node labels of training; features contain no others."""

    source: Vocabulary
    target: Vocabulary
    target_classes: WordClasses | None
    tags: Vocabulary | None
    labels: Vocabulary | None
    rules: tuple[TreeRule, ...]  # changes of the trees

    @classmethod
    def of(cls, bitext: Bitext, annotations: Annotations, rules: tuple[TreeRule, ...]) -> BlockSides:
        """The vocabularies of a training text."""
        tags, trees = annotations.source_tags, annotations.source_trees
        return cls(
            bitext.source.vocabulary,
            bitext.target.vocabulary,
            annotations.target_classes,
            None if tags is None else tags.vocabulary,
            None if trees is None else trees.vocabulary,
            rules,
        )

    @cached_property
    def word_tags(self) -> npt.NDArray[np.uint32]:
        """The class of each target word, empty if there are no classes."""
        if self.target_classes is None:
            return np.empty(0, np.uint32)
        words = np.arange(len(self.target), dtype=np.uint32)
        return self.target_classes.tags(Text(words, np.array([0, len(words)], np.int64), self.target)).astype(np.uint32)

    def core_bitext(self, bitext: Bitext, annotations: Annotations) -> _core.BlockBitext:
        target, links = bitext.target.over(self.target), bitext.need_links()
        source = self.core_text(bitext.source, annotations)
        return _core.BlockBitext(source, target.core_tokens, links.points, links.offsets)

    def core_text(self, source: Text, annotations: Annotations) -> _core.BlockText:
        """Source sentences over the vocabularies."""
        text = source.over(self.source)
        tags, trees = annotations.source_tags, annotations.source_trees
        if self.tags is not None and tags is None:
            raise missing_tags("block_me")
        labels = None if self.tags is None or tags is None else tags.over(self.tags)
        nodes = None if trees is None or self.labels is None else self._nodes(trees, self.labels, len(source))
        return _core.BlockText(text.core_tokens, labels, nodes)

    def _nodes(self, trees: Trees, known: Vocabulary, n_sentences: int) -> _core.TreeColumns:
        if len(trees) != n_sentences:
            raise OptionError(f"there are {len(trees)} trees for {n_sentences} sentences")
        changed = apply_rules(trees, self.rules)
        numbers = known.find_all(changed.vocabulary)
        labels = np.minimum(numbers, _core.UNKNOWN_LABEL).astype(np.uint16)[changed.labels]
        return replace(changed, labels=labels).core

    def arrays(self) -> dict[str, Array]:
        arrays = {
            **side_arrays("source", self.source, None),
            **side_arrays("target", self.target, self.target_classes),
            "rules": np.frombuffer("\n".join(map(str, self.rules)).encode(), np.uint8),
        }
        for name, vocabulary in (("tags", self.tags), ("labels", self.labels)):
            arrays |= {} if vocabulary is None else vocabulary.arrays(f"{name}.vocabulary")
        return arrays

    @staticmethod
    def layout() -> dict[str, str]:
        """The layout of `arrays`."""
        return {
            **side_layout("source"),
            **side_layout("target"),
            "rules": "u1 *",
            **within("tags.vocabulary?", Vocabulary.LAYOUT),
            **within("labels.vocabulary?", Vocabulary.LAYOUT),
        }

    @classmethod
    def restored(cls, state: ModelState) -> BlockSides:
        source, _ = restored_side(state, "source")
        target, classes = restored_side(state, "target")
        tags, labels = (
            Vocabulary.from_arrays(group) if group else None
            for group in (state.group("tags.vocabulary"), state.group("labels.vocabulary"))
        )
        rules = parse_rules(array_as_text(state.arrays["rules"]).splitlines())
        return cls(source, target, classes, tags, labels, rules)
