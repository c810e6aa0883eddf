"""Texts, bitexts, links and annotations as arrays; cleaning; tokenizers."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.corpus.annotations import Annotations
    from hyperbaton.corpus.bitext import Bitext, SentencePair
    from hyperbaton.corpus.dependencies import Dependencies, read_conllu, read_tree_lines, read_trees
    from hyperbaton.corpus.links import Links
    from hyperbaton.corpus.tags import Tags
    from hyperbaton.corpus.text import Text, Vocabulary
    from hyperbaton.corpus.trees import Trees
else:
    __getattr__ = names_from(
        __name__,
        {
            "annotations": ("Annotations",),
            "bitext": ("Bitext", "SentencePair"),
            "dependencies": ("Dependencies", "read_conllu", "read_tree_lines", "read_trees"),
            "links": ("Links",),
            "tags": ("Tags",),
            "text": ("Text", "Vocabulary"),
            "trees": ("Trees",),
        },
    )


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
