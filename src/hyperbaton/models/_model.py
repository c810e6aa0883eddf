"""What every reordering model is: a distribution over orientation classes for phrase pairs in context."""

from __future__ import annotations

import resource
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple, Self, cast, get_args

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.options import check_options, from_mapping, option, to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Bitext, Text, Vocabulary
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.models._store import ModelState, save_model
from hyperbaton.phrases import (
    Occurrences,
    Options,
    OrientationSet,
    Samples,
    distances,
    extract,
    near_samples,
    orientation_set,
)
from hyperbaton.phrases.orientation import Side

Array = npt.NDArray[Any]
LogProbs = npt.NDArray[np.float64]

# Rows scored at once: bounds the memory of scoring.
_BLOCK = 200_000


class Training(NamedTuple):
    """What a model learns from: phrase pairs in context and their classes."""

    occurrences: Occurrences
    labels: npt.NDArray[np.uint8]
    distances: npt.NDArray[np.int16]
    progress: Progress | None


@dataclass(eq=False)
class ReorderingModel(ABC):
    """Base of all models; a model adds options, `_fit`, `_logprobs`, `_arrays` and `_restore`.

    The classes are those of `orientations`, towards the previous phrase or the next one. `fit` learns and returns the
    model; what was learned ends in `_`.
    """

    orientations: str = option("three", "orientation set: three, five, nine, msd, hier-mslr, … or cut points like -4,0,1,5")
    side: str = option("before", "movement towards the previous phrase, or the next one", choices=get_args(Side))
    max_length: int = option(8, "longest phrase, in words, on either side", minimum=1, maximum=255)
    max_distance: int = option(15, "leave phrase pairs out of training that move farther; 0 keeps all", minimum=0)
    seed: int = 1
    threads: int = 0

    @property
    def name(self) -> str:
        """What the model is called: the name of its file."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def set(self) -> OrientationSet:
        """The orientation set."""
        return orientation_set(self.orientations)

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.set.names

    def fit(
        self,
        bitext: Bitext,
        samples: Samples | None = None,
        *,
        source_classes: WordClasses | None = None,
        target_classes: WordClasses | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the samples of a bitext with links; without samples, they are extracted.

        Arguments:
            source_classes, target_classes: classes of words, for features that look at them.
        """
        check_options(self)
        started = time.perf_counter()
        self._check()
        if samples is None:
            samples = extract(bitext, self.max_length, threads=self.threads or None, progress=progress)
        samples = near_samples(samples, self.max_distance, cast(Side, self.side))
        if len(samples) == 0:
            raise InputError("there is nothing to learn from: no phrase pair was found; are the links right?")
        self.source_vocabulary_, self.target_vocabulary_ = bitext.source.vocabulary, bitext.target.vocabulary
        self.source_classes_, self.target_classes_ = source_classes, target_classes
        occurrences = Occurrences.of_samples(bitext, samples).with_classes(source_classes, target_classes)
        labels = self.labels(samples)
        self.class_counts_ = np.bincount(labels, minlength=len(self.class_names))
        self._fit(Training(occurrences, labels, distances(samples, cast(Side, self.side)), progress))
        self.signature_ = bitext.signature()
        self.train_seconds_ = time.perf_counter() - started
        self.train_peak_mib_ = _peak_mib()
        return self

    def labels(self, samples: Samples) -> npt.NDArray[np.uint8]:
        """The true class of each sample."""
        return self.set.classify(samples, cast(Side, self.side))

    def sample_logprobs(self, bitext: Bitext, samples: Samples) -> LogProbs:
        """Natural log-probabilities of the classes of samples, shape (n_samples, n_classes)."""
        return self.logprobs(Occurrences.of_samples(bitext, samples))

    def option_logprobs(self, source: Text, options: Options) -> LogProbs:
        """The same for translation options of sentences, shape (n_options, n_classes)."""
        return self.logprobs(Occurrences.of_options(source, options))

    def logprobs(self, occurrences: Occurrences) -> LogProbs:
        """The same for any phrase pairs in context."""
        if "class_counts_" not in vars(self):
            raise OptionError(f"the model {self.name} has learned nothing yet: call fit first, or load a saved model")
        known = self.known(occurrences)
        result = np.empty((len(known), len(self.class_names)))
        for rows in _blocks(len(known)):
            result[rows] = self._logprobs(known.select(np.arange(rows.start, rows.stop)))
        return result

    def known(self, occurrences: Occurrences) -> Occurrences:
        """Phrase pairs over the vocabularies of training, with the classes of their words."""
        known = occurrences.over(self.source_vocabulary_, self.target_vocabulary_)
        return known.with_classes(self.source_classes_, self.target_classes_)

    def support(self, occurrences: Occurrences) -> npt.NDArray[np.int64] | None:
        """How many training samples each source phrase has; None for a model that keeps no phrases."""
        counts = self.counts_of(occurrences)
        return None if counts is None else counts.sum(axis=1).astype(np.int64)

    def evidence(self, occurrences: Occurrences) -> list[list[tuple[str, Array]]]:
        """For each phrase pair its features, in words, with what each adds to the score of each class."""
        return [[] for _ in range(len(occurrences))]

    def phrase_weights(self, phrase: str) -> list[tuple[str, Array]]:
        """What was learned about a source phrase: features, in words, with a weight for each class."""
        return []

    def counts_of(self, occurrences: Occurrences) -> Array | None:
        """Training samples of each class of the source phrases, (n, n_classes); None if the model keeps no phrases."""
        return None

    @property
    def prior(self) -> Array:
        """p(class) in training, add-one smoothed."""
        counts = self.class_counts_ + 1.0
        return cast(Array, counts / counts.sum())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as an artefact."""
        arrays = {"class_counts": self.class_counts_, **self._arrays()}
        for side, vocabulary, classes in (
            ("source", self.source_vocabulary_, self.source_classes_),
            ("target", self.target_vocabulary_, self.target_classes_),
        ):
            arrays |= vocabulary.arrays(f"{side}.vocabulary")
            if classes is not None:
                arrays[f"{side}.classes"] = _classes_over(classes, vocabulary)
        save_model(
            path,
            self.name,
            arrays,
            options=to_mapping(self),
            details={
                "classes": list(self.class_names),
                "n_samples": int(self.class_counts_.sum()),
                "train_seconds": self.train_seconds_,
                "train_peak_mib": self.train_peak_mib_,
            },
            inputs={"bitext": self.signature_},
            seed=self.seed,
        )

    @classmethod
    def restored(cls, state: ModelState) -> Self:
        """The model that was saved."""
        model = from_mapping(cls, state.options)
        model.seed, model.signature_ = state.seed, state.inputs["bitext"]
        model.class_counts_ = state.arrays["class_counts"]
        for side in ("source", "target"):
            vocabulary = Vocabulary.from_arrays(state.group(side), "vocabulary")
            setattr(model, f"{side}_vocabulary_", vocabulary)
            tags = state.arrays.get(f"{side}.classes")
            classes = None if tags is None else WordClasses(tags, int(tags.max(initial=0)), vocabulary)
            setattr(model, f"{side}_classes_", classes)
        model.train_seconds_ = float(state.details["train_seconds"])
        model.train_peak_mib_ = float(state.details["train_peak_mib"])
        model._restore(state)
        return model

    def _check(self) -> None:
        """Raise OptionError where options do not go together."""
        _ = self.class_names

    @abstractmethod
    def _fit(self, training: Training) -> None:
        """Learn."""

    @abstractmethod
    def _logprobs(self, occurrences: Occurrences) -> LogProbs:
        """Log-probabilities of the classes of phrase pairs over the vocabularies of training."""

    @abstractmethod
    def _arrays(self) -> dict[str, Array]:
        """What was learned, for the store."""

    @abstractmethod
    def _restore(self, state: ModelState) -> None:
        """Take back what `_arrays` gave."""


def log_softmax(scores: Array) -> LogProbs:
    """Log-probabilities from scores of shape (rows, classes)."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return cast(LogProbs, shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _classes_over(classes: WordClasses, vocabulary: Vocabulary) -> Array:
    """The class of each word of a vocabulary."""
    words = np.arange(len(vocabulary), dtype=np.uint32)
    return classes.tags(Text(words, np.array([0, len(vocabulary)], np.int64), vocabulary))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))


def _peak_mib() -> float:
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
