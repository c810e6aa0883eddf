"""Translate sentences with a system, in blocks: options from the core, scores from the models, search in the core."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import AnnotationError, InputError
from hyperbaton.base.options import check_options
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.corpus import Links, Tags, Text, Trees, Vocabulary
from hyperbaton.corpus.text import gather
from hyperbaton.decode.markup import Markup, parse_markup, punctuation_walls
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.result import Translations, feature_columns
from hyperbaton.decode.scorers import Block, CoreScorer
from hyperbaton.decode.system import (
    DISTORTION,
    PHRASE_PENALTY,
    TRANSLATION,
    UNKNOWN_WORD,
    WORD_PENALTY,
    System,
    lm_numbers,
)
from hyperbaton.phrases import Options, Spans

BLOCK = 256  # sentences translated together
_UNKNOWN = np.uint32(2**32 - 1)
# What no token may contain: control characters, and what JSON escapes can smuggle in.
_CONTROL = re.compile("[\x00-\x1f\x7f\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class NBest:
    """How many translations of each sentence are wanted; `distinct` counts different ones only.

    For distinct ones at most `factor` times as many are looked at; 0 looks at all. Behind them come those that are
    best somewhere along each of the `directions`, (n, n_weights) in the order of the system's features, as the
    `max_steps` best steps of the search graph have them.
    """

    n: int = 1
    distinct: bool = False
    factor: int = 20
    directions: npt.NDArray[np.float64] | None = None
    max_steps: int = 2000


class _Words(NamedTuple):
    """The words of a block: over the vocabularies of the phrase table, new ones behind them."""

    source: npt.NDArray[np.uint32]  # of each word of the block's vocabulary
    targets: npt.NDArray[np.uint32]  # the same as a target word
    new: npt.NDArray[np.int64]  # words of the block's vocabulary that are no target words


class Translator(Picklable):
    """Translates with a system; `options` replaces the system's own.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.phrases import PhraseTable, extract
    >>> bitext = Bitext.of(["wo ai ni", "wo"], ["i love you", "i"], [[(0, 0), (1, 1), (2, 2)], [(0, 0)]])
    >>> system = System.of(PhraseTable.build(bitext, extract(bitext)))
    >>> Translator(system).translate(["ni ai wo", "", "wo"])
    ['you love i', '', 'i']
    """

    def __init__(self, system: System, options: Decoding | None = None, *, threads: int | None = None) -> None:
        self.system = system
        self.options = options or system.options
        check_options(self.options)
        self.threads = threads or default_threads()

    @cached_property
    def _cache(self) -> _core.RankCache:
        return _core.RankCache()

    def translate(
        self,
        sentences: Iterable[str],
        progress: Progress | None = None,
        *,
        tags: Iterable[str] | None = None,
        trees: Iterable[str] | None = None,
    ) -> list[str]:
        """The best translation of each sentence; `tags` for each are wanted by models that were trained with some."""
        blocks = self.blocks(sentences, tags=tags, trees=trees, progress=progress)
        return [line for found in blocks for line in found.lines()]

    def blocks(
        self,
        sentences: Iterable[str],
        n_best: NBest | None = None,
        *,
        tags: Iterable[str] | None = None,
        trees: Iterable[str] | None = None,
        block: int = BLOCK,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Translations]:
        """Translations of consecutive blocks of sentences; `block=1` answers each sentence before it asks for the next."""
        lines = iter(sentences)
        groups = iter(lambda: list(islice(lines, block)), [])
        return self.groups(groups, n_best, tags=tags, trees=trees, graph=graph, progress=progress)

    def groups(
        self,
        groups: Iterable[Sequence[str]],
        n_best: NBest | None = None,
        *,
        tags: Iterable[str] | None = None,
        trees: Iterable[str] | None = None,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Translations]:
        """Translations of groups of sentences, each as soon as it is there; `tags` and `trees` are for all in a row."""
        labels = None if tags is None else iter(tags)
        parses = None if trees is None else iter(trees)
        done = 0
        for chunk in groups:
            own = None if labels is None else list(islice(labels, len(chunk)))
            parsed = None if parses is None else list(islice(parses, len(chunk)))
            for kind, column in (("tags", own), ("trees", parsed)):
                if column is not None and len(column) < len(chunk):
                    n_found = done + len(column)
                    raise AnnotationError(
                        kind, f"there are only {n_found} lines of {kind}, fewer than of text", n_found + 1
                    )
            try:
                found = self.translate_block(
                    chunk, n_best or NBest(), tags=own, trees=parsed, graph=graph, progress=progress
                )
            except AnnotationError as error:
                raise error.moved(done) from error
            yield found
            done += len(chunk)
        if parses is not None and next(parses, ""):
            raise AnnotationError("trees", f"there are more trees than the {done} lines of text", done + 1)
        if labels is not None and next(labels, None) is not None:
            raise AnnotationError("tags", f"there are more lines of tags than the {done} lines of text", done + 1)

    def translate_block(
        self,
        lines: Sequence[str],
        n_best: NBest,
        *,
        tags: Sequence[str] | None = None,
        trees: Sequence[str] | None = None,
        forced: Sequence[str] | None = None,
        relax: bool = True,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Translations:
        """Translations of sentences that are searched together.

        Arguments:
            tags: a tag for each word of each sentence, for models that were trained with some.
            trees: a bracketed tree of each sentence, empty where there is none, for models that ask about them.
            forced: find the best way to these translations, one for each sentence; none where there is no way.
            relax: lift limits on the order for a sentence that cannot be translated within them.
            graph: keep the search graph.
        """
        options = self.options
        if tags is not None:
            _check_tags(lines, tags)
        markup = parse_markup(lines) if options.markup else Markup.none(lines)
        pieces = _pieces([_CONTROL.sub(" ", line) for line in markup.lines], options.max_words)
        if forced is not None and len(pieces.lines) != len(lines):
            raise InputError(f"sentences of more than {options.max_words} words cannot be forced")
        if markup.any() and len(pieces.lines) != len(lines):
            raise InputError(f"sentences with markup may have {options.max_words} words")
        demanded = [demand.translation for demand in markup.demands]
        # Moses' field separator cannot be a token; its tokenizer writes it so.
        text = Text.of([line.replace("|||", "&#124;" * 3) for line in [*pieces.lines, *demanded, *(forced or [])]])
        source = text.select(np.arange(len(pieces.lines)))
        words = self._words(text)
        lms = [
            _core.WeightedLm(
                model=lm.view,
                weight=self.system.weights[name][0],
                words=np.concatenate([self.system.lm_words[name], lm_numbers(lm, text.vocabulary.lookup)[words.new]]),
            )
            for name, lm in self.system.lms.items()
        ]
        targets = words.targets[text.tokens]
        demand_ends = text.offsets[len(source) : len(source) + len(demanded) + 1]
        forced_words, forced_offsets = np.zeros(0, np.uint32), np.zeros(0, np.int64)
        if forced is not None:
            forced_offsets = text.offsets[len(source) + len(demanded) :]
            forced_words, forced_offsets = targets[forced_offsets[0] :], forced_offsets - forced_offsets[0]
        weights = self.system.weights
        found = _core.find_options(
            table=self.system.lookup,
            cache=self._cache,
            tokens=words.source[source.tokens],
            offsets=source.offsets,
            copies=words.targets[source.tokens],
            lms=lms,
            weights=np.array(
                [*weights[TRANSLATION], *weights[WORD_PENALTY], *weights[PHRASE_PENALTY], *weights[UNKNOWN_WORD]],
                np.float32,
            ),
            demands=np.array([d.span for d in markup.demands], np.int64).reshape(-1, 3),
            demand_offsets=demand_ends - demand_ends[0],
            demand_words=targets[demand_ends[0] : demand_ends[-1]],
            forced_words=forced_words,
            forced_offsets=forced_offsets,
            table_limit=options.table_limit,
            max_length=self.system.index.max_length,
            drop_unknown=options.drop_unknown,
            n_threads=self.threads,
        )
        vocabulary = _extended(self.system.table.target.vocabulary, text.vocabulary, words.new)
        labels = None if tags is None else Tags.of(_pieces(list(tags), options.max_words).lines, source)
        parses = None if trees is None else _trees(trees, pieces, source)
        block = _block(source, found, vocabulary, self.system, labels, parses)
        scorers: list[CoreScorer] = []
        columns: list[str] = []
        for name, model in self.system.reordering.items():
            made = model.scorers(block, weights[name])
            scorers += made
            columns += [name] * len(made)
        named = tuple(zip(columns, scorers, strict=True))
        walls = [*markup.walls]
        if options.monotone_at_punctuation:
            walls = sorted({*walls, *punctuation_walls(source)})
        decoded = _core.decode(
            options=found,
            source_offsets=source.offsets,
            lms=lms,
            distortion_weight=weights[DISTORTION][0],
            option_scorers=[s for s in scorers if isinstance(s, _core.OptionScorer)],
            jump_scorers=[s for s in scorers if isinstance(s, _core.JumpScorer)],
            step_scorers=[s for s in scorers if isinstance(s, _core.StepScorer)],
            walls=np.array(walls, np.int64).reshape(-1, 2),
            zones=np.array(markup.zones, np.int64).reshape(-1, 3),
            forced_words=forced_words,
            forced_offsets=forced_offsets,
            cube=options.search == "cube",
            stack=options.stack,
            log_threshold=float(numeric.log(options.threshold)) if options.threshold > 0 else -np.inf,
            pop_limit=options.pop_limit,
            distortion_limit=options.distortion_limit,
            early_distortion=options.early_distortion,
            future_distortion=options.future_distortion,
            n_best=n_best.n,
            distinct=n_best.distinct,
            n_best_factor=n_best.factor,
            directions=self._directions(n_best, named),
            max_steps=n_best.max_steps,
            relax=relax,
            graph=graph,
            n_threads=self.threads,
            progress=progress,
        )
        return Translations(
            system=self.system,
            block=block,
            scorers=named,
            pieces=pieces.offsets,
            static=found,
            **decoded,
        )

    def _directions(self, n_best: NBest, scorers: Sequence[tuple[str, CoreScorer]]) -> npt.NDArray[np.float64]:
        """The directions over the core's features of a step."""
        columns = [column for own in feature_columns(self.system, scorers).values() for column in own]
        given = np.zeros((0, len(columns))) if n_best.directions is None else n_best.directions
        directions = np.zeros((len(given), len(columns)))
        directions[:, columns] = given
        return directions

    def _words(self, text: Text) -> _Words:
        table, lookup = self.system.table, text.vocabulary.lookup
        numbers = table.source.vocabulary.lookup.find_all(lookup)
        targets = table.target.vocabulary.lookup.find_all(lookup)
        new = np.flatnonzero(targets == _UNKNOWN)
        targets[new] = len(table.target.vocabulary) + np.arange(len(new), dtype=np.uint32)
        return _Words(numbers, targets, new)


