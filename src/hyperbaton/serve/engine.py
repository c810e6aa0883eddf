"""A system in the service: requests become sentences, and sentences of several requests are searched together."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.base.errors import Cancelled, HyperbatonError, OptionError
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.corpus.taggers import Tagger
from hyperbaton.decode import Decoding, NBest, System, Translations, Translator
from hyperbaton.decode.annotated import annotate, words_of
from hyperbaton.decode.glossary import Glossary
from hyperbaton.decode.markup import Demand, Markup, parse_markup
from hyperbaton.decode.raw import Document, Piece, RawText, Sentence, SentenceTranslation, check_annotations
from hyperbaton.decode.raw_structure import PLAIN, TextFormat
from hyperbaton.serve.batching import Job

BATCH = 256  # sentences searched together


@dataclass(frozen=True)
class Constraints:
    """Constraints on the translation of one sentence; spans are those of its tokens."""

    demands: tuple[tuple[int, int, str], ...] = ()
    zones: tuple[tuple[int, int], ...] = ()
    walls: tuple[int, ...] = ()  # the word before each


NONE = Constraints()


class SearchResult(NamedTuple):
    """A sentence and its translations."""

    sentence: Sentence
    found: Translations
    number: int  # of the sentence in `found`

    @property
    def piece(self) -> int:
        return int(self.found.pieces[self.number])

    @property
    def paths(self) -> range:
        """Its translations, best first."""
        return range(int(self.found.path_offsets[self.piece]), int(self.found.path_offsets[self.piece + 1]))

    def translated(self, path: int) -> SentenceTranslation:
        """A translation with its links."""
        return SentenceTranslation(self.found.text[path], self.found.links_of(path))

    def best(self) -> SentenceTranslation:
        """The best translation; empty if there is none."""
        return self.translated(self.paths[0]) if self.paths else SentenceTranslation([], [])


@dataclass
class EngineRequest:
    """A client's request to a system.

    Arguments:
        texts: raw texts, processed according to `form`; or `lines` of tokens, with `tags` for each if models need them.
        constraints: by the number of the sentence within the request.
        reference: forced translations, one for each sentence, as tokens.
        weights: weights that replace the system's, by feature.
        graph: keep the search graph.
        answer: creates the result, in the thread of the search.
    """

    answer: Callable[[EngineAnswer], Any]
    texts: Sequence[str] = ()
    lines: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    form: TextFormat = PLAIN
    n_best: int = 1
    distinct: bool = True  # of the n best
    glossary: Glossary | None = None
    constraints: dict[int, Constraints] = field(default_factory=dict)
    options: Decoding | None = None
    reference: Sequence[str] | None = None
    weights: Mapping[str, Sequence[float]] = field(default_factory=dict)
    graph: bool = False

    @property
    def n_characters(self) -> int:
        """The total length of the texts."""
        return sum(map(len, self.texts if self.lines is None else self.lines))


@dataclass(frozen=True)
class EngineAnswer:
    """A request with its documents and the translations of their sentences, in order."""

    engine: Engine
    documents: list[Document]
    searched: list[SearchResult]
    conflicts: list[str]
    check: Callable[[], None]  # raises Cancelled if no client is waiting for the answer

    def texts(self) -> list[str]:
        """The translation of each text, or of each line of tokens as tokens."""
        found = iter(self.searched)
        texts = []
        for document in self.documents:
            self.check()
            texts.append(self.engine.raw.write(document, [next(found).best() for _ in document.sentences]))
        return texts

    def lines(self) -> list[str]:
        """The translation of each line of tokens, as tokens."""
        found = iter(self.searched)
        return [
            " ".join(filter(None, (" ".join(next(found).best().tokens) for _ in document.sentences)))
            for document in self.documents
        ]


class Engine:
    """A loaded system, its languages, and optionally an aligner for confidences."""

    def __init__(
        self, name: str, system: System, source: str, target: str, *, threads: int = 1, aligner: Aligner | None = None
    ) -> None:
        self.name, self.system, self.source, self.target = name, system, source, target
        self.threads, self.aligner = threads, aligner
        self.argument: str | None = None  # from which it was loaded
        text = system.text or TextProcessing()
        self.text = TextProcessing(replace(text.source, language=source), replace(text.target, language=target))
        self.reads_tags = check_annotations(system, self.text)
        own = self.text if system.text is not None else TextProcessing()
        self.raw = RawText(own, system.options.max_words, tags=self.reads_tags)
        self._translators = lru_cache(maxsize=8)(self._translator)
        # Do everything that is slow the first time before the first request.
        system.check()
        _ = self.translator(system.options), self.raw.read("a")

    @classmethod
    def load(cls, argument: str, *, threads: int = 1, aligner: Aligner | None = None) -> Engine:
        """Load `DIR`, or `PAIR=DIR` such as `ja-en=system`; the languages are the system's unless a pair is given."""
        pair, equals, path = argument.partition("=")
        if not equals or "/" in pair:
            pair, path = "", argument
        system = System.load(path)
        text = system.text or TextProcessing()
        source, target = text.source.language, text.target.language
        if pair:
            source, dash, target = (part.strip().lower() for part in pair.partition("-"))
            if not (dash and source.isalpha() and target.isalpha()):
                raise OptionError(f"expected a pair of languages like ja-en, found {pair!r}")
        if not source or not target:
            raise OptionError(
                f"{path}: the system does not name its languages; put them before it, for example ja-en={path}"
            )
        made = cls(Path(path).name, system, source, target, threads=threads, aligner=aligner)
        made.argument = argument
        return made

    def reload(self, aligner: Aligner | None) -> Engine:
        """The current version of the system on disk; this one if it was not loaded from disk."""
        return self if self.argument is None else Engine.load(self.argument, threads=self.threads, aligner=aligner)

    @property
    def pair(self) -> str:
        """Its languages, as in `ja-en`."""
        return f"{self.source}-{self.target}"

    def translator(self, options: Decoding) -> Translator:
        """A translator with these options."""
        return self.weighted(options, {})

    def weighted(self, options: Decoding, weights: Mapping[str, Sequence[float]]) -> Translator:
        """A translator with these options, and weights that replace the system's."""
        return self._translators(tuple(sorted(vars(options).items())), _weights_key(weights))

    def _translator(self, options: tuple[tuple[str, Any], ...], weights: _WeightsKey) -> Translator:
        system = self.system.with_weights({name: list(values) for name, values in weights}) if weights else self.system
        return Translator(system, Decoding(**dict(options)), threads=self.threads)

    def job(self, request: EngineRequest, timeout: float) -> Job:
        """A request as a job: those with the same number of translations, options and weights are searched together."""
        options = request.options or self.system.options
        key = (
            self,  # not its name: requests from before and after a reload must not be mixed
            request.n_best,
            request.distinct,
            tuple(vars(options).values()),
            request.reference is not None,
            _weights_key(request.weights),
            request.graph,
        )
        return Job(key, max(request.n_characters, 1), (self, request), run_jobs, time.monotonic() + timeout)


