"""Assemble a system from parts on disk: phrases, language models, reordering models and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.scratch import Scratch
from hyperbaton.base.store import Artefact, is_artefact
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.decode.locations import Location, SystemPart
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.reordering import Reordering
from hyperbaton.decode.scorers import ModelUse, ReorderingTable
from hyperbaton.decode.sparse import Labels, SparseReordering
from hyperbaton.decode.system import System, open_table
from hyperbaton.lm import LanguageModel
from hyperbaton.models import OrientationModel, load_model
from hyperbaton.phrases import ExtractedPhrases, PhraseTable, ReorderingType, RuleTable, extraction
from hyperbaton.phrases.moses import read_phrase_table, read_reordering_table
from hyperbaton.phrases.pair_values import DistinctRows
from hyperbaton.phrases.reordering import probability_pieces
from hyperbaton.phrases.rules import SOURCE_GAPS, TARGET_GAPS, read_rules
from hyperbaton.phrases.table import KIND as TABLE_KIND

AnyPath = str | PathLike[str]
T = TypeVar("T")

# Memory for a piece of a counted reordering table: the whole table can be larger than memory.
_PIECE = 1 << 26


def assemble(
    phrases: AnyPath | None,
    lms: Sequence[AnyPath] = (),
    reordering: Mapping[str, str] | None = None,
    *,
    weights: Mapping[str, float | list[float]] | None = None,
    options: Decoding | None = None,
    scaled: Mapping[str, float] | None = None,
    inside: Sequence[str] = (),
    per_class: Sequence[str] = (),
    rules: AnyPath | None = None,
) -> System:
    """Build a system from artefacts, to which it refers when it is saved, and Moses' text files.

    Arguments:
        phrases: output of `hyperbaton extract`, a saved phrase table, or a Moses text table.
        lms: output of `hyperbaton lm`, or ARPA files.
        reordering: name → a trained model's folder; or the type of a lexicalized table, which is counted from the phrases
            (`hier-mslr-bidirectional-fe`), read from a text table of Moses (`hier-mslr-bidirectional-fe:FILE`), or built
            from trained lexicalized models, one for each side (`hier-mslr-bidirectional-fe:BEFORE,AFTER`). Other
            orientation models are averaged over the samples of each phrase pair in a text
            (`hier-mslr-bidirectional-fe:BEFORE,AFTER:SOURCE,TARGET,LINKS`). `sparse:hier-mslr` are sparse features of the
            most frequent words (`sparse:hier-mslr:words=200`), and of word classes, if files of classes are given
            (`:source-classes=FILE:target-classes=FILE`).
        scaled: name → β of models that scale the distance (NI11 eq. 7).
        inside: names of jump models that are also charged inside phrase pairs.
        per_class: names of orientation models with a weight for each class; tables always have them.
        rules: output of `hyperbaton extract --hierarchical`, or a Moses rule table, instead of phrases.
    """
    located: list[SystemPart] = []

    def keep(part: T, location: Location | None) -> T:
        if location is not None:
            located.append(SystemPart(part, location))
        return part

    table: PhraseTable | RuleTable
    if rules is not None:
        table = load_rules(rules)
        keep(table.table, Location.of(rules, "table") if is_artefact(rules) else None)
    elif phrases is not None:
        table = keep(load_phrases(phrases), phrases_location(phrases))
    else:
        raise OptionError("a system needs phrases or rules")
    language_models = [
        keep(LanguageModel.load(path) if Path(path).is_dir() else LanguageModel.read_arpa(path), _location(path))
        for path in lms
    ]
    system = System.of(table, language_models, {}, None, options, located=located)
    system = extend(system, reordering or {}, scaled=scaled, inside=inside, per_class=per_class, phrases=phrases)
    return system.with_weights(weights or {})


def extend(
    system: System,
    reordering: Mapping[str, str],
    *,
    scaled: Mapping[str, float] | None = None,
    inside: Sequence[str] = (),
    per_class: Sequence[str] = (),
    phrases: AnyPath | None = None,
) -> System:
    """Add reordering models to a system, which keeps its parts and weights; the arguments are those of `assemble`."""
    for name in [*(scaled or {}), *inside, *per_class]:
        if name not in reordering:
            raise OptionError(f"no reordering model {name!r}")
    if phrases is None:
        phrases = next((str(part.location.path) for part in system.located if part.part is system.table), "")
    models = {
        name: _reordering(where, phrases, system.table, (scaled or {}).get(name), name in inside)
        for name, where in reordering.items()
    }
    models |= {name: models[name].with_class_weights(name) for name in per_class}
    locations = {name: _location(where) for name, where in reordering.items()}
    located = [SystemPart(models[name].part, location) for name, location in locations.items() if location is not None]
    return system.with_reordering(models, located=located)


def load_phrases(path: AnyPath) -> PhraseTable:
    """The phrase table of an artefact or a text file."""
    location = phrases_location(path)
    table = read_phrase_table(path) if location is None else open_table(location)
    if len(table) == 0:
        raise InputError("contains no phrase pairs", path)
    return table


def load_rules(path: AnyPath) -> RuleTable:
    """The rule table of an artefact or of Moses."""
    rules = RuleTable.load(path) if Path(path).is_dir() else read_rules(path)
    if len(rules) == 0:
        raise InputError("contains no rules", path)
    return rules


def phrases_location(path: AnyPath) -> Location | None:
    """The location of an artefact's phrase table; None if the path is a text file."""
    if is_artefact(path, extraction.KIND):
        return Location.of(path, "table")
    return Location.of(Artefact(path, TABLE_KIND).path, TABLE_KIND) if is_artefact(path) else None


