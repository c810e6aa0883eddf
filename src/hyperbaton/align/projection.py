"""Projection of labels along word links: from words to words, and from spans to spans.

**Words.** A target word takes the label of the source words it is linked to. If they differ, the most frequent label wins;
ties go to the label of the first source word (`ambiguous`). A word without a link takes the label given for unlinked words
(`unlinked`).

**Spans.** The words of a span are the target words linked to one of its source words. Unlinked target words between them
belong to it as well. The result is one run of words, or none (`lost`), or several, with other linked words between them
(`split`). Of several runs, `largest` keeps the one with the most links (ties go to the first); `cover` takes everything
from the first to the last; `repeat` creates a span for each.

**BIO labels** (B-X, I-X, O) encode spans: they are projected as spans and written as BIO again. If two projected
spans share a word, the one with more words keeps it (`overlap`); ties go to the first.

Every such decision is reported as a `Conflict`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple

from hyperbaton.base.errors import InputError, OptionError

SPLITS = ("largest", "cover", "repeat")
Points = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Span:
    """Words from `begin` to `end`, half-open, with a label."""

    begin: int
    end: int
    label: str


@dataclass(frozen=True)
class Conflict:
    """An annotation that could not be projected unchanged.

    `kind` is ambiguous, unlinked, lost, split, overlap, crossing or inside; `source` and `target` are half-open spans of
    words, or None.
    """

    kind: str
    label: str
    source: tuple[int, int] | None = None
    target: tuple[int, int] | None = None

    def to_json(self) -> dict[str, object]:
        """The conflict as plain values."""
        return asdict(self)


@dataclass
class Projection:
    """The projected annotation, and the conflicts."""

    labels: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)


def project_labels(labels: Sequence[str], links: Points, n_target: int, *, unlinked: str = "_") -> Projection:
    """Project the labels of words, one for each target word.

    >>> project_labels(["DET", "NOUN"], [(0, 0), (1, 1), (1, 2)], 4).labels
    ['DET', 'NOUN', 'NOUN', '_']
    """
    check_points(links, len(labels), n_target)
    partners: list[list[int]] = [[] for _ in range(n_target)]
    for i, j in sorted(links):
        partners[j].append(i)
    projection = Projection()
    for j, positions in enumerate(partners):
        counts = Counter(labels[i] for i in positions)  # in the order of the source words, which settles ties
        label = max(counts, key=counts.__getitem__) if counts else unlinked
        projection.labels.append(label)
        if not counts:
            projection.conflicts.append(Conflict("unlinked", label, None, (j, j + 1)))
        elif len(counts) > 1:
            projection.conflicts.append(Conflict("ambiguous", label, (positions[0], positions[-1] + 1), (j, j + 1)))
    return projection


def project_spans(
    spans: Iterable[Span], links: Points, n_source: int, n_target: int, *, split: str = "largest"
) -> Projection:
    """Project spans, in the given order.

    >>> links = [(0, 0), (1, 3), (2, 1)]
    >>> found = project_spans([Span(0, 2, "PER"), Span(2, 3, "LOC")], links, 3, 4)
    >>> found.spans
    [Span(begin=0, end=1, label='PER'), Span(begin=1, end=2, label='LOC')]
    >>> found.conflicts
    [Conflict(kind='split', label='PER', source=(0, 2), target=(0, 4))]
    """
    projector = SpanProjector(links, n_source, n_target, split=split)
    projections = [projector.project(span) for span in spans]
    return Projection(
        spans=[span for projection in projections for span in projection.spans],
        conflicts=[conflict for projection in projections for conflict in projection.conflicts],
    )


class SpanProjector:
    """Projects the spans of one sentence pair, each in time proportional to its links."""

    def __init__(self, links: Points, n_source: int, n_target: int, *, split: str = "largest") -> None:
        check_split(split)
        check_points(links, n_source, n_target)
        self._split = split
        self._linked = sorted({j for _, j in links})
        ranks = {j: rank for rank, j in enumerate(self._linked)}
        self._ranks: list[list[int]] = [[] for _ in range(n_source)]  # of the target words of each source word
        for i, j in links:
            self._ranks[i].append(ranks[j])

    def project(self, span: Span) -> Projection:
        """The projections of a span, and the conflict if there is one."""
        n_source = len(self._ranks)
        if not 0 <= span.begin < span.end <= n_source:
            raise InputError(f"the span {span.begin} to {span.end} is outside the {n_source} words of the sentence")
        runs = self._runs(span)
        whole = (runs[0].begin, runs[-1].end) if runs else None
        conflict = Conflict("split" if runs else "lost", span.label, (span.begin, span.end), whole)
        spans = [(run.begin, run.end) for run in runs]
        if whole is not None and self._split == "cover":
            spans = [whole]
        elif runs and self._split == "largest":
            largest = max(runs, key=lambda run: run.n_links)
            spans = [(largest.begin, largest.end)]
        labelled = [Span(begin, end, span.label) for begin, end in spans]
        return Projection(spans=labelled, conflicts=[] if len(runs) == 1 else [conflict])

    def _runs(self, span: Span) -> list[_TargetRun]:
        """The runs of target words linked to the words of a span. Words without any link do not interrupt a run, so it
        consists of consecutive ranks among the linked words."""
        n_links = Counter(chain.from_iterable(self._ranks[span.begin : span.end]))
        ranks = sorted(n_links)
        starts = [at for at, rank in enumerate(ranks) if at == 0 or ranks[at - 1] + 1 < rank]
        return [
            _TargetRun(
                self._linked[ranks[first]],
                self._linked[ranks[last - 1]] + 1,
                sum(n_links[rank] for rank in ranks[first:last]),
            )
            for first, last in pairwise([*starts, len(ranks)])
        ]


class _TargetRun(NamedTuple):
    """Target words, half-open, and the number of links that lead to them."""

    begin: int
    end: int
    n_links: int


def project_bio(labels: Sequence[str], links: Points, n_target: int, *, split: str = "largest") -> Projection:
    """Project BIO labels as spans.

    >>> project_bio(["B-PER", "I-PER", "O"], [(0, 2), (1, 3), (2, 0)], 4).labels
    ['O', 'O', 'B-PER', 'I-PER']
    """
    projection = project_spans(bio_spans(labels), links, len(labels), n_target, split=split)
    projection.labels = ["O"] * n_target
    kept = []
    for span in sorted(projection.spans, key=lambda span: span.begin - span.end):  # the longest first
        # A kept span is at least as long, so it contains an end of any span with which it shares a word.
        if projection.labels[span.begin] != "O" or projection.labels[span.end - 1] != "O":
            projection.conflicts.append(Conflict("overlap", span.label, None, (span.begin, span.end)))
            continue
        kept.append(span)
        projection.labels[span.begin : span.end] = [f"B-{span.label}", *[f"I-{span.label}"] * (span.end - span.begin - 1)]
    projection.spans = sorted(kept, key=lambda span: span.begin)
    return projection


def is_bio(labels: Iterable[str]) -> bool:
    """Whether labels are BIO: all are O, B-X or I-X, and not all are O.

    >>> is_bio(["O", "B-PER", "I-PER"]), is_bio(["NOUN", "O"]), is_bio(["O"])
    (True, False, False)
    """
    different = set(labels)
    return all(label == "O" or label[:2] in ("B-", "I-") for label in different) and different != {"O"} != set()


def bio_spans(labels: Sequence[str]) -> list[Span]:
    """The spans of BIO labels; an I-X that does not continue a span begins one.

    >>> bio_spans(["B-A", "I-A", "B-A", "O", "I-B"])
    [Span(begin=0, end=2, label='A'), Span(begin=2, end=3, label='A'), Span(begin=4, end=5, label='B')]
    """
    spans: list[Span] = []
    for at, label in enumerate(labels):
        name = label[2:]
        if label == "O":
            continue
        if label.startswith("I-") and spans and (spans[-1].end, spans[-1].label) == (at, name):
            spans[-1] = Span(spans[-1].begin, at + 1, name)
        else:
            spans.append(Span(at, at + 1, name))
    return spans


def check_split(split: str) -> None:
    """Raise an error for an unknown rule for split spans."""
    if split not in SPLITS:
        raise OptionError(f"unknown rule for split spans {split!r}; known: {', '.join(SPLITS)}")


def check_points(links: Points, n_source: int, n_target: int) -> None:
    """Raise an error for a link outside its sentence pair."""
    for i, j in links:
        if not (0 <= i < n_source and 0 <= j < n_target):
            raise InputError(f"link {i}-{j} is out of range: there are {n_source} and {n_target} words")
