"""The page of NI11: its tables and figures, from the results of cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from hyperbaton.base.counted import counted
from hyperbaton.report.classification import draw_by_distance
from hyperbaton.report.elements import CaptionedFigure, Cards, Element, Number, Paragraph, Section, SentenceBrowser
from hyperbaton.report.elements import Cell as TableCell
from hyperbaton.report.figures import BACK, FAINT, FORWARD, INK, MONOTONE, legend, looks, numbered, one_plot
from hyperbaton.report.movements import draw_distance_shares
from papers.experiments import translation_table
from papers.ni11.cells import (
    BY_TITLE,
    METRICS,
    ORIENTATIONS,
    SYSTEMS,
    Accuracy,
    Classification,
    ClassificationResult,
    Scale,
    Statistics,
    SystemComparison,
    TextStatistics,
)
from papers.ni11.clusters import Cluster, Clusters, ClusterTable
from papers.ni11.learners import LearnerComparison
from papers.ni11.numbers import F1, LEARNERS, PAIRS, SIZES, TABLE_7
from papers.protocol import PaperItem, Results
from papers.tables import THEIRS, mean, paired_test, paper_table, table

Rows = list[list[TableCell]]
TITLES = list(BY_TITLE)
# Clusters by the number of their target translations.
AMBIGUITY = (("fewer than 50", 0, 50), ("50 to 199", 50, 200), ("200 to 499", 200, 500), ("500 or more", 500, 1 << 30))
PARTS: dict[str, Callable[[ClassificationResult], Accuracy]] = {
    "known": lambda result: result.known,
    "all": lambda result: result.all,
}


@dataclass(frozen=True)
class Ni11Page:
    """The tables and figures of the paper."""

    results: Results
    scale: Scale

    def elements(self, item: PaperItem) -> list[Element]:
        """The elements of a table or figure, from the method of its name."""
        elements: list[Element] = getattr(self, f"_{item.key.replace('-', '_')}")()
        return elements

    def _repeats(self, kind: str, size: int, orientations: str, title: str) -> list[ClassificationResult]:
        """The finished repeats of a classification."""
        repeats = range(1, self.scale.n_repeats + 1)
        cells = (Classification(kind, size, repeat, orientations, BY_TITLE[title]) for repeat in repeats)
        return [result for cell in cells if (result := self.results.of(cell)) is not None]

    def _f1(self, kind: str, size: int, orientations: str, title: str, part: str, class_name: str) -> list[float]:
        return [PARTS[part](result).f1[class_name] for result in self._repeats(kind, size, orientations, title)]

    def _precision(self, kind: str, size: int, orientations: str, title: str, part: str) -> Number | None:
        results = self._repeats(kind, size, orientations, title)
        return mean([PARTS[part](result).overall_precision for result in results], 2)

    def _table_4(self) -> list[Element]:
        groups = []
        for kind, sizes in self.scale.kinds.items():
            rows: Rows = []
            for size in sizes:
                for orientations in ORIENTATIONS:
                    repeats = self._repeats(kind, size, orientations, "LR")
                    for name in repeats[0].training if repeats else []:
                        at = _paper_index(size)
                        theirs = [None, None] if at is None else [Number(PAIRS[name][0][at]), Number(PAIRS[name][1][at], 1)]
                        training = mean([result.training[name] / 1000 for result in repeats])
                        test = mean([result.test[name] / 1000 for result in repeats])
                        rows.append([f"{size:,}", name, training, test, *theirs])
            if rows:
                groups.append((f"{kind} text", rows))
        ours = ["sentence pairs", "class", "training, thousands", "known test, thousands"]
        columns = [*ours, f"{THEIRS}: training", f"{THEIRS}: test"]
        return [table("table-4", "Phrase pairs, in thousands.", columns, groups)] if groups else []

    def _table_5(self) -> list[Element]:
        return [*self._f1_tables("table-5", "three"), *self._learners("three")]

    def _table_6(self) -> list[Element]:
        return [*self._f1_tables("table-6", "five"), *self._learners("five")]

    def _learners(self, orientations: str) -> list[Element]:
        """All learners, and further features, on one split."""
        elements: list[Element] = []
        size = self.scale.sizes[0]
        for what, title in {"learners": "All learners on the same features", "further": "Further features"}.items():
            found = self.results.of(LearnerComparison.of(what, size, orientations))
            if found is None:
                continue
            groups: dict[str, Rows] = {}
            fastest = min(score.processor_seconds for score in found.scores)
            for score in found.scores:
                numbers = (Number(score.precision, 2), Number(score.f1, 2), Number(score.mean_logprob, 4))
                p = "best" if score.p is None else f"{score.p:.1e}"
                time = Number(score.processor_seconds / fastest, 1)
                groups.setdefault(score.group, []).append([score.title, *numbers, p, time, score.learner])
            columns = ["", "precision", "mean F1", "log p", "p against the best", "processor time", "learner"]
            caption = (
                f"{title}, {orientations} classes, {size:,} random sentence pairs, "
                f"{found.n:,} test samples of known phrases."
            )
            note = "p: paired t-test over test sentences, within a group. Processor time is relative to the fastest."
            elements.append(table(f"{what}-{orientations}", caption, columns, list(groups.items()), note))
        return elements

    def _f1_tables(self, key: str, orientations: str) -> list[Element]:
        elements: list[Element] = []
        for kind in self.scale.kinds:
            for part in PARTS:
                groups = [
                    (class_name, rows)
                    for class_name in F1[orientations]
                    if (rows := self._f1_rows(kind, orientations, part, class_name))
                ]
                if groups:
                    caption = f"F1 by class, {kind} text, {part} phrases."
                    elements.append(table(f"{key}-{kind}-{part}", caption, ["", *TITLES], groups))
        return elements

    def _f1_rows(self, kind: str, orientations: str, part: str, class_name: str) -> Rows:
        """F1 of a class by size, ours and the paper's, and whether the difference to MMS is chance."""
        rows: Rows = []
        for size in self.scale.kinds[kind]:
            means = [mean(self._f1(kind, size, orientations, title, part, class_name)) for title in TITLES]
            if not any(number is not None for number in means):
                continue
            rows.append([f"{size:,}", *means])
            at = _paper_index(size)
            if at is not None and part == "known":
                theirs = dict(zip(LEARNERS, F1[orientations][class_name][at], strict=True))
                rows.append([THEIRS, *(Number(theirs[title], 1) if title in theirs else None for title in TITLES)])
        if rows:
            rows.append(["p against MMS", *self._p_values(kind, orientations, part, class_name)])
        return rows

    def _p_values(self, kind: str, orientations: str, part: str, class_name: str) -> list[TableCell]:
        p_values: list[TableCell] = []
        for title in TITLES:
            pairs = []
            for size in self.scale.kinds[kind]:
                best, other = (self._f1(kind, size, orientations, one, part, class_name) for one in ("MMS", title))
                pairs += list(zip(best, other, strict=True)) if len(best) == len(other) else []
            p = paired_test([a for a, _ in pairs], [b for _, b in pairs]) if title != "MMS" else None
            p_values.append(None if p is None else f"{p:.1e}")
        return p_values

    def _figure_10(self) -> list[Element]:
        elements: list[Element] = []
        for orientations in ORIENTATIONS:
            for kind, sizes in self.scale.kinds.items():
                groups = []
                lines: dict[str, list[tuple[float, float, float]]] = {}
                for part in PARTS:
                    rows: Rows = []
                    for size in sizes:
                        numbers = [self._precision(kind, size, orientations, title, part) for title in TITLES]
                        if any(number is not None for number in numbers):
                            rows.append([f"{size:,}", *numbers])
                        for title, number in zip(TITLES, numbers, strict=True):
                            if number is not None and part == "known":
                                lines.setdefault(title, []).append((size / 1000, number.value, number.spread or 0.0))
                    if rows:
                        groups.append((f"{part} phrases", rows))
                if groups:
                    name = f"figure-10-{kind}-{orientations}"
                    caption = f"Overall precision (%), {orientations} classes, {kind} text."
                    note = "The paper's MMS is ahead of LR by 8.5 points on average (three classes) and 8.7 (five)."
                    ordered = {title: lines[title] for title in TITLES if title in lines}
                    picture = _draw_by_size(ordered, "precision (%)")
                    elements.append(table(name, caption, ["sentence pairs", *TITLES], groups, note))
                    elements.append(CaptionedFigure(f"{name}-lines", f"{caption} Known phrases.", picture))
        return elements

    def _figure_11(self) -> list[Element]:
        elements: list[Element] = []
        for kind, sizes in self.scale.kinds.items():
            size = max((size for size in sizes if self._repeats(kind, size, "five", "MMS")), default=None)
            if size is None:
                continue
            repeats = {title: self._repeats(kind, size, "five", title) for title in ("LR", "ME", "MMS", "DPR")}
            lines = {
                title: numbered(results[0].known.precision_by_distance) for title, results in repeats.items() if results
            }
            text = f"{kind} text, {size:,} sentence pairs, known phrases, one repeat"
            caption = f"Precision by distance, five classes, {text}."
            elements.append(CaptionedFigure(f"figure-11-{kind}", caption, draw_by_distance(lines)))
        return elements

    def _figure_12(self) -> list[Element]:
        groups = []
        others = LEARNERS[:4]
        for kind, sizes in self.scale.kinds.items():
            rows: Rows = []
            for orientations in ORIENTATIONS:
                for size in sizes:
                    gains = [self._gain(kind, size, orientations, other) for other in others]
                    if any(gain is not None for gain in gains):
                        rows.append([f"{orientations}, {size:,}", *gains])
                        if (at := _paper_index(size)) is not None:
                            theirs = (_paper_gain(orientations, at, other) for other in range(len(others)))
                            rows.append([THEIRS, *(Number(gain, 1) for gain in theirs)])
            if rows:
                groups.append((f"{kind} text", rows))
        caption = (
            "Relative gains (%) of MMS in F1 of the classes that move, known phrases; the paper's from its tables 5 and 6."
        )
        return [table("figure-12", caption, ["classes, sentence pairs", *others], groups)] if groups else []

    def _gain(self, kind: str, size: int, orientations: str, other: str) -> Number | None:
        gains = []
        for class_name in _moving(orientations):
            best, f1 = (self._f1(kind, size, orientations, one, "known", class_name) for one in ("MMS", other))
            gains += [100 * (a - b) / max(b, 1e-9) for a, b in zip(best, f1, strict=False)]
        return mean(gains)

    def _clusters(self) -> dict[int, ClusterTable]:
        """The finished tables of clusters by training size."""
        tables = {size: self.results.of(Clusters(size)) for size in self.scale.clustered}
        return {size: found for size, found in tables.items() if found is not None}

    def _figure_13(self) -> list[Element]:
        elements: list[Element] = []
        groups = []
        for size, found in self._clusters().items():
            for other in ("LR", "ME"):
                rows: Rows = [
                    [
                        title,
                        *_gain_cells(
                            [cluster.gain(other) for cluster in found.clusters if low <= cluster.translations < high]
                        ),
                    ]
                    for title, low, high in AMBIGUITY
                ]
                groups.append((f"{size:,} sentence pairs, MMS − {other}", rows))
                caption = (
                    f"Clusters of {size:,} sentence pairs: points that MMS gets right above {other}, by training samples. "
                    "Circles are clusters in which MMS is 10 points better, squares those in which it is 10 points worse; "
                    "their area is the number of target translations."
                )
                reading = "Follow a circle, square or point to the cluster's samples and weights."
                numbers = [(cluster.phrase, cluster.training, cluster.gain(other)) for cluster in found.clusters]
                picture = draw_clusters(found.clusters, other, size)
                elements.append(CaptionedFigure(f"figure-13-{size}-{other}", caption, picture, reading, numbers))
        if not elements:
            return []
        cards = [
            _card(cluster, table.classes, _anchor(size, number))
            for size, table in self._clusters().items()
            for number, cluster in enumerate(table.clusters)
        ]
        columns = ["target translations", "clusters", "MMS 10 points better", "10 points worse", "mean gain"]
        caption = "Clusters by target translations; three classes, at least 10 training and 10 test samples."
        return [table("figure-13", caption, columns, groups), *elements, Cards(cards)]

    def _figure_14(self) -> list[Element]:
        elements: list[Element] = []
        for size, found in self._clusters().items():
            clusters = sorted(found.clusters, key=lambda cluster: -cluster.gain("LR"))[:5]
            rows: Rows = [
                [
                    cluster.phrase,
                    Number(cluster.training),
                    Number(cluster.test),
                    *(Number(percent, 1) for percent in cluster.correct.values()),
                ]
                for cluster in clusters
            ]
            caption = (
                f"The source phrases on which MMS gains most over LR, {size:,} sentence pairs: samples, percent right."
            )
            titles = list(clusters[0].correct) if clusters else []
            elements.append(
                table(f"figure-14-{size}", caption, ["source phrase", "training", "test", *titles], [("", rows)])
            )
            if found.examples:
                text = (
                    "Movements of these phrases that MMS predicts and LR does not, in the shortest sentence that has one:"
                )
                elements += [Paragraph(text), SentenceBrowser(found.examples)]
        return elements

    def _figure_15(self) -> list[Element]:
        groups = []
        learners = LEARNERS[1:]
        for orientations in ORIENTATIONS:
            rows: Rows = []
            for size in self.scale.sizes:
                repeats = [self._repeats("random", size, orientations, title) for title in learners]
                if any(repeats):
                    means = [mean([result.processor_seconds for result in results]) for results in repeats]
                    rows.append([f"{size:,}", *means])
            if rows:
                groups.append((f"{orientations} classes", rows))
        caption = "Processor seconds to train, features included; in the paper MMS is the fastest, SVM the slowest."
        return [table("figure-15", caption, ["sentence pairs", *learners], groups)] if groups else []

    def _statistics(self) -> TextStatistics | None:
        return self.results.of(Statistics(self.scale.n_statistics))

    def _figure_8(self) -> list[Element]:
        statistics = self._statistics()
        if statistics is None:
            return []
        by_support: Rows = [[f"≥ {int(low):,}", Number(n)] for low, n in statistics.clusters.items()]
        by_samples: Rows = [
            [
                f"{int(n):,} to {2 * int(n) - 1:,}",
                Number(clusters),
                Number(100 * more / clusters, 1),
                *map(Number, features),
            ]
            for n, (clusters, more, *features) in statistics.features.items()
        ]
        clusters, more = (sum(row[k] for row in statistics.features.values()) for k in range(2))
        note = f"{100 * more / max(clusters, 1):.1f} % of all clusters have more features than samples."
        columns = [
            "samples",
            "clusters",
            "more features than samples (%)",
            "features: first decile",
            "median",
            "last decile",
        ]
        caption = "Features of the clusters by their samples."
        return [
            table(
                "figure-8",
                "Source phrases by training samples.",
                ["training samples", "source phrases"],
                [("", by_support)],
            ),
            table("figure-8-clusters", caption, columns, [("", by_samples)], note),
            CaptionedFigure("figure-8-features", caption, draw_features(statistics.features)),
        ]

    def _figure_9(self) -> list[Element]:
        statistics = self._statistics()
        if statistics is None:
            return []
        distances = {int(d): float(n) for d, n in statistics.distances.items()}
        moving = {d: n for d, n in distances.items() if d}
        near_moving, near = (_share_below_4(counts) for counts in (moving, distances))
        words, types = statistics.words, statistics.types
        rows: Rows = [
            ["sentence pairs", Number(statistics.sentences), Number(216_250)],
            ["running words, source", Number(words["source"]), Number(9_760_000)],
            ["running words, target", Number(words["target"]), Number(7_000_000)],
            ["word types, source", Number(types["source"]), Number(8_129)],
            ["word types, target", Number(types["target"]), Number(23_025)],
            ["|d| < 4, of all phrase pairs (%)", Number(near, 1), Number(62)],
            ["|d| < 4, of those that move (%)", Number(near_moving, 1), None],
        ]
        picture = CaptionedFigure("figure-9-distances", "Phrase pairs by distance.", draw_distance_shares(distances))
        return [table("figure-9", "The text.", ["", "ours", THEIRS], [("", rows)]), picture]

    def _table_7(self) -> list[Element]:
        size = 50_000 if 50_000 in self.scale.sizes else self.scale.sizes[-1]
        result = self.results.of(SystemComparison("random", size))
        if result is None:
            return []
        titles = {name: system.title for name, system in SYSTEMS.items()}
        ours = translation_table("table-7", "Translation.", {f"{size:,} sentence pairs": result}, titles, "msd", METRICS)
        return [ours, paper_table("table-7", METRICS, titles, TABLE_7)]

    def _figure_16(self) -> list[Element]:
        titles = {name: system.title for name, system in SYSTEMS.items()}
        results = {
            f"{size:,} {'repetitive ' if kind == 'repetitive' else ''}sentence pairs": result
            for kind, sizes in self.scale.translated.items()
            for size in sizes
            if (result := self.results.of(SystemComparison(kind, size))) is not None
        }
        if not results:
            return []
        text = Paragraph("In the paper DPR is ahead of Moses in BLEU from 50,000 pairs on, and more so with more text.")
        return [translation_table("figure-16", "Translation by training size.", results, titles, "msd", METRICS), text]