_WeightsKey = tuple[tuple[str, tuple[float, ...]], ...]


def _weights_key(weights: Mapping[str, Sequence[float]]) -> _WeightsKey:
    return tuple(sorted((name, tuple(values)) for name, values in weights.items()))


def run_jobs(jobs: Sequence[Job]) -> None:
    """Process jobs of one engine and key."""
    engine: Engine = jobs[0].work[0]
    prepared: list[tuple[Job, EngineRequest, list[Document], list[Constraints], list[str]]] = []
    for job in jobs:
        request: EngineRequest = job.work[1]
        try:
            documents = _documents(engine, job)
            constraints, conflicts = _constraints(job, documents)
            prepared.append((job, request, documents, constraints, conflicts))
        except Exception as error:
            job.fail(error)
    try:
        groups = [_Group([s for d in documents for s in d.sentences], c, r) for _, r, documents, c, _ in prepared]
        searched = _search(engine, groups, jobs)
    except Exception as error:
        if len(prepared) < 2 or isinstance(error, Cancelled):
            for job, *_ in prepared:
                job.fail(error)
            return
        # One of them is to blame: try each alone.
        for job, *_ in prepared:
            run_jobs([job])
        return
    at = 0
    for job, request, documents, constraints, conflicts in prepared:
        own = searched[at : at + len(constraints)]
        at += len(constraints)
        try:
            job.finish(request.answer(EngineAnswer(engine, documents, own, conflicts, job.check)))
        except Exception as error:
            job.fail(error)


class _Group(NamedTuple):
    """The sentences of one request."""

    sentences: list[Sentence]
    constraints: list[Constraints]
    request: EngineRequest


def _documents(engine: Engine, job: Job) -> list[Document]:
    request: EngineRequest = job.work[1]
    documents = []
    for text in request.texts if request.lines is None else ():
        job.check()
        documents.append(engine.raw.read(text, request.form))
    most = engine.raw.max_words
    for n, line in enumerate(request.lines or ()):
        tokens = words_of(line)
        labels = words_of(request.tags[n]) if request.tags is not None else []
        cuts = range(0, max(len(tokens), 1), most)
        sentences = [Sentence(tokens[i : i + most], labels[i : i + most]) for i in cuts]
        documents.append(Document([Piece("", sentences, "")], False))
    return documents


