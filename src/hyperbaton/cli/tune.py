from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.progress import is_terminal
from hyperbaton.base.store import MANIFEST, hash_arrays
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._parameters import READS, Argument, Flag, Force, Json, Seed, Writes
from hyperbaton.cli._resources import ExecutorOptions
from hyperbaton.cli._system import Copy, DecodingFlags, SystemOptions, changed, parse_weights, read_beside
from hyperbaton.corpus.files import read_sentences, shown
from hyperbaton.decode import System
from hyperbaton.decode.system import KIND
from hyperbaton.metrics import length_warning
from hyperbaton.tune.length import AtLength, Length
from hyperbaton.tune.loop import Iteration, Tuning, TuningFailed, TuningResult
from hyperbaton.tune.runs import Choice, DevelopmentText, TuningRuns


def tune(
    system: Annotated[Path, Argument("SYSTEM", "A translation system."), READS],
    source: Annotated[str, Argument("SRC", "Tokenized development text."), READS],
    references: Annotated[list[str], Argument("REF...", "Its reference translations."), READS],
    *,
    output: Annotated[Path, Flag("The system with the new weights.", "-o"), Writes("artefact", updates="system")],
    options: Tuning,
    length: Length,
    flags: DecodingFlags,  # type: ignore[valid-type]
    nbest: Annotated[int, Flag("Number of translations per sentence and iteration.", minimum=2)] = 100,
    runs: Annotated[
        int,
        Flag(
            "Number of runs; with more than 1, tune on the first half of the text and choose a run or their mean on "
            "the second.",
            minimum=1,
        ),
    ] = 1,
    fix: Annotated[
        list[str] | None,
        Flag("Do not tune this weight; NAME is a feature, or NAME_0, NAME_1, … one of its values.", metavar="NAME=V"),
    ] = None,
    given: SystemOptions,
    copy: Copy = False,
    force: Force = False,
    seed: Seed = 0,
    common: ExecutorOptions,
    json: Json = False,
) -> None:
    """Tune the weights of a system on a development text.

    The new system refers to the same parts as SYSTEM and differs only in its weights; the weights before and after, and
    its path, are printed at the end. Every iteration is stored in OUTPUT.tuning, and the same command continues an
    interrupted run from there. If tuning fails (no improvement, weights that are not finite, a metric that cannot rise)
    the best weights are still written, and the exit status is 1.

    Examples:

        hyperbaton tune system dev.zh dev.en -o tuned
        hyperbaton tune system dev.zh dev.en -o tuned --metric chrf --seed 2
        hyperbaton tune system dev.zh dev.en -o tuned --runs 3
        hyperbaton tune system dev.ja dev.en -o tuned --source-tags dev.ja.pos
        hyperbaton tune system dev.ja dev.en -o tuned --fix Distortion0=0
        hyperbaton tune system dev.zh dev.en -o tuned --executor dask://HOST:8786
    """
    check_artefact(output, KIND, force=force)
    quiet, bars = common.quiet, common.bars()
    with common.open(output, bars) as resources, given.naming_inputs(source):
        text = _read(source, references, given)
        loaded = given.load(system)
        decoding, state = changed(loaded, flags), output.with_name(f"{output.name}.tuning")

        inputs = {"system": (system / MANIFEST).read_bytes(), "decoding": f"{decoding} {nbest}".encode()}
        progress = bars.stage("iteration")
        # The first one translates with the initial weights, the last one with a mean.
        n_iterations = options.iterations + 1 + (options.average > 1)

        def report(run: int, iteration: int, turn: Iteration) -> None:
            new = counted(turn.n_new, "new translation")
            place = "mean" if turn.is_mean else f"iteration {iteration} of at most {options.iterations}"
            where = f"run {run + 1} of {runs}, {place}" if runs > 1 else place
            score = f"{options.metric} {turn.value:.2f}, length {turn.length:.3f}"
            # On a screen, the bar shows what the final table repeats.
            say(f"{where}: {score}, {new}", quiet or (bars.visible and is_terminal(sys.stdout)))
            progress.rename(f"{where}: {score}")
            progress(run * n_iterations + iteration + 1, runs * n_iterations)

        tuning = TuningRuns(
            loaded,
            options,
            n_best=nbest,
            decoding=decoding,
            fix=parse_weights(fix, "--fix"),
            length=length,
            seed=seed,
            resources=resources,
            folder=state,
            inputs={name: hash_arrays({name: np.frombuffer(part, np.uint8)}) for name, part in inputs.items()},
            report=report,
        )
        choice = tuning.on(text, runs)
        end, best = tuning.finish(text, choice)
    best.save(output, copy=copy)
    if json:
        print_json(_as_json(choice, end, loaded, best, output))
    else:
        _print(choice, end, loaded, best, output, options.metric, quiet)
    shutil.rmtree(state, ignore_errors=True)
    if choice.failure:
        raise TuningFailed(f"tuning failed: {choice.failure}; {output} has the best weights")


