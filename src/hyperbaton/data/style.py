"""A style is a source language: rules, words, and the sounds of invented words. One file of `styles/` is one style."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperbaton.base.registry import Registry
from hyperbaton.data import lexicon
from hyperbaton.data.english import Draw
from hyperbaton.data.grammar import Category, Rule, compile_rules
from hyperbaton.data.lexicon import WordClass, Words

ROOT = "IP-ROOT"


class Style(ABC):
    """A source language to generate."""

    rules: ClassVar[Sequence[Rule]]
    words: ClassVar[Mapping[str, Words]]

    @abstractmethod
    def sound(self, draw: Draw, label: str) -> str:
        """Invent the form of a source word of the class `label`."""

    def build(self, vocabulary: int) -> tuple[Category, dict[str, WordClass]]:
        """The grammar and the lexicon; they depend on the style and the size of the vocabulary, not on a seed."""
        classes = lexicon.build(self.words, vocabulary, self.sound, type(self).__name__)
        return compile_rules(self.rules, classes, ROOT), classes


STYLES: Registry[Style] = Registry("style", "hyperbaton.data.styles", Style)
