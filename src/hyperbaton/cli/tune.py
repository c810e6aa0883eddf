"""The verb `tune`."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hyperbaton.base.errors import InputError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.base.store import MANIFEST, hash_arrays
from hyperbaton.cli import Force, Json, Quiet, Seed, Threads, Verify
from hyperbaton.cli._common import print_json, print_table, say, verify_artefacts
from hyperbaton.cli._system import (
    Copy,
    DecodingFlags,
    SourceTags,
    SourceTrees,
    Weights,
    changed,
    naming_annotations,
    parse_weights,
    read_beside,
    read_trees_beside,
)
from hyperbaton.corpus.files import read_sentences, shown
from hyperbaton.decode import System
from hyperbaton.decode.system import KIND
from hyperbaton.tune.loop import Iteration, Tuned, Tuning, TuningFailed
from hyperbaton.tune.loop import tune as tune_weights
from hyperbaton.tune.protocol import Choice, halves, tune_and_choose
from hyperbaton.tune.system import SystemDecoder


def tune(
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="A translation system.")],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized development text.")],
    references: Annotated[list[str], typer.Argument(metavar="REF...", help="Its reference translations.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The system with the new weights.")],
    options: Tuning,
    flags: DecodingFlags,  # type: ignore[valid-type]
    source_tags: SourceTags = None,
    source_trees: SourceTrees = None,
    nbest: Annotated[int, typer.Option(help="Translations of each sentence in each iteration.", min=2)] = 100,
    lattice: Annotated[
        bool, typer.Option(help="Add all translations of the search graph that one weight, changed alone, makes best.")
    ] = False,
    runs: Annotated[
        int,
        typer.Option(help="Tune so often on the first half of the text, and choose on the second; 1 tunes on all.", min=1),
    ] = 1,
    verify: Verify = False,
    weight: Weights = None,
    copy: Copy = False,
    force: Force = False,
    seed: Seed = 0,
    threads: Threads = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Tune the weights of a system on a development text.

    The new system refers to the same parts as SYSTEM and has other weights; the weights before and after, and its path,
    are told at the end. Every iteration is stored in OUTPUT.tuning, and the same command goes on there when it was
    interrupted. When tuning fails (no gain, weights that are not finite, a metric that cannot rise) the best weights are
    written all the same, and the exit status is 1.

    Examples:

        hyperbaton tune system dev.zh dev.en -o tuned

        hyperbaton tune system dev.zh dev.en -o tuned --optimizer mira --metric chrf --seed 2

        hyperbaton tune system dev.zh dev.en -o tuned --runs 3

        hyperbaton tune system dev.ja dev.en -o tuned --source-tags dev.ja.pos
    """
    check_artefact(output, KIND, force=force)
    lines, texts = _read(source, references)
    annotations = {}  # by the names of Translator.blocks
    if source_tags is not None:
        annotations["tags"] = read_beside(source_tags, source, len(lines))
    if source_trees is not None:
        annotations["trees"] = read_trees_beside(source_trees, len(lines))
    verify_artefacts(verify, system)
    loaded = System.load(system).with_weights(parse_weights(weight))
    decoding, workers = changed(loaded, flags), n_threads(threads)
    inputs = _inputs(system, lines, f"{decoding} {nbest} {lattice}", annotations)
    state = output.with_name(f"{output.name}.tuning")
    with Bars(quiet) as bars, naming_annotations(source_tags, source_trees):

        def on(part: slice) -> SystemDecoder:
            return SystemDecoder(
                loaded,
                lines[part],
                annotations={name: beside[part] for name, beside in annotations.items()},
                first=part.start,
                n_best=nbest,
                lattice=lattice,
                options=decoding,
                threads=workers,
                progress=bars.stage("translate"),
            )

        def run(number: int, decoder: SystemDecoder, part: slice) -> Tuned:
            def report(iteration: int, turn: Iteration) -> None:
                new = f"{turn.n_new} new translations"
                say(f"run {number + 1}, iteration {iteration}: {options.metric} {turn.score:.2f}, {new}", quiet)

            return tune_weights(
                decoder,
                decoder.start,
                [text[part] for text in texts],
                options,
                seed=seed + number,
                threads=workers,
                folder=state / f"run{number + 1}",
                inputs=inputs,
                report=report,
                progress=bars.stage("optimize"),
            )

        if runs == 1:
            everything = slice(0, len(lines))
            decoder = on(everything)
            choice = Choice([run(0, decoder, everything)], [], 0)
        else:
            first, second = halves(len(lines))
            decoder = on(first)
            held_out = [text[second] for text in texts]
            choice = tune_and_choose(lambda i: run(i, decoder, first), runs, on(second), held_out, options.metric)
    tuned = choice.tuned
    best = decoder.with_weights(tuned.weights)
    best.save(output, copy=copy)
    if json:
        print_json(_as_json(choice, loaded, best, output))
    else:
        rows = enumerate(tuned.history)
        print_table([{"iteration": i, options.metric: round(t.score, 2), "candidates": t.n_candidates} for i, t in rows])
        for line in _changes(loaded, best):
            say(line, quiet)
        say(f"wrote {output}: {options.metric} {tuned.history[0].score:.2f} → {tuned.score:.2f}", quiet)
    shutil.rmtree(state, ignore_errors=True)
    if tuned.failure:
        raise TuningFailed(f"tuning failed: {tuned.failure}; {output} has the best weights")


def _read(source: str, references: list[str]) -> tuple[list[str], list[list[str]]]:
    lines = list(read_sentences(source))
    if not lines:
        raise InputError("the file has no lines", shown(source))
    return lines, [read_beside(path, source, len(lines)) for path in references]


def _inputs(system: Path, lines: list[str], decoding: str, annotations: dict[str, list[str]]) -> dict[str, str]:
    """What a stored tuning was made from."""
    parts = {
        "system": (system / MANIFEST).read_bytes(),
        "source text": "\n".join(lines).encode(),
        "decoding": decoding.encode(),
        **{f"source {name}": "\n".join(beside).encode() for name, beside in annotations.items()},
    }
    return {name: hash_arrays({name: np.frombuffer(part, np.uint8)}) for name, part in parts.items()}


def _changes(before: System, after: System) -> Iterator[str]:
    """The weights of each feature, before and after."""
    width = max(map(len, after.features))
    for name, new in after.weights.items():
        old, now = (" ".join(f"{weight:.4g}" for weight in weights) for weights in (before.weights[name], new))
        yield f"{name:{width}}  {old} → {now}"


def _as_json(choice: Choice, before: System, best: System, output: Path) -> dict[str, Any]:
    tuned = choice.tuned
    return {
        "system": str(output),
        "start": {name: list(values) for name, values in before.weights.items()},
        "score": tuned.score,
        "stopped": tuned.stopped,
        "failure": tuned.failure,
        "weights": {name: list(values) for name, values in best.weights.items()},
        "history": [dataclasses.asdict(turn) for turn in tuned.history],
        "runs": [run.score for run in choice.runs],
        "held_out": choice.held_out,
    }
