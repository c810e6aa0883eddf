"""What control of the length of translations does to BLEU, TER and RIBES.

    python -m benchmarks.length DATA WORK --texts arabic tanaka kyoto --seeds 1 2 3

DATA and WORK are those of `benchmarks.tuning`, whose texts and systems are used. Each system is tuned once for each seed
and each length (`development`, `training`, a number, or `training at-length`, which sets the word penalty at the end), and
translates the tuning and the test text. Every result is a file in WORK, so repeating the command continues an interrupted
run. `--consensus bleu:1 chrf:3` also translates the test text by the consensus of 100 translations, by the gain BLEU with
scale 1 and so on; `pool:1` pools those of the first two lengths of a seed, by BLEU.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import existing_path
from benchmarks.tuning import METRIC, SIZES, TEXTS, prepare
from hyperbaton.base.resources import Resources
from hyperbaton.base.writing import writing_file
from hyperbaton.decode import TokenTranslator
from hyperbaton.decode.consensus import Consensus
from hyperbaton.metrics import Outputs, length_ratio, make_metric
from hyperbaton.tune import Length, Tuning
from hyperbaton.tune.runs import DevelopmentText, TuningRuns
from hyperbaton.tune.system import with_flat_weights

METRICS = {"BLEU": METRIC, "TER": "ter", "RIBES": "ribes"}
AT_LENGTH = "at-length"
COLUMNS = ("BLEU", "length", "TER", "RIBES")
POOL = "pool"
N_BEST = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=["arabic"])
    parser.add_argument("--systems", nargs="+", choices=SIZES, default=["17"])
    parser.add_argument("--lengths", nargs="+", default=["development", "training"])
    parser.add_argument("--optimizer", default=Tuning().optimizer)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--consensus", nargs="+", default=[], metavar="GAIN:SCALE")
    parser.add_argument("--pop-limit", type=int, default=200)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    for seed in args.seeds:
        for text in args.texts:
            for size in args.systems:
                for length in args.lengths:
                    _measure(args, text, size, length, seed)
                for way in args.consensus:
                    _measure_consensus(args, text, size, way, seed)
    for line in table(args):
        print(line)


def _measure(args: argparse.Namespace, text: str, size: str, length: str, seed: int) -> None:
    """Tune once and translate both texts, unless the result exists."""
    place = _result(args, text, size, length, seed)
    if place.exists():
        return
    task = prepare(args.data, args.work / text, TEXTS[text], size, args.pop_limit)
    control = Length(length.split()[0], length.endswith(AT_LENGTH))
    options = Tuning(METRIC, args.optimizer)
    runs = TuningRuns(task.system, options, length=control, seed=seed, resources=Resources.of(args.threads))
    dev = DevelopmentText(task.tune[0], [task.tune[1]])
    weights = runs.finish(dev, runs.on(dev))[0].weights
    translator = TokenTranslator(with_flat_weights(task.system, weights), threads=args.threads)
    result: dict[str, Any] = {"weights": weights.tolist()}
    for name, (source, reference) in (("tune", task.tune), ("test", task.test)):
        result[name] = _figures(translator.translate(source), reference)
    _write(place, result)


def _measure_consensus(args: argparse.Namespace, text: str, size: str, way: str, seed: int) -> None:
    """Translate the test text by a consensus of each tuned system, or of two, unless the results exist."""
    task = prepare(args.data, args.work / text, TEXTS[text], size, args.pop_limit)
    gain, scale = way.split(":")
    pools = [args.lengths[:2]] if gain == POOL else [[length] for length in args.lengths]
    consensus = Consensus(N_BEST, "bleu" if gain == POOL else gain, float(scale))
    for lengths in pools:
        place = _result(args, text, size, f"{lengths[0]} {way}", seed)
        if not place.exists():
            weights = [json.loads(_result(args, text, size, length, seed).read_text())["weights"] for length in lengths]
            systems = [with_flat_weights(task.system, np.array(own)) for own in weights]
            translators = [TokenTranslator(system, threads=args.threads) for system in systems]
            _write(place, {"test": _figures(consensus.translate(translators, task.test[0]), task.test[1])})


def _figures(translations: list[str], reference: list[str]) -> dict[str, float]:
    outputs = Outputs.of(translations, reference)
    figures = {title: make_metric(metric).value(outputs) for title, metric in METRICS.items()}
    return {**figures, "length": length_ratio([outputs])}


def _write(place: Path, result: dict[str, Any]) -> None:
    with writing_file(place) as aside:
        aside.write_text(json.dumps(result), encoding="utf-8")
    print(place.parent.name, place.stem, result.get("tune", ""), result["test"], file=sys.stderr, flush=True)


def _result(args: argparse.Namespace, text: str, size: str, length: str, seed: int) -> Path:
    name = f"length.{size}.{args.optimizer.replace(':', '_')}.{length.replace(' ', '_').replace(':', '_')}.{seed}.json"
    return Path(args.work / text / name)


def table(args: argparse.Namespace) -> Iterator[str]:
    """Markdown rows: means over seeds, with the standard deviation of BLEU."""
    yield f"| text | weights | length | runs | tuning text: {' / '.join(COLUMNS[:2])} | test text: {' / '.join(COLUMNS)} |"
    yield "|---|---|---|---|---|---|"
    for text in args.texts:
        for size in args.systems:
            for length in [*args.lengths, *(f"{length} {way}" for way in args.consensus for length in args.lengths)]:
                places = [_result(args, text, size, length, seed) for seed in args.seeds]
                results = [json.loads(place.read_text()) for place in places if place.exists()]
                if results:
                    tuned = _cell(results, "tune", COLUMNS[:2]) if "tune" in results[0] else ""
                    yield f"| {text} | {size} | {length} | {len(results)} | {tuned} | {_cell(results, 'test', COLUMNS)} |"


def _cell(results: list[dict[str, Any]], name: str, columns: tuple[str, ...]) -> str:
    """Mean figures of runs, separated by slashes."""
    values = {column: [result[name][column] for result in results] for column in columns}
    written = {column: f"{np.mean(of_runs):.{3 if column == 'length' else 2}f}" for column, of_runs in values.items()}
    if len(results) > 1:
        written["BLEU"] += f" ± {np.std(values['BLEU'], ddof=1):.2f}"
    return " / ".join(written.values())


if __name__ == "__main__":
    main()
