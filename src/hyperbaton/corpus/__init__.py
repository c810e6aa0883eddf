"""Texts, bitexts, links and annotations as arrays; cleaning; tokenizers."""

from hyperbaton.corpus.annotations import Annotations
from hyperbaton.corpus.bitext import Bitext, SentencePair
from hyperbaton.corpus.dependencies import Dependencies, read_conllu, read_tree_lines, read_trees
from hyperbaton.corpus.links import Links
from hyperbaton.corpus.tags import Tags
from hyperbaton.corpus.text import Text, Vocabulary
from hyperbaton.corpus.trees import Trees

__all__ = [
    "Annotations",
    "Bitext",
    "Dependencies",
    "Links",
    "SentencePair",
    "Tags",
    "Text",
    "Trees",
    "Vocabulary",
    "read_conllu",
    "read_tree_lines",
    "read_trees",
]
