"""Lexical tables from links and from an aligner."""

from __future__ import annotations

import numpy as np
import pytest

from hyperbaton.align import Aligner, LexicalTable
from hyperbaton.align.lexical import count_links, sum_link_counts
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.phrases import PhraseTable, extract

BITEXT = Bitext.of(
    ["das Haus", "das Buch", "ein Buch"],
    ["the house", "the book", "a book"],
    [[(0, 0), (1, 1)], [(0, 0), (1, 1)], [(1, 1)]],
)


def test_from_links_with_empty_words() -> None:
    table = LexicalTable.from_links(BITEXT)
    assert table.translations("Buch") == [("book", 1.0, 1.0)]
    assert table.translations("ein") == []  # its only partner is the empty word
    ein, a = table.source.number("ein"), table.target.number("a")
    row = slice(*table.offsets[ein : ein + 2])
    assert table.targets[row].tolist() == [len(table.target)]
    assert table.targets[table.offsets[-2] :].tolist() == [a]


def test_an_aligner_gives_the_weights_of_a_phrase_table() -> None:
    """Its words are lower-cased, those of the phrase table are not."""
    aligner = Aligner().fit(BITEXT)
    lexical = aligner.lexical_table(smallest=0.0)
    assert lexical.source.number("Haus") == -1
    table = PhraseTable.build(BITEXT, extract(BITEXT), lexical=lexical)
    assert lexical.translations("HAUS") == lexical.translations("haus") != []  # lower-cased as the text was
    words = {target: (forward, backward) for target, forward, backward in lexical.translations("haus")}
    ((target, scores),) = table.options_of("Haus")
    assert target == "house"
    assert [scores[3], scores[1]] == pytest.approx(words["house"], rel=1e-6)
    # An unlinked word on either side is charged the aligner's null probability of it.
    longer = dict(table.options_of("ein Buch"))
    p_ein = aligner.model_.null_emissions()[1][lexical.source.number("ein")]
    assert longer["book"][1] == pytest.approx(p_ein * {t: b for t, _, b in lexical.translations("buch")}["book"], rel=1e-5)
    assert np.isfinite(table.scores[:]).all()


def test_counts_of_any_parts_add_up_to_those_of_the_whole() -> None:
    bitext = generate(60, seed=5).bitext
    whole = count_links(bitext, 0, len(bitext.source), 1)
    for size in (1, 7, 60):
        parts = (count_links(bitext, begin, min(begin + size, 60), 1) for begin in range(0, 60, size))
        for one, other in zip(sum_link_counts(bitext, parts), whole, strict=True):
            np.testing.assert_array_equal(one, other)
    assert all(not len(array) or not array.any() for array in sum_link_counts(bitext, []))
