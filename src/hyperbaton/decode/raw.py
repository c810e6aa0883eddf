"""Translation of raw text: the text processing of a system before and after the search.

A text is split into lines, a line into sentences, a sentence into tokens in the casing that the system was trained with.
HTML and XML keep their structure (`decode/raw_structure.py`). Text that no tokenizer may change stays whole
(`corpus/placeholders.py`), and tags are placed around the words aligned with their contents. Numbers and addresses are
preserved (`decode/values.py`): a sentence whose translation lost one is searched again, with its translation required.
Blanks at the ends of lines, and empty lines, are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import overload

from hyperbaton.align.inline_markup import Element
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.casing import starts_low
from hyperbaton.corpus.detokenizers import unescaped
from hyperbaton.corpus.placeholders import placeholder
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.corpus.sentences import UNSPACED, split_sentences
from hyperbaton.decode.annotated import annotate, words_of
from hyperbaton.decode.markup import Demand, Markup
from hyperbaton.decode.raw_structure import EDGE, HTML, PLAIN, Flow, MaskedFlow, TextFormat, cut, mask_flow, without_control
from hyperbaton.decode.raw_tags import TagReader, cut_elements, join_tags, write_tags
from hyperbaton.decode.result import Translations
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import BATCH, NBest, Translator
from hyperbaton.decode.values import ValuedTranslation, carry

_NEWLINES = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Sentence:
    """A sentence for the search: tokens, their tags if there are any, and the elements that were taken out."""

    tokens: list[str]
    labels: list[str]
    elements: tuple[Element, ...] = ()  # of its tags
    low: bool = False  # starts with a lower-case letter
    values: dict[int, str] = field(default_factory=dict)  # numbers and addresses by position, as written
    copied: dict[str, str] = field(default_factory=dict)  # elements that are not translated, by their placeholder words
    reopened: int = 0  # number of leading elements that continue those of the previous sentence

    @property
    def line(self) -> str:
        return " ".join(self.tokens)


@dataclass(frozen=True)
class SentenceTranslation:
    """A translation of a sentence: tokens, and links to those of the source."""

    tokens: list[str]
    links: list[tuple[int, int]]


@dataclass(frozen=True)
class Piece:
    """Consecutive sentences of one line, with the unchanged text before and after them."""

    before: str
    sentences: list[Sentence]
    after: str


@dataclass(frozen=True)
class Document:
    """A text in pieces; with `escapes`, it is written with character references."""

    pieces: list[Piece]
    escapes: bool

    @property
    def sentences(self) -> list[Sentence]:
        return [sentence for piece in self.pieces for sentence in piece.sentences]


class RawText:
    """Reads and writes raw text with a system's text processing; thread-safe.

    Arguments:
        tags: whether the system reads tags, which a tagger then provides.
    """

    def __init__(self, text: TextProcessing, max_words: int, *, tags: bool = False) -> None:
        self.text, self.max_words = text, max_words
        self.detokenize = text.target.make_detokenizer()
        self.joint = "" if text.target.language in UNSPACED else " "
        self._tokenizer = text.source.make_tokenizer()
        self.tagger = text.source.make_tagger() if tags else None

    def read(self, text: str, form: TextFormat = PLAIN) -> Document:
        """Split a text into sentences and unchanged text."""
        text = without_control(text)
        # Without structure, a line is a paragraph with its own tags.
        lines = _lines(text) if form.newlines and not form.escapes else [(text, "")]
        pieces: list[Piece] = []
        for line, end in lines:
            for part in cut(line, form):
                pieces += [Piece(part, [], "")] if isinstance(part, str) else self._pieces(part, form)
            pieces += [Piece(end, [], "")] if end else []
        return Document(pieces, form.escapes)

    def write(self, document: Document, translations: Sequence[SentenceTranslation]) -> str:
        """The text of a document, given a translation of each of its sentences."""
        found = iter(translations)
        texts: list[str] = []
        last: tuple[int, Sentence] | None = None  # the previous sentence, and the index of its text
        for piece in document.pieces:
            texts.append(piece.before)
            begin = len(texts)
            for sentence in piece.sentences:
                line = self.write_sentence(sentence, next(found), escapes=document.escapes)
                if last is not None and sentence.reopened:
                    own, same = last[1].elements, sentence.elements[: sentence.reopened]
                    texts[last[0]], line = join_tags(texts[last[0]], line, same, own)
                if line:
                    texts += [self.joint] if len(texts) > begin else []
                    last = len(texts), sentence
                    texts.append(line)
            texts.append(piece.after)
        return "".join(texts)

    def write_sentence(self, sentence: Sentence, translated: SentenceTranslation, *, escapes: bool = False) -> str:
        """A translation as text, with the numbers, addresses and tags of its source."""
        carried = self._carry(sentence, translated)
        tokens = self.text.target.as_written(carried.tokens, capital=not sentence.low)
        # Numbers and addresses have no case and no escapes.
        words = [carried.values.get(j, unescaped(token)) for j, token in enumerate(tokens)]
        blanks = [" " if blank and i else "" for i, blank in enumerate(self.detokenize.blanks(words))]
        words = [sentence.copied.get(word) or (escape(word, quote=False) if escapes else word) for word in words]
        return write_tags(sentence.tokens, sentence.elements, words, carried.links, blanks)

    def lost(self, sentence: Sentence, translated: SentenceTranslation) -> list[tuple[int, int, str]]:
        """The numbers and addresses that a translation lost: first word, one past the last, required text."""
        lost = self._carry(sentence, translated).lost if sentence.values else []
        return [(i, i + 1, self.text.as_written(sentence.values[i])) for i in lost]

    def _carry(self, sentence: Sentence, translated: SentenceTranslation) -> ValuedTranslation:
        written = {i: self.text.as_written(value) for i, value in sentence.values.items()}
        return carry(sentence.tokens, written, translated.tokens, translated.links)

    def _pieces(self, flow: Flow, form: TextFormat) -> Iterator[Piece]:
        """The sentences of a flow, in one piece or line by line."""
        masked = mask_flow(flow, form)
        tags = TagReader(masked)
        for line, end in _lines(masked.text) if form.newlines else [(masked.text, "")]:
            body = line.strip()
            before, after = (line, "") if not body else (part.replace(EDGE, "") for part in line.split(body, 1))
            body = _NEWLINES.sub(" ", body.replace(EDGE, " "))
            sentences = split_sentences(body, self.text.source.language) if form.sentences else [body]
            made = [part for sentence in sentences if sentence for part in self._sentences(sentence, masked, tags)]
            yield Piece(before, made, after + end)

    def _sentences(self, sentence: str, masked: MaskedFlow, tags: TagReader) -> Iterator[Sentence]:
        """A sentence as tokens; a very long one in several parts."""
        words, labels, elements, reopened = tags.read(*self._tokenizer(sentence))
        # Protected text keeps its case.
        cased = [masked.copied.get(token) or masked.restore(token) for token in self.text.source.as_trained(words)]
        kinds = {i: kind for i, token in enumerate(cased) if (kind := placeholder(token)) is not None}
        if self.tagger is not None:
            (labels,) = self.tagger([[masked.restore(word) for word in words]])
        copied = {masked.copied[word]: masked.texts[word] for word in words if word in masked.copied}
        values = {i: cased[i] for i in range(len(cased)) if i in kinds or cased[i] in copied}
        if self.text.placeholders:
            cased = [kinds.get(i, token) for i, token in enumerate(cased)]
        low = starts_low(words)
        if len(cased) <= self.max_words:
            yield Sentence(cased, labels, tuple(elements), low, values, copied, reopened)
            return
        for at in range(0, len(cased), self.max_words):
            stop = min(at + self.max_words, len(cased))
            inside = cut_elements(elements, at, stop, last=stop == len(cased))
            own = {i - at: value for i, value in values.items() if at <= i < stop}
            continued = sum(element.begin < at < element.end for element in elements) if at else reopened
            yield Sentence(cased[at:stop], labels[at:stop], tuple(inside), low if at == 0 else True, own, copied, continued)


class RawTranslator:
    """Translates raw text with a system that has text processing.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.corpus.processing import TextSide
    >>> from hyperbaton.phrases import PhraseTable, extract
    >>> links = [[(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0)]]
    >>> bitext = Bitext.of(["ich sah das haus", "."], ["i saw the house", "."], links)
    >>> text = TextProcessing(TextSide("de", "sacremoses", "lowercase"), TextSide("en", "sacremoses", "lowercase"))
    >>> system = System.of(PhraseTable.build(bitext, extract(bitext))).with_text(text)
    >>> RawTranslator(Translator(system)).translate(["Ich sah das <b>Haus</b>. Das Haus!\\n\\n  Ich."])
    ['I saw the <b>house</b>. The house!\\n\\n  I.']
    """

    def __init__(self, translator: Translator) -> None:
        text = translator.system.text
        if text is None:
            raise OptionError(
                "the system has no processing of raw text; "
                "build it with --source-text and --target-text, or give it tokenized text"
            )
        self.translator = translator
        self.reads_tags = check_annotations(translator.system, text)
        self.raw = RawText(text, translator.options.max_words, tags=self.reads_tags)

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is also a sequence of its letters
        self, texts: str, *, html: bool = False, form: TextFormat = PLAIN
    ) -> str: ...

    @overload
    def translate(self, texts: Sequence[str], *, html: bool = False, form: TextFormat = PLAIN) -> list[str]: ...

    def translate(self, texts: str | Sequence[str], *, html: bool = False, form: TextFormat = PLAIN) -> str | list[str]:
        """Translate texts, each into as many lines as its source; the translation of a single text is text.

        Arguments:
            html: the texts are HTML; short for `form=HTML`.
            form: the format of the texts: PLAIN, HTML, XML or another `TextFormat` of `decode.raw_structure`.
        """
        if isinstance(texts, str):
            return self.translate([texts], html=html, form=form)[0]
        documents = [self.raw.read(text, HTML if html else form) for text in texts]
        sentences = [sentence for document in documents for sentence in document.sentences]
        translated = iter(self._complete(sentences, [line for found in self.batches(sentences) for line in best(found)]))
        return [self.raw.write(document, [next(translated) for _ in document.sentences]) for document in documents]

    def groups(self, groups: Iterable[Sequence[str]], *, html: bool = False) -> Iterator[list[str]]:
        """Translate groups of lines, or pages of HTML, each yielded at once."""
        return (self.translate(group, html=html) for group in groups)

    def batches(self, sentences: Sequence[Sentence], n_best: NBest | None = None) -> Iterator[Translations]:
        """Translations of sentences, in batches."""
        lines = [sentence.line for sentence in sentences]
        return self.translator.batches(lines, n_best, annotations=self.annotations(sentences))

    def _complete(self, sentences: Sequence[Sentence], translated: list[SentenceTranslation]) -> list[SentenceTranslation]:
        """Translations in which no number or address is lost: those with a loss are searched again."""
        lost = {n: self.raw.lost(*pair) for n, pair in enumerate(zip(sentences, translated, strict=True))}
        again = [n for n, demands in lost.items() if demands]
        for at in range(0, len(again), BATCH):
            chosen = again[at : at + BATCH]
            part = [sentences[n] for n in chosen]
            markup = Markup.none([sentence.line for sentence in part])
            if self.translator.glossary is not None:  # its conflicts were reported by the first search
                self.translator.glossary.copy().add_to(markup)
            terms = {(d.span[0], word) for d in markup.demands for word in range(*d.span[1:])}
            demands = [Demand((k, b, e), text) for k, n in enumerate(chosen) for b, e, text in lost[n]]
            markup.demands = sorted([*markup.demands, *(d for d in demands if d.span[:2] not in terms)])
            found = self.translator.translate_batch(
                markup.lines, NBest(), annotations=self.annotations(part), markup=markup
            )
            for n, line in zip(chosen, best(found), strict=True):
                translated[n] = line
        return translated

    def annotations(self, sentences: Sequence[Sentence]) -> Annotations:
        """The tokenizer's tags of the sentences, if models read them."""
        lines = [sentence.line for sentence in sentences]
        labels = [" ".join(sentence.labels) for sentence in sentences] if self.reads_tags else None
        return annotate(lines, tags=labels)


def check_annotations(system: System, text: TextProcessing) -> bool:
    """Whether models of a system read tags from its text processing; an error if they need annotations that it lacks."""
    reads, side = False, text.source
    for name, use in system.reordering.items():
        model = getattr(use, "model", None)
        needs, read = getattr(model, "needs", ()), getattr(model, "reads", ())
        if "source_trees" in needs:
            raise OptionError(f"the reordering model {name} needs trees of the sentences, which raw text does not have")
        if "source_tags" in needs and not side.has_tags:
            raise OptionError(
                f"the reordering model {name} needs tags; the tokenizer {side.tokenizer} gives none: build the system with "
                f"--source-text {side}:tagger=NAME, or tag tokenized text with 'hyperbaton tag' and give --source-tags"
            )
        reads = reads or "source_tags" in (*needs, *read)
    return reads and side.has_tags


def best(found: Translations) -> Iterator[SentenceTranslation]:
    """The best translation of each sentence with its links."""
    links = found.links()
    return (SentenceTranslation(words_of(line), links[n]) for n, line in enumerate(found.lines()))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines and their ends."""
    parts = re.split("(\r\n|\n|\r)", text)
    return zip(parts[::2], [*parts[1::2], ""], strict=True)
