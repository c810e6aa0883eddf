"""The command `train`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli import Force, Json, Seed
from hyperbaton.cli._common import print_json, say
from hyperbaton.cli._paths import READS, WRITES_ARTEFACT
from hyperbaton.cli._resources import MemoryOptions
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.models import KIND, MODELS, NextPositionModel, ReorderingModel

HELP_GROUP = "Phrases and models"
PLUGINS = MODELS


def chosen_options(words: Sequence[str]) -> dict[str, type]:
    """The options of the model named on the command line; none if it names no model."""
    places = [i for i, word in enumerate(words) if word in MODELS]
    # A word after a flag may be its value, or the flag may be a switch.
    place = next((i for i in places if i == 0 or not words[i - 1].startswith("-")), places[0] if places else None)
    return {"made": _NoModel if place is None else MODELS[words[place]]}


@dataclass
class _NoModel:
    """Placeholder if the command line names no known model; it has no options."""


def train(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="Name of the model; see 'hyperbaton models'.", autocompletion=MODELS.names),
    ],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text."), READS],
    target: Annotated[str, typer.Argument(metavar="TGT", help="Tokenized target text."), READS],
    links: Annotated[str, typer.Argument(metavar="LINKS", help="Word links, i-j, one line per sentence pair."), READS],
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Artefact to write."), WRITES_ARTEFACT],
    source_classes: Annotated[
        str | None, typer.Option(help="Classes of source words, written by 'hyperbaton classes'."), READS
    ] = None,
    target_classes: Annotated[str | None, typer.Option(help="Classes of target words."), READS] = None,
    source_tags: Annotated[str | None, typer.Option(help="Tags of the source words, parallel to SRC."), READS] = None,
    source_trees: Annotated[
        str | None, typer.Option(help="A tree for each source sentence, bracketed or .conllu; lines may be empty."), READS
    ] = None,
    made: ReorderingModel | _NoModel,
    force: Force = False,
    seed: Seed = 1,
    common: MemoryOptions,
    as_json: Json = False,
) -> None:
    """Train a reordering model on an aligned bitext.

    'hyperbaton train MODEL --help' shows the options of a model. A learner or a feature set may be given with its own
    options, NAME:OPTION=VALUE:OPTION=VALUE; see 'hyperbaton learners' and 'hyperbaton features'.

    Examples:

        hyperbaton train lexicalized train.zh train.en train.links -o lr --orientations five

        hyperbaton train mms train.zh train.en train.links -o mms --orientations five --learner psl:max-passes=100

        hyperbaton train maxent train.zh train.en train.links -o me --learner sgd:max-passes=5 --features context:far=20

        hyperbaton train sequence train.ja train.en train.links -o seq --source-tags train.ja.pos

        hyperbaton train pair web.ja web.en web.links -o pair --executor dask://10.0.0.1:8786 --shards 40

        hyperbaton train block_me train.zh train.en train.links -o block --source-tags train.zh.pos --source-trees zh.trees
    """
    if isinstance(made, _NoModel):
        made = MODELS[model]()
    elif not isinstance(made, MODELS[model]):
        raise OptionError(f"the model comes first: hyperbaton train {model} …")
    check_artefact(output, KIND, made.name, force=force)
    made.seed, made.threads, made.checkpoint = seed, common.n_threads, output.with_name(f"{output.name}.training")
    if common.in_shards and not (isinstance(made, NextPositionModel) and made.in_shards):
        raise OptionError(f"--executor and --shards are for the models pair and sequence, not {made.name}")
    if common.memory and not made.takes_scratch:
        able = ", ".join(name for name in MODELS.names() if MODELS[name].takes_scratch)
        raise OptionError(f"--memory is not for the model {made.name}, but for {able}")
    with common.open(output) as resources:
        how: Arguments = {"scratch": resources.scratch} if made.takes_scratch else {}
        if resources.sharding is not None:
            how["sharding"] = resources.sharding
        bitext = Bitext.read(source, target, links, scratch=resources.scratch)
        files = {
            "source_classes": source_classes,
            "target_classes": target_classes,
            "source_tags": source_tags,
            "source_trees": source_trees,
        }
        annotations = Annotations.read(files, bitext.source, bitext.target)
        made.fit(bitext, annotations, progress=resources.stage(f"train {made.name}").progress, **how)
        made.save(output)
    summary = {"model": made.name, **made.summary(), **made.costs}
    if as_json:
        print_json(summary)
    else:
        cost = f"{made.train_seconds_:.1f} s, {made.train_peak_mib_:.0f} MiB at most"
        say(f"{made.name}: {counted(summary['samples'], 'sample')}, {cost}", common.quiet)
