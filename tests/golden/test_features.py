"""The worked examples of the papers: NI11 Figure 7 and AL14 Table 1."""

from __future__ import annotations

import numpy as np

from hyperbaton.corpus import Bitext
from hyperbaton.features.aligned_words import AlignedWords
from hyperbaton.features.dpr import Dpr
from hyperbaton.phrases import Occurrences, TranslationOptions


def test_ni11_figure_7() -> None:
    """Eleven words have 30 n-grams; at 6 offsets a space of 180; 9 features fire for "Xiang gang"."""
    sentence = "Zhou liu Xiang gang yi min ju fa sheng huo zai"
    source = Bitext.of([sentence], [""]).source
    words = source[0]
    features = Dpr(min_count=1, inner_words=0)
    offsets = {t.name for t in features.templates() if t.layer == "source"}
    grams = {" ".join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) + 1 - n)}
    assert len(grams) * len(offsets) == 180

    phrases = TranslationOptions.of([(0, i, i + n, "Hong Kong", []) for n in (1, 2) for i in range(len(words) + 1 - n)])
    occurrences = Occurrences.of_options(source, phrases)
    rows = features.fit(occurrences, np.zeros(len(phrases), np.uint8), 1)
    space = {features.describe(i, source.vocabulary, phrases.target.vocabulary) for i in range(rows.n_features)}
    assert space <= {f"{offset}: {gram}" for offset in offsets for gram in grams}

    row = len(words) + words.index("Xiang")
    fired = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
    assert {features.describe(i, source.vocabulary, phrases.target.vocabulary) for i in fired} == {
        "source -2: Zhou",
        "source -1: liu",
        "source -2: Zhou liu",
        "source +1: yi",
        "source +2: min",
        "source +3: ju",
        "source +1: yi min",
        "source +2: min ju",
        "source +1: yi min ju",
    }


def test_al14_table_1() -> None:
    """The three phrase pairs with the ten features of the paper's list (its third row shows f6, which the list denies)."""
    bitext = Bitext.of(["f1 f2 f3 f4 f5 f6"], ["e1 e2 e3 e4 e5"])
    phrases = TranslationOptions.of(
        [
            (0, 0, 2, "e1", [(0, 0), (1, 0)]),
            (0, 2, 5, "e4 e5", [(0, 1), (2, 0)]),
            (0, 5, 6, "e2 e3", [(0, 0), (0, 1)]),
        ]
    )
    features = AlignedWords(min_count=1)
    rows = features.fit(Occurrences.of_options(bitext.source, phrases), np.zeros(3, np.uint8), 1)
    assert rows.n_features == 10
    names = [features.describe(i, bitext.source.vocabulary, phrases.target.vocabulary) for i in range(10)]
    names_by_row = [{names[i] for i in rows.indices[a:b]} for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)]
    assert names_by_row == [
        {"link: f1 & e1", "link: f2 & e1", "context: f3"},
        {"link: f3 & e5", "link: f5 & e4", "context: f2", "context: f6"},
        {"link: f6 & e2", "link: f6 & e3", "context: f5"},
    ]
