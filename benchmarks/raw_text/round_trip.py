"""How well detokenizing and tokenizing undo each other, on tokenized text.

    python -m benchmarks.raw_text.round_trip train.en=en:tokenizer=sacremoses train.ja=ja:tokenizer=fugashi

For each text x, prints the share of lines with tokenize(detokenize(x)) = x, and the F1 of token boundaries, which is also
meaningful if the text was tokenized by a different tokenizer. The second round tests whether x' = tokenize(detokenize(x))
is stable: detokenize(x') = detokenize(x). `--show N` prints N lines that differ, `--pairs N` the N most frequent pairs of
adjacent tokens whose boundary differs.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import islice, pairwise

from benchmarks._measure import existing

from hyperbaton.corpus.detokenizers import Detokenizer, unescaped
from hyperbaton.corpus.files import read_lines
from hyperbaton.corpus.processing import TextSide


def boundaries(tokens: list[str]) -> set[int]:
    """Where tokens end, in characters without blanks."""
    ends, at = set(), 0
    for token in tokens:
        at += len(unescaped(token))
        ends.add(at)
    return ends


def differing(tokens: list[str], again: set[int]) -> Iterator[tuple[str, str]]:
    """Adjacent tokens that have become one token."""
    at = 0
    for token, following in pairwise(tokens):
        at += len(unescaped(token))
        if at not in again:
            yield token, following


def _of_file(spec: str) -> tuple[str, str]:
    """A file that exists, and how its text is processed."""
    path, _, text = spec.partition("=")
    return existing(path), text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("texts", nargs="+", metavar="FILE=TEXT", type=_of_file)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=0)
    options = parser.parse_args()
    print("text\tlines\tequal %\tboundary F1 %\tsecond round %")
    for path, text in options.texts:
        side = TextSide.parse(text)
        detokenize, tokenizer = Detokenizer(side.language), side.make_tokenizer()
        n = n_equal = n_stable = n_right = n_made = n_own = 0
        differences: Counter[tuple[str, str]] = Counter()
        shown = options.show
        for line in islice(read_lines(path), options.lines):
            tokens = line.split()
            text = detokenize(tokens)
            again = side.as_trained(tokenizer(text)[0])
            n += 1
            n_equal += again == tokens
            n_stable += detokenize(again) == text
            own, made = boundaries(tokens), boundaries(again)
            n_right, n_own, n_made = n_right + len(own & made), n_own + len(own), n_made + len(made)
            differences.update(differing(tokens, made))
            if again != tokens and shown:
                shown -= 1
                print(f"  {line}\n  {text}\n  {' '.join(again)}\n")
        for (a, b), count in differences.most_common(options.pairs):
            print(f"  {count}\t{a} {b}")
        f1 = 2 * n_right / max(n_own + n_made, 1)
        print(f"{side}\t{n}\t{100 * n_equal / n:.1f}\t{100 * f1:.2f}\t{100 * n_stable / n:.1f}", flush=True)


if __name__ == "__main__":
    main()
