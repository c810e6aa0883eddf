"""Language models in plain Python: back-off by recursion, and modified Kneser-Ney smoothing by its formulas."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

Ngram = tuple[str, ...]
Arpa = dict[Ngram, tuple[float, float]]  # log10 probability, log10 back-off weight

BOS, EOS, UNK = "<s>", "</s>", "<unk>"


def log10_prob(arpa: Mapping[Ngram, tuple[float, float]], order: int, context: Ngram, word: str) -> float:
    """log10 p(word | context) by the definition of back-off; an unknown word is <unk>, -100 if the model lacks that too."""
    known = [w if (w,) in arpa else UNK for w in (*context, word)]
    *history, last = known[-order:]
    ngram = (*history, last)
    if ngram in arpa:
        return arpa[ngram][0]
    if not history:
        return -100.0
    backoff = arpa.get(tuple(history), (0.0, 0.0))[1]
    return backoff + log10_prob(arpa, order, tuple(history[1:]), last)


def score(arpa: Mapping[Ngram, tuple[float, float]], order: int, sentence: Sequence[str]) -> list[float]:
    """log10 probabilities of the words of a sentence and of its end."""
    words = [BOS, *sentence, EOS]
    return [log10_prob(arpa, order, tuple(words[:i]), words[i]) for i in range(1, len(words))]


def format_arpa(arpa: Mapping[Ngram, tuple[float, float]], order: int) -> str:
    """The model as an ARPA file; back-off weights of zero are left out."""
    sizes = [sum(len(ngram) == n for ngram in arpa) for n in range(1, order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={size}" for n, size in enumerate(sizes, start=1))]
    for n in range(1, order + 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram, (prob, backoff) in arpa.items():
            if len(ngram) == n:
                lines.append(f"{prob!r}\t{' '.join(ngram)}" + (f"\t{backoff!r}" if backoff and n < order else ""))
    return "\n".join([*lines, "", "\\end\\", ""])


def parse_arpa(text: str) -> Arpa:
    """The inverse, for files without faults."""
    arpa: Arpa = {}
    for line in text.split("\n"):
        fields = line.split("\t")
        if len(fields) > 1:
            arpa[tuple(fields[1].split(" "))] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return arpa


def kneser_ney(
    sentences: Sequence[Sequence[str]], order: int, thresholds: Sequence[int], fallback: Sequence[float]
) -> Arpa:
    """Estimate a model as lmplz does: interpolated modified Kneser-Ney; discounts that make no sense are `fallback`."""
    seen: Counter[Ngram] = Counter()
    for sentence in sentences:
        words = (BOS, *sentence, EOS)
        for n in range(1, order + 1):
            for i in range(len(words) - n + 1):
                seen[words[i : i + n]] += 1
    seen[UNK,] += 0
    left: dict[Ngram, set[str]] = defaultdict(set)
    for ngram in seen:
        left[ngram[1:]].add(ngram[0])

    def adjusted(ngram: Ngram) -> int:
        if ngram == (BOS,):
            return 0
        return seen[ngram] if len(ngram) == order or ngram[0] == BOS else len(left[ngram])

    counts = {ngram: adjusted(ngram) for ngram in seen}
    discount = {}
    for n in range(1, order + 1):
        have = Counter(count for ngram, count in counts.items() if len(ngram) == n)
        discount[n] = (0.0, *_discounts(have, fallback))

    continuations: dict[Ngram, list[Ngram]] = defaultdict(list)
    for ngram in counts:
        continuations[ngram[:-1]].append(ngram)
    kept = {ngram for ngram in seen if len(ngram) == 1 or seen[ngram] > thresholds[len(ngram) - 1]}
    total, weight = {}, {}
    for context, ngrams in continuations.items():
        amounts = discount[len(context) + 1]
        total[context] = sum(counts[ngram] for ngram in ngrams)
        freed = sum(amounts[min(counts[ngram], 3)] if ngram in kept else counts[ngram] for ngram in ngrams)
        weight[context] = freed / total[context]

    n_words = sum(len(ngram) == 1 for ngram in kept) - 1  # all but <s>
    probs: dict[Ngram, float] = {}
    for ngram in sorted(kept, key=len):
        context = ngram[:-1]
        lower = probs[ngram[1:]] if context else 1 / n_words
        own = counts[ngram] - discount[len(ngram)][min(counts[ngram], 3)]
        probs[ngram] = own / total[context] + weight[context] * lower
    probs[BOS,] = 1.0
    return {
        ngram: (_log10(prob), _log10(weight[ngram]) if ngram in weight and len(ngram) < order else 0.0)
        for ngram, prob in probs.items()
    }


def _log10(x: float) -> float:
    return math.log10(x) if x > 0 else -99.0


def _discounts(have: Mapping[int, int], fallback: Sequence[float]) -> Sequence[float]:
    """In single precision, as lmplz has it: rounding decides whether a discount of 0 is in its range."""
    n = [np.float32(have.get(i, 0)) for i in range(5)]
    if not all(n[1:4]):
        return fallback
    y = n[1] / (n[1] + 2 * n[2])
    discounts = [float(i - (i + 1) * y * n[i + 1] / n[i]) for i in (1, 2, 3)]
    return discounts if all(0 <= d <= i for i, d in enumerate(discounts, start=1)) else fallback
