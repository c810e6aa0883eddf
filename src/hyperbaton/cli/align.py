"""The verb `align`."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperbaton.align.aligners.hmm import KIND, Aligner
from hyperbaton.align.base import ALIGNERS
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.base.outputs import check_artefact, check_file
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.cli import Force, Quiet, Threads, Verify
from hyperbaton.cli._common import verify_artefacts
from hyperbaton.corpus import Bitext


def align(
    source: Annotated[str, typer.Argument(help="Source text.")],
    target: Annotated[str, typer.Argument(help="Target text, line by line its translation.")],
    options: Aligner,
    aligner: Annotated[str, typer.Option(help="hmm is built in; eflomal needs hyperbaton[eflomal].")] = "hmm",
    model: Annotated[str | None, typer.Option(help="Link with this saved model instead of learning one.")] = None,
    save_model: Annotated[str | None, typer.Option(help="Folder to save the learned model in.")] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout.")] = "-",
    seed: Annotated[
        int, typer.Option(help="Changes nothing: learning is not random. Taken for scripts that pass it.", min=0)
    ] = 1,
    force: Force = False,
    verify: Verify = False,
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Link the words of a bitext.

    One line of links i-j (source and target position, from 0) for each sentence pair; an empty line where a side is
    empty or longer than --max-length. The links do not depend on the number of threads. With --model, only
    --symmetrization, --confidence and --threshold count; everything else is as it was in training.

    Examples:

        hyperbaton align train.zh train.en > train.links

        hyperbaton align train.zh train.en --save-model aligner -o train.links.gz

        hyperbaton align new.zh new.en --model aligner > new.links

        hyperbaton align train.ja train.en --drop-source particles.txt --drop-target articles.txt > train.links
    """
    check_file(output)
    if save_model is not None:
        check_artefact(save_model, KIND, force=force)
    if model is not None:
        verify_artefacts(verify, model)
    bitext = Bitext.read(source, target, empty=True)
    n = n_threads(threads)
    if aligner != "hmm" and (model or save_model):
        raise OptionError(f"only the aligner hmm has models to load and save, not {aligner}")
    with Bars(quiet) as bars:
        if model is not None:
            chosen = Aligner.load(model)
            # How links are chosen is no part of what was learned.
            chosen.symmetrization = options.symmetrization
            chosen.confidence, chosen.threshold = options.confidence, options.threshold
        elif aligner == "hmm":
            chosen = options.fit(bitext, threads=n, progress=bars.stage("learn"))
        else:
            other = ALIGNERS[aligner]
            known = {opt.flag for opt in options_of(other)}
            shared = {name: value for name, value in to_mapping(options).items() if name in known}
            links = from_mapping(other, shared).align(bitext, threads=n, progress=bars.stage(aligner))
            links.write(output)
            return
        links = chosen.align(bitext, threads=n, progress=bars.stage("link"))
    if save_model is not None:
        chosen.save(save_model)
    links.write(output)
