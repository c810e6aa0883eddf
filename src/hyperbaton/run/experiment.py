"""The experiment file: one TOML file defines the corpus, the models, and how they are compared.

Everything is checked before any work starts. The options of stages are those of the commands (`[lm]` has those of
`hyperbaton lm`), the options of a model are the fields of its class. `docs/run.md` describes every table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from hyperbaton.align import ALIGNERS, WordAligner
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.memory import parse_memory
from hyperbaton.base.options import option, options_of, to_mapping
from hyperbaton.corpus.clean import Cleaning
from hyperbaton.corpus.processing import SIDES, TextProcessing, TextSide
from hyperbaton.corpus.taggers import TAGGERS
from hyperbaton.corpus.tokenizers import TOKENIZERS, make_tokenizer
from hyperbaton.data import Language
from hyperbaton.phrases import Extraction, Scoring
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.models import NamedModel, read_models
from hyperbaton.run.stage import SPLITS
from hyperbaton.run.stages import stage_modules
from hyperbaton.run.translation import Translation, read_translation

A = TypeVar("A")
B = TypeVar("B")

COLUMNS = ("source", "target", "links", "tags", "trees")


@dataclass(frozen=True)
class LineLimits:
    """Which lines of a part of the corpus are used."""

    skip: int = option(0, "number of lines to skip at the start", minimum=0)
    lines: int = option(0, "number of lines to take after that; 0 takes all", minimum=0)
    max_length: int = option(0, "drop pairs with more words than this on either side; 0 keeps all", minimum=0)


@dataclass(frozen=True)
class Tokenizing:
    """How raw text is tokenized; by default, texts are already tokenized."""

    source: str = option("none", "tokenizer of the source text")
    target: str = option("none", "tokenizer of the target text")
    source_language: str | None = option(None, "two-letter code of the source language, for its tokenizer")
    target_language: str | None = option(None, "two-letter code of the target language, for its tokenizer")


@dataclass(frozen=True)
class Tagging:
    """How tokens are tagged, if there are no files of tags."""

    source: str = option("", "tagger of the source text, with its options")


@dataclass(frozen=True)
class Generating:
    """How much text is generated, if no files are given."""

    sentences: int = option(10_000, "total number of sentence pairs", minimum=30)
    dev: int = option(300, "number of these for tuning", minimum=10)
    test: int = option(300, "number of these for testing", minimum=10)


@dataclass(frozen=True)
class Corpus:
    """The source of the text: files of each split, or a generator."""

    files: dict[str, dict[str, Path]] = field(default_factory=dict)  # split → column → file
    limits: dict[str, LineLimits] = field(default_factory=dict)
    generating: Generating | None = None
    language: Language | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)
    tokenizing: Tokenizing = field(default_factory=Tokenizing)
    tagging: Tagging = field(default_factory=Tagging)

    def has(self, column: str) -> bool:
        """Whether every split has this column."""
        if self.generating is not None:
            return True
        if column == "tags" and (self.tagging.source or TOKENIZERS[self.tokenizing.source].has_tags):
            return True
        return all(column in files for files in self.files.values())


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment file, checked, with all defaults filled in."""

    file: str
    title: str
    seed: int
    corpus: Corpus
    aligner: WordAligner | None
    extraction: Extraction
    scoring: Scoring
    models: dict[str, NamedModel]
    translation: Translation
    text: TextProcessing | None = None  # for systems that translate raw text
    memory: str | None = None  # for all stages together; results do not depend on it
    own: JsonObject = field(default_factory=dict)  # the options of stages that declare some, by stage

    def resolved(self) -> JsonObject:
        """The experiment as plain values, in the form of an experiment file."""
        corpus: JsonObject = {"clean": to_mapping(self.corpus.cleaning)}
        if self.corpus.generating is not None and self.corpus.language is not None:
            corpus["generate"] = to_mapping(self.corpus.generating) | to_mapping(self.corpus.language)
        for split, files in self.corpus.files.items():
            named = {column: str(path) for column, path in files.items()}
            corpus[split] = named | to_mapping(self.corpus.limits[split])
        if self.corpus.files:
            corpus["tokenize"] = _without_none(to_mapping(self.corpus.tokenizing))
        if self.corpus.tagging.source:
            corpus["tag"] = to_mapping(self.corpus.tagging)
        align = {} if self.aligner is None else {"aligner": ALIGNERS.name_of(self.aligner)} | to_mapping(self.aligner)
        return {
            "title": self.title,
            "seed": self.seed,
            **({} if self.memory is None else {"memory": self.memory}),
            "corpus": corpus,
            "align": _without_none(align),
            "extract": to_mapping(self.extraction) | to_mapping(self.scoring),
            "models": {
                **{name: model.resolved() for name, model in self.models.items()},
                **{name: rules.resolved() for name, rules in self.translation.rules.items()},
            },
            "translation": self.translation.resolved(),
            **({} if self.text is None else {"text": {name: str(side) for name, side in self.text.sides.items()}}),
            **{stage: _without_none(to_mapping(options)) for stage, options in self.own.items()},
        }


