"""The text of an experiment: `[corpus]`, with files or a generator, and `[text]`, how systems process raw text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Self

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import option, to_mapping
from hyperbaton.corpus.clean import Cleaning
from hyperbaton.corpus.files import read_byte_lines
from hyperbaton.corpus.processing import SIDES, TextProcessing, TextSide
from hyperbaton.corpus.taggers import TAGGERS
from hyperbaton.corpus.tokenizers import TOKENIZERS, make_tokenizer
from hyperbaton.data import Language
from hyperbaton.run.cost import WORDS, Size
from hyperbaton.run.experiment import Experiment, without_none
from hyperbaton.run.keys import KeyTable
from hyperbaton.run.stage import SPLITS

BYTES = 6  # per word and blank in UTF-8, roughly, in any script
COLUMNS = ("source", "target", "links", "tags", "trees")


@dataclass(frozen=True)
class LineLimits:
    """Which lines of a part of the corpus are used."""

    skip: int = option(0, "number of lines to skip at the start", minimum=0)
    lines: int = option(0, "number of lines to take after that; 0 takes all", minimum=0)
    max_length: int = option(0, "drop pairs with more words than this on either side; 0 keeps all", minimum=0)

    def size(self, path: Path) -> int:
        """The lines of a file that are used, in sentences of usual length."""
        wanted = self.skip + self.lines if self.lines else None
        n_bytes = sum(map(len, islice(read_byte_lines(path), self.skip, wanted)))
        return -(-n_bytes // (BYTES * WORDS))


@dataclass(frozen=True)
class Tokenizing:
    """How raw text is tokenized; by default, texts are already tokenized."""

    source: str = option("none", "tokenizer of the source text")
    target: str = option("none", "tokenizer of the target text")
    source_language: str | None = option(None, "two-letter code of the source language, for its tokenizer")
    target_language: str | None = option(None, "two-letter code of the target language, for its tokenizer")

    @classmethod
    def read(cls, table: KeyTable) -> Self:
        """Read `[corpus.tokenize]`."""
        tokenizing = table.options(cls)
        for side in SIDES:
            name = table.choice(side, getattr(tokenizing, side), TOKENIZERS.names())
            language = getattr(tokenizing, f"{side}_language")
            if name != "none":  # the language may be given for the processing of raw text
                table.trying(partial(make_tokenizer, name, language), side if language is None else f"{side}-language")
            if language is not None:
                table.trying(partial(TextSide, language), f"{side}-language")
        return tokenizing


@dataclass(frozen=True)
class Tagging:
    """How tokens are tagged, if there are no files of tags."""

    source: str = option("", "tagger of the source text, with its options")


@dataclass(frozen=True)
class Amount:
    """How much text is generated."""

    sentences: int = option(10_000, "total number of sentence pairs", minimum=30)
    dev: int = option(300, "number of these for tuning", minimum=10)
    test: int = option(300, "number of these for testing", minimum=10)


@dataclass(frozen=True)
class Generating(Language, Amount):
    """How text is generated, if no files are given."""


@dataclass(frozen=True)
class Corpus:
    """The source of the text: files of each split, or a generator."""

    files: dict[str, dict[str, Path]] = field(default_factory=dict)  # split → column → file
    limits: dict[str, LineLimits] = field(default_factory=dict)
    generating: Generating | None = None
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

    def size(self) -> Size:
        """The size of each split, before cleaning."""
        if (amount := self.generating) is not None:
            return Size(amount.sentences - amount.dev - amount.test, amount.dev, amount.test)
        return Size(*(self.limits[split].size(self.files[split]["source"]) for split in SPLITS))

    def processing(self) -> JsonObject:
        """How the text is made, the same for all splits, as plain values."""
        values: JsonObject = {"clean": to_mapping(self.cleaning)}
        if self.generating is not None:
            return values | {"generate": to_mapping(self.generating)}
        values["tokenize"] = without_none(to_mapping(self.tokenizing))
        return values | ({"tag": to_mapping(self.tagging)} if self.tagging.source else {})

    def resolved(self) -> JsonObject:
        splits = {
            split: {column: str(path) for column, path in files.items()} | to_mapping(self.limits[split])
            for split, files in self.files.items()
        }
        return self.processing() | splits

    @classmethod
    def read(cls, table: KeyTable, experiment: Experiment) -> Self:
        """Read `[corpus]`."""
        root = experiment.folder / (table.text("root") or ".")
        generated = "generate" in table
        splits = {split: table.table(split) for split in SPLITS if split in table}
        generate, clean, tokenize, tag = map(table.table, ("generate", "clean", "tokenize", "tag"))
        table.done(["root", "generate", "clean", "tokenize", "tag", *SPLITS])
        cleaning, tagging = clean.options(Cleaning), tag.options(Tagging)
        if tagging.source:
            tag.trying(lambda: TAGGERS.make(tagging.source), "source")
            if generated:
                raise tag.error("source", "generated text has tags: leave out corpus.tag")
        if generated:
            if splits:
                raise table.error(next(iter(splits)), "corpus.generate and files exclude each other; remove one of them")
            for key in tokenize.rest:
                raise tokenize.error(key, "generated text is tokenized: leave out corpus.tokenize")
            amount = generate.options(Generating)
            if amount.dev + amount.test >= amount.sentences:
                raise generate.error("sentences", "must be greater than dev and test together")
            return cls(generating=amount, cleaning=cleaning)
        files, limits = {}, {}
        for split in SPLITS:
            if split not in splits:
                optional = ", ".join(COLUMNS[2:])
                raise table.error(split, f"missing; a table with source and target, and if there are any {optional}")
            part = splits[split]
            paths = {column: part.file_of(column, root, needed=column in SIDES) for column in COLUMNS}
            files[split] = {column: path for column, path in paths.items() if path is not None}
            limits[split] = part.options(LineLimits, COLUMNS)
            if tagging.source and "tags" in files[split]:
                raise part.error("tags", "corpus.tag and files of tags exclude each other; remove one of them")
        return cls(files, limits, None, cleaning, Tokenizing.read(tokenize), tagging)


@dataclass(frozen=True)
class RawTextOptions:
    """How systems process raw text; they translate tokenized text if `processing` is None."""

    processing: TextProcessing | None

    def resolved(self) -> JsonObject | None:
        return None if self.processing is None else {name: str(side) for name, side in self.processing.sides.items()}

    @classmethod
    def read(cls, table: KeyTable, experiment: Experiment) -> Self:
        """Read `[text]`; tokenizers are those of the corpus unless others are named."""
        corpus = experiment.options(Corpus)
        if not table.given:
            return cls(_implied_text(corpus))
        sides = [_read_side(table, name, corpus) for name in SIDES]
        table.done(SIDES)
        return cls(table.trying(lambda: TextProcessing(*sides), "target"))


def _read_side(table: KeyTable, name: str, corpus: Corpus) -> TextSide:
    written = table.take(name, str, "")
    side = table.trying(lambda: TextSide.parse(written), name)
    if side.casing != "none" and corpus.generating is not None:
        raise table.error(name, "generated text has no capitals: leave out casing")
    if side.placeholders and corpus.generating is not None:
        raise table.error(name, "generated text has no numbers: leave out placeholders")
    used = getattr(corpus.tokenizing, name)
    named = ":tokenizer=" in written
    if used != "none" and named and side.tokenizer not in ("none", used):
        raise table.error(name, f"the corpus is tokenized by {used}, so raw text must be, too")
    tagger = corpus.tagging.source if name == "source" else ""
    if tagger and side.tagger not in ("", tagger):
        raise table.error(name, f"the corpus is tagged by {tagger}, so raw text must be, too")
    if used != "none" or (corpus.generating is not None and not named):
        side = replace(side, tokenizer=used)
    return replace(side, tagger=side.tagger or tagger)


def _implied_text(corpus: Corpus) -> TextProcessing | None:
    """The processing of raw text implied by the tokenizers and the tagger of the corpus."""
    names = corpus.tokenizing
    if names.source == names.target == "none":
        return None
    source = names.source_language or TOKENIZERS[names.source].language_code
    target = names.target_language or TOKENIZERS[names.target].language_code
    return TextProcessing(TextSide(source, names.source, tagger=corpus.tagging.source), TextSide(target, names.target))
