"""Word alignment: aligners, links of other programs, symmetrisation and evaluation."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.align.aligners.hmm import Aligner, Posteriors
    from hyperbaton.align.base import ALIGNERS, WordAligner, align
    from hyperbaton.align.evaluation import LinkScores, evaluate_links
    from hyperbaton.align.filtering import Filtering, cross_logprobs, filter_files, pair_gains
    from hyperbaton.align.inline_markup import parse_inline, project_markup
    from hyperbaton.align.lexical import LexicalTable
    from hyperbaton.align.lexicon import Lexicon, Selection
    from hyperbaton.align.projection import Conflict, Span, project_bio, project_labels, project_spans
    from hyperbaton.align.reading import read_links
    from hyperbaton.align.scores import AlignmentScores, StoredScores
    from hyperbaton.align.streaming import read_groups, read_pair_groups
    from hyperbaton.align.symmetrization import symmetrize
    from hyperbaton.align.visits import Jumps, VisitOrders, visit_order
else:
    __getattr__ = names_from(
        __name__,
        {
            "aligners.hmm": ("Aligner", "Posteriors"),
            "base": ("ALIGNERS", "WordAligner", "align"),
            "evaluation": ("LinkScores", "evaluate_links"),
            "filtering": ("Filtering", "cross_logprobs", "filter_files", "pair_gains"),
            "inline_markup": ("parse_inline", "project_markup"),
            "lexical": ("LexicalTable",),
            "lexicon": ("Lexicon", "Selection"),
            "projection": ("Conflict", "Span", "project_bio", "project_labels", "project_spans"),
            "reading": ("read_links",),
            "scores": ("AlignmentScores", "StoredScores"),
            "streaming": ("read_groups", "read_pair_groups"),
            "symmetrization": ("symmetrize",),
            "visits": ("Jumps", "VisitOrders", "visit_order"),
        },
    )

__all__ = [
    "ALIGNERS",
    "Aligner",
    "AlignmentScores",
    "Conflict",
    "Filtering",
    "Jumps",
    "LexicalTable",
    "Lexicon",
    "LinkScores",
    "Posteriors",
    "Selection",
    "Span",
    "StoredScores",
    "VisitOrders",
    "WordAligner",
    "align",
    "cross_logprobs",
    "evaluate_links",
    "filter_files",
    "pair_gains",
    "parse_inline",
    "project_bio",
    "project_labels",
    "project_markup",
    "project_spans",
    "read_groups",
    "read_links",
    "read_pair_groups",
    "symmetrize",
    "visit_order",
]