def _constraints(job: Job, documents: list[Document]) -> tuple[list[Constraints], list[str]]:
    request: EngineRequest = job.work[1]
    sentences = [sentence for document in documents for sentence in document.sentences]
    constraints, conflicts = [], []
    for n, sentence in enumerate(sentences):
        own = request.constraints.get(n, NONE)
        n_words = len(sentence.tokens)
        spans = [*((b, e) for b, e, _ in own.demands), *own.zones, *((w, w + 1) for w in own.walls)]
        for begin, end in spans:
            if not 0 <= begin < end <= n_words:
                raise OptionError(f"the span {begin}-{end} is outside the {n_words} words of sentence {n}")
        if request.glossary is not None:
            job.check()
            markup = Markup([sentence.line], [Demand((0, b, e), t) for b, e, t in own.demands])
            request.glossary.add_to(markup)
            conflicts += request.glossary.take_conflicts()
            own = replace(own, demands=tuple((d.span[1], d.span[2], d.translation) for d in markup.demands))
        constraints.append(own)
    for n in request.constraints:
        if not 0 <= n < len(sentences):
            raise OptionError(f"there is no sentence {n}: the request has {len(sentences)}")
    return constraints, conflicts


def parse_line(line: str) -> tuple[str, Constraints]:
    """A line of tokens with markup, in the format of `translate --markup`."""
    found = parse_markup([line])
    return found.lines[0], Constraints(
        tuple((d.span[1], d.span[2], d.translation) for d in found.demands),
        tuple((b, e) for _, b, e in found.zones),
        tuple(w for _, w in found.walls),
    )


def _search(engine: Engine, groups: Sequence[_Group], jobs: Sequence[Job]) -> list[SearchResult]:
    """Search the sentences of all groups together; stop if no client is waiting."""
    if not groups:
        return []
    first = groups[0].request
    options = first.options or engine.system.options
    translator = engine.weighted(options, first.weights) if first.weights else engine.translator(options)

    def go_on(done: int, total: int) -> bool:
        return any(job.is_wanted for job in jobs)

    sentences = [sentence for group in groups for sentence in group.sentences]
    constraints = [own for group in groups for own in group.constraints]
    forced = None
    if first.reference is not None:
        forced = [line for group in groups for line in group.request.reference or ()]
        if len(forced) != len(sentences):
            raise OptionError(f"there are {len(sentences)} sentences, but {len(forced)} references")

    def search(numbers: Sequence[int], constraints: Sequence[Constraints] | dict[int, Constraints]) -> list[SearchResult]:
        part = [sentences[n] for n in numbers]
        lines = [sentence.line for sentence in part]
        found = translator.translate_batch(
            lines,
            NBest(first.n_best, first.distinct and first.n_best > 1),
            annotations=annotate(lines, tags=_labels(part, engine.raw.tagger) if engine.reads_tags else None),
            forced=None if forced is None else [forced[n] for n in numbers],
            markup=_markup(part, [constraints[n] for n in numbers]),
            graph=first.graph,
            progress=go_on,
        )
        return [SearchResult(sentence, found, k) for k, sentence in enumerate(part)]

    searched: list[SearchResult] = []
    for at in range(0, len(sentences), BATCH):
        searched += search(range(at, min(at + BATCH, len(sentences))), constraints)
    # As in `translate --raw`: if a number or an address is lost, its translation is required.
    lost = {n: engine.raw.lost(own.sentence, own.best()) for n, own in enumerate(searched) if forced is None}
    again = [n for n, values in lost.items() if values]
    for at in range(0, len(again), BATCH):
        chosen = again[at : at + BATCH]
        stricter = {n: _also(constraints[n], lost[n]) for n in chosen}
        for n, own in zip(chosen, search(chosen, stricter), strict=True):
            searched[n] = own
    return searched


def _also(constraints: Constraints, demands: Sequence[tuple[int, int, str]]) -> Constraints:
    """Constraints with further required translations, except for sentences that already have some."""
    new = [demand for demand in demands if all(demand[1] <= b or e <= demand[0] for b, e, _ in constraints.demands)]
    return replace(constraints, demands=(*constraints.demands, *new))


def _labels(sentences: Sequence[Sentence], tagger: Tagger | None) -> list[str]:
    """The tags of each sentence; tokens without tags are tagged like raw text."""
    found = []
    for sentence in sentences:
        labels = tagger([sentence.tokens])[0] if tagger is not None and not sentence.labels else sentence.labels
        if len(labels) != len(sentence.tokens):
            raise HyperbatonError("the system needs a tag for each token; give tags, or raw text")
        found.append(" ".join(labels))
    return found


def _markup(sentences: Sequence[Sentence], constraints: Sequence[Constraints]) -> Markup:
    markup = Markup([sentence.line for sentence in sentences])
    for n, own in enumerate(constraints):
        demands = sorted(own.demands)
        if any(b[0] < a[1] for a, b in itertools.pairwise(demands)):
            raise OptionError(f"required translations overlap in sentence {n}")
        markup.demands += [Demand((n, begin, end), text) for begin, end, text in demands]
        markup.zones += [(n, begin, end) for begin, end in sorted(own.zones)]
        markup.walls += [(n, word) for word in sorted(own.walls)]
    return markup
