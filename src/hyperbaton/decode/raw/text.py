"""Translation of raw text: the text processing of a system before and after the search.

A text is split into lines, a line into sentences, a sentence into tokens in the casing that the system was trained with.
HTML and XML keep their structure (`structure.py`). Text that no tokenizer may change stays whole
(`corpus/placeholders.py`), and tags are placed around the words aligned with their contents. Numbers and addresses are
preserved: a sentence whose translation lost one is searched again, with its translation required.
Blanks at the ends of lines, and empty lines, are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import islice
from typing import NamedTuple, TypeVar, overload

from hyperbaton.align.inline_markup import Element
from hyperbaton.base.errors import HyperbatonError, OptionError
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.casing import starts_low
from hyperbaton.corpus.detokenizers import Detokenizer, unescaped
from hyperbaton.corpus.placeholders import PLACEHOLDERS, placeholder
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.corpus.sentences import UNSPACED, split_sentences
from hyperbaton.decode.annotated import BATCH, AnnotatedLines, annotate, words_of
from hyperbaton.decode.markup import FREE, Constraints, Terms
from hyperbaton.decode.raw.structure import (
    EDGE,
    HTML,
    KEPT_LINE,
    PLAIN,
    Flow,
    MaskedFlow,
    TextFormat,
    cut,
    mask_flow,
    without_control,
)
from hyperbaton.decode.raw.tags import TagReader, cut_elements, join_tags, write_tags
from hyperbaton.decode.request import cuts
from hyperbaton.decode.result import Translations
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import NBest, TokenTranslator

T = TypeVar("T")
_NEWLINES = re.compile(r"[\r\n]+")


class ValuedTranslation(NamedTuple):
    """A translation with its values: tokens, links, values by position, and the source words whose values are lost."""

    tokens: list[str]
    links: list[tuple[int, int]]
    values: dict[int, str]
    lost: list[int]


def carry(
    source: Sequence[str], values: Mapping[int, str], target: Sequence[str], links: Sequence[tuple[int, int]]
) -> ValuedTranslation:
    """Write the values of a sentence into its translation.

    A target word carries a value if it equals the value's source word, which may be a placeholder, or the value in the
    target language's spelling; linked words come first. Leftover placeholders are dropped, and all values that have one
    count as lost.

    Arguments:
        values: in the target language's spelling, by their places in the source.

    >>> carry(["@number@", "km", "1.5"], {0: "1,234", 2: "1,5"}, ["1.5", "km", "@number@"], [(0, 2), (1, 1)]).tokens
    ['1,5', 'km', '1,234']
    >>> carry(["1990"], {0: "1990"}, ["then"], [(0, 0)]).lost
    [0]
    """
    if not values:
        return ValuedTranslation(list(target), list(links), {}, [])
    written: dict[int, str] = {}
    left = dict(values)
    everywhere = ((i, j) for i in values for j in range(len(target)))
    for i, j in (*links, *everywhere):
        if i in left and j not in written and target[j] in (source[i], left[i]):
            written[j] = left.pop(i)
    lost = set(left)
    unfilled = {j for j, word in enumerate(target) if word in PLACEHOLDERS and j not in written}
    if unfilled:
        lost |= {i for i in values if source[i] in PLACEHOLDERS}
    places = {j: n for n, j in enumerate(j for j in range(len(target)) if j not in unfilled)}
    return ValuedTranslation(
        [written.get(j, target[j]) for j in places],
        [(i, places[j]) for i, j in links if j in places],
        {places[j]: value for j, value in written.items()},
        sorted(lost),
    )


@dataclass(frozen=True)
class Sentence:
    """A sentence for the search: tokens, their tags if there are any, and the markup elements removed from it."""

    tokens: list[str]
    labels: list[str]
    elements: tuple[Element, ...] = ()  # formed by its markup tags
    low: bool = False  # starts with a lower-case letter
    values: dict[int, str] = field(default_factory=dict)  # numbers and addresses by position, as written
    copied: dict[str, str] = field(default_factory=dict)  # elements that are not translated, by their placeholder words
    reopened: int = 0  # number of leading elements that continue those of the previous sentence
    constraints: Constraints = FREE  # constraints on its translation

    @property
    def line(self) -> str:
        return " ".join(self.tokens)

    def demanding(self, demands: Iterable[tuple[int, int, str]]) -> Sentence:
        """Require further translations: first word, one past the last, text."""
        return replace(self, constraints=self.constraints.demand(demands))

    def with_terms(self, glossary: Terms, number: int, check: Callable[[], None] = lambda: None) -> Sentence:
        """Require the translations of the terms of a glossary; the arguments are those of `Glossary.add_to`."""
        return replace(self, constraints=glossary.add_to(self.constraints, self.tokens, number, check))

    def parts(self, most: int) -> list[Sentence]:
        """The sentence in parts of at most `most` words."""
        n_words = len(self.tokens)
        return [self] if n_words <= most else [self._part(begin, end) for begin, end in cuts(n_words, most)]

    def _part(self, begin: int, end: int) -> Sentence:
        return Sentence(
            self.tokens[begin:end],
            self.labels[begin:end],
            tuple(cut_elements(self.elements, begin, end, last=end == len(self.tokens))),
            self.low or begin > 0,
            {i - begin: value for i, value in self.values.items() if begin <= i < end},
            self.copied,
            sum(element.begin < begin < element.end for element in self.elements) if begin else self.reopened,
        )


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


class SearchResult(NamedTuple):
    """A sentence and its translations."""

    sentence: Sentence
    found: Translations
    number: int  # index of the sentence in `found`
    best: SentenceTranslation  # empty if there is no translation

    @property
    def piece(self) -> int:
        return int(self.found.pieces[self.number])

    @property
    def paths(self) -> range:
        """Its translations, best first."""
        return self.found.paths(self.piece)

    def translated(self, path: int) -> SentenceTranslation:
        """A translation with its links."""
        return SentenceTranslation(self.found.text[path], self.found.links_of(path))


class RawText:
    """Reads, translates and writes raw text with a system's text processing; thread-safe.

    Arguments:
        tags: whether the system reads tags, which a tagger then provides.
    """

    def __init__(self, text: TextProcessing, max_words: int, *, tags: bool = False) -> None:
        self.text, self.max_words, self.reads_tags = text, max_words, tags
        self.detokenize = Detokenizer(text.target.language)
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

    def read_tokens(self, line: str, labels: str = "") -> Document:
        """A line of tokens, with a tag for each if there are any, as a document."""
        return Document([Piece("", Sentence(words_of(line), words_of(labels)).parts(self.max_words), "")], False)

    def write(self, document: Document, translations: Sequence[SentenceTranslation]) -> str:
        """The text of a document, given a translation of each of its sentences."""
        lines = iter(translations)
        texts: list[str] = []
        last: tuple[int, Sentence] | None = None  # the previous sentence, and the index of its text
        for piece in document.pieces:
            texts.append(piece.before)
            begin = len(texts)
            for sentence in piece.sentences:
                line = self.write_sentence(sentence, next(lines), escapes=document.escapes)
                if last is not None and sentence.reopened:
                    opened, same = last[1].elements, sentence.elements[: sentence.reopened]
                    texts[last[0]], line = join_tags(texts[last[0]], line, same, opened)
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

    def search(
        self,
        translator: TokenTranslator,
        sentences: Sequence[Sentence],
        n_best: NBest | None = None,
        *,
        forced: Sequence[str] | None = None,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[SearchResult]:
        """Translate sentences in batches; those that lose a number or an address again, with its translation required."""

        def find(part: Sequence[Sentence], forced: Sequence[str] | None) -> list[SearchResult]:
            lines, constraints = [sentence.line for sentence in part], [sentence.constraints for sentence in part]
            asked = AnnotatedLines(lines, self.annotations(part), constraints)
            found = translator.search(asked, n_best, forced=forced, graph=graph, progress=progress)
            best = map(SentenceTranslation, map(words_of, found.lines()), found.links())
            pairs = zip(part, best, strict=True)
            return [SearchResult(sentence, found, n, line) for n, (sentence, line) in enumerate(pairs)]

        for at in range(0, len(sentences), BATCH):
            results = find(sentences[at : at + BATCH], None if forced is None else forced[at : at + BATCH])
            lost = {n: self.lost(result.sentence, result.best) for n, result in enumerate(results) if forced is None}
            again = {n: results[n].sentence.demanding(demands) for n, demands in lost.items() if demands}
            for n, result in zip(again, find(list(again.values()), None) if again else (), strict=True):
                results[n] = result
            yield from results

    def annotations(self, sentences: Sequence[Sentence]) -> Annotations:
        """The tags of the sentences, if models read them; tokens without tags are tagged like raw text."""
        if not self.reads_tags:
            return NOTHING
        labels = [
            self.tagger([each.tokens])[0] if self.tagger is not None and not each.labels else each.labels
            for each in sentences
        ]
        if any(len(each) != len(sentence.tokens) for each, sentence in zip(labels, sentences, strict=True)):
            raise HyperbatonError("the system needs a tag for each token; give tags, or raw text")
        return annotate([sentence.line for sentence in sentences], tags=[" ".join(each) for each in labels])

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
        for line, end in _lines(masked.text, "" if form.newlines else KEPT_LINE):
            body = line.strip()
            before, after = (line, "") if not body else (part.replace(EDGE, "") for part in line.split(body, 1))
            body = _NEWLINES.sub(" ", body.replace(EDGE, " "))
            sentences = split_sentences(body, self.text.source.language) if form.sentences else [body]
            parts = [part for sentence in sentences if sentence for part in self._sentences(sentence, masked, tags)]
            yield Piece(before, parts, after + end)

    def _sentences(self, sentence: str, masked: MaskedFlow, tags: TagReader) -> list[Sentence]:
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
        whole = Sentence(cased, labels, tuple(elements), starts_low(words), values, copied, reopened)
        return whole.parts(self.max_words)


class RawTranslator:
    """Translates raw text with a system that has text processing.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.corpus.processing import TextSide
    >>> from hyperbaton.phrases import PhraseTable, extract
    >>> links = [[(0, 0), (1, 1), (2, 2), (3, 3)], [(0, 0)]]
    >>> bitext = Bitext.of(["ich sah das haus", "."], ["i saw the house", "."], links)
    >>> text = TextProcessing(TextSide("de", "sacremoses", "lowercase"), TextSide("en", "sacremoses", "lowercase"))
    >>> system = System.of(PhraseTable.build(bitext, extract(bitext))).with_text(text)
    >>> RawTranslator(TokenTranslator(system)).translate(["Ich sah das <b>Haus</b>. Das Haus!\\n\\n  Ich."])
    ['I saw the <b>house</b>. The house!\\n\\n  I.']
    """

    def __init__(self, translator: TokenTranslator) -> None:
        text = translator.system.text
        if text is None:
            raise OptionError(
                "the system has no processing of raw text; "
                "build it with --source-text and --target-text, or give it tokenized text"
            )
        self.translator = translator
        self.raw = RawText(text, translator.options.max_words, tags=check_annotations(translator.system, text))

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is also a sequence of its letters
        self, texts: str, *, html: bool = False, form: TextFormat = PLAIN
    ) -> str: ...

    @overload
    def translate(self, texts: Sequence[str], *, html: bool = False, form: TextFormat = PLAIN) -> list[str]: ...

    def translate(self, texts: str | Sequence[str], *, html: bool = False, form: TextFormat = PLAIN) -> str | list[str]:
        """Translate a text or a list of texts, each into as many lines as its source.

        Arguments:
            html: the texts are HTML; short for `form=HTML`.
            form: the format of the texts: PLAIN, HTML, XML or another `TextFormat` of this package.
        """
        if isinstance(texts, str):
            return self.translate([texts], html=html, form=form)[0]
        documents = [self.raw.read(text, HTML if html else form) for text in texts]
        sentences = [sentence for document in documents for sentence in document.sentences]
        if (glossary := self.translator.glossary) is not None:
            sentences = [sentence.with_terms(glossary, number) for number, sentence in enumerate(sentences, start=1)]
        best = (result.best for result in self.raw.search(self.translator, sentences))
        return [self.raw.write(document, translated) for document, translated in by_document(documents, best)]


def by_document(documents: Sequence[Document], items: Iterable[T]) -> Iterator[tuple[Document, list[T]]]:
    """Each document with the items of its sentences; `items` are those of all documents, in order."""
    rest = iter(items)
    return ((document, list(islice(rest, len(document.sentences)))) for document in documents)


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


def _lines(text: str, mark: str = "") -> Iterator[tuple[str, str]]:
    """Lines and their ends, which are those after a mark."""
    parts = re.split(f"{mark}(\r\n|\n|\r)", text)
    return zip(parts[::2], [*parts[1::2], ""], strict=True)
