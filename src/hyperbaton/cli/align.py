"""The command `align`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Annotated

import typer

from hyperbaton.align.aligners.hmm import KIND, Aligner
from hyperbaton.align.base import ALIGNERS, WordAligner
from hyperbaton.align.shards import LinkOutputs, align_shards
from hyperbaton.align.streaming import GROUP, read_groups, read_pair_groups
from hyperbaton.align.writing import FORMATS, PLAIN
from hyperbaton.base.errors import OptionError
from hyperbaton.base.executors import open_sharding
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.base.outputs import check_artefact, check_file
from hyperbaton.base.progress import Bars, is_terminal, n_threads
from hyperbaton.cli import ExecutorAddress, Force, Quiet, Shards, Threads, Verify
from hyperbaton.cli._common import append_parts, verify_artefacts
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import writing_outputs


def align(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text; alone, lines of pairs.")],
    target: Annotated[str | None, typer.Argument(metavar="TGT", help="Target text, its translation line by line.")] = None,
    *,
    options: Aligner,
    aligner: Annotated[str, typer.Option(help="hmm is built in; eflomal needs hyperbaton[eflomal].")] = "hmm",
    model: Annotated[str | None, typer.Option(help="Align with this saved model instead of training one.")] = None,
    save_model: Annotated[str | None, typer.Option(help="Folder for the trained model.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout.")] = "-",
    format: Annotated[str, typer.Option(help=f"Format of the links ({', '.join(FORMATS)}).")] = PLAIN,
    scores: Annotated[
        str | None, typer.Option(help="Write log-probabilities of pairs and posteriors of links; - is stdout.")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Ignored, since training is not random; accepted for scripts that pass it.", min=0)
    ] = 1,
    force: Force = False,
    verify: Verify = False,
    executor: ExecutorAddress = None,
    shards: Shards = 0,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Align the words of a bitext.

    Prints one line of links i-j (source and target position, from 0) for each sentence pair; an empty line where a side
    is empty or longer than --max-length. The links do not depend on the number of threads. With --model, only --for,
    --symmetrization, --confidence and --threshold apply; everything else is as in training. Text of any length is then
    aligned in little memory, and without TGT each line of SRC is a pair, with a tab or ||| between its sides, answered as
    it comes. --scores writes a line for each pair: log p of target and source in nats per word, and the mean posterior of
    each link.

    Examples:

        hyperbaton align train.zh train.en > train.links

        hyperbaton align train.zh train.en --save-model aligner --scores train.scores -o train.links.gz

        hyperbaton align new.zh new.en --model aligner --format json > new.jsonl

        hyperbaton align small.zh small.en --prior aligner > small.links

        hyperbaton align --model aligner - < pairs.tsv > new.links

        hyperbaton align web.zh web.en --model aligner -o web.links --executor dask://10.0.0.1:8786 --shards 200
    """
    _check(aligner, target, model, save_model, scores, format)
    _check_prior(aligner, model, options.prior)
    places = {"output": output} | ({} if scores is None else {"scores": scores})
    if (executor is not None or shards > 1) and (aligner != "hmm" or target is None):
        raise OptionError("--executor and --shards need the aligner hmm, and the two sides in files of their own")
    for path in places.values():
        check_file(path)
    if save_model is not None:
        check_artefact(save_model, KIND, force=force)
    n = n_threads(threads)
    # Somebody who types, or reads what is written, needs no bar among the lines.
    typing = (source == "-" and is_terminal(sys.stdin)) or ("-" in places.values() and is_terminal(sys.stdout))
    with ExitStack() as stack:
        bars = stack.enter_context(Bars(quiet or (typing and model is not None)))
        sharding = stack.enter_context(open_sharding(executor, shards, threads, output))
        if model is not None:
            verify_artefacts(verify, model)
            chosen: WordAligner = _loaded(model, options)
            groups = read_pair_groups(source) if target is None else read_groups(source, target)
            total = 0
        else:
            verify_artefacts(verify, *([] if options.prior is None else [options.prior]))
            bitext = Bitext.read(source, str(target), empty=True)
            chosen = options if aligner == "hmm" else _other(aligner, options)
            if sharding is None:
                chosen.fit(bitext, threads=n, progress=bars.stage("learn"))
            else:
                options.fit(bitext, threads=n, progress=bars.stage("learn"), sharding=sharding)
            # An aligner that learns and links in one go needs all of the text at once.
            groups, total = bitext.groups(GROUP if aligner == "hmm" else len(bitext)), len(bitext)
        if save_model is not None:
            options.save(save_model)
        inputs = [path for path in (source, target) if path is not None]
        outputs = stack.enter_context(writing_outputs({f"--{name}": path for name, path in places.items()}, inputs))
        wanted, progress = LinkOutputs(tuple(places), format), bars.stage("link")
        if sharding is not None and isinstance(chosen, Aligner):
            for result in align_shards(chosen, source, str(target), wanted, sharding=sharding, progress=progress):
                append_parts(outputs, result.value)
            return
        done = 0
        for size, pieces in wanted.write(chosen, groups, threads=n):
            for name, piece in pieces.items():
                outputs[f"--{name}"].write(piece)
                outputs[f"--{name}"].flush()
            done += size
            progress(done, total or done)


def _check(
    aligner: str, target: str | None, model: str | None, save_model: str | None, scores: str | None, format: str
) -> None:
    if format not in FORMATS:
        raise OptionError(f"unknown link format {format!r}; known: {', '.join(FORMATS)}")
    if aligner != "hmm" and (model or save_model):
        raise OptionError(f"only the aligner hmm can load and save models, not {aligner}")
    if aligner != "hmm" and (scores or format != PLAIN):
        raise OptionError(f"only the aligner hmm scores links, not {aligner}: leave out --scores and --format")
    if target is None and model is None:
        raise OptionError("give SRC and TGT to learn from, or --model to link lines of sentence pairs")
    if model is not None and save_model is not None:
        raise OptionError("--model and --save-model: nothing is learned that could be saved")


def _check_prior(aligner: str, model: str | None, prior: str | None) -> None:
    if prior is not None and aligner != "hmm":
        raise OptionError(f"only the aligner hmm starts from saved models, not {aligner}: leave out --prior")
    if prior is not None and model is not None:
        raise OptionError("--model and --prior: nothing is learned that could start from a prior")


def _loaded(model: str, options: Aligner) -> Aligner:
    """A saved aligner; how links are chosen is no part of what was learned."""
    aligner = Aligner.load(model)
    aligner.for_, aligner.symmetrization = options.for_, options.symmetrization
    aligner.confidence, aligner.threshold = options.confidence, options.threshold
    return aligner


def _other(name: str, options: Aligner) -> WordAligner:
    """Another aligner, with those options that it shares with the built-in one."""
    other = ALIGNERS[name]
    known = {opt.flag for opt in options_of(other)}
    return from_mapping(other, {flag: value for flag, value in to_mapping(options).items() if flag in known})
