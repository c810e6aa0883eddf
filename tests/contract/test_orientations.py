"""The contract of orientation sets."""

from __future__ import annotations

import numpy as np
import pytest

from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.phrases import ORIENTATIONS, DistanceSet, Samples, extract, orientation_set

SETS = [*ORIENTATIONS.names(), "phrase-msd", "hier-mslr", "-4,0,1,5"]


@pytest.fixture(scope="module")
def samples() -> Samples:
    rng = np.random.default_rng(2)
    lines = [" ".join("abcdefghij") for _ in range(200)]
    links = [[(i, int(j)) for i, j in enumerate(rng.permutation(10)) if rng.random() < 0.8] for _ in lines]
    return extract(Bitext.of(lines, lines, links))


@pytest.mark.parametrize("name", SETS)
def test_classes_are_named_and_all_possible_ones_used(name: str, samples: Samples) -> None:
    orientations = orientation_set(name)
    assert len(orientations) == len(orientations.names) == len(set(orientations.names))
    for side in ("before", "after"):
        classes = orientations.classify(samples, side)
        assert classes.shape == (len(samples),)
        # A phrase never starts on the word that the previous one ended with, so jump 0 stays empty.
        possible = {c for c, text in enumerate(orientations.names) if (name, text) != ("jump", "0")}
        assert set(np.unique(classes)) == possible


@pytest.mark.parametrize("name", SETS)
def test_distance_classes_are_consecutive(name: str) -> None:
    orientations = orientation_set(name)
    if isinstance(orientations, DistanceSet):
        classes = orientations.classify_distances(np.arange(-40, 41, dtype=np.int16))
        assert (np.diff(classes.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("name", "distances"),
    [
        ("three", {-1: "d<0", 0: "d=0", 1: "d>0"}),
        ("five", {-5: "d≤-5", -4: "-5<d<0", 0: "d=0", 4: "0<d<5", 5: "d≥5"}),
        (
            "nine",
            {
                -7: "[7,∞)",
                -6: "[4,6]",
                -4: "[4,6]",
                -3: "[2,3]",
                -1: "1",
                0: "0",
                2: "-2",
                3: "[-4,-3]",
                7: "[-7,-5]",
                8: "(-∞,-8]",
            },
        ),
        ("jump", {-9: "5", -4: "5", -3: "4", 0: "1", 1: "0", 2: "-1", 6: "-5", 30: "-5"}),
    ],
)
def test_boundaries(name: str, distances: dict[int, str]) -> None:
    orientations = orientation_set(name)
    assert isinstance(orientations, DistanceSet)
    classes = orientations.classify_distances(np.array(list(distances), np.int16))
    assert [orientations.names[c] for c in classes] == list(distances.values())


@pytest.mark.parametrize("name", ["fiv", "1,1", "3,2", "1,x", "hier-three"])
def test_nonsense_is_refused(name: str) -> None:
    with pytest.raises(OptionError):
        orientation_set(name)
