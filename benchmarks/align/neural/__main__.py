"""`pack` and `score`: the ends of training elsewhere that need hyperbaton."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from benchmarks.align.published import tasks

from hyperbaton.align import Aligner, evaluate_links, read_links, symmetrize
from hyperbaton.corpus import Bitext, Links

SIDES = ("source", "target")
STEM = 4  # letters
SMALLEST = 0.03  # posteriors below this in both directions are left out
FLOOR = 3e-3  # added to the hidden Markov model's posteriors before their logarithm
CONFIDENCES = (0.2, 0.25, 0.3, 0.35, 0.4)

Matrix = npt.NDArray[np.float32]
Network = Mapping[str, npt.NDArray[np.float16]]  # log posteriors by pair and direction
Both = tuple[Matrix, Matrix]  # to the target (n + 1, m), to the source (n, m + 1): null is last


class Mix(NamedTuple):
    """Posteriors p^network · q^hmm, normalised, or network · p + hmm · q, of the network (p) and the HMM (q)."""

    network: float
    hmm: float
    product: bool = True

    @property
    def name(self) -> str:
        return f"p^{self.network:g} · q^{self.hmm:g}" if self.product else f"{self.network:g} p + {self.hmm:g} q"

    def __call__(self, logprobs: npt.NDArray[np.float16], hmm: Matrix, axis: int) -> Matrix:
        own = logprobs.astype(np.float32)
        if not self.product:
            return self.network * np.exp(own) + self.hmm * hmm
        scores = self.network * own + self.hmm * np.log(hmm + FLOOR)
        weights = np.exp(scores - scores.max(axis, keepdims=True))
        return np.asarray(weights / weights.sum(axis, keepdims=True))


ALONE = Mix(1, 0, product=False)
MIXES = (Mix(0.3, 0.7), Mix(0.5, 0.5), Mix(0.5, 0.7), Mix(0.7, 0.7), Mix(0.5, 0.5, product=False))


def pack(data: Path, output: Path, n_pairs: int, names: list[str] | None, threads: int) -> None:
    """Write words, posteriors and gold links of each gold set."""
    output.mkdir(parents=True, exist_ok=True)
    for task in tasks(data):
        if names is not None and task.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            files, n_gold = task.write(data, Path(folder), n_pairs or None, parts=("train", "more"))
            bitext = Bitext.read(*files, empty=True)
        aligner = Aligner().fit(bitext, threads=threads)
        posteriors = aligner.posteriors(bitext, SMALLEST, threads=threads)
        sure = read_links(data / task.gold / task.sure)
        possible = sure if task.possible is None else read_links(data / task.gold / task.possible)
        arrays = {
            "n_gold": np.array(n_gold),
            "points": posteriors.links.points,
            "points.offsets": posteriors.links.offsets,
            "posteriors": np.rint(255 * posteriors.values).astype(np.uint8),
            "has_possible": np.array(task.possible is not None),
        }
        for name, links in (("sure", sure), ("possible", possible)):
            arrays[name], arrays[f"{name}.offsets"] = links.points, links.offsets
        for side, removal in zip(SIDES, aligner.normalize(bitext), strict=True):
            stems = "\n".join(word[:STEM] for word in removal.text.vocabulary.words())
            arrays[f"{side}.words"], arrays[f"{side}.offsets"] = removal.text.tokens, removal.text.offsets
            arrays[f"{side}.stems"] = np.frombuffer(stems.encode(), np.uint8)
        np.savez_compressed(output / f"{task.name}.npz", **arrays)
        print(f"{task.name}: {len(bitext) - n_gold} pairs and {n_gold} gold pairs", file=sys.stderr)


class Gold:
    """The gold pairs of a packed file, with the hidden Markov model's posteriors."""

    def __init__(self, path: Path) -> None:
        arrays = np.load(path)
        self.sure = Links(arrays["sure"], arrays["sure.offsets"])
        self.possible = Links(arrays["possible"], arrays["possible.offsets"]) if arrays["has_possible"] else None
        lengths = [np.diff(arrays[f"{side}.offsets"]) for side in SIDES]
        points, values, starts = arrays["points"], arrays["posteriors"], arrays["points.offsets"]
        self.hmm: list[Both] = []
        for s in range(int(arrays["n_gold"])):
            both = np.zeros((lengths[0][s], lengths[1][s], 2), np.float32)
            part = slice(starts[s], starts[s + 1])
            both[tuple(points[part].T)] = values[part] / np.float32(255)
            to_target, to_source = both[..., 0], both[..., 1]
            null = (1 - to_target.sum(0, keepdims=True)).clip(0, 1), (1 - to_source.sum(1, keepdims=True)).clip(0, 1)
            self.hmm.append((np.concatenate([to_target, null[0]]), np.concatenate([to_source, null[1]], 1)))

    def mixed(self, network: Network, mix: Mix) -> list[Both]:
        """Posteriors of both; pairs with an empty side have none of the network."""
        found = []
        for s, (to_target, to_source) in enumerate(self.hmm):
            if f"{s}.to-target" in network:
                to_target = mix(network[f"{s}.to-target"], to_target, 0)
                to_source = mix(network[f"{s}.to-source"], to_source, 1)
            found.append((to_target, to_source))
        return found

    def error_rate(self, posteriors: list[Both], confidence: float) -> float:
        """AER of the links that the built-in aligner chooses from such posteriors."""
        forward, backward = [], []
        for to_target, to_source in posteriors:
            mean = (to_target[:-1] + to_source[:, :-1]) / 2
            n, m = mean.shape if mean.size else (0, 0)
            forward.append([(i, j) for i in range(n) if mean[i, j := int(mean[i].argmax())] >= confidence])
            backward.append([(i, j) for j in range(m) if mean[i := int(mean[:, j].argmax()), j] >= confidence])
        links = symmetrize(Links.of(forward), Links.of(backward), "grow-diag-final-and", threads=1)
        return evaluate_links(links, self.sure, self.possible).aer


