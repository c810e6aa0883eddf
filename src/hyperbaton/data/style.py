"""A style is a source language: rules, words, and the sounds of invented words. One file of `styles/` is one style."""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, ClassVar

from hyperbaton.base.registry import Registry
from hyperbaton.data import lexicon
from hyperbaton.data.english import Draw
from hyperbaton.data.grammar import Category, Rule, compile_rules
from hyperbaton.data.lexicon import WordClass, Words

ROOT = "IP-ROOT"


def read_style(name: str) -> tuple[list[Rule], dict[str, Words], list[str]]:
    """The rules, the word classes and the syllables of a style, from a file beside it."""

    def contents(name: str) -> dict[str, dict[str, Any]]:
        text = files("hyperbaton.data.styles").joinpath(name).read_text(encoding="utf-8")
        return tomllib.loads(text)

    def expand(block: str, **values: str) -> Iterator[Rule]:
        for line in filter(None, rules[block].format_map(values).splitlines()):
            if line.startswith("include "):
                _, inner, *settings = line.split()
                yield from expand(inner, **dict(setting.split("=") for setting in settings))
            elif not line.startswith("#"):
                yield Rule.parse(line)

    words = contents(name)
    rules, sounds = contents("_nouns.toml")["rules"] | words.pop("rules"), words.pop("syllables")
    syllables = [first + last for firsts, lasts in sounds.items() for first in firsts.split() for last in lasts.split()]
    return list(expand("start")), {label: Words(**fields) for label, fields in words.items()}, syllables


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