class _Pieces(NamedTuple):
    lines: list[str]
    offsets: npt.NDArray[np.int64]  # pieces of sentence s: [offsets[s], offsets[s + 1])


def _pieces(lines: Sequence[str], max_words: int) -> _Pieces:
    """Cut lines that are too long.

    >>> _pieces(["a b c", "d"], 2).lines
    ['a b', 'c', 'd']
    """
    found: list[str] = []
    offsets = [0]
    for line in lines:
        # A line of n characters has fewer than n words: most lines need no look at their words.
        tokens = line.split(" ") if len(line) > max_words else []
        if len(tokens) <= max_words:
            found.append(line)
        else:
            words = [token for token in tokens if token]
            found += [" ".join(words[i : i + max_words]) for i in range(0, max(len(words), 1), max_words)]
        offsets.append(len(found))
    return _Pieces(found, np.array(offsets, np.int64))


def _extended(vocabulary: Vocabulary, other: Vocabulary, new: npt.NDArray[np.int64]) -> Vocabulary:
    """A vocabulary with some words of another behind its own."""
    if len(new) == 0:
        return vocabulary
    where, offsets = gather(other.offsets, new)
    return Vocabulary(
        np.concatenate([vocabulary.bytes, other.bytes[where]]),
        np.concatenate([vocabulary.offsets, vocabulary.offsets[-1] + offsets[1:]]),
    )


