from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from hyperbaton.align.base import ALIGNERS, KIND, WordAligner, load_aligner, saved_class
from hyperbaton.align.link_files import FORMATS, PLAIN
from hyperbaton.align.linking import PART, LinkOutputs
from hyperbaton.align.pair_text import GROUP, PairText
from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.options import options_of
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.store import MANIFEST
from hyperbaton.cli._common import at_terminal, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Force, Verify, Writes, names_plugin
from hyperbaton.cli._raw import ADVICE, Languages, Tokenized, parse_languages, warn_of_raw
from hyperbaton.cli._resources import ExecutorOptions
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import writing_outputs

PLUGINS = ALIGNERS

HMM = "hmm"


def chosen_options(words: Sequence[str]) -> dict[str, type]:
    """The options of the aligner, or of that of the saved model, on the command line."""
    aligner, model = (_last(words, flag) for flag in ("--aligner", "--model"))
    if model and not aligner:
        with suppress(HyperbatonError):  # reported later, like unknown names
            return {"options": saved_class(model)}
    name = aligner.partition(":")[0]
    return {"options": ALIGNERS[name if name in ALIGNERS else HMM]}


def _last(words: Sequence[str], flag: str) -> str:
    """The last value of a flag on the command line."""
    values = [after for word, after in pairwise([*words, ""]) if word == flag]
    return ["", *values, *(word.partition("=")[2] for word in words if word.startswith(f"{flag}="))][-1]


def align(
    source: Annotated[str, Argument("SRC", "Source text; alone, lines of pairs."), READS],
    target: Annotated[str | None, Argument("TGT", "Target text, its translation line by line."), READS] = None,
    *,
    options: WordAligner,
    aligner: Annotated[
        str, Flag("Aligner; its options also as NAME:OPTION=VALUE.", metavar="NAME"), names_plugin(ALIGNERS)
    ] = HMM,
    model: Annotated[str | None, Flag("Align with this saved model instead of training one."), READS] = None,
    save_model: Annotated[str | None, Flag("Folder for the trained model."), Writes("artefact", updates="prior")] = None,
    output: Annotated[str, Flag("File to write; - is stdout.", "-o"), WRITES_FILE] = "-",
    format: Annotated[str, Flag("Format of the links.", choices=FORMATS)] = PLAIN,
    languages: Languages = None,
    tokenized: Tokenized = False,
    scores: Annotated[
        str | None, Flag("Write log-probabilities of pairs and posteriors of links; - is stdout."), WRITES_FILE
    ] = None,
    seed: Annotated[int, Flag("Seed of an aligner whose training is random.", minimum=0)] = 1,
    force: Force = False,
    verify: Verify = False,
    common: ExecutorOptions,
) -> None:
    """Align the words of a bitext.

    Prints one line of links i-j (source and target position, from 0) for each sentence pair; the line is empty if a
    side is empty or longer than --max-length. The links do not depend on the number of threads. With --model, only
    --for, --symmetrization, --confidence, --threshold and --precision apply, and --with-teachers and --device of the
    aligner neural; everything else is as in training. Text of any length is then aligned in little memory. Without TGT,
    each line of SRC is a pair, with a tab or ||| between its sides, and is answered at once. --scores writes a line for
    each pair: log p of target and source in nats per word, and the mean posterior of each link. The aligner neural needs
    the extra torch; with --executor processes:2, two teachers are trained at the same time.

    SRC and TGT are tokenized, or raw text with --languages. The words of raw text and their characters in its lines are
    in the output of --format json.

    Examples:

        hyperbaton align train.zh train.en > train.links
        hyperbaton align raw.de raw.en --languages de en --format json > links.jsonl
        hyperbaton align a.zh a.en --save-model aligner --scores a.scores -o a.links
        hyperbaton align new.zh new.en --model aligner --format json > new.jsonl
        hyperbaton align small.zh small.en --prior aligner > small.links
        hyperbaton align --model aligner - < pairs.tsv > new.links
        hyperbaton align a.zh a.en --model aligner --executor dask://HOST:8786
    """
    learner = _merged(aligner, options)
    learner.seed, learner.checkpoint = seed, None if save_model is None else Path(f"{Path(save_model)}.training")
    if model or save_model:
        learner.require("save")
    if scores or format != PLAIN:
        learner.require("score")
    if target is None and model is None:
        raise OptionError("give SRC and TGT to learn from, or --model to link lines of sentence pairs")
    if model is not None and save_model is not None:
        raise OptionError("--model and --save-model: a saved model is not trained, so there is nothing to save")
    priors = {name: str(path.parent) for name, path in learner.files().items() if path.name == MANIFEST}
    if priors and model is not None:
        raise OptionError(f"--model and --{min(priors)}: a saved model is not trained, so a prior has no effect")
    places = {"output": output} | ({} if scores is None else {"scores": scores})
    if common.executor is not None and not learner.defines("save"):
        raise OptionError("--executor needs an aligner with saved models")
    if save_model is not None:
        check_artefact(save_model, KIND, force=force)
    hidden = model is not None and at_terminal(source, places.values())
    quiet = common.quiet or tokenized or languages is not None
    with common.open(output, common.bars(hidden)) as resources, ExitStack() as stack:
        n, size = resources.threads, resources.workers.size(GROUP, PART)
        text = PairText(source, target, parse_languages(languages, tokenized))
        if model is not None:
            verify_artefacts(verify, model)
            chosen = load_aligner(model, learner.linking())
            groups, total = _warned(text.groups(size), quiet), 0
        else:
            verify_artefacts(verify, *priors.values())
            (bitext,) = _warned([text.read(n)], quiet)
            learner.workers = resources.workers
            chosen = learner.fit(bitext, threads=n, progress=resources.stage("learn").progress)
            # An aligner that trains and links in one step needs all of the text at once.
            groups, total = bitext.groups(size if learner.defines("fit") else len(bitext)), len(bitext)
        if save_model is not None:
            chosen.save(save_model)
        outputs = stack.enter_context(writing_outputs({f"--{name}": path for name, path in places.items()}))
        wanted, linking = LinkOutputs(tuple(places), format), resources.stage("link")
        done = 0
        for n_pairs, pieces in wanted.write(chosen, groups, linking):
            for name, piece in pieces.items():
                outputs[f"--{name}"].write(piece)
                outputs[f"--{name}"].flush()
            done += n_pairs
            linking.report(done, total or done)


def _warned(groups: Iterable[Bitext], quiet: bool) -> Iterator[Bitext]:
    """The groups, with a warning if the first looks like raw text."""
    for n, group in enumerate(groups):
        for side in (group.source, group.target):
            warn_of_raw(side.path or "", side, quiet or n > 0, ADVICE)
        yield group


def _merged(named: str, flags: WordAligner) -> WordAligner:
    """The aligner with the options from its flags and those given with its name."""
    aligner = type(flags)() if named == HMM else ALIGNERS.make(named)
    if type(flags) is not type(aligner):
        raise OptionError(f"give --aligner {named} once, as a word of the command line")
    for opt in options_of(type(aligner)):
        by_name, by_flag = getattr(aligner, opt.name), getattr(flags, opt.name)
        if by_flag == opt.default:
            continue
        if by_name not in (opt.default, by_flag):
            raise OptionError(f"--aligner {named} and --{opt.flag} {by_flag} set the same option; leave out one of them")
        setattr(aligner, opt.name, by_flag)
    return aligner
