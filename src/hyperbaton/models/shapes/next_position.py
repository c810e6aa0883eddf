"""Models of the shape *per jump*: P(NP | CP), the probability of the next source word given the last translated one.

The current position (CP) is −1 (sentence start, BOS) … n − 1, the next position (NP) 0 … n (sentence end, EOS), never the
CP itself (GO13 §2, §3.1). Jumps are learned from consecutive elements of BOS + visit order + EOS; sentence pairs without
links are ignored.

A translation visits each word once. With `candidates = "remaining"` a model gives P(NP | CP, visited): its matrix is
normalised again, over the unvisited words and EOS, by code that knows them (`JumpLogProbs.remaining`, and the search).
Adding a constant to a row of the matrix then changes nothing. Along a path these probabilities multiply to a distribution
over all visit orders of the sentence.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base.arrays import Array, gather, offsets_of
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import option
from hyperbaton.base.progress import Phases, Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.scratch import Scratch
from hyperbaton.corpus import Annotations, Bitext, Text
from hyperbaton.corpus.annotations import NOTHING, missing_tags
from hyperbaton.models.shapes.base import (
    ModelState,
    ReorderingModel,
    max_sentences_option,
    restored_side,
    side_arrays,
    side_layout,
    some_sentences,
)

LABELS = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class JumpRows:
    """Natural log-probabilities of jumps; `rows[s]` has a row for each CP of sentence s, BOS first, and a column for each
    word and EOS, −∞ where the jump is impossible."""

    values: npt.NDArray[np.float64]
    starts: npt.NDArray[np.int64]  # (n_sentences + 1,)
    lengths: npt.NDArray[np.int64]  # (n_sentences,), words

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, sentence: int) -> npt.NDArray[np.float64]:
        return self.values[self.starts[sentence] : self.starts[sentence + 1]].reshape(-1, int(self.lengths[sentence]) + 1)


@dataclass(frozen=True)
class JumpLogProbs(JumpRows):
    """Natural log-probabilities of all jumps of a text; `logprobs[s]` is the matrix of sentence s.

    The matrix of a sentence of n words has the shape (n + 1, n + 1). Row r is CP r − 1: row 0 is BOS, row r the word
    r − 1. Column c is NP c: the word c, and EOS for c = n. The jump of a word to itself, column r − 1 of row r, is −∞.

    `class_weights`: weights added to the scores of candidates when a row is normalised over the remaining words, by the
    class of the candidate: `_core.N_CANDIDATE_CLASSES` values, or None for nothing.
    """

    class_weights: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(cls, matrices: JumpLogProbs | Sequence[Array]) -> JumpLogProbs:
        """The matrices of sentences, which a model may give one by one."""
        if isinstance(matrices, JumpLogProbs):
            return matrices
        rows = [np.asarray(matrix, np.float64) for matrix in matrices]
        values = np.concatenate([np.zeros(0), *(matrix.ravel() for matrix in rows)])
        return cls(values, offsets_of([matrix.size for matrix in rows]), np.array([len(matrix) - 1 for matrix in rows]))

    def remaining(self, visits: VisitOrders, *, threads: int | None = None) -> JumpRows:
        """log P(NP | CP, visited) of BOS and each visited word, normalised over the words not visited by then and EOS.

        >>> flat = JumpLogProbs(np.zeros(9), np.array([0, 9]), np.array([2]))
        >>> rows = flat.remaining(VisitOrders(np.array([1, 0], np.uint16), np.array([0, 2])))
        >>> np.exp(rows[0]).round(2).tolist()
        [[0.33, 0.33, 0.33], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
        """
        offsets = offsets_of(self.lengths)
        words = _core.Tokens(words=np.zeros(offsets[-1], np.uint32), offsets=offsets)
        path = _core.JumpText(words, None, visits.positions, visits.offsets)
        values, starts = _core.remaining_rows(path, self.values, self.class_weights, n_threads=n_threads(threads))
        return JumpRows(values, starts, self.lengths)


@dataclass(frozen=True)
class TaggedSentences:
    """Source sentences for jump models: word numbers over the training vocabulary, a label for each word."""

    text: Text
    labels: LABELS | None

    def select(self, sentences: npt.NDArray[np.int64]) -> TaggedSentences:
        """The chosen sentences, in that order."""
        where, _ = gather(self.text.offsets, sentences)
        return TaggedSentences(self.text.select(sentences), None if self.labels is None else self.labels[where])

    def core(self, visits: VisitOrders | None = None) -> _core.JumpText:
        if visits is None:
            visits = VisitOrders(np.empty(0, np.uint16), np.zeros(len(self.text) + 1, np.int64))
        return _core.JumpText(self.text.core_tokens, self.labels, visits.positions, visits.offsets)


class JumpTraining(NamedTuple):
    source: TaggedSentences
    visits: VisitOrders
    resources: Resources = Resources(threads=1)

    def core(self) -> _core.JumpText:
        return self.source.core(self.visits)

    def features(self, keys: Array) -> _core.JumpFeatures:
        """An index for the features of sentences, given all keys."""
        return _core.JumpFeatures(keys, tagged=self.source.labels is not None)


class JumpClassifier(Protocol):
    """A part of a model that knows only classes of jumps."""

    @property
    def part(self) -> str:
        """Its name."""

    def jump_logprobs(self, source: Text, annotations: Annotations = NOTHING) -> JumpLogProbs:
        """log p(class of the jump) for all jumps."""


@dataclass(eq=False)
class NextPositionModel(ReorderingModel):
    """Base of jump models: P(next source word | current one).

    A model adds options, `_fit`, `_jump_logprobs`, `_arrays` and `_restore`.

    A model trained over the remaining words reads `candidates` in `_fit`; others only use it after training.
    """

    candidates: str = option(
        "all",
        "words that probabilities are normalised over: all, or those not yet translated",
        choices=("all", "remaining"),
    )
    max_sentences: int = max_sentences_option()

    shape: ClassVar = "next_position"
    uses: ClassVar = ("source_tags", "source_classes")

    @property
    def classifiers(self) -> Sequence[JumpClassifier]:
        """The parts that know only classes of jumps, if it has such parts."""
        return ()

    def fit(
        self,
        bitext: Bitext,
        annotations: Annotations = NOTHING,
        *,
        progress: Progress | None = None,
        scratch: Scratch | None = None,
    ) -> Self:
        """Train on the visit orders of a linked bitext.

        Arguments:
            annotations: a tag for each source token, or classes of source words, which replace tags if there is no
            tagger.
            scratch: where features are stored, if they should be in mapped files.
        """
        if scratch is not None and not self.takes_scratch:
            raise OptionError(f"the model {self.name} is trained in memory: only pair and sequence use temporary files")
        if annotations.source_tags is not None and annotations.source_classes is not None:
            raise OptionError("give source tags or source classes, not both")
        with self._training(bitext, annotations):
            bitext, annotations = some_sentences(bitext, annotations, self.max_sentences)
            visits = visit_order(bitext.need_links(), threads=self.threads or None)
            self.n_jumps_ = len(visits.jumps(bitext.source.lengths).next)
            if self.n_jumps_ == 0:
                raise InputError("nothing to learn from: no sentence pair has links", bitext.source.path)
            self.vocabulary_, self.source_classes_ = bitext.source.vocabulary, annotations.source_classes
            tags = annotations.source_tags
            self.tag_vocabulary_ = None if tags is None else tags.vocabulary
            resources = Resources(self._n_threads, scratch=scratch or Scratch(), phases=Phases(progress, self.phases))
            resources = resources.phase(next(iter(self.phases)))
            self._fit(JumpTraining(self._known(bitext.source, annotations), visits, resources))
        return self

    @property
    def phases(self) -> Mapping[str, float]:
        """The phases of training, with shares of the time."""
        return {"weights": 1}

    def jump_logprobs(self, source: Text, annotations: Annotations = NOTHING) -> JumpLogProbs:
        """log P(NP | CP) of all jumps of all sentences; they need tags if the model was trained with tags."""
        self._check_fitted()
        values = self._jump_logprobs(self._known(source, annotations))
        return JumpLogProbs(values, _core.jump_starts(source.offsets), source.lengths, self._class_weights())

    def summary(self) -> JsonObject:
        return {"samples": self.n_jumps_, "tags": self._label_kind()}

    def _class_weights(self) -> npt.NDArray[np.float64] | None:
        """The weights of coverage classes, in the form of `JumpLogProbs`."""
        return None

    def _label_kind(self) -> str:
        return "tags" if self.needs else "none" if self.source_classes_ is None else "classes"

    def _known(self, source: Text, annotations: Annotations) -> TaggedSentences:
        """Sentences over the vocabularies of training; unseen words and tags get numbers after them."""
        text = source.over(self.vocabulary_)
        if self.source_classes_ is not None:
            return TaggedSentences(text, self.source_classes_.tags(text).astype(np.uint32))
        if self.tag_vocabulary_ is None:
            return TaggedSentences(text, None)
        tags = annotations.source_tags
        if tags is None:
            raise missing_tags(self.name)
        return TaggedSentences(text, tags.over(self.tag_vocabulary_))

    def _known_arrays(self) -> dict[str, Array]:
        arrays = {"n_jumps": np.array([self.n_jumps_]), **side_arrays("source", self.vocabulary_, self.source_classes_)}
        return super()._known_arrays() | arrays

    def _layout(self) -> dict[str, str]:
        return super()._layout() | {"n_jumps": "i8 1", **side_layout("source")}

    def _restore_known(self, state: ModelState) -> None:
        super()._restore_known(state)
        self.n_jumps_ = int(state.arrays["n_jumps"][0])
        self.vocabulary_, self.source_classes_ = restored_side(state, "source")

    @abstractmethod
    def _fit(self, training: JumpTraining) -> None:
        """Learn."""

    @abstractmethod
    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        """log P(NP | CP) of all jumps, sentence by sentence, in the layout of `JumpLogProbs`."""