def _check_tags(lines: Sequence[str], tags: Sequence[str]) -> None:
    """Say which line has not one tag for each word."""
    for n, (line, labels) in enumerate(zip(lines, tags, strict=True), start=1):
        n_words, n_tags = (sum(map(bool, _CONTROL.sub(" ", text).split(" "))) for text in (line, labels))
        if n_words != n_tags:
            raise AnnotationError("tags", f"{n_tags} tags for {n_words} words", n)


def _trees(lines: Sequence[str], pieces: _Pieces, source: Text) -> Trees:
    """The trees of sentences; those that were cut into pieces have none."""
    counts = np.diff(pieces.offsets).tolist()
    whole = [
        line.replace("|||", "&#124;" * 3) if n == 1 else "" for line, n in zip(lines, counts, strict=True) for _ in range(n)
    ]
    try:
        return Trees.of(whole, source)
    except InputError as error:
        piece = (error.line or 1) - 1
        sentence = int(np.searchsorted(pieces.offsets, piece, side="right"))
        raise AnnotationError("trees", error.what, sentence) from error


def _block(
    source: Text,
    found: _core.TranslationOptions,
    vocabulary: Vocabulary,
    system: System,
    tags: Tags | None,
    trees: Trees | None,
) -> Block:
    points, offsets = found.links, found.link_offsets
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((points[:, 1], points[:, 0], owner))
    options = Options(
        Spans(found.sentence, found.begin, found.length),
        Text(found.target_words, found.target_offsets, vocabulary),
        Links(points[order], offsets),
    )
    # Which source phrase a pair belongs to.
    sources = np.searchsorted(system.table.offsets, found.pair, side="right") - 1
    sources = np.clip(sources, 0, max(len(system.table.source) - 1, 0))
    return Block(source, options, found.pair, sources, tags, trees)
