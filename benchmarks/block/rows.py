"""One row of the tables: a model trained, put into a system, and what comes out."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.block.data import Part
from hyperbaton.align.visits import visit_order
from hyperbaton.corpus import Text
from hyperbaton.corpus.classes import WordClasses, word_classes
from hyperbaton.decode import Decoding, System, Translator
from hyperbaton.evaluate import evaluate_blocks
from hyperbaton.lm import LanguageModel
from hyperbaton.metrics import Orders, Outputs, make_metric
from hyperbaton.models import MODELS, load_model
from hyperbaton.models.block_me import BlockMe
from hyperbaton.phrases import PhraseTable, extract
from hyperbaton.tune.loop import Tuning, tune
from hyperbaton.tune.system import SystemDecoder

BLOCK, LEXICALIZED = "Block0", "LexicalReordering0"
_BASE = "lexical,context,tags,coverage"
_COV, _SIB = "parse-coverage", "sibling-word,sibling-tag"
# XI11 Tables 2–4: the phrase-based system, the baseline, and what is added to it.
ROWS = {
    "PBT": None,
    "ME": ("flat", _BASE),
    "+Prior": ("smoothed", _BASE),
    "+COV": ("flat", f"{_BASE},{_COV}"),
    "+SIB": ("flat", f"{_BASE},{_SIB}"),
    "+COV+SIB": ("flat", f"{_BASE},{_COV},{_SIB}"),
    "+Prior+COV+SIB": ("smoothed", f"{_BASE},{_COV},{_SIB}"),
}


@dataclass(frozen=True)
class How:
    """Sizes of the experiment."""

    passes: int
    min_count: int
    max_targets: int
    tree_rules: str
    variance: float
    tune_iterations: int
    pop_limit: int
    stack: int
    distortion_limit: int
    threads: int

    def decoding(self) -> Decoding:
        return Decoding(stack=self.stack, pop_limit=self.pop_limit, distortion_limit=self.distortion_limit)


def build_parts(folder: str, how: dict[str, Any]) -> dict[str, Any]:
    """What all rows share: phrase table, language model, a lexicalized model."""
    path, options = Path(folder), How(**how)
    bitext = Part(path, "train").bitext()
    samples = extract(bitext, 6)
    table = PhraseTable.build(bitext, samples, threads=options.threads)
    lm = LanguageModel.estimate(Text.read(path / "lm.en"), order=4)
    word_classes(bitext.target, 40, runs=1, sweeps=5).write(path / "train.classes")
    lexicalized = MODELS["lexicalized"](orientations="msd").fit(bitext)
    System.of(table, [lm], {LEXICALIZED: lexicalized}, options=options.decoding()).save(path / "lexicalized.system")
    System.of(table, [lm], options=options.decoding()).save(path / "PBT.system")
    return {}


def train_row(folder: str, name: str, how: dict[str, Any]) -> dict[str, Any]:
    """Train the model of a row; its cost, features, and how well it expects the paths of the test text."""
    path, options = Path(folder), How(**how)
    prior, families = ROWS[name] or ("", "")
    train, test = Part(path, "train"), Part(path, "test")
    bitext, held_out = train.bitext(), test.bitext()
    model = BlockMe(
        families=families,
        prior=prior,
        tree_rules=options.tree_rules,
        max_targets=options.max_targets,
        min_count=options.min_count,
        variance=options.variance,
        max_passes=options.passes,
        threads=options.threads,
    )
    classes = WordClasses.read(path / "train.classes", bitext.target.vocabulary)
    start, processor = time.perf_counter(), time.process_time()
    model.fit(bitext, target_classes=classes, **train.known(bitext))  # type: ignore[arg-type]
    costs = {"train_s": time.perf_counter() - start, "train_cpu_s": time.process_time() - processor}
    model.save(path / f"{name}.model")
    told = evaluate_blocks(model, held_out, *test.known(held_out).values()).as_json()  # type: ignore[arg-type]
    return {"features": model.n_features, "passes": len(model.objective_), **costs, "test": told}


def tune_row(folder: str, name: str, how: dict[str, Any]) -> dict[str, Any]:
    """Tune the weights of a system on the development text."""
    path, options = Path(folder), How(**how)
    dev = Part(path, "dev")
    known = {} if name == "PBT" else {"tags": dev.lines("tags"), "trees": dev.lines("trees")}
    system = _system(path, name, None)
    decoder = SystemDecoder(system, dev.lines("zh"), annotations=known, n_best=50, threads=options.threads)
    found = tune(decoder, decoder.start, [dev.lines("en")], Tuning(iterations=options.tune_iterations), seed=1)
    return {"weights": dict(decoder.with_weights(found.weights).weights), "scores": [turn.score for turn in found.history]}


def translate_row(folder: str, name: str, how: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    """Translate and score."""
    path, options = Path(folder), How(**how)
    translator = Translator(_system(path, name, weights), threads=options.threads)
    told: dict[str, Any] = {}
    for part in ("test", "gold"):
        text = Part(path, part)
        known = {} if name in ("PBT", "lexicalized") else {"tags": text.lines("tags"), "trees": text.lines("trees")}
        processor = time.process_time()
        blocks = list(translator.blocks(text.lines("zh"), **known))
        seconds = time.process_time() - processor
        hypotheses = [line for block in blocks for line in block.lines()]
        (path / f"{name}.{part}.hyp").write_text("".join(f"{line}\n" for line in hypotheses), encoding="utf-8")
        orders = [order for block in blocks for order in _orders(block.links())]
        bitext = text.bitext()
        reference = _orders(bitext.need_links())
        outputs = Outputs.of(
            hypotheses, text.lines("en"), orders=Orders.of(orders), reference_orders=[Orders.of(reference)]
        )
        scores = {metric: make_metric(metric).value(outputs) for metric in ("bleu", "ter", "pdscore")}
        told[part] = {**scores, "cpu_s": seconds}
    return told


def _orders(links: Any) -> list[list[int]]:
    found = visit_order(links)
    return [found[s] for s in range(len(found))]


def _system(path: Path, name: str, weights: dict[str, Any] | None) -> System:
    if name in ("PBT", "lexicalized"):
        system = System.load(path / f"{name}.system")
    else:
        base = System.load(path / "PBT.system")
        model = load_model(path / f"{name}.model")
        system = System.of(base.table, base.lms, {BLOCK: model}, options=base.options)
    known = {feature: values for feature, values in (weights or {}).items() if feature in system.features}
    return system.with_weights(known)


def signature(name: str, how: How, folder: Path) -> str:
    """What a stored row was made with."""
    sizes = {path.name: path.stat().st_size for path in sorted(folder.glob("*.zh"))}
    return json.dumps([name, asdict(how), sizes], sort_keys=True)
