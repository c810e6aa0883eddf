"""Packed numbers against plain lists."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.errors import DamagedError, HyperbatonError
from hyperbaton.base.packed import PackedNumbers, by_frequency
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Vocabulary

# Mostly small numbers, as well as numbers of any width.
NUMBERS = st.integers(0, 32).flatmap(lambda bits: st.lists(st.integers(0, 2**bits - 1) | st.integers(0, 7), max_size=80))


@given(NUMBERS, st.integers(-90, 90), st.integers(-90, 90))
def test_packed_numbers_are_read_as_from_an_array(plain: list[int], begin: int, end: int) -> None:
    array = np.array(plain, np.uint32)
    packed = PackedNumbers.of(array)
    assert packed.words.nbytes <= array.nbytes + 6 * 8
    for rows in (slice(None), slice(begin, end), np.arange(len(plain))[::-3], np.zeros((2, 0), np.int64)):
        np.testing.assert_array_equal(packed[rows], array[rows], strict=True)
    assert len(packed) == len(plain)
    assert list(packed) == plain
    assert [int(packed[k]) for k in range(-len(plain), 0)] == plain
    order, places = by_frequency(array % 100)
    assert order[places].tolist() == [number % 100 for number in plain]


@given(st.lists(NUMBERS, max_size=4), st.sampled_from([None, 8]))
def test_pieces_are_read_as_written(pieces: list[list[int]], memory: int | None) -> None:
    plain = [number for piece in pieces for number in piece]
    packed = PackedNumbers.of_pieces((np.array(piece, np.int64) for piece in pieces), Scratch(memory))
    again = PackedNumbers(np.array(packed.words))
    assert again[:].tolist() == plain
    assert again[np.arange(len(plain))[::-2]].tolist() == plain[::-2]
    assert packed.words.nbytes <= len(plain) + 8 * sum(number > 254 for number in plain) + 6 * 8


def test_few_large_numbers_do_not_widen_the_others() -> None:
    numbers = np.ones(10_000, np.uint32)
    numbers[[17, 9_999]] = 2**32 - 1, 1 << 20
    packed = PackedNumbers.of(numbers)
    assert packed.words.nbytes < len(numbers) / 8 + 64
    np.testing.assert_array_equal(packed[:], numbers)


def test_numbers_near_each_other_are_stored_as_differences() -> None:
    numbers = np.cumsum(np.tile(np.arange(3), 3_000)).astype(np.uint32) + 2**31
    packed = PackedNumbers.of(numbers)
    assert packed.words.nbytes < 1.1 * len(numbers)
    np.testing.assert_array_equal(packed[:], numbers)


def test_skewed_numbers_take_at_most_two_bits_more_than_their_entropy() -> None:
    numbers = np.random.default_rng(1).zipf(1.3, 50_000).clip(max=2**20).astype(np.uint32)
    packed = PackedNumbers.of(numbers)
    shares = np.bincount(numbers)[np.unique(numbers)] / len(numbers)
    assert packed.words.nbytes * 8 < len(numbers) * (2 - (shares * np.log2(shares)).sum())
    np.testing.assert_array_equal(packed[:], numbers)
    for place in range(3, 60):  # any damage is a number or an error
        damaged = packed.words.copy()
        damaged[-place * len(damaged) // 60] ^= np.uint64(0x5555555555555555)
        with suppress(DamagedError):
            assert len(PackedNumbers(damaged)[:]) == len(numbers)


@pytest.mark.parametrize(
    "words",
    [[], [1, 0], [2**40, 0, 8], [64, 0, 33], [64, 0, 2], [3, 4, 1], [1, 1, 257], [64, 0, 1 << 32], [64, 0, 1 << 32, 65]],
)
def test_invalid_headers_are_damage(words: list[int]) -> None:
    message = r"^a stored array is damaged \(packed numbers [a-z ]+\); 'hyperbaton verify' names the file$"
    with pytest.raises(DamagedError, match=message):
        len(PackedNumbers(np.array(words, np.uint64)))


@given(st.lists(st.text(max_size=3), unique=True, max_size=9), st.lists(st.text(max_size=3), unique=True, max_size=9))
def test_packed_vocabularies_find_the_same_words(words: list[str], others: list[str]) -> None:
    plain = Vocabulary.of(words)
    packed = Vocabulary.from_arrays(plain.packed().arrays())
    asked = sorted({*others, *words[::2]})
    found = packed.find_all(Vocabulary.of(asked))
    np.testing.assert_array_equal(found, plain.find_all(Vocabulary.of(asked)), strict=True)
    assert [packed.number(word) for word in asked] == [words.index(w) if w in words else -1 for w in asked]
    assert "lookup" not in vars(packed)


def test_a_damaged_order_of_words_is_found() -> None:
    vocabulary = Vocabulary.of(["a", "b"]).packed()
    for order, fault in ([0, 2], "the order of a vocabulary has an unknown word"), ([0], "does not match it"):
        with pytest.raises(HyperbatonError, match=fault):
            Vocabulary(vocabulary.bytes, vocabulary.offsets, PackedNumbers.of(np.array(order))).number("b")
