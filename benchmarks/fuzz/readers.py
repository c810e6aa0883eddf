"""Feed random bytes to every reader of the core, and stop at the first crash or unexpected exception.

    python -m benchmarks.fuzz.readers -atheris_runs=1000000 -max_len=500    where atheris is installed
    python -m benchmarks.fuzz.readers --seconds 60                          otherwise: plain mutations

A reader must return a result or raise a LineError, regardless of how its input is cut into pieces. atheris needs clang and
several minutes to install (pip install atheris), and sees inside the core only if that is built with clang's coverage. Both
methods find memory errors if the core is built with -DHYPERBATON_SANITIZE=ON and libasan is preloaded.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from hyperbaton import _core
from hyperbaton.corpus import Text

TEXT = Text.of(["a b", "", "( c", "他 的 -LRB- &apos;s"])
MAKERS: list[Callable[[], Any]] = [
    lambda: _core.TextBuilder(_core.Vocabulary(), False),
    lambda: _core.TextBuilder(_core.Vocabulary(), True),
    lambda: _core.PharaohReader(TEXT.offsets, TEXT.offsets),
    lambda: _core.GizaReader(TEXT.offsets, TEXT.offsets, True),
    lambda: _core.GizaReader(TEXT.offsets, TEXT.offsets, False),
    lambda: _core.TreeReader(TEXT.core_tokens, TEXT.vocabulary.spelling),
    lambda: _core.ConlluReader(TEXT.core_tokens, TEXT.vocabulary.spelling),
    lambda: _core.ConlluReader(),
    lambda: _core.ArpaReader(1),
]
CONLLU = "".join(
    "".join(f"{i + 1}\t{word}\t_\tX\tY\t_\t{i}\tdep\t_\t_\n" for i, word in enumerate(sentence)) + "\n"
    for sentence in TEXT
    if sentence
)
SEEDS = [
    b"a b\n\n( c\nd e\n",
    b"0-0 1-1\n\n0-0\n3-3 0-1\n",
    b"# Sentence pair (1)\na b\nNULL ({ 2 }) a ({ 1 }) b ({ })\n# 2\n\nNULL ({ })\n",
    "(S (A a) (B b))\n\n(())\n(S 他 (X (Y 的) -LRB-) 's)\n".encode(),
    "1\t(S a b)\n4\t(S 他 的 ( 's)\n".encode(),
    b"\\data\\\nngram 1=4\nngram 2=2\n\n\\1-grams:\n-1\t<s>\t-1\n-1\t</s>\n-1\ta\n"
    b"-1\tb\n\n\\2-grams:\n-1\t<s> a\n-1\ta b\n\n\\end\\\n",
    f"# text = x\n1-2\tab\t{'_	' * 7}_\n{CONLLU}".encode(),
]


def outcome(make: Callable[[], Any], pieces: list[bytes]) -> Any:
    """The result of a reader: its columns, or its error message."""
    reader = make()
    try:
        for piece in pieces:
            reader.feed(piece)
        reader.finish()
    except _core.LineError as error:
        return error.args
    return [column.tolist() for column in reader.take()]


def test_one_input(data: bytes) -> None:
    """One round of the fuzzer: whole and in two pieces, through every reader."""
    cut = data[0] % (len(data) + 1) if data else 0
    for make in MAKERS:
        whole, pieces = outcome(make, [data]), outcome(make, [data[:cut], data[cut:]])
        if whole != pieces:
            raise RuntimeError(f"cut at {cut}: {whole} is not {pieces}")


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Mutate in a few places: replace or delete bytes, repeat runs, or insert parts of another seed."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(out))
        other = rng.choice(SEEDS)
        start = rng.randrange(len(other))
        length = rng.choice((0, 1, 2, 8))
        filling = (
            bytes([rng.choice(b"\x00\t\n\r ()|-#0123456789\x7f\x80\xc0\xe4\xed\xff")]),
            bytes(out[at : at + 8]) * rng.randint(1, 20),
            other[start : start + rng.randint(1, 30)],
            b"",
        )
        out[at : at + length] = rng.choice(filling)
    return bytes(out)


def atheris_mutate(data: bytes, max_size: int, seed: int) -> bytes:
    """Mutate data for atheris, which starts without seeds."""
    rng = random.Random(seed)
    return mutate(rng, data if len(data) > 1 else rng.choice(SEEDS))[:max_size]


def main() -> None:
    """Run with atheris if it is installed, otherwise with plain mutations."""
    try:
        import atheris
    except ImportError:
        pass
    else:
        atheris.instrument_func(outcome)
        atheris.Setup(sys.argv, atheris.instrument_func(test_one_input), custom_mutator=atheris_mutate)
        atheris.Fuzz()
        return
    parser = argparse.ArgumentParser(description="Fuzz the readers by plain mutation (atheris is not installed).")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, start, n_rounds = random.Random(arguments.seed), time.monotonic(), 0
    while time.monotonic() - start < arguments.seconds:
        data = mutate(rng, rng.choice(SEEDS))
        try:
            test_one_input(data)
        except BaseException:
            print(f"round {n_rounds}: {data!r}", file=sys.stderr)
            raise
        n_rounds += 1
    print(f"{n_rounds} inputs, {len(MAKERS)} readers, nothing found")


if __name__ == "__main__":
    main()
