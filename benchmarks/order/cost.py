"""Cost of reordering models in the search: words per second of processor time, at equal pop limit.

    python -m benchmarks.order.cost SRC TGT LINKS [--pairs 20000] [--lines 300] [--pops 200 1000] [--repeats 5]

Trains on the first pairs and translates lines after them, with one thread. Systems take turns, and the minimum time of each
counts, so that other work on the machine matters little. `lost` is the fraction of the words per second that a model costs,
relative to a system without it. Sparse features have random weights, since features of weight 0 could be skipped. With
`--keep`, the systems are built in a folder and reused.

In every turn but the first, a system has the phrase pairs of these lines in its cache. With `--before N`, systems are
opened again for each turn and translate N other lines first, so that only the phrase pairs that these share with the lines
are cached.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._measure import existing, print_rows
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.classes import word_classes
from hyperbaton.decode import Decoding, System, TokenTranslator
from hyperbaton.decode.assemble import assemble
from hyperbaton.lm import LanguageModel
from hyperbaton.models.osm import OperationSequence
from hyperbaton.phrases import Extraction, extract_phrases

TABLE = "hier-mslr-bidirectional-fe"
SPARSE = "sparse:hier-mslr:words=80"
# Systems, and what each is compared with: the same without its last model.
SYSTEMS: dict[str, tuple[list[str], str]] = {
    "distance": ([], "distance"),
    "hier": (["hier"], "distance"),
    "osm": (["osm"], "distance"),
    "osm_both": (["osm_both"], "distance"),
    "hier_osm": (["hier", "osm"], "hier"),
    "hier_sparse": (["hier", "sparse"], "hier"),
}


def build(folder: Path, train: Bitext) -> None:
    """Train the models and save a system of each kind."""
    classes = {}
    for side, text in (("source", train.source), ("target", train.target)):
        classes[side] = word_classes(text, 50, runs=1)
        classes[side].write(folder / f"{side}.classes")
    extraction = Extraction(max_length=7)
    extract_phrases(train, extraction).save(folder / "phrases", train, extraction)
    LanguageModel.estimate(train.target, 5).save(folder / "lm")
    OperationSequence().fit(train).save(folder / "osm")
    known = Annotations(source_classes=classes["source"], target_classes=classes["target"])
    OperationSequence(units="both").fit(train, known).save(folder / "osm_both")
    sparse = f"{SPARSE}:source-classes={folder / 'source.classes'}:target-classes={folder / 'target.classes'}"
    places = {"hier": TABLE, "sparse": sparse, "osm": str(folder / "osm"), "osm_both": str(folder / "osm_both")}
    for name, (models, _) in SYSTEMS.items():
        system = assemble(folder / "phrases", [folder / "lm"], {model: places[model] for model in models})
        weights = {
            sparse_name: np.random.default_rng(1).normal(0, 0.05, model.n_features).tolist()
            for sparse_name, model in system.sparse.items()
        }
        (system.with_weights(weights) if weights else system).save(folder / "systems" / name)


def measure(
    folder: Path, names: list[str], lines: list[str], pops: int, repeats: int, before: list[str] | None
) -> list[dict[str, object]]:
    """Translate in turns, and return the minimum processor time of each system."""
    decoding = Decoding(pop_limit=pops, stack=max(pops // 5, 20))

    def opened(name: str) -> TokenTranslator:
        system = System.load(folder / "systems" / name)
        if before:
            TokenTranslator(system, Decoding(pop_limit=20, stack=20), threads=1).translate(before)
        return TokenTranslator(system, decoding, threads=1)

    translators = {} if before is not None else {name: opened(name) for name in names}
    least: dict[str, float] = dict.fromkeys(names, float("inf"))
    digests = {}
    for _ in range(repeats):
        for name in names:
            translator = translators[name] if name in translators else opened(name)
            start = time.process_time()
            batches = list(translator.batches(lines))
            least[name] = min(least[name], time.process_time() - start)
            scores = np.concatenate([batch.scores for batch in batches])
            text = "\n".join(line for batch in batches for line in batch.lines())
            digests[name] = hashlib.sha256(scores.tobytes() + text.encode()).hexdigest()[:12]
    n_words = sum(len(line.split()) for line in lines)
    rows: list[dict[str, object]] = []
    for name in names:
        without = SYSTEMS[name][1]
        lost = f"{100 * (1 - least[without] / least[name]):.1f}%" if without in least and without != name else ""
        speed = n_words / least[name]
        rows.append(
            {"pops": pops, "system": name, "words/cpu s": speed, "lost": lost, "against": without, "output": digests[name]}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs=3, metavar="FILE", help="SRC TGT LINKS", type=existing)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--pops", nargs="+", type=int, default=[200, 1000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="folder of the systems, which are built if it is new")
    parser.add_argument("--before", type=int, metavar="N", help="open systems for each turn, and translate N other lines")
    options = parser.parse_args()
    bitext = Bitext.read(*options.files)
    part = np.arange(len(bitext))
    lines = [" ".join(words) for words in bitext.select(part[options.pairs : options.pairs + options.lines]).source]
    others = bitext.select(part[options.pairs + options.lines :][: options.before]).source
    before = None if options.before is None else [" ".join(words) for words in others]
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        if not (folder / "systems").exists():
            folder.mkdir(exist_ok=True)
            build(folder, bitext.select(part[: options.pairs]))
        rows = [
            row for pops in options.pops for row in measure(folder, options.systems, lines, pops, options.repeats, before)
        ]
    print_rows(rows)


if __name__ == "__main__":
    main()
