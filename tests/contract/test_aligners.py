"""The contract of aligners: valid links, and the options common to all aligners."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hyperbaton.align import ALIGNERS, align
from hyperbaton.align.base import WordAligner
from hyperbaton.base.errors import MissingExtra, OptionError
from hyperbaton.corpus import Bitext, Links

WORDS = {"das": "the", "ein": "a", "haus": "house", "buch": "book", "alte": "old", "ist": "is", "hier": "here"}


def sentences(n: int, seed: int = 1) -> Bitext:
    """A language that translates word by word, with an empty source sentence and an empty target sentence at the end."""
    rng = np.random.default_rng(seed)
    source = [rng.choice(list(WORDS), rng.integers(2, 7)).tolist() for _ in range(n)]
    lines = [" ".join(line) for line in source]
    return Bitext.of([*lines, "", "das"], [*(" ".join(WORDS[word] for word in line) for line in source), "the", ""])


BITEXT = sentences(60)
# Options that make an aligner learn quickly.
SMALL: dict[str, dict[str, Any]] = {
    "neural": {"teacher_size": 16, "teacher_epochs": 2, "epochs": 2, "hidden": 6, "word_size": 9, "vector_size": 8}
}


@pytest.fixture(params=list(ALIGNERS))
def name(request: pytest.FixtureRequest) -> str:
    if missing := missing_extra(request.param):
        pytest.skip(missing)
    return str(request.param)


@cache
def missing_extra(name: str) -> str:
    """What must be installed for an aligner, if it is not."""
    bitext = Bitext.of(["das haus"], ["the house"])
    try:
        fitted(name, bitext).align(bitext)
    except MissingExtra as missing:
        return str(missing)
    return ""


def fitted(name: str, bitext: Bitext = BITEXT, threads: int = 1, **options: object) -> WordAligner:
    return ALIGNERS[name](**SMALL.get(name, {}) | options).fit(bitext, threads=threads)


def points(links: Links) -> list[set[tuple[int, int]]]:
    return [set(line) for line in links]


def test_words_are_linked_to_their_translations(name: str) -> None:
    links = fitted(name).align(BITEXT)
    links.check(BITEXT.source, BITEXT.target)
    assert len(links) == len(BITEXT) and list(links)[-2:] == [[], []]
    right = sum((i, i) in line for line, text in zip(links, BITEXT.source, strict=True) for i in range(len(text)))
    assert right > 0.7 * sum(len(line) for line in BITEXT.source)


def test_each_direction_links_a_word_once(name: str) -> None:
    forward, backward = fitted(name).directed_links(BITEXT, 1, None)
    for line in forward:
        assert len({i for i, _ in line}) == len(line)
    for line in backward:
        assert len({j for _, j in line}) == len(line)


def test_directions_are_combined_as_requested(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    aligner = fitted(name)
    directed = aligner.directed_links(BITEXT, 1, None)  # once: an aligner may draw samples
    monkeypatch.setattr(type(aligner), "directed_links", lambda *_: directed)
    forward, backward = map(points, directed)
    for method, expected in (
        ("intersection", [a & b for a, b in zip(forward, backward, strict=True)]),
        ("union", [a | b for a, b in zip(forward, backward, strict=True)]),
    ):
        aligner.symmetrization = method
        assert points(aligner.align(BITEXT)) == expected


def test_words_that_are_left_out_have_no_links(name: str, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("das\nein\n", encoding="utf-8")
    (tmp_path / "target").write_text("is\n", encoding="utf-8")
    options = {"drop_source": str(tmp_path / "source"), "drop_target": str(tmp_path / "target")}
    aligner = fitted(name, **options)
    assert aligner.files() == {"drop_source": tmp_path / "source", "drop_target": tmp_path / "target"}
    links = aligner.align(BITEXT)
    found = [
        (source[i], target[j])
        for source, target, line in zip(BITEXT.source, BITEXT.target, links, strict=True)
        for i, j in line
    ]
    assert found and not any(s in ("das", "ein") or t == "is" for s, t in found)


def test_words_are_compared_in_either_case(name: str) -> None:
    upper = Bitext.of([" ".join(line).upper() for line in BITEXT.source], [" ".join(line) for line in BITEXT.target])
    right = [
        sum((i, i) in line for line in fitted(name, upper, lowercase=lowercase).align(upper) for i in range(7))
        for lowercase in (True, False)
    ]
    assert min(right) > 100  # either way a word is a word


def test_wrong_options_are_refused(name: str) -> None:
    for options, message in (
        ({"symmetrization": "both"}, "symmetrization must be one of"),
        ({"stem": -1}, "stem must be at least 0"),
        ({"nothing": 1}, "unknown option 'nothing'.*known: symmetrization"),
    ):
        with pytest.raises(OptionError, match=message):
            align(BITEXT, name, **options)  # type: ignore[arg-type]
