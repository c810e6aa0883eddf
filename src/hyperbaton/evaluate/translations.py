"""Scores of translation files: metrics, intervals, comparisons; one or several runs of each system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperbaton import _core
from hyperbaton.align.visits import visit_order
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.corpus import Links
from hyperbaton.corpus.files import AnyPath, feed, read_sentences, shown
from hyperbaton.metrics import (
    Comparison,
    Estimate,
    Metric,
    Orders,
    Outputs,
    check_test,
    compare,
    estimate,
    holm,
    length_ratio,
)


@dataclass(frozen=True)
class MetricVerdict:
    """A metric's score of a system, and of its difference from another one; `length` is its length ratio."""

    metric: Metric
    signature: str
    estimate: Estimate
    comparison: Comparison | None
    length: float


def score_translations(
    metrics: Sequence[Metric],
    runs: Sequence[Outputs],
    against: Sequence[Outputs] = (),
    *,
    test: str = "bootstrap",
    samples: int = 1000,
    seed: int = 0,
) -> list[MetricVerdict]:
    """Score a system by each metric, and compare it with another one if its outputs are given.

    >>> from hyperbaton.metrics import make_metric
    >>> outputs = Outputs.of(["a b", "c"], ["a b", "d"])
    >>> [scored] = score_translations([make_metric("wer")], [outputs])
    >>> round(scored.estimate.value, 2)
    33.33
    """
    check_test(test)
    scores, length = [], length_ratio(runs)
    for metric in metrics:
        statistics = [metric.statistics(outputs) for outputs in runs]
        others = [metric.statistics(outputs) for outputs in against]
        comparison = compare(metric, statistics, others, test=test, samples=samples, seed=seed) if others else None
        scored = estimate(metric, statistics, samples=samples, seed=seed)
        scores.append(MetricVerdict(metric, metric.signature(runs[0].n_references), scored, comparison, length))
    return scores


def compare_systems(
    metrics: Sequence[Metric],
    first: Sequence[Outputs],
    others: Mapping[str, Sequence[Outputs]],
    *,
    test: str = "bootstrap",
    samples: int = 1000,
    seed: int = 0,
) -> list[tuple[MetricVerdict, dict[str, tuple[MetricVerdict, float]]]]:
    """Score several systems by each metric, and compare all with the first; p is also given with Holm's correction.

    Returns for each metric the first system's score, and for each other system its score and the corrected p.
    """
    compared = {
        name: score_translations(metrics, runs, first, test=test, samples=samples, seed=seed)
        for name, runs in others.items()
    }
    alone = score_translations(metrics, first, test=test, samples=samples, seed=seed)
    results = []
    for i, verdict in enumerate(alone):
        of_metric = {name: scores[i] for name, scores in compared.items()}
        corrected = holm([scored.comparison.p for scored in of_metric.values() if scored.comparison is not None])
        results.append((verdict, dict(zip(of_metric, zip(of_metric.values(), corrected, strict=True), strict=True))))
    return results


def read_outputs(
    hypotheses: AnyPath,
    references: Sequence[AnyPath],
    links: AnyPath | None = None,
    reference_links: Sequence[AnyPath] = (),
) -> Outputs:
    """Read translations with their references and, if given, the links of both to the source."""
    lines = _read(hypotheses)
    texts = [_read(path) for path in references]
    for path, text in zip(references, texts, strict=True):
        if len(lines) != len(text):
            (n, shorter), (n_longer, longer) = sorted([(len(lines), shown(hypotheses)), (len(text), shown(path))])
            end = counted(n, "line", form="d")
            what = f"the file ends after {end}, but {longer} has {n_longer}; every sentence needs a line"
            raise InputError(what, shorter, n + 1)
    if bool(reference_links) != (links is not None):
        raise OptionError("metrics of word order need links of both the translation and the reference to the source")
    if len(reference_links) not in (0, len(references)):
        raise OptionError(f"{len(reference_links)} files of links for {len(references)} references")
    return Outputs.of(
        lines,
        *texts,
        orders=None if links is None else _read_orders(links, lines),
        reference_orders=[_read_orders(path, text) for path, text in zip(reference_links, texts, strict=False)],
    )


def _read(path: AnyPath) -> list[str]:
    lines = list(read_sentences(path, lenient=True))
    if not lines:
        raise InputError("the file has no lines", shown(path))
    return lines


def _read_orders(path: AnyPath, text: Sequence[str]) -> Orders:
    """The visit orders of a text whose links, source first, are in a file."""
    offsets = offsets_of([len(line.split()) for line in text])
    reader = _core.PharaohReader(None, offsets)
    feed(reader, path)
    orders = visit_order(Links(*reader.take()))
    return Orders(orders.positions, orders.offsets)
