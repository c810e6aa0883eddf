"""Whether scores of links are probabilities: how often links with a given score are in the hand-made links.

    python -m benchmarks.align.calibration DATA -o FOLDER
    python -m benchmarks.align.calibration DATA -o FOLDER --tasks ar-en --pairs 5000

The aligner learns from each gold set and the first pairs of its training text, as in benchmarks.align.published. Links of
the gold sentences with a mean posterior of at least 0.05 are put into ten bins by this score. Prints, for each bin, the
mean score, the share of links that are sure or possible hand-made links, and the number of links. For each gold set, prints
the expected calibration error: the mean of |mean score − share| over bins, weighted by number of links (Naeini, Cooper and
Hauskrecht 2015). Two one-parameter calibrations follow, each with the parameter that minimises the mean error on the other
gold sets, and then the links that `align --precision` keeps. The scores are stored in FOLDER, so a second run only prints;
FOLDER/calibration.svg is the reliability diagram.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from benchmarks.align.aligners import Task
from benchmarks.align.priors import text
from benchmarks.align.published import task_parser, tasks
from matplotlib.figure import Figure

from hyperbaton.align import Aligner, evaluate_links
from hyperbaton.corpus import Links
from hyperbaton.report.figures import MONOTONE, legend, looks, style, write_figure

SMALLEST = 0.05
N_BINS = 10
PRECISIONS = (None, 0.8, 0.9, 0.95, 0.98)
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Bin:
    """Links with similar scores."""

    mean: float
    share: float  # of links that are in the gold set
    n: int


@dataclass(frozen=True)
class Kept:
    """Links that --precision keeps, and their quality against hand-made links, from 0 to 1."""

    asked: float | None
    mean: float  # score
    precision: float
    recall: float
    n_links: int


@dataclass(frozen=True)
class Measured:
    """Scores of the links of one gold set, whether each link is correct, and the links kept by --precision."""

    scores: list[float]
    gold: list[bool]
    chosen: list[bool]  # by align without options
    kept: list[Kept]

    @classmethod
    def of(cls, task: Task, data: Path, n_pairs: int, threads: int) -> Measured:
        bitext = text(task, data, 0, n_pairs, gold=True)
        aligner = Aligner().fit(bitext, threads=threads)
        sure, possible = task.links(data)
        part, points = bitext.select(np.arange(len(sure))), [set(pair) for pair in sure]
        for pair, more in zip(points, possible or [], strict=False):
            pair.update(more)
        kept = []
        for asked in PRECISIONS:
            aligner.precision = asked
            links = aligner.align(part, threads=threads)
            quality = evaluate_links(links, sure, possible)
            mean = float(aligner.score(part, links, threads=threads).confidences.mean())
            kept.append(Kept(asked, mean, quality.precision / 100, quality.recall / 100, quality.n_links))
        aligner.precision = None
        chosen = aligner.align(part, threads=threads)
        found = aligner.posteriors(part, SMALLEST, threads=threads)
        scores = found.values.astype(np.float64).mean(axis=1)
        listed = scores >= SMALLEST
        return cls(
            scores[listed].tolist(),
            _among(found.links, points)[listed].tolist(),
            _among(found.links, [set(pair) for pair in chosen])[listed].tolist(),
            kept,
        )

    @classmethod
    def read(cls, path: Path) -> Measured:
        stored = json.loads(path.read_text())
        return cls(**stored | {"kept": [Kept(**row) for row in stored["kept"]]})


def _among(links: Links, points: list[set[tuple[int, int]]]) -> npt.NDArray[np.bool_]:
    return np.array([point in known for pair, known in zip(links, points, strict=True) for point in pair], bool)


def bins(scores: Values, gold: npt.NDArray[np.bool_]) -> list[Bin | None]:
    """Ten bins of equal width; None where there is no link."""
    number = np.minimum((scores * N_BINS).astype(int), N_BINS - 1)
    inside = [number == k for k in range(N_BINS)]
    return [Bin(float(scores[m].mean()), float(gold[m].mean()), int(m.sum())) if m.any() else None for m in inside]


def calibration_error(scores: Values, gold: npt.NDArray[np.bool_]) -> float:
    """The expected calibration error, from 0 to 1.

    >>> calibration_error(np.array([0.75, 0.75, 0.25]), np.array([True, False, False]))
    0.25
    """
    return sum(b.n * abs(b.mean - b.share) for b in bins(scores, gold) if b is not None) / max(len(scores), 1)


def _power(scores: Values, exponent: float) -> Values:
    inside = np.clip(scores, 1e-6, 1 - 1e-6)
    odds = (inside / (1 - inside)) ** exponent
    return np.asarray(odds / (1 + odds))


# Calibrations with one constant, and the constants to choose from.
CALIBRATIONS: dict[str, tuple[Callable[[Values, float], Values], Values]] = {
    "power of the odds": (_power, np.arange(30, 151, 5) / 100),
    "factor": (lambda scores, factor: scores * factor, np.arange(70, 101) / 100),
}


def print_bins(measured: Mapping[str, tuple[Values, npt.NDArray[np.bool_]]]) -> None:
    print("| bin |" + "".join(f" {name}: mean score | in the gold set | links |" for name in measured))
    print("|---|" + "---|" * (3 * len(measured)))
    columns = [bins(scores, gold) for scores, gold in measured.values()]
    for k, row in enumerate(zip(*columns, strict=True)):
        cells = "".join(" | | |" if b is None else f" {b.mean:.3f} | {b.share:.3f} | {b.n:,} |" for b in row)
        print(f"| {k / N_BINS:.1f}–{(k + 1) / N_BINS:.1f} |{cells}")


def print_errors(measured: Mapping[str, Measured], arrays: Mapping[str, tuple[Values, npt.NDArray[np.bool_]]]) -> None:
    print(
        "\n| gold set | error | links of align alone |" + "".join(f" {c}, chosen by the other sets |" for c in CALIBRATIONS)
    )
    print("|---|---|---|" + "---|" * len(CALIBRATIONS))
    for name, (scores, gold) in arrays.items():
        chosen = np.array(measured[name].chosen)
        cells = [f"{calibration_error(scores, gold):.3f}", f"{calibration_error(scores[chosen], gold[chosen]):.3f}"]
        others = [pair for other, pair in arrays.items() if other != name]
        for change, constants in CALIBRATIONS.values():
            errors = [sum(calibration_error(change(s, constant), g) for s, g in others) for constant in constants]
            best = float(constants[int(np.argmin(errors))])
            cells.append(f"{calibration_error(change(scores, best), gold):.3f} ({best:.2f})" if others else "")
        print(f"| {name} | {' | '.join(cells)} |")


def print_kept(measured: Mapping[str, Measured]) -> None:
    print("\n| gold set | `--precision` | mean score | precision | recall | links |\n|---|---|---|---|---|---|")
    for name, row in ((name, row) for name, one in measured.items() for row in one.kept):
        asked = "not given" if row.asked is None else row.asked
        print(f"| {name} | {asked} | {row.mean:.3f} | {row.precision:.3f} | {row.recall:.3f} | {row.n_links:,} |")


def draw(measured: Mapping[str, tuple[Values, npt.NDArray[np.bool_]]]) -> Figure:
    """The reliability diagram: the share of links in the gold set by mean score, a line for each set."""
    with style():
        figure = Figure(figsize=(4.4, 4.4), layout="constrained")
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color=MONOTONE, linewidth=0.8, linestyle="--", label="calibrated")
        for (name, (scores, gold)), look in zip(measured.items(), looks(), strict=False):
            full = [b for b in bins(scores, gold) if b is not None]
            axes.plot([b.mean for b in full], [b.share for b in full], label=name, clip_on=False, **look)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="mean score of the bin", ylabel="share in the gold set")
        legend(axes)
    return figure


def main() -> None:
    parser = task_parser(__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for scores and picture")
    parser.add_argument("--pairs", type=int, default=20_000, help="training pairs")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    measured = {}
    for task in tasks(options.data, options.tasks):
        file = options.output / f"{task.name}-{options.pairs}.json"
        if not file.exists():
            one = Measured.of(task, options.data, options.pairs, options.threads)
            file.with_suffix(".incomplete").write_text(json.dumps(asdict(one)))
            file.with_suffix(".incomplete").rename(file)
            print(f"{file.stem} is done", file=sys.stderr)
        measured[task.name] = Measured.read(file)
    arrays = {name: (np.array(one.scores), np.array(one.gold, bool)) for name, one in measured.items()}
    print_bins(arrays)
    print_errors(measured, arrays)
    print_kept(measured)
    write_figure(draw(arrays), options.output / "calibration.svg")


if __name__ == "__main__":
    main()