def _paper_index(size: int) -> int | None:
    return SIZES.index(size) if size in SIZES else None


def _moving(orientations: str) -> list[str]:
    """The classes of phrases that move."""
    return [class_name for class_name in F1[orientations] if class_name != "d=0"]


def _paper_gain(orientations: str, size: int, other: int) -> float:
    """The paper's relative gain (%) of MMS, by the index of a size and of another learner."""
    rows = [F1[orientations][class_name][size] for class_name in _moving(orientations)]
    return float(np.mean([100 * (row[4] / row[other] - 1) for row in rows]))


def _share_below_4(counts: dict[int, float]) -> float:
    """The percentage of phrase pairs with |d| < 4."""
    return 100 * (sum(n for d, n in counts.items() if abs(d) < 4) / max(sum(counts.values()), 1))


def _draw_by_size(figures: Mapping[str, Sequence[tuple[float, float, float]]], ylabel: str) -> Figure:
    """Lines over training sizes: for each model (size, mean, deviation) in order; deviations are error bars."""
    with one_plot() as (figure, axes):
        for (name, points), look in zip(figures.items(), looks(), strict=False):
            sizes, means, deviations = zip(*points, strict=True)
            axes.errorbar(sizes, means, yerr=deviations, capsize=2, label=name, **look)
        axes.set_xlabel("sentence pairs (thousands)")
        axes.set_ylabel(ylabel)
        legend(axes)
    return figure


