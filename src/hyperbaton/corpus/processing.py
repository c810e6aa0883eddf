"""Processing of raw text on either side of a system: sentence splitting, tokens, case, and back to text.

One side is written `en` or `en:tokenizer=sacremoses:casing=truecase`: the language's two-letter code, then options. The
tagger comes last, since its options follow: `de:tagger=spacy:model=de_core_news_sm`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os import PathLike

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import Form, Layout, joined, within
from hyperbaton.base.options import (
    CheckedOptions,
    from_mapping,
    option,
    options_of,
    parse_settings,
    settings_of,
    to_mapping,
)
from hyperbaton.base.store import Arrays, Kind, group, read_artefact, save
from hyperbaton.corpus.casing import CASINGS, Casing, capitalize
from hyperbaton.corpus.files import AnyPath
from hyperbaton.corpus.numbers import rewrite_number
from hyperbaton.corpus.placeholders import Protecting, generalize
from hyperbaton.corpus.raw import read_raw
from hyperbaton.corpus.taggers import TAGGERS, Tagger
from hyperbaton.corpus.text import Text, Vocabulary
from hyperbaton.corpus.tokenizers import TOKENIZERS, Tokenizer, make_tokenizer, tokenizer_for

KIND = "text-processing"
SIDES = ("source", "target")
# The forms of `TextProcessing.arrays` and `TextProcessing.as_json`.
LAYOUT: Layout = joined(within(f"text.{side}?", Vocabulary.LAYOUT) for side in SIDES)
FORM: Form = dict.fromkeys(SIDES, dict)
STORED = Kind(KIND, LAYOUT, {"details": {"text": FORM}})

_shared_tokenizer, _shared_tagger = lru_cache(16)(make_tokenizer), lru_cache(8)(TAGGERS.make)


@dataclass(frozen=True)
class TextSide(CheckedOptions):
    """The raw text of one language: its tokenizer, and the treatment of letter case.

    >>> TextSide.parse("en:tokenizer=sacremoses:casing=lowercase")
    TextSide(language='en', tokenizer='sacremoses', casing='lowercase', escapes=False, placeholders=False, tagger='')
    >>> str(TextSide("de")), TextSide.parse("de:tagger=spacy:model=de_core_news_sm").tagger
    ('de:tokenizer=sacremoses', 'spacy:model=de_core_news_sm')
    """

    language: str = option("", "two-letter code; decides where sentences end and how tokens are joined")
    tokenizer: str = option("", "name of the tokenizer; none splits at blanks [default: that of the language]")
    casing: str = option("none", "none, lowercase, or truecase as learned from training text", choices=CASINGS)
    escapes: bool = option(False, "the training text has the escapes of Moses' tokenizer (&apos;)")
    placeholders: bool = option(False, "the training text has @number@ and @address@ in place of numbers and addresses")
    tagger: str = option("", "tagger of the tokens, with its options; without one, tags are those of the tokenizer")
    learned: Casing | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tagger:
            TAGGERS.make(self.tagger)
        if self.language and not (self.language.isascii() and self.language.isalpha() and 2 <= len(self.language) <= 3):
            raise OptionError(f"a language is a code like en, not {self.language!r}")
        if not self.tokenizer:
            object.__setattr__(self, "tokenizer", tokenizer_for(self.language))
        _ = TOKENIZERS[self.tokenizer]

    @classmethod
    def parse(cls, text: str) -> TextSide:
        """Read `language:option=value:…`."""
        side, marked, tagger = text.partition(":tagger=")
        language, *settings = side.split(":")
        return parse_settings(cls, [f"language={language}", *settings, *([f"tagger={tagger}"] if marked else [])])

    def __str__(self) -> str:
        return ":".join([self.language, *settings_of(replace(self, language=""))])

    def learn(self, text: Text) -> TextSide:
        """This side with the usual spelling of words, learned from tokenized text with its capitals."""
        if not text.n_tokens:
            raise InputError("there are no words to learn the casing from", text.path)
        return replace(self, learned=Casing.learn(text))

    def make_tokenizer(self) -> Tokenizer:
        """The tokenizer, for this language if it has several; shared by all callers, on any thread."""
        known = {opt.name for opt in options_of(TOKENIZERS[self.tokenizer])}
        return _shared_tokenizer(self.tokenizer, self.language if "language" in known else None, escapes=self.escapes)

    def read(self, text: AnyPath | Sequence[str], n_processes: int = 1) -> Text:
        """Tokenize a raw text, the lines of a file or of a list, without a change of case."""
        tokenizer = self.make_tokenizer()
        if self.placeholders:
            tokenizer = Protecting(tokenizer)
        return read_raw(text, tokenizer, n_processes=n_processes)[0]

    @property
    def has_tags(self) -> bool:
        """Whether tokens have tags, by the tagger or the tokenizer."""
        return bool(self.tagger) or TOKENIZERS[self.tokenizer].has_tags

    def make_tagger(self) -> Tagger | None:
        """The tagger, shared by all callers, on any thread; None if tags come from the tokenizer, if it has any."""
        return _shared_tagger(self.tagger) if self.tagger else None

    def as_trained(self, tokens: Sequence[str]) -> list[str]:
        """Tokens in the case of the system's training text."""
        if self.casing == "lowercase":
            return [token.lower() for token in tokens]
        return list(tokens) if self.casing == "none" or self.learned is None else self.learned.truecase(tokens)

    def as_written(self, tokens: Sequence[str], *, capital: bool = True) -> list[str]:
        """The system's output tokens in the case of ordinary text; `capital` for the first word."""
        if self.casing == "none":
            return list(tokens)
        cased = self.learned.recase(tokens) if self.casing == "lowercase" and self.learned is not None else tokens
        return capitalize(cased) if capital else list(cased)


