"""Measures of the difference in word order between two languages, by the word links of a text.

Every measure is a ratio of two sums over sentence pairs, so intervals come from resampling sentence pairs.

| measure | definition | value for monotone text |
|---|---|---|
| monotone_links | links that cross no other, % | 100 |
| crossings | pairs of links that cross, per link | 0 |
| monotone_phrases | phrase pairs that follow the previous one (d = 0), % | 100 |
| mean_distance | mean of the distances of phrase pairs without sign, words | 0 |
| kendall | pairs of source words that the target visits in their order, %: (τ + 1)/2, mean of sentences | 100 |
| fuzzy_reordering | fuzzy reordering score of the visit order against the source order (Talbot et al. 2011) | 100 |
| beyond L | phrase pairs with a distance above L, %: out of reach of a search with that distortion limit | 0 |

Two links cross if one has the smaller source and the other the smaller target position. Phrase pairs, their distances d
and visit orders are those of `extract` and `visit_order`.

With tags of the source words, jumps are counted by the tag of the word reached: d = i + 1 − j from word i to the next
visited word j, d < 0 forward. With source dependencies, the order of head and dependent is compared by relation, in the
source and between their translations (by the mean position of the linked words).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import InputError
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.corpus import Bitext, Dependencies, Links, Tags
from hyperbaton.decode.preordering import Permutations
from hyperbaton.metrics import METRICS, Orders, Outputs, bootstrap_sums
from hyperbaton.phrases import Samples, extract

LIMITS = (2, 4, 6, 8, 10, 15, 20)
PERCENT = frozenset(("monotone_links", "monotone_phrases", "kendall", "fuzzy_reordering"))
_MOST_GROUPS = 5000  # of adjacent sentence pairs that are drawn together
FARTHEST = 10  # largest distance of a jump that is counted separately

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Value:
    """A measure with its 95% bootstrap interval."""

    value: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class WordOrder:
    """The counts of a text: `sums[s, m]` has numerator and denominator of measure m for sentence pair s."""

    names: list[str]
    sums: Values  # (n_pairs, n_measures, 2)
    n_links: int
    n_phrases: int
    distances: dict[int, int]  # of phrase pairs

    def values(self) -> dict[str, float]:
        """Every measure of the whole text; NaN if there is nothing to count."""
        return dict(zip(self.names, self._ratios(self.sums.sum(axis=0)).tolist(), strict=True))

    def per_pair(self) -> Values:
        """Every measure of every sentence pair, (n_pairs, n_measures); NaN if there is nothing to count."""
        return self._ratios(self.sums)

    def estimates(self, *, samples: int = 1000, seed: int = 0) -> dict[str, Value]:
        """Every measure with its interval."""
        low, high = _interval(self._drawn(samples, seed))
        rows = zip(self.values().items(), low, high, strict=True)
        return {name: Value(value, (a, b)) for (name, value), a, b in rows}

    def differences(self, other: WordOrder, *, samples: int = 1000, seed: int = 0) -> dict[str, Value]:
        """The difference of each measure from that of another text, resampled independently."""
        drawn = self._drawn(samples, seed) - other._drawn(samples, seed + 1)
        low, high = _interval(drawn)
        here, there = self.values(), other.values()
        return {name: Value(here[name] - there[name], (a, b)) for name, a, b in zip(self.names, low, high, strict=True)}

    def _drawn(self, samples: int, seed: int) -> Values:
        n_pairs, n_measures, _ = self.sums.shape
        if n_pairs == 0:
            raise InputError("no sentence pairs to measure")
        if self.n_links == 0:
            raise InputError("nothing to measure: no sentence pair has links")
        starts = np.unique(np.linspace(0, n_pairs, min(n_pairs, _MOST_GROUPS), endpoint=False).astype(np.int64))
        grouped = np.add.reduceat(self.sums.reshape(n_pairs, -1), starts, axis=0)
        return self._ratios(bootstrap_sums(grouped, samples=samples, seed=seed).reshape(samples, n_measures, 2))

    def _ratios(self, sums: Values) -> Values:
        scale = np.array([100.0 if name in PERCENT or name.startswith("beyond") else 1.0 for name in self.names])
        below = sums[..., 1]
        return np.asarray(scale * np.divide(sums[..., 0], below, out=np.full(below.shape, np.nan), where=below > 0))


def _interval(drawn: Values) -> list[list[float]]:
    """The ends of the 95% interval of each column, NaN if all values are NaN."""
    ends = np.full((2, drawn.shape[1]), np.nan)
    measured = ~np.isnan(drawn).all(axis=0)
    ends[:, measured] = np.nanquantile(drawn[:, measured], [0.025, 0.975], axis=0)
    low, high = ends.tolist()
    return [low, high]


def measure_order(
    bitext: Bitext,
    *,
    max_length: int = 8,
    limits: Sequence[int] = LIMITS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WordOrder:
    """Measure how much word order differs between the two sides of a linked bitext.

    Arguments:
        max_length: longest phrase that counts, in words.
        limits: distortion limits for which to count the phrase pairs out of reach.

    >>> bitext = Bitext.of(["wo zai jia chi"], ["i eat at home"], [[(0, 0), (1, 2), (2, 3), (3, 1)]])
    >>> {name: round(value, 1) for name, value in measure_order(bitext, limits=[2]).values().items()}
    {'monotone_links': 25.0, 'crossings': 0.5, 'monotone_phrases': 57.1, 'mean_distance': 1.1, 'kendall': 66.7, \
'fuzzy_reordering': 33.3, 'beyond_2': 28.6}
    """
    links = bitext.need_links()
    samples = extract(bitext, max_length, threads=threads, progress=progress)
    columns = {**_link_columns(links, threads), **_phrase_columns(samples, limits), **_visit_columns(links, threads)}
    names = [name for name in columns if not name.startswith("beyond")] + [f"beyond_{limit}" for limit in limits]
    values, counts = np.unique(samples.distance_before, return_counts=True)
    return WordOrder(
        names,
        np.stack([columns[name] for name in names], axis=1),
        len(links.points),
        len(samples),
        dict(zip(values.tolist(), counts.tolist(), strict=True)),
    )


def _link_columns(links: Links, threads: int | None) -> dict[str, Values]:
    crossed = _core.count_crossings(links.points, links.offsets, n_threads(threads))
    n_links = np.diff(links.offsets)
    return {
        "monotone_links": np.stack([crossed[:, 1], n_links], axis=1).astype(np.float64),
        "crossings": np.stack([crossed[:, 0], n_links], axis=1).astype(np.float64),
    }


def _phrase_columns(samples: Samples, limits: Sequence[int]) -> dict[str, Values]:
    far = np.abs(samples.distance_before.astype(np.int64))
    n_samples = np.diff(samples.offsets)

    def column(values: Array) -> Values:
        sums = offsets_of(values)[samples.offsets]
        return np.stack([np.diff(sums), n_samples], axis=1).astype(np.float64)

    return {
        "monotone_phrases": column(far == 0),
        "mean_distance": column(far),
        **{f"beyond_{limit}": column(far > limit) for limit in limits},
    }


def _visit_columns(links: Links, threads: int | None) -> dict[str, Values]:
    visited = visit_order(links, threads=threads)
    sentence = np.repeat(np.arange(len(visited)), np.diff(visited.offsets))
    in_order = visited.positions[np.lexsort((visited.positions, sentence))]
    outputs = Outputs.of_orders(_as_orders(visited), Orders(in_order, visited.offsets))
    return {name: np.asarray(METRICS[name]().statistics(outputs), np.float64) for name in ("kendall", "fuzzy_reordering")}


@dataclass(frozen=True)
class TagJumps:
    """Jumps to words of one tag: how many, the share without a gap (%), mean |d|, and counts by d from -10 to 10."""

    tag: str
    n: int
    monotone: float
    forward: float
    back: float
    mean_distance: float
    by_distance: list[int]  # of d = -FARTHEST to FARTHEST, farther ones at the ends


def jumps_by_tag(bitext: Bitext, tags: Tags, *, threads: int | None = None) -> list[TagJumps]:
    """Count how the target jumps to the source words of each tag, the most frequent tag first.

    >>> from hyperbaton.corpus import Text
    >>> bitext = Bitext.of(["wo zai jia chi"], ["i eat at home"], [[(0, 0), (1, 2), (2, 3), (3, 1)]])
    >>> jumps = jumps_by_tag(bitext, Tags.of(["PN P N V"], bitext.source))
    >>> [(row.tag, row.monotone, row.mean_distance) for row in jumps]
    [('N', 100.0, 0.0), ('P', 0.0, 3.0), ('PN', 100.0, 0.0), ('V', 0.0, 2.0)]
    """
    lengths = bitext.source.lengths
    jumps = visit_order(bitext.need_links(), threads=threads).jumps(lengths)
    inner = jumps.next < lengths[jumps.sentence]
    sentence, current, following = jumps.sentence[inner], jumps.current[inner], jumps.next[inner]
    labels = tags.labels[bitext.source.offsets[sentence] + following].astype(np.int64)
    distance = current + 1 - following
    names = tags.vocabulary.words()
    width = 2 * FARTHEST + 1
    cells = labels * width + np.clip(distance, -FARTHEST, FARTHEST) + FARTHEST
    table = np.bincount(cells, minlength=len(names) * width).reshape(len(names), width)
    far = np.bincount(labels, np.abs(distance), len(names))
    rows = []
    for number, name in enumerate(names):
        counts = table[number]
        n = int(counts.sum())
        if n:
            parts = counts[FARTHEST], counts[:FARTHEST].sum(), counts[FARTHEST + 1 :].sum()
            monotone, forward, back = (100 * float(part) / n for part in parts)
            rows.append(TagJumps(name, n, monotone, forward, back, float(far[number]) / n, counts.tolist()))
    return sorted(rows, key=lambda row: (-row.n, row.tag))


@dataclass(frozen=True)
class RelationOrder:
    """Head and dependents of one relation: pairs, and the percentage in which the dependent comes first.

    `n_linked` counts pairs whose words are both linked, to different places; `source_first` is over all pairs,
    `target_first` and `same_order` over linked ones; NaN if there are none.
    """

    relation: str
    n: int
    source_first: float
    n_linked: int
    target_first: float
    same_order: float


def order_by_relation(bitext: Bitext, dependencies: Dependencies) -> list[RelationOrder]:
    """Compare the order of head and dependent in the source with that of their translations, by relation.

    Roots have no head and are ignored. A word's place in the target is the mean position of its linked words.
    """
    links, offsets = bitext.need_links(), bitext.source.offsets
    if not np.array_equal(dependencies.offsets, offsets):
        raise InputError("the dependencies do not belong to the source text")
    sentence = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    token = offsets[sentence] + links.points[:, 0]
    n_links = np.bincount(token, minlength=bitext.source.n_tokens)
    sums = np.bincount(token, links.points[:, 1].astype(np.float64), bitext.source.n_tokens)
    place = np.divide(sums, n_links, out=np.full(len(sums), np.nan), where=n_links > 0)
    dependents = np.flatnonzero(dependencies.heads >= 0)
    starts = np.repeat(offsets[:-1], bitext.source.lengths)
    heads = starts[dependents] + dependencies.heads[dependents]
    relations = dependencies.relations[dependents].astype(np.int64)
    before = dependents < heads
    with np.errstate(invalid="ignore"):
        linked = np.isfinite(place[dependents]) & np.isfinite(place[heads]) & (place[dependents] != place[heads])
        target_before = place[dependents] < place[heads]
    rows = []
    for number, name in enumerate(dependencies.relation_vocabulary.words()):
        here = relations == number
        if here.any():
            both = here & linked
            in_target, same = _percent(target_before[both]), _percent(target_before[both] == before[both])
            rows.append(RelationOrder(name, int(here.sum()), _percent(before[here]), int(both.sum()), in_target, same))
    return sorted(rows, key=lambda row: (-row.n, row.relation))


def _percent(values: npt.NDArray[np.bool_]) -> float:
    return 100 * float(values.mean()) if len(values) else float("nan")


@dataclass(frozen=True)
class OrderQuality:
    """Kendall's τ as the share of pairs in the right order, the fuzzy reordering score (both 0–100), and crossing links.

    Words without links are ignored.
    """

    kendall: float
    fuzzy_reordering: float
    crossings: int  # pairs of links
    crossings_per_sentence: float

    def as_json(self) -> dict[str, float]:
        """Everything as plain values."""
        return asdict(self)

    def row(self) -> dict[str, float]:
        """For a table."""
        return {
            "Kendall": round(self.kendall, 2),
            "FRS": round(self.fuzzy_reordering, 2),
            "crossings": self.crossings,
            "per sentence": round(self.crossings_per_sentence, 2),
        }


def order_quality(orders: Permutations, links: Links, *, threads: int = 0) -> OrderQuality:
    """Compare orders of sentences with the order in which their links visit them.

    >>> from hyperbaton.corpus import Text
    >>> from hyperbaton.decode.preordering import unchanged
    >>> order_quality(unchanged(Text.of(["a b c"])), Links.of([[(0, 1), (1, 2), (2, 0)]])).row()
    {'Kendall': 33.33, 'FRS': 50.0, 'crossings': 2, 'per sentence': 2.0}
    """
    visits = visit_order(links, threads=n_threads(threads))
    outputs = Outputs.of_orders(_as_orders(orders.only(visits)), _as_orders(visits))
    reordered = orders.reorder_links(links)
    crossings = _core.count_crossings(reordered.points, reordered.offsets, n_threads(threads))[:, 0]
    return OrderQuality(
        METRICS["kendall"]().value(outputs),
        METRICS["fuzzy_reordering"]().value(outputs),
        int(crossings.sum()),
        float(crossings.mean()) if len(crossings) else 0.0,
    )


def order_losses(visits: VisitOrders, reference: VisitOrders) -> Values:
    """For each sentence, the fraction of pairs of source words that two orders visit in different order.

    >>> first, second = (visit_order(Links.of([[(0, 0), (1, 1), (2, j)]])) for j in (2, 0))
    >>> order_losses(first, second).round(2).tolist()
    [0.33]
    """
    kendall = METRICS["kendall"]()
    losses = 1 - kendall.score(kendall.statistics(Outputs.of_orders(_as_orders(visits), _as_orders(reference)))) / 100
    return np.asarray(losses)


def disagreements(orders: Sequence[VisitOrders]) -> Values:
    """For each sentence, the mean of `order_losses` over all pairs of texts; 0 if there is only one."""
    pairs = [order_losses(a, b) for a, b in combinations(orders, 2)]
    return np.asarray(np.mean(pairs, axis=0) if pairs else np.zeros(len(orders[0])))


def _as_orders(visits: VisitOrders) -> Orders:
    return Orders(visits.positions, visits.offsets)
