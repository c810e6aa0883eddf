"""Texts, bitexts, links and annotations as arrays; cleaning; tokenizers."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.corpus.annotations import Annotations as Annotations
    from hyperbaton.corpus.bitext import Bitext as Bitext
    from hyperbaton.corpus.bitext import SentencePair as SentencePair
    from hyperbaton.corpus.dependencies import Dependencies as Dependencies
    from hyperbaton.corpus.dependencies import read_conllu as read_conllu
    from hyperbaton.corpus.dependencies import read_tree_lines as read_tree_lines
    from hyperbaton.corpus.dependencies import read_trees as read_trees
    from hyperbaton.corpus.links import Links as Links
    from hyperbaton.corpus.selection import first_instances as first_instances
    from hyperbaton.corpus.tags import Tags as Tags
    from hyperbaton.corpus.text import Text as Text
    from hyperbaton.corpus.text import Vocabulary as Vocabulary
    from hyperbaton.corpus.trees import Trees as Trees

LazyNames(globals())