def _read(source: str, references: list[str], given: SystemOptions) -> DevelopmentText:
    lines = list(read_sentences(source, lenient=True))
    if not lines:
        raise InputError("the file has no lines", shown(source))
    others = [read_beside(path, source, len(lines)) for path in references]
    return DevelopmentText(lines, others, given.annotations(source, lines))


def _print(choice: Choice, end: AtLength, before: System, after: System, output: Path, metric: str, quiet: bool) -> None:
    print_table(
        [
            {
                "iteration": "mean" if turn.is_mean else i,
                metric: round(turn.value, 2),
                "length": f"{turn.length:.3f}",
                "candidates": turn.n_candidates,
            }
            for i, turn in enumerate(choice.tuned.history)
        ]
    )
    if end.weights is not choice.weights:
        say(f"with the word penalty set: {metric} {end.score:.2f}, length {end.length:.3f}", quiet)
    if remark := length_warning(end.length, choice.tuned.turn.expected):
        say(f"warning: {remark}", quiet)
    for line in _changes(before, after):
        say(line, quiet)
    for name, score in choice.held_out.items():
        say(f"on the second half, {name}: {metric} {score:.2f}{', chosen' if name == choice.chosen else ''}", quiet)
    if choice.held_out:
        say(f"wrote {output}: {choice.chosen}, {metric} {choice.held_out[choice.chosen]:.2f} on the second half", quiet)
        return
    tuned = choice.tuned
    say(f"wrote {output}: {metric} {tuned.history[0].value:.2f} → {tuned.score:.2f}, {_taken(tuned)}", quiet)


def _taken(tuned: TuningResult) -> str:
    """The iteration whose weights were chosen."""
    if tuned.turn.is_mean:
        return f"the mean of iterations {', '.join(map(str, tuned.averaged))}"
    return "the initial weights: none were better" if tuned.taken == 0 else f"iteration {tuned.taken}"


def _changes(before: System, after: System) -> Iterator[str]:
    """The weights of each feature, before and after."""
    width = max(map(len, after.features))
    for name, new in after.weights.items():
        if name in after.sparse:
            counts = [sum(weight != 0 for weight in weights) for weights in (before.weights[name], new)]
            yield f"{name:{width}}  {counts[0]:,} of {counted(len(new), 'sparse feature')} with a weight → {counts[1]:,}"
            continue
        old, now = (" ".join(f"{weight:.4g}" for weight in weights) for weights in (before.weights[name], new))
        yield f"{name:{width}}  {old} → {now}"


def _as_json(choice: Choice, end: AtLength, before: System, best: System, output: Path) -> dict[str, object]:
    tuned = choice.tuned
    return {
        "system": str(output),
        "start": {name: list(values) for name, values in before.weights.items()},
        "score": end.score,
        "length": end.length,
        "expected_length": tuned.turn.expected,
        "stopped": tuned.stopped,
        "failure": tuned.failure,
        "weights": {name: list(values) for name, values in best.weights.items()},
        "history": [dataclasses.asdict(turn) for turn in tuned.history],
        "taken": tuned.taken,
        "averaged": list(tuned.averaged),
        "runs": [run.score for run in choice.runs],
        "held_out": dict(choice.held_out),
        "chosen": choice.chosen,
    }
