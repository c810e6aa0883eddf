"""Tune a system on a development text: once on all of it, or several times on one half, choosing on the other (GO13 §4.1).

Each seed gives a different result. GO13 tune three times on the first half, translate the second half with each result,
and take the weights with the best score there. Here the mean of the runs is also a candidate, and so are the mean of the
best iterations of each run, if runs have one (`Tuning.average`), and the mean of these means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import hash_arrays
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode import Decoding, System
from hyperbaton.decode.system import WORD_PENALTY
from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune.average import Scale
from hyperbaton.tune.length import AtLength, Length, MeasuredMetric, TargetLength, set_length
from hyperbaton.tune.loop import Iteration, Tuning, TuningRecord, TuningResult, tune
from hyperbaton.tune.nbest import Decode, Floats, first_of_each
from hyperbaton.tune.system import SystemDecoder, columns_of


@dataclass(frozen=True)
class Choice:
    """The runs, the candidates with their scores on the held-out half, and the chosen one.

    A single run has no held-out half: `held_out` is then empty. `tuned` is the run of the chosen weights; if they are a
    mean of runs, it is the best run on the held-out half.
    """

    runs: list[TuningResult]
    weights: Floats
    tuned: TuningResult
    chosen: str = "run 1"
    held_out: Mapping[str, float] = field(default_factory=dict)

    @property
    def failure(self) -> str | None:
        """Why tuning failed, if it did."""
        return self.tuned.failure


def tune_and_choose(
    run: Callable[[int], TuningResult],
    n_runs: int,
    decode_held_out: Decode,
    references: Sequence[Sequence[str]],
    metric: str,
    *,
    scale: Scale | None = None,
    length: TargetLength | None = None,
) -> Choice:
    """Tune `n_runs` times, where `run(i)` is run i, and choose by the metric on held-out sentences.

    With `scale`, means of runs are also candidates; it gives all weights the same scale. `length` is the expected length of
    the held-out translations.
    """
    if n_runs < 1:
        raise OptionError("there must be at least one run")
    judge = MeasuredMetric(make_metric(metric), length or TargetLength())
    runs = [run(i) for i in range(n_runs)]
    candidates = _candidates(runs, scale)

    def score(weights: Floats) -> float:
        nbest = decode_held_out(weights)
        best = first_of_each(nbest)
        outputs = Outputs.of([nbest.hypotheses[i] for i in best.tolist()], *references, line=nbest.sentence[best])
        return judge.value(outputs)

    held_out = {name: score(weights) for name, (weights, _) in candidates.items()}
    best = max if judge.higher_is_better else min
    winner = best(held_out, key=lambda name: held_out[name])
    of_runs = [name for name, (_, run) in candidates.items() if run is not None]
    tuned = candidates[winner][1] or candidates[best(of_runs, key=lambda name: held_out[name])][1]
    assert tuned is not None
    return Choice(runs, candidates[winner][0], tuned, winner, held_out)


def _candidates(runs: Sequence[TuningResult], scale: Scale | None) -> dict[str, tuple[Floats, TuningResult | None]]:
    """Candidate weights by name, with their run; means come first, since they win ties."""
    candidates: dict[str, tuple[Floats, TuningResult | None]] = {}
    good = [run for run in runs if run.failure is None]
    if scale is not None:
        for name, weights in (
            ("mean of {} averaged runs", [run.weights_of(-1) for run in good if run.averaged]),
            ("mean of {} runs", [run.weights_of(run.best) for run in good]),
        ):
            mean = scale.mean(weights) if len(weights) > 1 else None
            if mean is not None:
                candidates[name.format(len(weights))] = (mean, None)
    for i, run in enumerate(runs, start=1):
        if run.averaged:
            candidates[f"run {i}, averaged"] = (run.weights_of(-1), run)
        candidates[f"run {i}"] = (run.weights_of(run.best), run)
    return candidates


def halves(n_sentences: int) -> tuple[slice, slice]:
    """The two halves of a development text.

    >>> halves(5)
    (slice(0, 3, None), slice(3, 5, None))
    """
    if n_sentences < 2:
        raise InputError("a text of one sentence cannot be split into halves")
    middle = (n_sentences + 1) // 2
    return slice(0, middle), slice(middle, n_sentences)


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
        numbers = np.arange(len(self))[where]
        return DevelopmentText(
            self.sentences[where],
            [reference[where] for reference in self.references],
            self.annotations.select(numbers),
            self.first + (int(numbers[0]) if len(numbers) else 0),
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
    decoding: Decoding | None = None
    fix: Mapping[str, float | list[float]] = field(default_factory=dict)  # weights that are not tuned
    length: Length = field(default_factory=Length)
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
            length=self.target(second),
        )

    def target(self, text: DevelopmentText) -> TargetLength:
        """The target length of translations of a text."""
        return self.length.target(text.sentences, self.system.table.lengths)

    def finish(self, text: DevelopmentText, choice: Choice) -> tuple[AtLength, System]:
        """The chosen weights, at the target length if the options say so, and the system with these weights."""
        end = AtLength(choice.weights, choice.tuned.score, choice.tuned.turn.length)
        if self.length.at_length:
            end = self.at_length(text, choice.weights)
        return end, self.decoder(text).with_weights(end.weights)

    def at_length(self, text: DevelopmentText, weights: Floats) -> AtLength:
        """The weights with the word penalty under which the text is translated with the target length."""
        decoder, column = self.decoder(text), columns_of(self.system, WORD_PENALTY).start
        if decoder.fixed[column]:
            raise OptionError(f"--at-length changes the weight of {WORD_PENALTY}, which is fixed")
        metric = MeasuredMetric(make_metric(self.options.metric), self.target(text))
        return set_length(decoder, weights, column, text.references, metric)

    def decoder(self, text: DevelopmentText) -> SystemDecoder:
        """A decoder that translates a text with any weights."""
        resources = self.resources.stage("translate")
        return SystemDecoder(
            self.system,
            text.sentences,
            annotations=text.annotations,
            fix=self.fix,
            first=text.first,
            n_best=self.n_best,
            options=self.decoding,
            threads=resources.threads,
            progress=resources.progress,
            workers=resources.workers,
        )

    def _run(self, number: int, text: DevelopmentText, decoder: SystemDecoder, inputs: Mapping[str, str]) -> TuningResult:
        return tune(
            decoder,
            decoder.start,
            text.references,
            self.options,
            fixed=decoder.fixed,
            length=self.target(text),
            seed=self.seed + number,
            resources=Resources(self.resources.tasks().threads, self.resources.stage("optimize").progress),
            record=TuningRecord(
                None if self.folder is None else self.folder / f"run{number + 1}",
                inputs,
                lambda iteration, turn: self.report(number, iteration, turn),
            ),
        )
