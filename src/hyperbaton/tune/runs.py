"""Tune a system on a development text: once on all of it, or several times on one half, choosing on the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hyperbaton.base.resources import Resources
from hyperbaton.base.store import hash_arrays
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import Decoding, System
from hyperbaton.tune.average import Scale
from hyperbaton.tune.loop import Iteration, Tuning, TuningResult, tune
from hyperbaton.tune.protocol import Choice, halves, tune_and_choose
from hyperbaton.tune.system import SystemDecoder


@dataclass(frozen=True)
class DevelopmentText:
    """Sentences with their references, where `references[r][s]` is reference r of sentence s, and their annotations.

    `first` is the number of sentences before these in their file.
    """

    sentences: Sequence[str]
    references: Sequence[Sequence[str]]
    annotations: Annotations = NOTHING
    first: int = 0

    def __len__(self) -> int:
        return len(self.sentences)

    def part(self, where: slice) -> DevelopmentText:
        """A range of consecutive sentences."""
        chosen = np.arange(len(self))[where]
        return DevelopmentText(
            self.sentences[where],
            [reference[where] for reference in self.references],
            self.annotations.select(chosen),
            self.first + (int(chosen[0]) if len(chosen) else 0),
        )

    def digests(self) -> dict[str, str]:
        """Hashes that identify the text, by the names of its parts; references are handled by the loop."""
        text = np.frombuffer("\n".join(self.sentences).encode(), np.uint8)
        columns = {"source tags": self.annotations.source_tags, "source trees": self.annotations.source_trees}
        return {"source text": hash_arrays({"source text": text})} | {
            name: hash_arrays(column.arrays(name)) for name, column in columns.items() if column is not None
        }


@dataclass(frozen=True)
class TuningRuns:
    """How a system is tuned; run i has the seed `seed` + i, and its iterations are kept in `folder`.

    `report` is called with the numbers of the run and the iteration, both from 0, and its result.
    """

    system: System
    options: Tuning
    n_best: int = 100
    lattice: bool = False
    decoding: Decoding | None = None
    fix: Mapping[str, float | list[float]] = field(default_factory=dict)  # weights that are not tuned
    seed: int = 0
    resources: Resources = field(default_factory=Resources.of)
    folder: Path | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    report: Callable[[int, int, Iteration], None] = lambda run, number, iteration: None

    def on(self, text: DevelopmentText, n_runs: int = 1) -> Choice:
        """Tune once on the whole text, or several times on its first half, and choose a run or their mean on the second."""
        inputs = {**self.inputs, **text.digests()}
        if n_runs == 1:
            tuned = self._run(0, text, self.decoder(text), inputs)
            return Choice([tuned], tuned.weights, tuned)
        first, second = (text.part(half) for half in halves(len(text)))
        decoder = self.decoder(first)
        return tune_and_choose(
            lambda i: self._run(i, first, decoder, inputs),
            n_runs,
            self.decoder(second),
            second.references,
            self.options.metric,
            scale=Scale(decoder.start, decoder.fixed, sum(self.system.dense_features.values())),
        )

    def decoder(self, text: DevelopmentText) -> SystemDecoder:
        """A decoder that translates a text with any weights."""
        resources, sharding = self.resources.stage("translate"), self.resources.sharding
        if sharding is not None:
            sharding = replace(sharding, folder=sharding.folder / f"{text.first}-{text.first + len(text)}")
        return SystemDecoder(
            self.system,
            text.sentences,
            annotations=text.annotations,
            fix=self.fix,
            first=text.first,
            n_best=self.n_best,
            lattice=self.lattice,
            options=self.decoding,
            threads=resources.threads,
            progress=resources.progress,
            sharding=sharding,
        )

    def _run(self, number: int, text: DevelopmentText, decoder: SystemDecoder, inputs: Mapping[str, str]) -> TuningResult:
        return tune(
            decoder,
            decoder.start,
            text.references,
            self.options,
            fixed=decoder.fixed,
            seed=self.seed + number,
            threads=self.resources.split().threads,
            folder=None if self.folder is None else self.folder / f"run{number + 1}",
            inputs=inputs,
            report=lambda iteration, turn: self.report(number, iteration, turn),
            progress=self.resources.stage("optimize").progress,
        )
