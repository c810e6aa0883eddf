"""Translate sentences with a system, in batches: options from the core, scores from the models, search in the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.errors import OptionError, SentenceError
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.shown import Display
from hyperbaton.corpus import Annotations, Links
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode.annotated import BATCH, AnnotatedLines, in_batches, words_of
from hyperbaton.decode.markup import FREE, Terms
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.request import Request
from hyperbaton.decode.result import Translations, feature_columns
from hyperbaton.decode.system import DISTORTION, GLUE, OWN_FEATURES, TRANSLATION, System
from hyperbaton.models import Batch, PerOption
from hyperbaton.phrases import Spans, TranslationOptions

if TYPE_CHECKING:
    from hyperbaton.decode.derivations import Derivations


@dataclass(frozen=True)
class NBest:
    """Number of translations to return for each sentence; `distinct` counts only different ones.

    To find distinct translations, at most `factor` times as many are considered; 0 considers all.
    """

    n: int = 1
    distinct: bool = False
    factor: int = 20


class TokenTranslator(Display, Picklable):
    """Translates with a system; `options` replaces the system's own, `glossary` forces translations of its terms.

    >>> from hyperbaton.corpus import Bitext
    >>> from hyperbaton.phrases import PhraseTable, extract
    >>> bitext = Bitext.of(["wo ai ni", "wo"], ["i love you", "i"], [[(0, 0), (1, 1), (2, 2)], [(0, 0)]])
    >>> system = System.of(PhraseTable.build(bitext, extract(bitext)))
    >>> TokenTranslator(system).translate(["ni ai wo", "", "wo"])
    ['you love i', '', 'i']
    >>> TokenTranslator(system).translate("ni ai wo")
    'you love i'
    """

    def __init__(
        self,
        system: System,
        options: Decoding | None = None,
        *,
        threads: int | None = None,
        glossary: Terms | None = None,
    ) -> None:
        self.system, self.glossary = system, glossary
        self.options = options or system.options
        system.check_applies(self.options)
        self.threads = n_threads(threads)

    @cached_property
    def _cache(self) -> _core.RankCache:
        return _core.RankCache()

    def facts(self) -> dict[str, object]:
        """The features of its system."""
        return self.system.facts()

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str is also a sequence of its letters
        self, sentences: str, progress: Progress | None = None, *, annotations: Annotations = NOTHING
    ) -> str: ...

    @overload
    def translate(
        self, sentences: Iterable[str], progress: Progress | None = None, *, annotations: Annotations = NOTHING
    ) -> list[str]: ...

    def translate(
        self, sentences: str | Iterable[str], progress: Progress | None = None, *, annotations: Annotations = NOTHING
    ) -> str | list[str]:
        """The best translation of each sentence, or of a single one as text; models trained with tags need their tags.

        Sentences are tokenized like the training text, and so are their translations. `RawTranslator` takes raw text.
        """
        if isinstance(sentences, str):
            return self._best_lines([sentences], progress, annotations)[0]
        if not isinstance(sentences, Iterable):
            raise OptionError(f"translate takes a sentence or a list of sentences, not {sentences!r}")
        return self._best_lines(sentences, progress, annotations)

    def _best_lines(self, sentences: Iterable[str], progress: Progress | None, annotations: Annotations) -> list[str]:
        batches = self.batches(sentences, annotations=annotations, progress=progress)
        return [line for batch in batches for line in batch.lines()]

    def batches(
        self,
        sentences: Iterable[str],
        n_best: NBest | None = None,
        *,
        annotations: Annotations = NOTHING,
        batch_size: int = BATCH,
        progress: Progress | None = None,
    ) -> Iterator[Translations]:
        """Translate consecutive batches of sentences; `batch_size=1` returns each before reading the next."""
        groups = in_batches(sentences, annotations, batch_size, markup=self.options.markup)
        return self.groups(groups, n_best, progress=progress)

    def groups(
        self,
        groups: Iterable[AnnotatedLines],
        n_best: NBest | None = None,
        *,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Iterator[Translations]:
        """Translate groups of sentences, each yielded as soon as it is translated."""
        done = 0
        for sentences in groups:
            try:
                translations = self.search(self._with_terms(sentences), n_best, graph=graph, progress=progress)
            except SentenceError as error:
                raise error.moved(done) from error
            yield translations
            done += len(translations)

    def translate_batch(
        self,
        lines: Sequence[str],
        n_best: NBest,
        *,
        annotations: Annotations = NOTHING,
        forced: Sequence[str] | None = None,
        relax: bool = True,
        graph: bool = False,
    ) -> Translations:
        """Translate sentences that are searched together, with the markup in them and the terms of the glossary.

        Arguments:
            annotations: source tags and trees of the sentences, for models trained with them.
            forced, relax, graph: as for `search`.
        """
        sentences = AnnotatedLines.parse(lines, self.options.markup)._replace(annotations=annotations)
        return self.search(self._with_terms(sentences), n_best, forced=forced, relax=relax, graph=graph)

    def _with_terms(self, sentences: AnnotatedLines) -> AnnotatedLines:
        """Sentences with the terms of the glossary among their constraints."""
        if self.glossary is None:
            return sentences
        given_constraints = sentences.constraints or [FREE] * len(sentences.lines)
        constraints = [
            self.glossary.add_to(constraint, words_of(line), number)
            for number, (constraint, line) in enumerate(zip(given_constraints, sentences.lines, strict=True), start=1)
        ]
        return sentences._replace(constraints=constraints)

    def search(
        self,
        sentences: AnnotatedLines,
        n_best: NBest | None = None,
        *,
        forced: Sequence[str] | None = None,
        relax: bool = True,
        graph: bool = False,
        progress: Progress | None = None,
    ) -> Translations:
        """Search for the best translations of sentences, together, under their constraints alone.

        Arguments:
            forced: find the best derivations of these translations, one for each sentence; none if there is no derivation.
            relax: lift limits on the order for a sentence that cannot be translated within them.
            graph: keep the search graph.
        """
        if forced is not None:
            self.system.need_unpacked("forced decoding")
        n_best = n_best or NBest()
        request = Request.of(sentences, self.system.table, self.options, forced)
        lms = self._lms(request)
        if self.system.is_hierarchical:
            return self._derive(request, lms, n_best, graph, progress)
        options = self._find_options(request, lms)
        batch, distance = _batch(request, options), _core.Distance(weight=self.system.weights[DISTORTION][0])
        features = [(DISTORTION, distance), *lms.items(), *self._reordering(batch, self.system.reordering)]
        search_input = _search_input(request, options, features)
        settings = _core.DecodeSettings(
            search=self._search_settings,
            n_best=_core.NBestSettings(n=n_best.n, distinct=n_best.distinct, factor=n_best.factor),
            relax=relax,
            graph=graph,
            n_threads=self.threads,
        )
        return Translations(
            system=self.system,
            batch=batch,
            columns=feature_columns(self.system, search_input.columns),
            pieces=request.pieces.offsets,
            search_input=search_input,
            found_options=options,
            **_core.decode(search_input, settings, progress),
        )

    def _derive(
        self,
        request: Request,
        lms: dict[str, _core.WeightedLm],
        n_best: NBest,
        graph: bool,
        progress: Progress | None,
    ) -> Derivations:
        """Translations by the rules of a hierarchical system."""
        from hyperbaton.decode.derivations import Derivations  # here, since most systems have phrases

        models = self.system.reordering
        in_chart = [name for name, model in models.items() if model.in_chart]
        rescoring = [name for name in models if name not in in_chart]
        settings = self._chart_settings(n_best, graph, self.options.rescore if rescoring else 0)
        chart_input = self._chart_input(request, lms)
        if any(isinstance(models[name].part, PerOption) for name in in_chart):
            batch = _batch(request, chart_input.find_blocks(self._cache, settings))
        else:
            none = np.zeros(0, np.int64)
            batch = Batch(request.source, TranslationOptions.of([]), none, request.annotations, request.table)
        chart_input.add(self._reordering(batch, in_chart))
        found = _core.decode_chart(chart_input, self._cache, settings, progress)
        if not rescoring:
            return Derivations.of(self.system, request, chart_input.columns, found.choose(settings))
        batch = _batch(request, found.phrases)
        search_input = _search_input(request, found.phrases, self._reordering(batch, rescoring))
        found.rescore(search_input, self.threads, progress)
        return Derivations.of(self.system, request, chart_input.columns, found.choose(settings), batch, search_input)

    def best_pairs(self, progress: Progress | None = None) -> npt.NDArray[np.bool_]:
        """For each pair or rule of the table, whether the search can take it: whether the table limit allows it."""
        request = Request.of(AnnotatedLines.parse([], markup=False), self.system.table, self.options)
        lms = self._lms(request)
        if self.system.is_hierarchical:
            chart_input = self._chart_input(request, lms)
            return _core.best_rules(chart_input, self._chart_settings(NBest(), False, 0), progress).astype(np.bool_)
        return _core.best_pairs(
            table=self.system.lookup,
            lms=list(lms.values()),
            weights=self._own_weights,
            settings=self._lookup_settings,
            progress=progress,
        ).astype(np.bool_)

    def _chart_input(self, request: Request, lms: dict[str, _core.WeightedLm]) -> _core.ChartInput:
        return _core.ChartInput(
            grammar=self.system.grammar,
            source=request.tokens,
            features=list(lms.items()),
            weights=self._own_weights,
            demands=request.demands,
            walls=request.walls,
            zones=request.zones,
            forced=request.forced,
        )

    def _chart_settings(self, n_best: NBest, graph: bool, n_rescored: int) -> _core.ChartSettings:
        return _core.ChartSettings(
            lookup=self._lookup_settings,
            pop_limit=self.options.pop_limit,
            stack=self.options.stack,
            log_threshold=_log_threshold(self.options),
            max_span=self.options.max_span,
            n_best=_core.NBestSettings(n=n_best.n, distinct=n_best.distinct, factor=n_best.factor),
            n_rescored=n_rescored,
            graph=graph,
        )

    @cached_property
    def _own_weights(self) -> npt.NDArray[np.float32]:
        """The weights of the features of the options: the scores of the table, the penalties and, for rules, glue."""
        names = (TRANSLATION, *OWN_FEATURES, *([GLUE] if self.system.is_hierarchical else []))
        return np.array([w for name in names for w in self.system.weights[name]], np.float32)

    def _lms(self, request: Request) -> dict[str, _core.WeightedLm]:
        """The language models over the words of a request."""
        new = request.new_words
        return {
            name: _core.WeightedLm(
                model=lm.view,
                weight=self.system.weights[name][0],
                words=self.system.lm_words[name],
                new_words=lm.numbers_of(new),
            )
            for name, lm in self.system.lms.items()
        }

    @cached_property
    def _lookup_settings(self) -> _core.LookupSettings:
        return _core.LookupSettings(
            table_limit=self.options.table_limit,
            max_length=self.system.max_source_length,
            drop_unknown=self.options.drop_unknown,
            n_threads=self.threads,
        )

    @cached_property
    def _search_settings(self) -> _core.SearchSettings:
        options = self.options
        return _core.SearchSettings(
            kind=_core.SearchKind[options.search],
            stack=options.stack,
            log_threshold=_log_threshold(options),
            pop_limit=options.pop_limit,
            limits=_core.Limits(
                distortion=options.distortion_limit,
                early_distortion=options.early_distortion,
                future_distortion=options.future_distortion,
                future_jumps=_core.FutureJumps[options.future_jumps],
                jump_threshold=options.jump_threshold,
                itg=options.itg,
            ),
        )

    def _find_options(self, request: Request, lms: dict[str, _core.WeightedLm]) -> _core.TranslationOptions:
        return _core.find_options(
            table=self.system.lookup,
            cache=self._cache,
            source=request.tokens,
            lms=list(lms.values()),
            weights=self._own_weights,
            demands=request.demands,
            forced=request.forced,
            settings=self._lookup_settings,
        )

    def _reordering(self, batch: Batch, names: Iterable[str]) -> list[tuple[str, _core.Feature]]:
        """The features of these reordering models by name; a model may have several."""
        weights, models = self.system.weights, self.system.reordering
        return [(name, scorer) for name in names for scorer in models[name].scorers(batch, weights[name])]


def _log_threshold(options: Decoding) -> float:
    return float(numeric.log(options.threshold)) if options.threshold > 0 else -np.inf


def _search_input(
    request: Request, options: _core.TranslationOptions, features: list[tuple[str, _core.Feature]]
) -> _core.DecodeInput:
    return _core.DecodeInput(
        options=options,
        source_offsets=request.source.offsets,
        features=features,
        walls=request.walls,
        zones=request.zones,
        forced=request.forced,
    )


def _batch(request: Request, columns: _core.TranslationOptions) -> Batch:
    """The sentences of a request with their options, in the form for models."""
    options = TranslationOptions(
        Spans(columns.sentence, columns.begin, columns.length),
        request.spelled(columns.target_words, columns.target_offsets),
        Links(columns.links, columns.link_offsets),
        columns.offsets,
    )
    return Batch(request.source, options, columns.pair, request.annotations, request.table)