def _location(path: AnyPath) -> Location | None:
    return Location.of(path) if is_artefact(path) else None


def _sparse(where: str, table: PhraseTable) -> SparseReordering:
    _, orientations, *settings = where.split(":")
    given = dict(setting.partition("=")[::2] for setting in settings)
    unknown = [key for key in given if key not in ("words", "source-classes", "target-classes")]
    if unknown or not given.get("words", "80").isdigit():
        raise OptionError(
            f"{where}: expected sparse:ORIENTATIONS, then, each after a colon, words=N, source-classes=FILE or "
            "target-classes=FILE"
        )
    vocabularies = []
    joint = table.counts[:, 2:].max(axis=1, initial=1)  # tables may have none
    n_words = int(given.get("words", 80))
    for side, phrases, counts in (
        ("source", table.source, np.bincount(table.sources, joint, len(table.source))),
        ("target", table.target, np.bincount(table.targets, joint, len(table.target))),
    ):
        words, _ = phrases.gather()
        frequency = np.bincount(words, np.repeat(counts, phrases.lengths), len(phrases.vocabulary))
        frequency[np.isin(phrases.vocabulary.words(), (*SOURCE_GAPS, *TARGET_GAPS))] = 0
        if n_words:
            vocabularies.append(Labels.most_frequent(side, phrases.vocabulary, frequency, n_words))
        if (file := given.get(f"{side}-classes")) is not None:
            classes = WordClasses.read(file, phrases.vocabulary)
            pairs = zip(phrases.vocabulary.words(), classes.classes.tolist(), strict=True)
            vocabularies.append(Labels.of_clusters(side, "classes", {word: str(c) for word, c in pairs if c}))
    if not vocabularies:
        raise OptionError(f"{where}: no words and no classes, so there is no feature")
    return SparseReordering(orientations, tuple(vocabularies))


def _model_probabilities(
    where: str, kind: ReorderingType, folders: Sequence[str], bitext: Bitext | None, table: PhraseTable
) -> npt.NDArray[np.float32]:
    """A table of the probabilities of each phrase pair under orientation models, averaged over a text if one is given."""
    models = [load_model(folder) for folder in folders]
    if len(models) != len(kind.sides):
        raise OptionError(f"{where}: {kind.name} needs {len(kind.sides)} models, for {' and '.join(kind.sides)}")
    blocks = []
    for folder, model, side in zip(folders, models, kind.sides, strict=True):
        if not isinstance(model, OrientationModel) or (model.moses_table(kind.direction), model.side) != (kind.name, side):
            raise OptionError(
                f"{folder}: not an orientation model with orientations and conditioning of {kind.name} and --side {side}, "
                "over all classes, without tags and coverage"
            )
        if bitext is None and not model.is_table:
            raise OptionError(
                f"{folder}: {model.name} looks at context, which a table averages over a linked text: add "
                ":SOURCE,TARGET,LINKS"
            )
        blocks.append(model.table_probabilities(table, bitext))
    return np.concatenate(blocks, axis=1)


def _reordering(where: str, phrases: AnyPath, table: PhraseTable, beta: float | None, inside: bool) -> Reordering:
    if is_artefact(where):
        model = load_model(where)
        return ModelUse(model, inside=inside) if beta is None else ModelUse(model, "scaled", beta)
    if beta is not None or inside:
        raise OptionError(f"{where}: not a trained model; --scaled and --inside do not apply to tables")
    if where.startswith("sparse:"):
        return _sparse(where, table)
    name, _, file = where.partition(":")
    try:
        kind = ReorderingType.parse(name)
    except OptionError as error:
        raise OptionError(
            f"{where}: neither a trained model nor a type like hier-mslr-bidirectional-fe ({error})"
        ) from error
    folders, _, texts = file.partition(":")
    if file and all(map(is_artefact, folders.split(","))):
        if texts and texts.count(",") != 2:
            raise OptionError(f"{where}: expected a text of three files, SOURCE,TARGET,LINKS")
        bitext = Bitext.read(*texts.split(",")) if texts else None
        return ReorderingTable(kind, _model_probabilities(where, kind, folders.split(","), bitext, table))
    if file:
        return ReorderingTable(kind, read_reordering_table(file, kind, table))
    if not phrases or not is_artefact(phrases, extraction.KIND):
        raise OptionError(
            f"a {kind.name} table can only be counted from the output of 'hyperbaton extract -o'; give {name}:FILE or, for "
            "rules, trained models"
        )
    extracted, min_count = ExtractedPhrases.load(phrases), Artefact(phrases, extraction.STORED).options["min-count"]
    pieces = probability_pieces(extracted.orientations, kind, Scratch(_PIECE), min_count=min_count)
    return ReorderingTable(kind, DistinctRows.of(pieces))
