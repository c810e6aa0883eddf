"""One row of the tables: a model trained, put into a system, and what comes out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.block.data import Part
from hyperbaton.corpus import Annotations, Text
from hyperbaton.corpus.classes import WordClasses, word_classes
from hyperbaton.corpus.files import write_pieces
from hyperbaton.decode import Decoding, System, Translator, annotate
from hyperbaton.evaluate import HeldOut, evaluate
from hyperbaton.evaluate.translations import read_outputs
from hyperbaton.lm import LanguageModel
from hyperbaton.metrics import Outputs
from hyperbaton.models import MODELS, load_model
from hyperbaton.models.block_me import BlockMe
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.tune.loop import Tuning, tune
from hyperbaton.tune.system import SystemDecoder

TESTED = ("test", "gold")
BLOCK, LEXICALIZED = "Block0", "LexicalReordering0"
_BASE = "lexical,context,tags,coverage"
_COV, _SIB = "parse-coverage", "sibling-word,sibling-tag"
# XI11 Tables 2–4: the phrase-based system, the baseline, and what is added to it.
ROWS: dict[str, tuple[str, str] | None] = {
    "PBT": None,
    "ME": ("flat", _BASE),
    "+Prior": ("smoothed", _BASE),
    "+COV": ("flat", f"{_BASE},{_COV}"),
    "+SIB": ("flat", f"{_BASE},{_SIB}"),
    "+COV+SIB": ("flat", f"{_BASE},{_COV},{_SIB}"),
    "+Prior+COV+SIB": ("smoothed", f"{_BASE},{_COV},{_SIB}"),
}


@dataclass(frozen=True)
class Training:
    """How the models of all rows are trained."""

    passes: int
    min_count: int
    max_targets: int
    tree_rules: str
    variance: float


@dataclass(frozen=True)
class Translating:
    """How the systems of all rows are tuned, and how they search."""

    optimizer: str
    iterations: int
    n_best: int
    pop_limit: int
    stack: int
    limit: int

    @property
    def decoding(self) -> Decoding:
        return Decoding(stack=self.stack, pop_limit=self.pop_limit, distortion_limit=self.limit)


def build_parts(folder: str, threads: int) -> dict[str, Any]:
    """What all rows share: phrase table, language model, a lexicalized model."""
    path = Path(folder)
    bitext = Part(path, "train").bitext()
    table = PhraseTable.build(bitext, extract(bitext, 6), threads=threads)
    lm = LanguageModel.estimate(Text.read(path / "lm.en"), order=4)
    word_classes(bitext.target, 40, runs=1, sweeps=5).write(path / "train.classes")
    lexicalized = MODELS["lexicalized"](orientations="msd").fit(bitext)
    System.of(table, [lm], {LEXICALIZED: lexicalized}).save(path / "lexicalized.system")
    System.of(table, [lm]).save(path / "PBT.system")
    return {}


def train_row(folder: str, name: str, how: dict[str, Any], threads: int) -> dict[str, Any]:
    """Train the model of a row; its cost, features, and how well it expects the paths of the test text."""
    path, options = Path(folder), Training(**how)
    prior, families = ROWS[name] or ("", "")
    train, test = Part(path, "train"), Part(path, "test")
    bitext, held_out = train.bitext(), test.bitext()
    model = BlockMe(
        families=families,
        prior=prior,
        tree_rules=options.tree_rules,
        max_targets=options.max_targets,
        min_count=options.min_count,
        learner=f"lbfgs:variance={options.variance}:max-passes={options.passes}",
        threads=threads,
    )
    classes = WordClasses.read(path / "train.classes", bitext.target.vocabulary)
    start, processor = time.perf_counter(), time.process_time()
    model.fit(bitext, replace(train.known(bitext), target_classes=classes))
    costs = {"train_s": time.perf_counter() - start, "train_cpu_s": time.process_time() - processor}
    model.save(path / f"{name}.model")
    told = evaluate(model, HeldOut(held_out, test.known(held_out))).as_json()
    return {"features": model.n_features, "passes": len(model.objective_), **costs, "test": told}


def tune_row(folder: str, name: str, how: dict[str, Any], seed: int, threads: int) -> dict[str, Any]:
    """Tune the weights of a row's system on the development text, and translate the others with them."""
    path, options = Path(folder), Translating(**how)
    system, dev = _system(path, name), Part(path, "dev")
    found: dict[str, Any] = {"weights": {}, "scores": []}
    if options.iterations > 0:
        decoder = SystemDecoder(
            system,
            dev.lines("zh"),
            annotations=_annotations(system, dev),
            n_best=options.n_best,
            options=options.decoding,
            threads=threads,
        )
        tuning = Tuning(optimizer=options.optimizer, iterations=options.iterations)
        tuned = tune(decoder, decoder.start, [dev.lines("en")], tuning, seed=seed)
        found = {
            "weights": dict(decoder.with_weights(tuned.weights).weights),
            "scores": [turn.score for turn in tuned.history],
        }
    _translate(path, system.with_weights(found["weights"]), f"{name}.{seed}", options, threads)
    return found


def share_row(
    folder: str, name: str, how: dict[str, Any], run: str, weights: dict[str, Any], threads: int
) -> dict[str, Any]:
    """Translate with weights that were tuned for another row."""
    path = Path(folder)
    _translate(path, _weighted(path, name, weights), f"{name}.{run}", Translating(**how), threads)
    return {}


def time_row(folder: str, name: str, how: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    """Processor seconds of translating with one thread, behind a first time."""
    path, options = Path(folder), Translating(**how)
    system = _weighted(path, name, weights)
    _translate(path, system, f"{name}.speed", options, 1)
    return _translate(path, system, f"{name}.speed", options, 1)


def _translate(path: Path, system: System, run: str, options: Translating, threads: int) -> dict[str, float]:
    """Translations and links into files; processor seconds of each part."""
    translator = Translator(system, options.decoding, threads=threads)
    seconds: dict[str, float] = {}
    for name in TESTED:
        part = Part(path, name)
        processor = time.process_time()
        blocks = list(translator.batches(part.lines("zh"), annotations=_annotations(system, part)))
        seconds[name] = time.process_time() - processor
        write_pieces(path / f"{run}.{name}.hyp", (f"{line}\n".encode() for block in blocks for line in block.lines()))
        write_pieces(path / f"{run}.{name}.links", (piece for block in blocks for piece in block.links().pieces()))
    return seconds


def outputs(folder: Path, name: str, run: str, part: str) -> Outputs:
    """What a run of a row's system made of a text, beside what it should be."""
    text, run = Part(folder, part).paths, f"{name}.{run}.{part}"
    return read_outputs(folder / f"{run}.hyp", [text["en"]], folder / f"{run}.links", [text["links"]])


def _system(path: Path, name: str) -> System:
    if name in ("PBT", "lexicalized"):
        return System.load(path / f"{name}.system")
    base = System.load(path / "PBT.system")
    return System.of(base.table, base.lms, {BLOCK: load_model(path / f"{name}.model")}, options=base.options)


def _weighted(path: Path, name: str, weights: dict[str, Any]) -> System:
    """The system of a row with the weights that it knows."""
    system = _system(path, name)
    return system.with_weights({key: values for key, values in weights.items() if key in system.features})


def _annotations(system: System, part: Part) -> Annotations:
    if BLOCK not in system.features:
        return Annotations()
    return annotate(part.lines("zh"), tags=part.lines("tags"), trees=part.lines("trees"))
