"""Texts, bitexts, links and annotations as arrays; cleaning; tokenizers."""

from hyperbaton.corpus.bitext import Bitext
from hyperbaton.corpus.links import Links
from hyperbaton.corpus.text import Text, Vocabulary

__all__ = ["Bitext", "Links", "Text", "Vocabulary"]
