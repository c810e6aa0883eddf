from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli._common import print_result
from hyperbaton.cli._parameters import READS, WRITES_ARTEFACT, Argument, Flag, Force, Json, Seed, names_plugin
from hyperbaton.cli._resources import MemoryOptions
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.models import KIND, MODELS, ReorderingModel

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
    model: Annotated[str, Argument("MODEL", "Name of the model; see 'hyperbaton list models'."), names_plugin(MODELS)],
    source: Annotated[str, Argument("SRC", "Tokenized source text."), READS],
    target: Annotated[str, Argument("TGT", "Tokenized target text."), READS],
    links: Annotated[str, Argument("LINKS", "Word links, i-j, one line per sentence pair."), READS],
    *,
    output: Annotated[Path, Flag("Artefact to write.", "-o"), WRITES_ARTEFACT],
    source_classes: Annotated[str | None, Flag("Classes of source words, written by 'hyperbaton classes'."), READS] = None,
    target_classes: Annotated[str | None, Flag("Classes of target words."), READS] = None,
    source_tags: Annotated[str | None, Flag("Tags of the source words, parallel to SRC."), READS] = None,
    source_trees: Annotated[
        str | None, Flag("A tree for each source sentence, bracketed or .conllu; lines may be empty."), READS
    ] = None,
    made: ReorderingModel | _NoModel,
    force: Force = False,
    seed: Seed = 1,
    common: MemoryOptions,
    as_json: Json = False,
) -> None:
    """Train a reordering model on an aligned bitext.

    'hyperbaton train MODEL --help' shows the options of a model. A learner or a feature set may be given with its own
    options, NAME:OPTION=VALUE:OPTION=VALUE; see 'hyperbaton list learners' and 'hyperbaton list features'.

    Examples:

        hyperbaton train lexicalized a.zh a.en a.links -o lr --orientations five
        hyperbaton train mms a.zh a.en a.links -o mms --learner psl:max-passes=100
        hyperbaton train maxent a.zh a.en a.links -o me --features context:far=20
        hyperbaton train sequence a.ja a.en a.links -o seq --source-tags a.ja.pos
        hyperbaton train block_me a.zh a.en a.links -o block --source-trees a.zh.trees
    """
    if isinstance(made, _NoModel):
        made = MODELS[model]()
    elif not isinstance(made, MODELS[model]):
        raise OptionError(f"the model comes first: hyperbaton train {model} …")
    check_artefact(output, KIND, made.name, force=force)
    made.seed, made.threads, made.checkpoint = seed, common.n_threads, output.with_name(f"{output.name}.training")
    if common.memory and not made.takes_scratch:
        able = ", ".join(name for name in MODELS.names() if MODELS[name].takes_scratch)
        raise OptionError(f"--memory is not for the model {made.name}, but for {able}")
    with common.open(output) as resources:
        storage: Arguments = {"scratch": resources.scratch} if made.takes_scratch else {}
        bitext = Bitext.read(source, target, links, scratch=resources.scratch)
        files = {
            "source_classes": source_classes,
            "target_classes": target_classes,
            "source_tags": source_tags,
            "source_trees": source_trees,
        }
        annotations = Annotations.read(files, bitext.source, bitext.target)
        made.fit(bitext, annotations, progress=resources.stage(f"train {made.name}").progress, **storage)
        made.save(output)
    summary = {"model": made.name, **made.summary(), **made.costs}
    cost = f"{made.train_seconds_:.1f} s, {made.train_peak_mib_:.0f} MiB at most"
    print_result(summary, f"{made.name}: {counted(summary['samples'], 'sample')}, {cost}", as_json, common.quiet)
