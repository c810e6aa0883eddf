"""Ni, Saunders, Szedmak and Niranjan 2011: classification of phrase movements, and its effect on translation.

Cells `KIND-SIZE-REPEAT-ORIENTATIONS-CLASSIFIER`: a classifier trained on SIZE sentence pairs and tested on 1,000 others of
the same kind of text. `random` pairs come from the whole corpus, `contiguous` ones are adjacent, `repetitive` ones have the
most recurrent source 4-grams, since the paper's text repeats itself far more than ours. Figures are over all test samples
and over those whose source phrase has a sub-model (10 training samples): the paper's test sizes count no others.

Cells `learners-SIZE-ORIENTATIONS` compare all learners, margins and kernels on one split of random text, and cells
`further-SIZE-ORIENTATIONS` further features. Cells `clusters-SIZE` look at single source phrases.

Cells `translation-SIZE` translate random text, `translation-repetitive-SIZE` the repetitive part, with development and test
text from that part.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperbaton.report.elements import Element
from papers.ni11.cells import CLASSIFIERS, ORIENTATIONS, Classification, Scale, Statistics, SystemComparison
from papers.ni11.clusters import Clusters
from papers.ni11.learners import COMPARED, LearnerComparison
from papers.ni11.page import Ni11Page
from papers.protocol import Cell, Paper, PaperItem, Result, Results


class Ni11(Paper):
    """Distance phrase reordering by classification (Ni et al. 2011)."""

    title = "Ni et al. 2011: exploitation of machine learning techniques in modelling phrase movements"
    items = (
        PaperItem("Table 4", "phrase pairs of training and test sets"),
        PaperItem("Table 5", "F1 of three classes"),
        PaperItem("Table 6", "F1 of five classes"),
        PaperItem("Table 7", "translation with 50,000 sentence pairs"),
        PaperItem("Figure 8", "samples and features of clusters"),
        PaperItem("Figure 9", "the text, and how far phrases move"),
        PaperItem("Figure 10", "overall precision by training size"),
        PaperItem("Figure 11", "precision by distance"),
        PaperItem("Figure 12", "relative gains on phrases that move"),
        PaperItem("Figure 13", "cluster by cluster"),
        PaperItem("Figure 14", "phrase movements that MMS gets right"),
        PaperItem("Figure 15", "training time"),
        PaperItem("Figure 16", "translation by training size"),
    )
    differences = (
        "The text is the laws of Taiwan, not those of Hong Kong: 122 running words for each word type, the paper's 1,200. "
        "The repetitive part of it is nearer to the paper's.",
        "Word links are by eflomal, not GIZA++. Options are the defaults of the models; n-grams have up to 3 words.",
        "“known” are test samples whose source phrase has at least 10 training samples: the paper's test sizes grow with "
        "the training size, so it cannot have counted the others.",
        "LR bare answers from the phrase pair alone, and an unseen pair is monotone; LR backs off to the source phrase.",
    )

    def cells(self) -> Sequence[Cell[Result]]:
        scale = Scale.of(self.setting)
        classifications = [
            Classification(kind, size, repeat, orientations, classifier)
            for kind, sizes in scale.kinds.items()
            for size in sizes
            for repeat in range(1, scale.n_repeats + 1)
            for orientations in ORIENTATIONS
            for classifier in CLASSIFIERS
        ]
        comparisons = [SystemComparison(kind, size) for kind, sizes in scale.translated.items() for size in sizes]
        # Smaller sizes first, for every kind of text.
        sized: list[Classification | Clusters | LearnerComparison | SystemComparison] = [
            *classifications,
            *(LearnerComparison.of(what, scale.sizes[0], each) for what in COMPARED for each in ORIENTATIONS),
            *map(Clusters, scale.clustered),
            *comparisons,
        ]
        return [Statistics(scale.n_statistics), *sorted(sized, key=lambda cell: cell.size)]

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        return Ni11Page(results, Scale.of(self.setting)).elements(item)


PAPER = Ni11
