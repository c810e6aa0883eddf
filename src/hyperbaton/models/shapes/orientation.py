"""Models of the shape *per option*: a distribution over orientation classes for phrase pairs in context.

With `classes = "possible"` a model gives p(class | phrase pair, visited): its probabilities are normalised over the
classes that the phrase can have, given the translated source words. This is done by code that knows these
(`given_coverage`, and the search); learners with row priors are trained that way. With `coverage_weights_`, a weight for
the class and the coverage state of the phrase is added before.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self, cast, get_args

import numpy as np
import numpy.typing as npt

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.numeric import exp, log_softmax
from hyperbaton.base.options import option
from hyperbaton.base.progress import Phases, Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Annotations, Bitext, Links, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.bitext import need_bitext
from hyperbaton.models.shapes.base import (
    ModelState,
    ReorderingModel,
    max_sentences_option,
    restored_side,
    side_arrays,
    side_layout,
    some_sentences,
)
from hyperbaton.phrases import (
    ORIENTATIONS,
    ClassCounts,
    MosesSet,
    Occurrences,
    OrientationSet,
    PhraseTable,
    ReorderingType,
    Samples,
    TranslationOptions,
    class_frequencies,
    distances,
    extract,
    near_samples,
    orientation_set,
)
from hyperbaton.phrases.coverage import COVERAGE_STATES, states_of_samples
from hyperbaton.phrases.occurrences import Spans
from hyperbaton.phrases.orientation import Side

LogProbs = npt.NDArray[np.float64]

# The search's score of an impossible class.
LEAST_LOGPROB = -100.0

# Rows scored at once: limits the memory of scoring.
_CHUNK = 200_000


class TrainingSamples(NamedTuple):
    """The training data of a model: phrase pairs in context and their classes."""

    occurrences: Occurrences
    labels: npt.NDArray[np.uint8]
    distances: npt.NDArray[np.int16]
    resources: Resources = Resources(threads=1)
    # (n, n_classes), for a model over possible classes. A sample's own class counts as possible: Moses' labels may not be.
    possible: npt.NDArray[np.bool_] | None = None
    coverage: npt.NDArray[np.uint8] | None = None  # (n,): states of the coverage, for a model that has weights for them


@dataclass(eq=False)
class OrientationModel(ReorderingModel):
    """Base of orientation models: p(class | phrase pair in context).

    A model adds options, `_fit`, `_logprobs`, `_arrays` and `_restore`. The classes are those of `orientations`, relative
    to the previous phrase or the next one. `fit` trains and returns the model; learned attributes end in `_`.
    """

    orientations: str = option(
        "three", "orientation set: three, five, nine, msd, hier-mslr, … or cut points like -4,0,1,5", metavar="NAME|N,N,…"
    )
    side: str = option(
        "before", "predict the movement from the previous phrase, or to the next one", choices=get_args(Side)
    )
    classes: str = option(
        "all", "classes over which probabilities are normalised: all, or only possible ones", choices=("all", "possible")
    )
    max_length: int = option(8, "longest phrase, in words, on either side", minimum=1, maximum=255)
    max_distance: int = option(15, "skip phrase pairs that move farther in training; 0 keeps all", minimum=0)
    min_pair_count: int = option(
        1, "skip phrase pairs with fewer samples in training; 2 keeps those that a table of the rest would have", minimum=1
    )
    max_sentences: int = max_sentences_option()

    takes_scratch: ClassVar = True

    shape: ClassVar = "orientation"
    phases: ClassVar[Mapping[str, float]] = {"phrase pairs": 1, "model": 4}  # of training, with shares of the time
    uses: ClassVar[tuple[str, ...]] = ("source_classes", "target_classes")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check()

    @property
    def set(self) -> OrientationSet:
        """The orientation set."""
        return orientation_set(self.orientations)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.set.names

    def fit(
        self,
        bitext: Bitext,
        annotations: Annotations = NOTHING,
        *,
        samples: Samples | None = None,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
    ) -> Self:
        """Train on the samples of a linked bitext; by default, they are extracted from `max_sentences` pairs.

        Arguments:
            annotations: classes of words, for features that use them.
            scratch: where samples and rows of features are stored, if they should be in mapped files.
        """
        if scratch is not None and not self.takes_scratch:
            raise OptionError(f"the model {self.name} is trained in memory")
        scratch = scratch or Scratch()
        annotations = self._used(annotations)
        with self._training(bitext, annotations):
            self._check()
            extraction, *others = self.phases
            resources = Resources(self._n_threads, scratch=scratch, phases=Phases(progress, self.phases))
            if samples is None:
                bitext, annotations = some_sentences(bitext, annotations, self.max_sentences)
                extracting = resources.phase(extraction).progress
                samples = extract(
                    bitext, self.max_length, threads=self.threads or None, progress=extracting, scratch=scratch
                )
            samples = near_samples(samples, self.max_distance, cast(Side, self.side), scratch)
            if self.min_pair_count > 1:
                samples = _frequent_pairs(bitext, samples, self.min_pair_count, resources)
            if len(samples) == 0:
                frequent = f" with {self.min_pair_count} samples" if self.min_pair_count > 1 else ""
                what = f"nothing to learn from: no phrase pair{frequent} was found; check the links"
                raise InputError(what, bitext.source.path)
            self.source_vocabulary_, self.target_vocabulary_ = bitext.source.vocabulary, bitext.target.vocabulary
            self.source_classes_, self.target_classes_ = annotations.source_classes, annotations.target_classes
            tags = annotations.source_tags
            self.tag_vocabulary_ = None if tags is None else tags.vocabulary
            occurrences = self.known(Occurrences.of_samples(bitext, samples, tags))
            n, n_classes = len(samples), len(self.class_names)
            labels = scratch.filled(n, np.uint8, 16, lambda rows: self.labels(samples.part(rows)))
            self.class_counts_ = class_frequencies(labels, n_classes)
            # (COVERAGE_STATES, n_classes): weights added to the scores of classes in each coverage state.
            self.coverage_weights_: Array | None = None
            possible = coverage = None
            if self.classes == "possible":

                def possible_of(rows: slice) -> Array:
                    return with_own(self.possible(bitext, samples.part(rows)), labels[rows])

                possible = scratch.filled((n, n_classes), np.bool_, 16 * n_classes, possible_of)
            if self.sees_coverage:
                coverage = scratch.filled(n, np.uint8, 16, lambda rows: states_of_samples(bitext, samples.part(rows)))
            moved = distances(samples, cast(Side, self.side))
            resources = resources.phase(others[0])
            self._fit(TrainingSamples(occurrences, labels, moved, resources, possible, coverage))
        return self

    def labels(self, samples: Samples) -> npt.NDArray[np.uint8]:
        """The true class of each sample."""
        return self.set.classify(samples, cast(Side, self.side))

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """The names of the classes, in the order of the columns of `predict_proba`, as in scikit-learn."""
        return np.array(self.class_names)

    def predict(self, bitext: Bitext, samples: Samples | None = None) -> npt.NDArray[np.str_]:
        """The most probable class of each sample, by name; by default, samples of the bitext are extracted."""
        self._check_fitted()
        frequent = np.argsort(-self.class_counts_, kind="stable")  # ties go to the more frequent class
        likeliest = frequent[self.predict_proba(bitext, samples)[:, frequent].argmax(axis=1)]
        return cast(npt.NDArray[np.str_], self.classes_[likeliest])

    def predict_proba(self, bitext: Bitext, samples: Samples | None = None) -> LogProbs:
        """The probability of each class for each sample, shape (n_samples, n_classes).

        A model over possible classes gives the others none: the links define the coverage before a sample.
        """
        one = "explain(model, Question(sentence=…)) of hyperbaton.evaluate asks about a sentence without a translation"
        need_bitext(bitext, "predict", one)
        if samples is None:
            samples = extract(bitext, self.max_length, threads=self.threads or None)
        return cast(LogProbs, exp(self.given_coverage(self.sample_logprobs(bitext, samples), bitext, samples)))

    @property
    def sees_coverage(self) -> bool:
        """Whether the model has weights of coverage states."""
        return False

    def given_coverage(
        self,
        logprobs: LogProbs,
        bitext: Bitext,
        samples: Samples,
        *,
        classes: str | None = None,
        labels: npt.NDArray[np.uint8] | None = None,
    ) -> LogProbs:
        """log p(class | sample, coverage before it) from `sample_logprobs`, in the way of the model.

        Arguments:
            classes: `all` or `possible`, instead of the model's own.
            labels: the true classes, to count as possible.
        """
        possible = None
        if (classes or self.classes) == "possible":
            possible = self.possible(bitext, samples)
            possible = possible if labels is None else with_own(possible, labels)
        states = None if self.coverage_weights_ is None else states_of_samples(bitext, samples)
        return normalised(self.coverage_weights_, logprobs, possible, states)

    def possible(self, bitext: Bitext, samples: Samples) -> npt.NDArray[np.bool_]:
        """Whether each sample can have each class, given the coverage before it, (n_samples, n_classes)."""
        return self.set.possible(bitext, samples)

    def sample_logprobs(self, bitext: Bitext, samples: Samples, annotations: Annotations = NOTHING) -> LogProbs:
        """Natural log-probabilities of the classes of samples, shape (n_samples, n_classes)."""
        return self.logprobs(Occurrences.of_samples(bitext, samples, annotations.source_tags))

    def option_logprobs(self, source: Text, options: TranslationOptions, annotations: Annotations = NOTHING) -> LogProbs:
        """Natural log-probabilities of the classes of translation options of sentences, shape (n_options, n_classes)."""
        return self.logprobs(Occurrences.of_options(source, options, annotations.source_tags))

    def logprobs(self, occurrences: Occurrences) -> LogProbs:
        """Natural log-probabilities of the classes of any phrase pairs in context."""
        self._check_fitted()
        known = self.known(occurrences)
        result = np.empty((len(known), len(self.class_names)))
        for rows in _chunks(len(known)):
            result[rows] = self._logprobs(known.select(np.arange(rows.start, rows.stop)))
        return result

    @property
    def by_source(self) -> bool:
        """Whether the model conditions on the source phrase alone: its table has a row for each."""
        return False

    def moses_table(self, direction: str) -> str | None:
        orientations = self.set
        if not isinstance(orientations, MosesSet) or self.classes == "possible" or self.sees_coverage:
            return None
        unit = {"word": "wbe", "phrase": "phrase", "hierarchical": "hier"}[orientations.unit]
        classes, conditioning = ORIENTATIONS.name_of(orientations), "f" if self.by_source else "fe"
        return ReorderingType.parse(f"{unit}-{classes}-{direction}-{conditioning}").name

    def table_probabilities(self, table: PhraseTable, bitext: Bitext | None = None) -> npt.NDArray[np.float32]:
        """Probabilities of the classes for every row of Moses' reordering table, shape (n_rows, n_classes).

        Moses' tables know no context, so the probabilities of a phrase pair are averaged over its samples in a bitext:
        p(o | s, t) = Σ_i p(o | s, t, context i) / n. A pair without samples is scored without context.
        """
        sources, pairs = table.sources, np.arange(len(table))
        if self.by_source:  # with any target phrase
            sources = np.arange(len(table.source), dtype=np.uint32)
            pairs = np.minimum(np.asarray(table.offsets[:-1]), len(table) - 1)
        source, target = (side.as_text() for side in (table.source, table.target))
        lengths, points = source.lengths[sources].astype(np.uint8), table.links.gather(pairs)
        spans = Spans(sources.astype(np.uint32), np.zeros(len(sources), np.uint16), lengths)
        links = Links(points[0].astype(np.uint16), points[1])
        options = TranslationOptions(spans, target.select(table.targets[pairs]), links)
        alone = self.known(Occurrences.of_options(source, options))
        probabilities = exp(self.logprobs(alone))
        if bitext is not None and not self.by_source:
            keys, rows = np.unique(alone.pair_keys(), return_inverse=True)
            sums, counts = np.zeros((len(keys), len(self.class_names))), np.zeros(len(keys), np.int64)
            every = Occurrences.of_samples(bitext, extract(bitext, self.max_length, threads=self.threads or None))
            for chunk in _chunks(len(every)):
                some = self.known(every.select(np.arange(chunk.start, chunk.stop)))
                sampled = some.pair_keys()
                at = np.minimum(np.searchsorted(keys, sampled), len(keys) - 1)
                in_table = keys[at] == sampled
                np.add.at(sums, at[in_table], exp(self.logprobs(some.select(np.flatnonzero(in_table)))))
                counts += np.bincount(at[in_table], minlength=len(keys))
            seen = counts[rows] > 0
            probabilities[seen] = sums[rows[seen]] / counts[rows[seen], None]
        return cast(npt.NDArray[np.float32], probabilities.astype(np.float32))

    def known(self, occurrences: Occurrences) -> Occurrences:
        """Phrase pairs over the vocabularies of training, with the classes of their words, or the tags of source
        words."""
        known = occurrences.over(self.source_vocabulary_, self.target_vocabulary_)
        known = known.with_classes(self.source_classes_, self.target_classes_)
        return known if self.tag_vocabulary_ is None else known.with_tags(self.tag_vocabulary_)

    def support(self, occurrences: Occurrences) -> npt.NDArray[np.int64] | None:
        """The number of training samples of each source phrase; None for a model without phrases."""
        counts = self.counts_of(occurrences)
        return None if counts is None else counts.sum(axis=1).astype(np.int64)

    def evidence(self, occurrences: Occurrences) -> list[list[tuple[str, Array]]]:
        """For each phrase pair its features, in words, with their contributions to the score of each class."""
        return [[] for _ in range(len(occurrences))]

    def phrase_weights(self, phrase: str) -> list[tuple[str, Array]]:
        """The learned features of a source phrase, in words, with a weight for each class."""
        return []

    def counts_of(self, occurrences: Occurrences) -> Array | None:
        """Training samples of each class of the source phrases, (n, n_classes); None for a model without phrases."""
        return None

    @property
    def prior(self) -> Array:
        """p(class) in training, add-one smoothed."""
        counts = self.class_counts_ + 1.0
        return cast(Array, counts / counts.sum())

    def summary(self) -> JsonObject:
        return {
            "samples": int(self.class_counts_.sum()),
            "classes": dict(zip(self.class_names, self.class_counts_.tolist(), strict=True)),
        }

    def _known_arrays(self) -> dict[str, Array]:
        arrays = super()._known_arrays() | {"class_counts": self.class_counts_}
        arrays |= side_arrays("source", self.source_vocabulary_, self.source_classes_)
        arrays |= side_arrays("target", self.target_vocabulary_, self.target_classes_)
        if self.coverage_weights_ is not None:
            arrays["coverage.weights"] = self.coverage_weights_
        return arrays

    def _layout(self) -> dict[str, str]:
        n_classes = len(self.class_names)
        return super()._layout() | {
            "class_counts": f"i8 {n_classes}",
            "coverage.weights?": f"f8 {COVERAGE_STATES} {n_classes}",
            **side_layout("source"),
            **side_layout("target"),
        }

    def _restore_known(self, state: ModelState) -> None:
        super()._restore_known(state)
        self.class_counts_ = state.arrays["class_counts"]
        self.coverage_weights_ = state.arrays.get("coverage.weights")
        self.source_vocabulary_, self.source_classes_ = restored_side(state, "source")
        self.target_vocabulary_, self.target_classes_ = restored_side(state, "target")

    def _used(self, annotations: Annotations) -> Annotations:
        """The annotations used in training; an error if one that the options need is missing."""
        return annotations

    def _check(self) -> None:
        """Raise OptionError for incompatible options."""
        _ = self.class_names
        if self.classes == "possible" and self.side != "before":
            raise OptionError("--classes possible applies to movements from the previous phrase: use --side before")
        if self.sees_coverage and self.side != "before":
            raise OptionError("coverage applies to movements from the previous phrase: use --side before")

    @abstractmethod
    def _fit(self, training: TrainingSamples) -> None:
        """Learn."""

    @abstractmethod
    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        """Log-probabilities of the classes of phrase pairs over the vocabularies of training."""


def _frequent_pairs(bitext: Bitext, samples: Samples, min_count: int, resources: Resources) -> Samples:
    """The samples of phrase pairs with at least `min_count` samples."""
    scratch, keys = resources.scratch, Occurrences.of_samples(bitext, samples).pair_keys(resources)
    counts, _, numbers = ClassCounts.numbered(keys, scratch.zeros(len(keys), np.uint8), 1, scratch)
    frequent = scratch.filled(len(keys), np.bool_, 16, lambda rows: counts.counts[numbers[rows], 0] >= min_count)
    return samples.select(frequent, scratch)


def with_own(possible: npt.NDArray[np.bool_], labels: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """The possible classes of samples, including their own, (n, n_classes)."""
    return cast(npt.NDArray[np.bool_], possible | (labels[:, None] == np.arange(possible.shape[1])))


def normalised(
    weights: Array | None,
    logprobs: LogProbs,
    possible: npt.NDArray[np.bool_] | None,
    states: npt.NDArray[np.uint8] | None,
) -> LogProbs:
    """Log-probabilities of classes given the coverage, over the possible classes.

    Arguments:
        weights: (COVERAGE_STATES, n_classes), a model's coverage weights; None for a model without them.
        possible: (n, n_classes); None for all classes.
        states: (n,), of the coverage.
    """
    if possible is None and weights is None:
        return logprobs
    scores = np.maximum(logprobs, LEAST_LOGPROB)
    if weights is not None and states is not None:
        scores = scores + weights[states]
    if possible is not None:
        scores = np.where(possible, scores, -np.inf)
    return cast(LogProbs, np.maximum(log_softmax(scores), LEAST_LOGPROB))


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))
