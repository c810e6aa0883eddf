"""Words left out before aligning come back with every link on the token it was on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.align.normalization import remove_words, restore_links
from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Links, Text

sentences = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=5)


@given(sentences, st.sets(st.sampled_from("abcx")), st.data())
def test_restored_links_join_the_same_tokens(lines: list[list[str]], unwanted: set[str], data: st.DataObject) -> None:
    text = Text.of([" ".join(line) for line in lines])
    reduced = remove_words(text, unwanted)
    assert list(reduced.text) == [[word for word in line if word not in unwanted] for line in lines]

    full = Text.of(["x y z"] * len(lines))
    points = [
        data.draw(st.lists(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, 2)), max_size=4 if n else 0))
        for n in reduced.text.lengths.tolist()
    ]
    links = Links.of(points)
    restored = restore_links(links, reduced, None)
    restored.check(text, full)
    for s, line in enumerate(lines):
        assert [(line[i], j) for i, j in restored[s]] == [(reduced.text[s][i], j) for i, j in links[s]]
        assert restored[s] == sorted(set(restored[s]))
    assert list(restore_links(links.reversed(), None, reduced)) == list(restored.reversed())


def test_links_of_another_text_are_refused() -> None:
    reduced = remove_words(Text.of(["the cat"]), ["the"])
    with pytest.raises(InputError, match="out of range"):
        restore_links(Links.of([[(1, 0)]]), reduced, None)
    with pytest.raises(InputError, match="2 lines of links for 1 sentence"):
        restore_links(Links.of([[], []]), reduced, None)
