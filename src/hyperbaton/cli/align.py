"""The command `align`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Annotated

import typer

from hyperbaton.align.aligners.hmm import KIND, Aligner
from hyperbaton.align.base import ALIGNERS, WordAligner
from hyperbaton.align.shards import LinkOutputs, align_shards
from hyperbaton.align.streaming import GROUP, read_groups, read_pair_groups
from hyperbaton.align.writing import FORMATS, PLAIN
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import options_of
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli import Force, Verify
from hyperbaton.cli._common import append_parts, at_terminal, verify_artefacts
from hyperbaton.cli._paths import READS, WRITES_FILE, Writes, names_plugin
from hyperbaton.cli._resources import ShardOptions
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import writing_outputs

HELP_GROUP = "Links and words"
PLUGINS = ALIGNERS

HMM = "hmm"


def chosen_options(words: Sequence[str]) -> dict[str, type]:
    """The options of the aligner named on the command line."""
    named = [after for word, after in pairwise([*words, ""]) if word == "--aligner"]
    named += [word.partition("=")[2] for word in words if word.startswith("--aligner=")]
    return {"options": _class_of(named[-1].partition(":")[0] if named else HMM)}


def _class_of(name: str) -> type[WordAligner]:
    """The aligner with a name; unknown names are reported later."""
    return ALIGNERS[name if name in ALIGNERS else HMM]


def align(
    source: Annotated[str, typer.Argument(metavar="SRC", help="Source text; alone, lines of pairs."), READS],
    target: Annotated[
        str | None, typer.Argument(metavar="TGT", help="Target text, its translation line by line."), READS
    ] = None,
    *,
    options: WordAligner,
    aligner: Annotated[
        str,
        typer.Option(metavar="NAME", help="Aligner; its options also as NAME:OPTION=VALUE."),
        names_plugin(ALIGNERS),
    ] = HMM,
    model: Annotated[str | None, typer.Option(help="Align with this saved model instead of training one."), READS] = None,
    save_model: Annotated[
        str | None, typer.Option(help="Folder for the trained model."), Writes("artefact", updates="prior")
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write; - is stdout."), WRITES_FILE] = "-",
    format: Annotated[str, typer.Option(help=f"Format of the links ({', '.join(FORMATS)}).")] = PLAIN,
    scores: Annotated[
        str | None, typer.Option(help="Write log-probabilities of pairs and posteriors of links; - is stdout."), WRITES_FILE
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of neural; the other aligners have none.", min=0)] = 1,
    force: Force = False,
    verify: Verify = False,
    common: ShardOptions,
) -> None:
    """Align the words of a bitext.

    Prints one line of links i-j (source and target position, from 0) for each sentence pair; the line is empty if a
    side is empty or longer than --max-length. The links do not depend on the number of threads. With --model, only
    --for, --symmetrization, --confidence, --threshold and --precision apply; everything else is as in training. Text
    of any length is then aligned in little memory. Without TGT, each line of SRC is a pair, with a tab or ||| between
    its sides, and is answered at once. --scores writes a line for each pair: log p of target and source in nats per
    word, and the mean posterior of each link. To train the aligner neural, install hyperbaton[torch].

    Examples:

        hyperbaton align train.zh train.en > train.links

        hyperbaton align train.zh train.en --save-model aligner --scores train.scores -o train.links.gz

        hyperbaton align new.zh new.en --model aligner --format json > new.jsonl

        hyperbaton align small.zh small.en --prior aligner > small.links

        hyperbaton align --model aligner - < pairs.tsv > new.links

        hyperbaton align web.zh web.en --model aligner -o web.links --executor dask://10.0.0.1:8786 --shards 200
    """
    learner = _merged(aligner, options)
    learner.seed = seed
    own = learner if isinstance(learner, Aligner) else None  # other programs save no models and score no links
    _check(None if own is not None else aligner, target, model, save_model, scores, format)
    if own is not None and own.prior is not None and model is not None:
        raise OptionError("--model and --prior: a saved model is not trained, so a prior has no effect")
    places = {"output": output} | ({} if scores is None else {"scores": scores})
    if common.in_shards and (own is None or target is None):
        raise OptionError("--executor and --shards need the aligner hmm or neural, and the two sides in separate files")
    if save_model is not None:
        check_artefact(save_model, KIND, force=force)
    hidden = model is not None and at_terminal(source, places.values())
    with common.open(output, common.bars(hidden)) as resources, ExitStack() as stack:
        sharding, n = resources.sharding, resources.threads
        if model is not None:
            verify_artefacts(verify, model)
            chosen: WordAligner = _loaded(model, learner)
            groups = read_pair_groups(source) if target is None else read_groups(source, target)
            total = 0
        else:
            verify_artefacts(verify, *([] if own is None or own.prior is None else [own.prior]))
            bitext = Bitext.read(source, str(target), empty=True)
            learning = resources.stage("learn").progress
            if own is not None:
                chosen = own.fit(bitext, threads=n, progress=learning, sharding=sharding)
            else:
                chosen = learner.fit(bitext, threads=n, progress=learning)
            # An aligner that trains and links in one step needs all of the text at once.
            groups, total = bitext.groups(len(bitext) if own is None else GROUP), len(bitext)
        if own is not None and save_model is not None:
            own.save(save_model)
        outputs = stack.enter_context(writing_outputs({f"--{name}": path for name, path in places.items()}))
        wanted, linking = LinkOutputs(tuple(places), format), resources.stage("link")
        if sharding is not None and isinstance(chosen, Aligner):
            for result in align_shards(chosen, source, str(target), wanted, sharding=sharding, progress=linking.progress):
                append_parts(outputs, result.value)
            return
        done = 0
        for size, pieces in wanted.write(chosen, groups, threads=n):
            for name, piece in pieces.items():
                outputs[f"--{name}"].write(piece)
                outputs[f"--{name}"].flush()
            done += size
            linking.report(done, total or done)


def _check(
    other: str | None, target: str | None, model: str | None, save_model: str | None, scores: str | None, format: str
) -> None:
    """Refuse incompatible options; `other` is the aligner if it is not the built-in one."""
    if format not in FORMATS:
        raise OptionError(f"unknown link format {format!r}; known: {', '.join(FORMATS)}")
    if other and (model or save_model):
        raise OptionError(f"the aligner {other} can neither load nor save models")
    if other and (scores or format != PLAIN):
        raise OptionError(f"the aligner {other} does not score links: leave out --scores and --format")
    if target is None and model is None:
        raise OptionError("give SRC and TGT to learn from, or --model to link lines of sentence pairs")
    if model is not None and save_model is not None:
        raise OptionError("--model and --save-model: a saved model is not trained, so there is nothing to save")


def _merged(named: str, flags: WordAligner) -> WordAligner:
    """The aligner with the options from its flags and those given with its name."""
    made = ALIGNERS.make(named)
    if type(flags) is not type(made):
        raise OptionError(f"give --aligner {named} once, as a word of the command line")
    for opt in options_of(type(made)):
        by_name, by_flag = getattr(made, opt.name), getattr(flags, opt.name)
        if by_flag == opt.default:
            continue
        if by_name not in (opt.default, by_flag):
            raise OptionError(f"--aligner {named} and --{opt.flag} {by_flag} set the same option; leave out one of them")
        setattr(made, opt.name, by_flag)
    return made


def _loaded(model: str, options: WordAligner) -> Aligner:
    """Load a saved aligner; the options for choosing links are not part of the model."""
    aligner = Aligner.load(model)
    for name in ("for_", "symmetrization", "confidence", "threshold", "precision"):
        setattr(aligner, name, getattr(options, name))
    return aligner