def draw_features(features: Mapping[str, Sequence[float]]) -> Figure:
    """Numbers of features of clusters by their samples: `TextStatistics.features`."""
    with one_plot() as (figure, axes):
        samples = [int(n) for n in features]
        _, _, low, median, high = zip(*features.values(), strict=True)
        axes.fill_between(samples, low, high, color=BACK, alpha=0.2, linewidth=0, label="first to last decile")
        axes.plot(samples, median, color=BACK, marker="o", markersize=4, label="median")
        axes.plot(samples, samples, color=INK, linestyle=":", label="as many features as samples")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("training samples of a cluster")
        axes.set_ylabel("features")
        legend(axes)
    return figure


def _gain_cells(gains: Sequence[float]) -> list[TableCell]:
    """The number of clusters, those in which MMS is 10 points better and worse, and the mean gain."""
    better, worse = sum(gain > 10 for gain in gains), sum(gain < -10 for gain in gains)
    return [Number(len(gains)), Number(better), Number(worse), Number(float(np.mean(gains)), 1) if gains else None]


def _anchor(size: int, number: int) -> str:
    return f"cluster-{size}-{number}"


def draw_clusters(clusters: Sequence[Cluster], other: str, size: int) -> Figure:
    """Gains of MMS by training samples; each mark links to its cluster's card."""
    shapes = {"o": (10, 101), "s": (-101, -10), ".": (-10, 10)}
    most = max((cluster.translations for cluster in clusters), default=1)
    with one_plot(6.0, 4.6) as (figure, axes):
        axes.axvline(0, color=FAINT, linewidth=1, zorder=0)
        for (marker, (low, high)), colour in zip(shapes.items(), (BACK, FORWARD, MONOTONE), strict=True):
            gains = [one.gain(other) for one in clusters]
            within = [low <= gain <= high if marker == "." else low < gain < high for gain in gains]
            chosen = np.flatnonzero(within).tolist()
            points = axes.scatter(
                [clusters[k].gain(other) for k in chosen],
                [clusters[k].training for k in chosen],
                s=[8 if marker == "." else 600 * clusters[k].translations / most for k in chosen],
                marker=marker,
                facecolors=colour,
                edgecolors=colour,
                alpha=0.45,
                linewidths=0.8,
            )
            points.set_urls([f"#{_anchor(size, k)}" for k in chosen])
        axes.set_yscale("log")
        axes.set_xlabel(f"points that MMS gets right above {other}")
        axes.set_ylabel("training samples")
    return figure


def _card(cluster: Cluster, classes: Sequence[str], anchor: str) -> Section:
    """A cluster's samples and weights."""
    shares = ", ".join(f"{title} {percent:.1f} %" for title, percent in cluster.correct.items())
    text = (
        f"{cluster.training:,} training samples with {counted(cluster.translations, 'target phrase')}; "
        f"of {cluster.test:,} test samples right: {shares}."
    )
    samples: Rows = [
        [
            f"{sample.context[0]} [{cluster.phrase}] {sample.context[1]}",
            sample.target,
            sample.label,
            *(sample.predicted[title] for title in cluster.correct),
        ]
        for sample in cluster.samples
    ]
    weights: Rows = [[feature, *(Number(weight, 2) for weight in row)] for feature, row in cluster.weights.items()]
    titles = ["source phrase in context", "target phrase", "class", *cluster.correct]
    return Section(
        anchor,
        cluster.phrase,
        [
            Paragraph(text),
            table(f"{anchor}-samples", "Test samples, and the classes predicted.", titles, [("", samples)]),
            table(f"{anchor}-weights", "Largest weights of MMS, relative to their mean.", ["", *classes], [("", weights)]),
        ],
    )