def score(packed: Path, trained: Path) -> None:
    """Print error rates; mix and confidence are those with the lowest mean error rate on the other gold sets."""
    rates: dict[str, dict[str, dict[tuple[Mix, float], float]]] = {}
    hmm: dict[str, float] = {}
    for path in sorted(packed.glob("*.npz")):
        gold = Gold(path)
        hmm[path.stem] = gold.error_rate(gold.hmm, 0.3)
        for kind, network in _networks(trained, path.stem):
            rates.setdefault(kind, {})[path.stem] = {
                (mix, confidence): gold.error_rate(posteriors, confidence)
                for mix in (ALONE, *MIXES)
                for posteriors in [gold.mixed(network, mix)]
                for confidence in CONFIDENCES
            }
    print("| gold set | network | HMM | network alone | mixed, chosen on the other sets | chosen | mixed, best |")
    print("|" + "---|" * 7)
    for kind, sets in rates.items():
        for name, own in sets.items():
            others = [table for other, table in sets.items() if other != name]
            mixes = [key for key in own if key[0] != ALONE]
            alone = min(rate for key, rate in own.items() if key[0] == ALONE)
            best = min(own[key] for key in mixes)
            cells = ["", ""]
            if others:
                chosen = min(mixes, key=lambda key: sum(table[key] for table in others))
                cells = [f"{own[chosen]:.1f}", f"{chosen[0].name}; confidence {chosen[1]}"]
            print(f"| {name} | {kind} | {hmm[name]:.1f} | {alone:.1f} | {cells[0]} | {cells[1]} | {best:.1f} |")


def _networks(folder: Path, name: str) -> Iterator[tuple[str, Network]]:
    for path in sorted(folder.glob(f"{name}.*.npz")):
        yield path.stem.removeprefix(f"{name}."), dict(np.load(path))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.align.neural", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser("pack", help="train the built-in aligner and write its posteriors")
    packing.add_argument("data", type=Path, help="folder of corpora")
    packing.add_argument("-o", "--output", type=Path, required=True)
    packing.add_argument("--pairs", type=int, default=100_000, help="training pairs; 0: all there are")
    packing.add_argument("--tasks", nargs="+", help="such as ja-en; all that have a gold set")
    packing.add_argument("--threads", type=int, default=2)
    scoring = commands.add_parser("score", help="print error rates of the networks of train.py")
    scoring.add_argument("packed", type=Path)
    scoring.add_argument("trained", type=Path)
    options = parser.parse_args()
    if options.command == "pack":
        pack(options.data, options.output, options.pairs, options.tasks, options.threads)
    else:
        score(options.packed, options.trained)


if __name__ == "__main__":
    main()
