"""Error rates with fertilities: link posteriors corrected by the usual number of links of each word.

    python -m benchmarks.align.fertility DATA
    python -m benchmarks.align.fertility DATA --tasks ar-en --pairs 5000

The fertility of a word is its number of links, 0, 1, 2, or 3 and more. φ(k | word) is estimated from the mean posteriors
over the whole text, treating links as independent, with a Dirichlet prior of 10 occurrences of an average word. The odds of
a link of two words are multiplied by (r(source word) · r(target word))^τ, where r is the expected φ(k + 1) / φ(k) of a word
divided by that of an average word, and k is the number of its other links. Links are then chosen as in `align`.

Prints error rates for each power τ and confidence; τ = 0 is the aligner without fertilities. Then, for each gold set,
prints the setting with the lowest sum of error rates on the other sets, and its error rate on this set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.align.aligners import Task
from benchmarks.align.priors import text
from benchmarks.align.published import task_parser, tasks

from hyperbaton.align import Aligner, evaluate_links
from hyperbaton.align.symmetrization import symmetrize
from hyperbaton.corpus import Links, Text

N_CLASSES = 4  # of fertilities: 0, 1, 2, more
PRIOR = 10.0
SMALLEST = 0.005  # posterior
POWERS = (0.0, 0.25, 0.5, 1.0)
CONFIDENCES = (0.1, 0.2, 0.3, 0.4)
USUAL = (0.0, 0.3)
Values = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Setting = tuple[float, float]  # power, confidence


def with_link(fertilities: Values, p: Values) -> Values:
    """Distributions of the number of links after adding a link of probability p, in rows."""
    more = fertilities * (1 - p)[:, None]
    more[:, 1:] += fertilities[:, :-1] * p[:, None]
    more[:, -1] += fertilities[:, -1] * p
    return more


def summed(a: Values, b: Values) -> Values:
    """Distributions of the sum of two numbers of links, in rows."""
    total = np.zeros_like(a)
    for x in range(N_CLASSES):
        for y in range(N_CLASSES):
            total[:, min(x + y, N_CLASSES - 1)] += a[:, x] * b[:, y]
    return total


def fertilities(tokens: Numbers, p: Values, n_tokens: int) -> tuple[Values, Values]:
    """Distributions of the number of links of each token and, for each link, of the number of the token's other links.

    >>> tokens = np.array([0, 0])
    >>> every, others = fertilities(tokens, np.array([0.5, 1.0]), 2)
    >>> every.tolist(), others.tolist()
    ([[0.0, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0]], [[0.0, 1.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])
    """
    order = np.argsort(tokens, kind="stable")
    owners = tokens[order]
    ranks = np.arange(len(owners)) - np.searchsorted(owners, owners)
    by_rank = [np.flatnonzero(ranks == rank) for rank in range(int(ranks.max(initial=-1)) + 1)]

    def accumulate(groups: list[Numbers]) -> tuple[Values, Values]:
        sums, before = np.zeros((n_tokens, N_CLASSES)), np.zeros((len(owners), N_CLASSES))
        sums[:, 0] = 1
        for group in groups:
            before[group] = sums[owners[group]]
            sums[owners[group]] = with_link(sums[owners[group]], p[order][group])
        return sums, before

    (every, earlier), (_, later) = accumulate(by_rank), accumulate(by_rank[::-1])
    others = np.zeros_like(earlier)
    others[order] = summed(earlier, later)
    return every, others


def log_ratios(side: Text, tokens: Numbers, p: Values) -> Values:
    """log r of the words of one side, for each link."""
    every, others = fertilities(tokens, p, len(side.tokens))
    words, n_words = side.tokens.astype(np.int64), len(side.vocabulary)
    usual = every.mean(axis=0)
    counts = np.stack([np.bincount(words, column, n_words) for column in every.T], axis=1) + PRIOR * usual
    own = (counts / counts.sum(axis=1, keepdims=True))[words[tokens]]
    one_more = [*range(1, N_CLASSES), N_CLASSES - 1]

    def ratio(phi: Values) -> Values:
        return np.asarray((others * phi[..., one_more]).sum(axis=1) / (others * phi).sum(axis=1))

    return np.log(ratio(own)) - np.log(ratio(usual))


def chosen(n_pairs: int, pairs: Numbers, points: Numbers, p: Values, confidence: float) -> Links:
    """The most probable link of each word, if it reaches the confidence, symmetrised."""
    directions = []
    for side in (0, 1):
        order = np.lexsort((points[:, 1 - side], -p, points[:, side], pairs))
        words = np.stack([pairs[order], points[order, side]], axis=1)
        best = order[np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])]
        lines: list[list[tuple[int, int]]] = [[] for _ in range(n_pairs)]
        for k in best[p[best] >= confidence].tolist():
            lines[pairs[k]].append((int(points[k, 0]), int(points[k, 1])))
        directions.append(Links.of(lines))
    return symmetrize(directions[0], directions[1], "grow-diag-final-and")


@dataclass(frozen=True)
class GoldSet:
    """The error rates of a gold set by setting."""

    name: str
    rates: dict[Setting, float]

    @classmethod
    def of(cls, task: Task, data: Path, n_pairs: int, threads: int) -> GoldSet:
        sure, possible = task.links(data)
        bitext = text(task, data, 0, n_pairs, gold=True)
        aligner = Aligner().fit(bitext, threads=threads)
        found = aligner.posteriors(bitext, SMALLEST, threads=threads)
        pairs = np.repeat(np.arange(len(bitext)), np.diff(found.links.offsets))
        points, p = found.links.points.astype(np.int64), found.values.astype(np.float64).mean(axis=1)
        normalised = (side.text for side in aligner.normalize(bitext))
        ratios = sum(log_ratios(side, side.offsets[pairs] + points[:, n], p) for n, side in enumerate(normalised))
        gold = pairs < len(sure)
        pairs, points, ratios, p = pairs[gold], points[gold], np.asarray(ratios)[gold], p[gold].clip(1e-9, 1 - 1e-9)
        rates = {}
        for power in POWERS:
            corrected = 1 / (1 + np.exp(-(np.log(p / (1 - p)) + power * ratios)))
            for confidence in CONFIDENCES:
                links = chosen(len(sure), pairs, points, corrected, confidence)
                rates[power, confidence] = evaluate_links(links, sure, possible).aer
        return cls(task.name, rates)


def left_out(sets: list[GoldSet]) -> Iterator[str]:
    """For each set, the setting chosen on the other sets, and the set's error rate with and without it."""
    for gold in sets:
        others = [other for other in sets if other is not gold]
        best = min(gold.rates, key=lambda setting: sum(other.rates[setting] for other in others))
        yield f"{gold.name}\t{best[0]:g}\t{best[1]:g}\t{gold.rates[best]:.2f}\t{gold.rates[USUAL]:.2f}"


def main() -> None:
    parser = task_parser(__doc__)
    parser.add_argument("--pairs", type=int, default=5000)
    options = parser.parse_args()
    wanted = tasks(options.data, options.tasks)
    sets = [GoldSet.of(task, options.data, options.pairs, options.threads) for task in wanted]
    print("\t".join(["τ", "confidence", *(gold.name for gold in sets)]))
    for power, confidence in sets[0].rates if sets else ():
        rates = (f"{gold.rates[power, confidence]:.2f}" for gold in sets)
        print("\t".join([f"{power:g}", f"{confidence:g}", *rates]))
    if len(sets) > 1:
        print("\nleft out\tτ\tconfidence\tAER\tAER of align")
        print("\n".join(left_out(sets)))


if __name__ == "__main__":
    main()
