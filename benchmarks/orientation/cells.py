"""The cells of an experiment: one model, trained on one split at one size, with one orientation set.

A cell is worked on in a process of its own and leaves `NAME.json` (figures) and `NAME.npz` (what was predicted), so that
an interrupted experiment goes on where it stopped. A cell is done when its file tells the same options and data.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.classes import word_classes
from hyperbaton.evaluate import Classification
from hyperbaton.models import MODELS, ReorderingModel
from hyperbaton.phrases import Occurrences, extract, near_samples


@dataclass
class Experiment:
    """What a TOML file of this folder says."""

    sizes: list[int]
    repeats: int
    test: int
    seed: int
    max_length: int
    max_distance: int
    orientations: list[str]
    best: str
    # `model` and its options; `word-classes`: so many for each side, learned from the training part
    models: dict[str, dict[str, Any]]
    clean: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Experiment:
        return cls(**tomllib.loads(path.read_text(encoding="utf-8")))

    def cells(self) -> Iterator[Cell]:
        """Small ones first, so that a look at the results is possible early."""
        for size in self.sizes:
            for repeat in range(self.repeats):
                for kind in self.orientations:
                    for name in self.models:
                        yield Cell(size, repeat, kind, name)

    def split(self, bitext: Bitext, size: int, repeat: int) -> tuple[Bitext, Bitext]:
        """Training and test part; the sizes of one repeat share the test part."""
        parts = cleaned(bitext, self.clean).split({"test": self.test, "train": size, "rest": -1}, seed=self.seed + repeat)
        return parts["train"], parts["test"]


def cleaned(bitext: Bitext, limits: dict[str, float]) -> Bitext:
    """The sentence pairs within the limits `longest` (words) and `ratio` (of the lengths)."""
    n, m = bitext.source.lengths, bitext.target.lengths
    longest, ratio = limits.get("longest", np.inf), limits.get("ratio", np.inf)
    return bitext.select(np.flatnonzero((n <= longest) & (m <= longest) & (n <= ratio * m) & (m <= ratio * n)))


@dataclass(frozen=True)
class Cell:
    size: int
    repeat: int
    orientations: str
    model: str

    @property
    def name(self) -> str:
        return f"{self.size}-{self.repeat}-{self.orientations}-{self.model}".replace(" ", "_").replace("/", "_")


def identity(experiment: Experiment, cell: Cell, signature: str) -> dict[str, Any]:
    """What makes a cell's result what it is."""
    held = {name: getattr(experiment, name) for name in ("test", "seed", "clean")}
    if n_classes := experiment.models[cell.model].get("word-classes"):
        held["word_classes"] = n_classes
    return {**vars(cell), "options": to_mapping(make_model(experiment, cell)), "data": signature, **held}


def make_model(experiment: Experiment, cell: Cell) -> ReorderingModel:
    options = {name: value for name, value in experiment.models[cell.model].items() if name != "word-classes"}
    limits = {"max-length": experiment.max_length, "max-distance": experiment.max_distance}
    return from_mapping(MODELS[options.pop("model")], {**limits, "orientations": cell.orientations, **options})


def is_done(folder: Path, experiment: Experiment, cell: Cell, signature: str) -> bool:
    file = folder / f"{cell.name}.json"
    if not file.exists():
        return False
    return bool(json.loads(file.read_text(encoding="utf-8"))["identity"] == identity(experiment, cell, signature))


def work(folder: str, toml: dict[str, Any], cell: Cell, data: str, signature: str, threads: int) -> dict[str, Any]:
    """Train and test one cell, and write its files."""
    experiment = Experiment(**toml)
    train, test = experiment.split(Bitext.load(data), cell.size, cell.repeat)
    model = make_model(experiment, cell)
    model.seed, model.threads = experiment.seed, threads
    classes = {}
    if n_classes := experiment.models[cell.model].get("word-classes"):
        for side in ("source", "target"):
            classes[f"{side}_classes"] = word_classes(getattr(train, side), n_classes, seed=experiment.seed)
    model.fit(train, Annotations(**classes))
    samples = near_samples(extract(test, experiment.max_length), experiment.max_distance)
    logprobs, labels = model.sample_logprobs(test, samples), model.labels(samples)
    occurrences = Occurrences.of_samples(test, samples)
    support = model.support(occurrences)
    result = Classification.of(model.class_names, logprobs, labels, samples.distance_before, support, model.class_counts_)
    history = getattr(model, "history_", {})
    answer = {
        "identity": identity(experiment, cell, signature),
        **result.as_json(),
        "classes": dict(zip(model.class_names, model.class_counts_.tolist(), strict=True)),
        "train_seconds": model.train_seconds_,
        "train_peak_mib": model.train_peak_mib_,
        "active": np.asarray(history.get("active", [])).tolist(),
    }
    np.savez_compressed(
        Path(folder) / f"{cell.name}.npz",
        predicted=logprobs.argmax(axis=1).astype(np.uint8),
        labels=labels,
        distances=samples.distance_before,
        phrases=occurrences.source_keys(),
        pairs=occurrences.pair_keys(),
        support=np.zeros(0) if support is None else support,
    )
    file = Path(folder) / f"{cell.name}.json"
    file.with_suffix(".part").write_text(json.dumps(answer, ensure_ascii=False), encoding="utf-8")
    file.with_suffix(".part").rename(file)
    return {"precision": result.overall_precision, "seconds": model.train_seconds_}
