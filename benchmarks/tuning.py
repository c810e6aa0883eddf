"""Variation between tuning methods, and between seeds within each method.

    python -m benchmarks.tuning DATA WORK --texts arabic tanaka laws kyoto --seeds 1 2 3 4 5
    python -m benchmarks.tuning DATA WORK --table                       the table of finished runs

DATA has the corpora (`tatoeba-ar-en`, `tanaka-ja-en`, `twlaw-zh-en`, `kyoto-ja-en`, `gold-links`). For each text, a system
with the distance alone (9 weights) and one with two lexicalized tables (25 weights; 17 with one) are built; each method
tunes each system once for each seed and translates held-out text. The methods `initial weights` and `all weights 1` do not
tune. Every result is a file in WORK, so repeating the command continues an interrupted run; scores on the tuning and test
texts are printed on stderr. The result of `--average` of each run is tested too. Means of runs are tested for every three
consecutive seeds; each seed is in three of these means, so their range is smaller than that of independent runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import existing_path
from hyperbaton.base.resources import Resources
from hyperbaton.base.writing import writing_file
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode import System, TokenTranslator
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune import Tuning, tune
from hyperbaton.tune.average import Scale
from hyperbaton.tune.nbest import Floats
from hyperbaton.tune.runs import DevelopmentText, TuningRuns
from hyperbaton.tune.system import SystemDecoder

METRIC = "bleu:tokenize=none"
TABLES = ("hier-mslr-bidirectional-fe", "wbe-mslr-bidirectional-fe")
SIZES = {"9": TABLES[:0], "17": TABLES[:1], "25": TABLES}  # lexicalized tables by the number of weights


@dataclass(frozen=True)
class Text:
    """The location of a text, and how much of it is used; without `test`, the test text follows the tuning text.

    The tuning text is the split `dev` after `skip` lines.
    """

    folder: str
    source: str
    n_train: int
    n_tune: int
    n_test: int
    test: str = ""
    dev: str = "dev"
    skip: int = 0


KYOTO_TEST = "gold-links/ja-en-kftt/gold"
TEXTS = {
    "arabic": Text("tatoeba-ar-en", "ar", 28_413, 500, 724),
    "tanaka": Text("tanaka-ja-en", "ja", 49_500, 500, 500, "tanaka-ja-en/devtest"),
    "laws": Text("twlaw-zh-en", "zh", 20_000, 400, 800, "twlaw-zh-en/devtest"),
    "kyoto": Text("kyoto-ja-en", "ja", 20_000, 400, 653, KYOTO_TEST),
    "kyoto 100,000": Text("kyoto-ja-en", "ja", 100_000, 400, 653, KYOTO_TEST),
    # Other articles of the training split than the first 20,000 lines are from.
    "kyoto articles": Text("kyoto-ja-en", "ja", 20_000, 400, 653, KYOTO_TEST, dev="train", skip=100_000),
}


@dataclass(frozen=True)
class Method:
    """An optimizer with its options, or fixed weights without one; with several runs, as by `tune --runs`."""

    optimizer: str = ""
    runs: int = 1


UNTUNED: dict[str, Callable[[Floats], Floats]] = {"initial weights": np.array, "all weights 1": np.ones_like}
METHODS = {
    **dict.fromkeys(UNTUNED, Method()),
    "mert": Method("mert"),
    "mira": Method("mira"),
    "mira, 4 orders": Method("mira:orders=4"),
    "mira, 8 orders": Method("mira:orders=8"),
    "mira, C = 0.003": Method("mira:max-step=0.003"),
    "mira, C = 0.001": Method("mira:max-step=0.001"),
    "mira, company 50": Method("mira:company=50"),
    "mira, 200 passes": Method("mira:passes=200"),
    "pro": Method("pro"),
    "mert, 3 runs on halves": Method("mert", runs=3),
    "mira, 3 runs on halves": Method("mira", runs=3),
}


@dataclass(frozen=True)
class TuningTask:
    """A system with its tuning and test texts."""

    system: System
    tune: tuple[list[str], list[str]]
    test: tuple[list[str], list[str]]

    def score(self, weights: Floats, threads: int) -> float:
        """The metric on the test text."""
        return self._score(self.test, weights, threads)

    def untuned(self, method: str, threads: int) -> dict[str, Any]:
        """The result of fixed weights."""
        weights = UNTUNED[method](SystemDecoder(self.system, []).start)
        return {"tuned_on": self._score(self.tune, weights, threads), "weights": {"best": weights.tolist()}}

    def _score(self, text: tuple[list[str], list[str]], weights: Floats, threads: int) -> float:
        decoder = SystemDecoder(self.system, text[0])
        translated = TokenTranslator(decoder.with_weights(weights), threads=threads).translate(text[0])
        return make_metric(METRIC).value(Outputs.of(translated, text[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=["arabic"])
    parser.add_argument("--systems", nargs="+", choices=SIZES, default=["9", "25"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[name for name in METHODS if name not in UNTUNED])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--pop-limit", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=Tuning().iterations)
    parser.add_argument("--average", type=int, default=Tuning().average, help="number of iterations in a mean")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="print the table of finished runs, and do nothing more")
    args = parser.parse_args()
    for seed in [] if args.table else args.seeds:
        for text in args.texts:
            for size in args.systems:
                for method in args.methods:
                    _measure(args, text, size, method, seed)
    for line in table(args):
        print(line)


def _measure(args: argparse.Namespace, text: str, size: str, method: str, seed: int) -> None:
    """Tune once, unless the result exists."""
    place = _result(args.work, text, size, method, seed)
    if place.exists():
        return
    prepared = prepare(args.data, args.work / text, TEXTS[text], size, args.pop_limit)
    options = Tuning(METRIC, METHODS[method].optimizer, iterations=args.iterations, average=args.average)
    began = time.process_time()
    if method in UNTUNED:
        result = prepared.untuned(method, args.threads)
    elif METHODS[method].runs > 1:
        # Seeds of run i are seed + i: steps of 10 keep the runs of two seeds apart.
        runs = TuningRuns(prepared.system, options, seed=10 * seed, resources=Resources.of(args.threads))
        choice = runs.on(DevelopmentText(prepared.tune[0], [prepared.tune[1]]), METHODS[method].runs)
        result = {"chosen": choice.chosen, "weights": {"best": choice.weights.tolist()}}
    else:
        decoder = SystemDecoder(prepared.system, prepared.tune[0], threads=args.threads)
        tuned = tune(decoder, decoder.start, [prepared.tune[1]], options, seed=seed, resources=Resources.of(args.threads))
        result = {
            "iterations": len(tuned.history),
            "taken": tuned.taken,
            "tuned_on": tuned.score,
            "weights": {"best": tuned.history[tuned.best].weights, "averaged": tuned.weights.tolist()},
        }
    result["seconds"] = time.process_time() - began
    result["test"] = {name: prepared.score(np.array(own), args.threads) for name, own in result["weights"].items()}
    _write(place, result)
    print(place.stem, result.get("tuned_on", ""), result["test"], f"{result['seconds']:.0f} s", file=sys.stderr, flush=True)


def _result(work: Path, text: str, size: str, method: str, seed: int) -> Path:
    return work / text / f"{size}.{method.replace(' ', '_')}.{seed}.json"


def _write(place: Path, value: Any) -> None:
    with writing_file(place) as aside:
        aside.write_text(json.dumps(value), encoding="utf-8")


def prepare(data: Path, work: Path, text: Text, size: str, pop_limit: int) -> TuningTask:
    """Build the system, unless it exists."""
    work.mkdir(parents=True, exist_ok=True)
    system = work / f"system{size}"

    def lines(path: str, n: int | None = None) -> list[str]:
        stored = data / path
        return list(islice(read_lines(stored if stored.exists() else data / f"{path}.xz"), n))

    if not system.exists():
        for side in (text.source, "en", "links"):
            (work / f"train.{side}").write_text("\n".join(lines(f"{text.folder}/train.{side}", text.n_train)) + "\n")
        if not (work / "lm").exists():
            _run("extract", *(str(work / f"train.{s}") for s in (text.source, "en", "links")), "-o", str(work / "phrases"))
            _run("lm", str(work / "train.en"), "-o", str(work / "lm"), "--order", "4", "--discount-fallback")
        tables = [flag for i, kind in enumerate(SIZES[size]) for flag in ("--reordering", f"LR{i}={kind}")]
        parts = ["--phrases", str(work / "phrases"), "--lm", str(work / "lm"), *tables]
        _run("system", "-o", str(system), *parts)
    loaded = System.load(system)
    n = text.n_tune
    end = text.skip + n if text.test else None
    dev = [lines(f"{text.folder}/{text.dev}.{side}", end)[text.skip :] for side in (text.source, "en")]
    test = [side[n:] for side in dev]
    if text.test:
        test = [lines(f"{text.test}.{side}") for side in (text.source, "en")]
    return TuningTask(
        loaded.with_options(replace(loaded.options, pop_limit=pop_limit)),
        (dev[0][:n], dev[1][:n]),
        (test[0][: text.n_test], test[1][: text.n_test]),
    )


def _run(*command: str) -> None:
    subprocess.run([sys.executable, "-m", "hyperbaton", *command, "--quiet"], check=True)


def table(args: argparse.Namespace) -> Iterator[str]:
    """Markdown rows: the mean over seeds, the standard deviation, the range, and processor time."""
    yield "| text | weights | method | runs | mean | deviation | range | processor s |"
    yield "|---|---|---|---|---|---|---|---|"
    for text in args.texts:
        for size in args.systems:
            for method in args.methods:
                places = [_result(args.work, text, size, method, seed) for seed in args.seeds]
                results = [json.loads(place.read_text()) for place in places if place.exists()]
                if not results:
                    continue
                seconds = float(np.mean([result["seconds"] for result in results]))
                for name, note in (("best", ""), ("averaged", f", --average {args.average}")):
                    scores = [result["test"][name] for result in results if name in result["test"]]
                    if scores:
                        yield _row(text, size, method + note, scores, seconds)
                if method not in UNTUNED and METHODS[method].runs == 1 and len(results) > 3:
                    means = _means_of_three(args, text, size, method, results)
                    yield _row(text, size, f"{method}, mean of 3 seeds", means, 3 * seconds)


def _means_of_three(
    args: argparse.Namespace, text: str, size: str, method: str, results: list[dict[str, Any]]
) -> list[float]:
    """Scores of the means of what three consecutive seeds returned, cached in a file."""
    place = _result(args.work, text, size, f"{method}-mean-of-3", len(results))
    if not place.exists():
        prepared = prepare(args.data, args.work / text, TEXTS[text], size, args.pop_limit)
        start = SystemDecoder(prepared.system, []).start
        scale, n = Scale(start, np.zeros(len(start), bool), len(start)), len(results)
        weights = [np.array(result["weights"]["averaged"]) for result in results]
        means = [scale.mean([weights[(i + k) % n] for k in range(3)]) for i in range(n)]
        scores = [prepared.score(mean, args.threads) for mean in means if mean is not None]
        _write(place, scores)
    return list(json.loads(place.read_text()))


def _row(text: str, size: str, method: str, scores: list[float], seconds: float) -> str:
    spread = "– | –"
    if len(scores) > 1:
        spread = f"{np.std(scores, ddof=1):.2f} | {max(scores) - min(scores):.2f}"
    return f"| {text} | {size} | {method} | {len(scores)} | {np.mean(scores):.2f} | {spread} | {seconds:.0f} |"


if __name__ == "__main__":
    main()