def read_experiment(path: Path, settings: Sequence[str] = ()) -> Experiment:
    """Read and check an experiment file.

    Arguments:
        settings: `key=value`, to replace or add values of the file; keys are written like `corpus.root`.
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
    except ValueError as error:  # from TOML, from UTF-8, or from a number with thousands of digits
        raise InputError(f"not a TOML file: {error}", path) from error
    except RecursionError as error:
        raise InputError("tables or lists are nested too deeply", path) from error
    for setting in settings:
        _set(values, setting)
    return parse_experiment(values, str(path), path.parent)


def parse_experiment(values: JsonObject, file: str, folder: Path) -> Experiment:
    """Check the values of an experiment file; relative file names are relative to `folder`."""
    top = KeyTable(file, "", values)
    title = top.take("title", str, Path(file).stem)
    seed = top.take("seed", int, 1, minimum=0)
    memory = top.take("memory", str, "") or None
    if memory is not None:
        top.trying(lambda: parse_memory(memory, "it"), "memory")
    corpus = _read_corpus(top.table("corpus"), folder)
    aligner = _read_aligner(top.table("align"))
    extract = top.table("extract")
    extraction, scoring = _two(extract, Extraction, Scoring)
    models, rules = read_models(top.table("models"), corpus.has)
    translation = read_translation(top.table("translation"), models, rules)
    text = _read_text(top.table("text"), corpus) if "text" in top else _implied_text(corpus)
    offered = {kind: module for kind, module in stage_modules().items() if hasattr(module, "Options")}
    used = {kind: module.Options for kind, module in offered.items() if kind in top or getattr(module, "ALWAYS", False)}
    own = {kind: top.table(kind).options(options) for kind, options in used.items()}
    top.done(["title", "seed", "memory", "corpus", "align", "extract", "models", "translation", "text", *offered])
    needs_aligner = not corpus.has("links")
    return Experiment(
        file,
        title,
        seed,
        corpus,
        aligner if needs_aligner else None,
        extraction,
        scoring,
        models,
        translation,
        text,
        memory,
        own,
    )


def _read_corpus(table: KeyTable, folder: Path) -> Corpus:
    keys = ["root", "generate", "clean", "tokenize", "tag", *SPLITS]
    root = folder / (table.text("root") or ".")
    generated = "generate" in table
    split_tables = {split: table.table(split) for split in SPLITS if split in table}
    generate, clean, tokenize = table.table("generate"), table.table("clean"), table.table("tokenize")
    tag = table.table("tag")
    table.done(keys)
    cleaning = clean.options(Cleaning)
    tagging = tag.options(Tagging)
    if tagging.source:
        tag.trying(lambda: TAGGERS.make(tagging.source), "source")
        if generated:
            raise tag.error("source", "generated text has tags: leave out corpus.tag")
    if generated:
        if split_tables:
            raise table.error(next(iter(split_tables)), "corpus.generate and files exclude each other; remove one of them")
        generating, language = _two(generate, Generating, Language)
        if generating.dev + generating.test >= generating.sentences:
            raise generate.error("sentences", "must be greater than dev and test together")
        return Corpus(generating=generating, language=language, cleaning=cleaning)
    files, limits = {}, {}
    for split in SPLITS:
        if split not in split_tables:
            raise table.error(
                split, f"missing; a table with source and target, and if there are any {', '.join(COLUMNS[2:])}"
            )
        part = split_tables[split]
        paths = {column: part.file_of(column, root, needed=column in COLUMNS[:2]) for column in COLUMNS}
        files[split] = {column: path for column, path in paths.items() if path is not None}
        limits[split] = part.options(LineLimits, COLUMNS)
        if tagging.source and "tags" in files[split]:
            raise part.error("tags", "corpus.tag and files of tags exclude each other; remove one of them")
    tokenizing = tokenize.options(Tokenizing)
    for side in ("source", "target"):
        name = tokenize.choice(side, getattr(tokenizing, side), TOKENIZERS.names())
        language = getattr(tokenizing, f"{side}_language")
        if name != "none":  # the language may be given for the processing of raw text
            tokenize.trying(partial(make_tokenizer, name, language), side if language is None else f"{side}-language")
        if language is not None:
            tokenize.trying(partial(TextSide, language), f"{side}-language")
    return Corpus(files, limits, cleaning=cleaning, tokenizing=tokenizing, tagging=tagging)


def _read_text(table: KeyTable, corpus: Corpus) -> TextProcessing:
    """The processing of raw text; tokenizers are those of the corpus unless others are named."""
    sides = []
    for name in SIDES:
        written = table.take(name, str, "")
        side = table.trying(lambda written=written: TextSide.parse(written), name)  # type: ignore[misc]
        if side.casing != "none" and corpus.generating is not None:
            raise table.error(name, "generated text has no capitals: leave out casing")
        if side.placeholders and corpus.generating is not None:
            raise table.error(name, "generated text has no numbers: leave out placeholders")
        used = getattr(corpus.tokenizing, name)
        if used != "none" and side.tokenizer not in ("none", used):
            raise table.error(name, f"the corpus is tokenized by {used}, so raw text must be, too")
        side = replace(side, tokenizer=used if side.tokenizer == "none" else side.tokenizer)
        tagger = corpus.tagging.source if name == "source" else ""
        if tagger and side.tagger not in ("", tagger):
            raise table.error(name, f"the corpus is tagged by {tagger}, so raw text must be, too")
        sides.append(replace(side, tagger=side.tagger or tagger))
    table.done(SIDES)
    text: TextProcessing = table.trying(lambda: TextProcessing(*sides), "target")
    return text


def _implied_text(corpus: Corpus) -> TextProcessing | None:
    """The processing of raw text implied by the tokenizers and the tagger of the corpus."""
    tokenizing = corpus.tokenizing
    if tokenizing.source == tokenizing.target == "none":
        return None
    return TextProcessing(
        TextSide(
            tokenizing.source_language or TOKENIZERS[tokenizing.source].language_code,
            tokenizing.source,
            tagger=corpus.tagging.source,
        ),
        TextSide(tokenizing.target_language or TOKENIZERS[tokenizing.target].language_code, tokenizing.target),
    )


def _read_aligner(table: KeyTable) -> WordAligner:
    name = table.choice("aligner", table.take("aligner", str, "hmm"), ALIGNERS.names())
    if any(opt.flag == "for" for opt in options_of(ALIGNERS[name])):
        table.rest.setdefault("for", "phrases")
    return table.options(ALIGNERS[name], ["aligner"])


def _two(table: KeyTable, first: type[A], second: type[B]) -> tuple[A, B]:
    """A table with the options of two classes."""
    own = {opt.name for opt in options_of(first)}
    rest = {key: table.rest.pop(key) for key in list(table.rest) if key not in own}
    made = table.options(first)
    table.rest = rest
    return made, table.options(second, [opt.flag for opt in options_of(first)])


def _set(values: JsonObject, setting: str) -> None:
    """Insert one `key=value` into the values of a file."""
    name, equals, text = setting.partition("=")
    if not equals or not name:
        raise OptionError(f"--set expects KEY=VALUE, for example corpus.train.lines=2000, not {setting!r}")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except RecursionError:
        raise OptionError(f"--set {name}: tables or lists are nested too deeply") from None
    except ValueError:
        value = text  # a string whose quotes were removed by the shell
    *tables, key = name.split(".")
    for part in tables:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise OptionError(f"--set {setting}: {part} is not a table")
    values.pop(key.replace("_", "-"), None)
    values.pop(key.replace("-", "_"), None)
    values[key] = value


def _without_none(values: JsonObject) -> JsonObject:
    return {key: value for key, value in values.items() if value is not None}