@dataclass(frozen=True)
class TextProcessing:
    """Both sides of a system."""

    source: TextSide = field(default_factory=TextSide)
    target: TextSide = field(default_factory=TextSide)

    def __post_init__(self) -> None:
        if self.source.placeholders != self.target.placeholders:
            raise OptionError("placeholders must be set on both sides or on neither")

    @classmethod
    def of(cls, languages: Languages) -> TextProcessing:
        """The processing of texts in two languages, each a code or `language:option=value:…`."""
        if isinstance(languages, TextProcessing):
            return languages
        if isinstance(languages, str) or len(languages) != 2:
            raise OptionError(f"languages are two codes such as ('de', 'en'), not {languages!r}")
        return cls(*map(TextSide.parse, languages))

    def read(
        self, source: AnyPath | Sequence[str], target: AnyPath | Sequence[str], n_processes: int = 1
    ) -> tuple[Text, Text, TextProcessing]:
        """Two raw texts as tokens in the form for training, and this processing with the spellings learned from them.

        Spellings that are learned already are used, so that another text gets those of the training text.
        """
        texts = [side.read(text, n_processes) for side, text in zip(self.sides.values(), (source, target), strict=True)]
        sides = [
            side if side.casing == "none" or side.learned is not None else side.learn(text)
            for side, text in zip(self.sides.values(), texts, strict=True)
        ]
        for n, side in enumerate(sides):
            if side.casing != "none":
                cased = Text.of([" ".join(side.as_trained(tokens)) for tokens in texts[n]])
                texts[n] = replace(texts[n], tokens=cased.tokens, vocabulary=cased.vocabulary)
        src, tgt = generalize(*texts) if self.placeholders else texts
        return src, tgt, TextProcessing(*sides)

    @property
    def sides(self) -> dict[str, TextSide]:
        return {"source": self.source, "target": self.target}

    @property
    def pair(self) -> str:
        """Its languages, such as `de-en`."""
        return f"{self.source.language}-{self.target.language}"

    @property
    def changes_case(self) -> bool:
        """Whether the system is trained on a case other than that of ordinary text."""
        return any(side.casing != "none" for side in self.sides.values())

    @property
    def placeholders(self) -> bool:
        """Whether the system is trained with placeholders for numbers and addresses."""
        return self.source.placeholders

    @property
    def changes_words(self) -> bool:
        """Whether the system's training text has words that differ from the tokens of ordinary text."""
        return self.changes_case or self.placeholders or any(side.escapes for side in self.sides.values())

    def as_written(self, value: str) -> str:
        """A number or an address of the source in the format of the target language."""
        return rewrite_number(value, self.source.language, self.target.language)

    def as_json(self) -> dict[str, object]:
        """The options of both sides, for a manifest."""
        return {name: to_mapping(side) for name, side in self.sides.items()}

    def arrays(self, prefix: str) -> dict[str, Array]:
        """The learned spellings, as named arrays."""
        found: dict[str, Array] = {}
        for name, side in self.sides.items():
            if side.learned is not None:
                found |= side.learned.arrays(f"{prefix}.{name}")
        return found

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as a separate artefact."""
        save(path, STORED, self.arrays("text"), details={"text": self.as_json()})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> TextProcessing:
        """Open a saved text processing."""
        return read_artefact(path, STORED, lambda artefact: cls.restore(artefact.details["text"], artefact.group("text")))

    @classmethod
    def restore(cls, options: Mapping[str, Mapping[str, object]], arrays: Arrays) -> TextProcessing:
        """The inverse of `as_json` and `arrays`, names without the prefix."""

        def side(name: str) -> TextSide:
            made, known = from_mapping(TextSide, options[name]), group(arrays, name)
            return replace(made, learned=Casing.from_arrays(known)) if known else made

        return cls(side("source"), side("target"))


Languages = tuple[str, str] | TextProcessing
