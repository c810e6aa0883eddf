"""Word alignment: aligners, links of other programs, symmetrisation and evaluation."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.align.aligners.hmm import Aligner as Aligner
    from hyperbaton.align.aligners.hmm import Posteriors as Posteriors
    from hyperbaton.align.base import ALIGNERS as ALIGNERS
    from hyperbaton.align.base import WordAligner as WordAligner
    from hyperbaton.align.base import align as align
    from hyperbaton.align.base import load_aligner as load_aligner
    from hyperbaton.align.evaluation import LinkScores as LinkScores
    from hyperbaton.align.evaluation import evaluate_links as evaluate_links
    from hyperbaton.align.filtering import Filtering as Filtering
    from hyperbaton.align.filtering import cross_logprobs as cross_logprobs
    from hyperbaton.align.filtering import filter_files as filter_files
    from hyperbaton.align.filtering import pair_gains as pair_gains
    from hyperbaton.align.inline_markup import parse_inline as parse_inline
    from hyperbaton.align.inline_markup import project_markup as project_markup
    from hyperbaton.align.lexical import LexicalTable as LexicalTable
    from hyperbaton.align.lexicon import Lexicon as Lexicon
    from hyperbaton.align.lexicon import Selection as Selection
    from hyperbaton.align.link_files import read_links as read_links
    from hyperbaton.align.pair_text import PairText as PairText
    from hyperbaton.align.projection import Conflict as Conflict
    from hyperbaton.align.projection import Span as Span
    from hyperbaton.align.projection import project_bio as project_bio
    from hyperbaton.align.projection import project_labels as project_labels
    from hyperbaton.align.projection import project_spans as project_spans
    from hyperbaton.align.scores import AlignmentScores as AlignmentScores
    from hyperbaton.align.scores import StoredScores as StoredScores
    from hyperbaton.align.symmetrization import symmetrize as symmetrize
    from hyperbaton.align.visits import Jumps as Jumps
    from hyperbaton.align.visits import VisitOrders as VisitOrders
    from hyperbaton.align.visits import visit_order as visit_order

LazyNames(globals())
