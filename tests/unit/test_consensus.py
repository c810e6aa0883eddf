"""Consensus decoding, compared with the statistics of all pairs of translations."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton import _core
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.decode.consensus import Consensus
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.phrases import extract_phrases
from tests.program import hyperbaton

SOURCE = ["a b c", "b a", "c", "", "a a b c b", "z"]


def toy_system(seed: int) -> System:
    """A system with many translations of each word."""
    rng = np.random.default_rng(seed)
    sides = [[" ".join(rng.choice(list(words), 4)) for _ in range(60)] for words in ("abc", "tuvwx")]
    links = [[(i, int(rng.integers(4))) for i in range(4)] for _ in range(60)]
    return System.of(extract_phrases(Bitext.of(*sides, links)).table)


@pytest.fixture(scope="module")
def systems() -> list[System]:
    return [toy_system(1), toy_system(2)]


def expected_statistics(metric: str, lines: list[str], probabilities: list[float]) -> list[list[float]]:
    """The oracle: for each line, the statistics with every line as its reference, weighted."""
    return [
        sum(
            p * make_metric(metric).statistics(Outputs.of([line], [other]))[0]
            for other, p in zip(lines, probabilities, strict=True)
        ).tolist()
        for line in lines
    ]


@pytest.mark.parametrize("gain", ["bleu", "chrf"])
@pytest.mark.parametrize("n_systems", [1, 2])
def test_the_choice_is_that_of_all_pairs(systems: list[System], gain: str, n_systems: int) -> None:
    translators = [TokenTranslator(system, threads=1) for system in systems[:n_systems]]
    options = Consensus(12, gain, mbr_scale=0.7)
    chosen = options.translate(translators, SOURCE)
    metric = "bleu:tokenize=none" if gain == "bleu" else gain
    different = 0
    for line, choice in zip(SOURCE, chosen, strict=True):
        pool: list[str] = []
        probabilities: list[float] = []
        for translator in translators:
            found = translator.translate_batch([line], options.n_best)
            pool += [" ".join(found.text[path]) for path in found.paths(0)]
            weights = np.exp(0.7 * found.scores)
            probabilities += (weights / weights.sum() / n_systems).tolist()
        gains = make_metric(metric).score(np.array(expected_statistics(metric, pool, probabilities)))
        assert gains[pool.index(choice)] == pytest.approx(gains.max())
        different += choice != pool[0]
    assert different


@given(st.lists(st.lists(st.text("ab", max_size=6), min_size=1, max_size=4), min_size=1, max_size=3), st.integers(1, 4))
def test_expected_matches(lists: list[list[str]], max_order: int) -> None:
    lines = [line for some in lists for line in some]
    probabilities = np.arange(1.0, len(lines) + 1)
    words = np.array([ord(c) for line in lines for c in line], np.uint32)
    found = _core.expected_matches(
        candidates=_core.Tokens(words=words, offsets=offsets_of([len(line) for line in lines])),
        lists=offsets_of([len(some) for some in lists]),
        probabilities=probabilities,
        max_order=max_order,
        n_threads=2,
    )
    ends = offsets_of([len(some) for some in lists]).tolist()
    for begin, end in pairwise(ends):
        for a in range(begin, end):
            for n in range(1, max_order + 1):
                counts = [Counter(line[i : i + n] for i in range(len(line) - n + 1)) for line in lines]
                expected = sum(probabilities[b] * (counts[a] & counts[b]).total() for b in range(begin, end))
                assert found[a, n - 1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": np.ones(2)}, "every candidate needs a probability"),
        ({"lists": np.array([0, 2])}, "sentence offsets do not match the items"),
        ({"lists": np.array([0, 2, 1, 1])}, "sentence offsets do not match the items"),
    ],
)
def test_the_core_refuses_lists_that_do_not_fit(change: dict[str, np.ndarray], message: str) -> None:  # type: ignore[type-arg]
    arguments = {
        "candidates": _core.Tokens(words=np.zeros(2, np.uint32), offsets=np.array([0, 2])),
        "lists": np.array([0, 1]),
        "probabilities": np.ones(1),
    }
    with pytest.raises(_core.HyperbatonError, match=message):
        _core.expected_matches(**(arguments | change), max_order=2, n_threads=1)  # type: ignore[arg-type]


def test_long_lines_are_cut_alike(systems: list[System]) -> None:
    line = "a b c a b c"
    short = [TokenTranslator(system, Decoding(max_words=4), threads=1) for system in systems]
    assert len(Consensus(5).translate(short, [line])[0].split()) > 4
    with pytest.raises(OptionError, match="the systems cut long lines differently: give one --max-words for all"):
        Consensus(5).translate([short[0], TokenTranslator(systems[1], threads=1)], [line])


def test_verb(systems: list[System], tmp_path: Path) -> None:
    for name, system in zip("xy", systems, strict=True):
        system.save(tmp_path / name, copy=True)
    (tmp_path / "src").write_text("".join(f"{line}\n" for line in SOURCE))
    done = hyperbaton(
        "translate", tmp_path / "x", tmp_path / "src", "--mbr", 9, "--systems", tmp_path / "y", "--threads", 1
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == Consensus(9).translate([TokenTranslator(s, threads=1) for s in systems], SOURCE)
    for flags, message in (
        (["--mbr", 9, "--nbest", 3], "--mbr writes only translations: leave out --nbest, --trace, --links"),
        (["--systems", tmp_path / "y"], "--systems needs --mbr"),
    ):
        assert message in hyperbaton("translate", tmp_path / "x", tmp_path / "src", *flags).stderr
