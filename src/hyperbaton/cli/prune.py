from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError
from hyperbaton.base.options import from_mapping, options_of, to_mapping
from hyperbaton.base.outputs import check_artefact
from hyperbaton.base.store import Artefact
from hyperbaton.cli._common import print_table
from hyperbaton.cli._parameters import READS, Argument, Flag, Force, Json, Writes
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import shown
from hyperbaton.phrases import ExtractedPhrases, Extraction, Pruning, RuleTable, Scoring
from hyperbaton.phrases import prune as prune_phrases
from hyperbaton.phrases.extraction import KIND, STORED
from hyperbaton.phrases.pruning import prune_rules
from hyperbaton.phrases.rules import KIND as RULES
from hyperbaton.phrases.rules import STORED as STORED_RULES

T = TypeVar("T")


def prune(
    phrases: Annotated[Path, Argument("PHRASES", "Output of 'hyperbaton extract -o'."), READS],
    source: Annotated[str, Argument("SRC", "The source text that it was extracted from."), READS],
    target: Annotated[str, Argument("TGT", "The target text."), READS],
    *,
    pruning: Pruning,
    output: Annotated[Path, Flag("Artefact to write.", "-o"), Writes("artefact", updates="phrases")],
    force: Force = False,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Drop phrase pairs that are not worth keeping: insignificant ones, rare ones, all but the best.

    Pairs are tested with Fisher's exact test on the numbers of sentence pairs that contain each phrase and both; rules of
    'extract --hierarchical' are tested on the counts of their table. With --relative-entropy, pairs that shorter ones
    compose nearly as well are also dropped. Sizes before and after are printed.

    Examples:

        hyperbaton prune phrases train.zh train.en -o pruned
        hyperbaton prune phrases a.zh a.en -o pruned --significance a+e --top 20
        hyperbaton prune phrases a.zh a.en -o pruned --relative-entropy 1
        hyperbaton prune rules train.zh train.en -o pruned --top 20
    """
    is_rules = RuleTable.is_saved_at(phrases)
    check_artefact(output, RULES if is_rules else KIND, force=force)
    artefact = Artefact(phrases, STORED_RULES if is_rules else STORED)
    options, n_sentences = artefact.options, artefact.details.get("n_sentences")
    bitext = Bitext.read(source, target)
    if n_sentences is not None and len(bitext) != n_sentences:
        what = f"has {counted(len(bitext), 'line')}, but {phrases} was extracted from {n_sentences}; give the same text"
        raise InputError(what, shown(source), min(len(bitext), n_sentences) + 1)
    more = {**to_mapping(pruning), "min-count": max(options.get("min-count", 1), pruning.min_count)}
    if is_rules:
        rules = RuleTable.load(phrases)
        rows = [_rule_row("before", rules, phrases)]  # the output may replace it
        fewer = prune_rules(rules, pruning, threads=common.n_threads)
        fewer.save(output, inputs={"bitext": bitext.signature()}, options=more, details={"n_sentences": len(bitext)})
        print_table([*rows, _rule_row("after", fewer, output)], as_json)
        return
    extracted = ExtractedPhrases.load(phrases)
    with common.bars() as bars:
        smaller = prune_phrases(extracted, bitext, pruning, threads=common.n_threads, progress=bars.stage("count"))
    extraction, scoring = _options(Extraction, options), _options(Scoring, options)
    before = _row("before", extracted, phrases)  # the output may replace it
    smaller.save(output, bitext, extraction, scoring, pruning=more)
    print_table([before, _row("after", smaller, output)], as_json)


def _options(cls: type[T], options: Mapping[str, object]) -> T:
    """Those options of an artefact that belong to one class."""
    return from_mapping(cls, {option.flag: options[option.flag] for option in options_of(cls)})


def _row(name: str, extracted: ExtractedPhrases, path: Path) -> dict[str, object]:
    return {
        "phrases": name,
        "pairs": len(extracted.table),
        "source phrases": len(extracted.table.source),
        "target phrases": len(extracted.table.target),
        "samples": len(extracted.orientations),
        "MiB": _size(path),
    }


def _rule_row(name: str, rules: RuleTable, path: Path) -> dict[str, object]:
    return {
        "rules": name,
        "number": len(rules),
        "source sides": len(rules.table.source),
        "target sides": len(rules.table.target),
        "MiB": _size(path),
    }


def _size(path: Path) -> float:
    return round(sum(file.stat().st_size for file in path.iterdir()) / 2**20, 1)
