"""A network that corrects the links of the hidden Markov model; training needs PyTorch, linking does not.

Trained on the bitext alone, in three steps:

1. The hidden Markov model of `hmm`, with all of its options.
2. *Teachers*, which differ by their seeds, predict each word from the other sentence and from the other words of the same
   sentence, in both directions. The word they predict from gives the alignment (after Zenkel, Wuebker and DeNero 2020, and
   Chen, Sun and Liu 2021). They are guided by the posteriors of step 1, which small texts need.
3. The *student* learns to turn the posteriors of step 1 into a mixture of theirs and the teachers'. It is small, and its
   forward pass is in the core (core/align/link_network), so that linking needs no PyTorch and takes a fraction of the time.

Training may continue from a saved model with its teachers, `continue_`: it is the prior of step 1, and steps 2 and 3 start
from its networks. Words and stems that it knows keep their embeddings, however rare they are in the new text; new ones
start from those of the unknown word.

The saved model contains the hidden Markov model and the student, and with `with_teachers` also the teachers: it can then
link with that mixture itself, which is more exact and much slower, and needs PyTorch. Everything that works with a model
of `hmm` works with it: scores, thresholds, lexicons, streams, clusters and the service; log-probabilities of sentence pairs
and translation probabilities are those of the hidden Markov model.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.align.aligners.hmm import Aligner, confidence_option
from hyperbaton.align.base import SMALLEST_SAVED
from hyperbaton.align.neural.texts import (
    POSTERIOR_FLOOR,
    SMALLEST_POSTERIOR,
    WINDOW_SCALE,
    PairTexts,
    SideText,
    moved_rows,
)
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import DamagedError, OptionError, importing
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import Arguments, option, to_mapping
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import MANIFEST, Arrays, Artefact, group, hash_arrays, remove_artefact
from hyperbaton.base.training_states import NETWORK, TrainingStates
from hyperbaton.base.workers import Shared, Workers, load_arrays, save_arrays
from hyperbaton.corpus import Bitext, Text
from hyperbaton.network.words import FIRST, UNKNOWN, NeedsTorch, frequent_rows, rows_of

if TYPE_CHECKING:
    from hyperbaton.align.neural.training import Training

_MIN_COUNT = 2  # rarer words and stems have no embedding
_CONFIDENCES = {"links": 0.15, "phrases": 0.05}  # chosen by error rates and table sizes (docs/results/align.md)
_SIDES = ("source", "target")
_PARTS = {"words": None, "stems": 4}  # letters
_SIZES = ("teachers", "teacher_size", "hidden", "word_size", "vector_size")
_LEARNED = ("rows_", "network_", "teachers_")  # arrays by name, saved below the name of the attribute


@dataclass
class Neural(Aligner, NeedsTorch):
    """The aligner `hmm`, corrected by a network trained on the bitext alone (needs PyTorch to train, not to use)."""

    teachers: int = option(2, "number of teachers, whose posteriors are averaged", minimum=1)
    teacher_size: int = option(256, "size of a teacher's LSTM layers in one direction", minimum=1, maximum=4096)
    teacher_epochs: int = option(6, "passes over the text to train a teacher", minimum=1)
    samples: int = option(
        1024, "words beside those of a batch that stand for all in a teacher's softmax; 0: all", minimum=0
    )
    hidden: int = option(32, "size of the network's LSTM layers in one direction", minimum=1, maximum=1024)
    word_size: int = option(96, "size of its word embeddings", minimum=1, maximum=4096)
    vector_size: int = option(192, "size of the word vectors that it compares directly", minimum=1, maximum=4096)
    epochs: int = option(6, "passes over the text to train the network", minimum=1)
    max_words: int = option(30_000, "maximum number of words with embeddings, the most frequent", minimum=1)
    batch_tokens: int = option(8192, "maximum number of words in a batch; fewer for small texts", minimum=1)
    continue_: str | None = option(
        None, "saved model with teachers, of the same languages, to continue training from; also the prior", path=True
    )
    confidence: float | None = confidence_option(_CONFIDENCES)
    confidences: ClassVar[dict[str, float]] = _CONFIDENCES
    with_teachers: bool = option(False, "keep the teachers in the model, and link with them; slower, needs PyTorch")
    device: str = option("cpu", "where PyTorch computes", metavar="cpu|cuda|cuda:N")
    link_options: ClassVar[tuple[str, ...]] = (*Aligner.link_options, "with_teachers", "device")

    def fit(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> Neural:
        make_training, before = self._torch(), self._before()
        for name in ("student_", *_LEARNED):
            vars(self).pop(name, None)
        whole = Resources.of(threads, progress, workers=self.workers)
        super().fit(bitext, threads=threads, progress=whole.part(0, of=10).progress)
        texts = self.prepare(bitext, threads, before)
        starts = self._starts(before)
        training, states = make_training(self, texts, whole.threads), self._states(texts, starts)
        if self.with_teachers:
            self.teachers_ = {}
        if training.n_pairs == 0:
            return self  # without corrections
        n_teach, n_learn = 3 * self.teacher_epochs, self.teachers + self.epochs
        rest, total = whole.part(1, of=10, size=9), self.teachers * n_teach + n_learn
        lessons = [rest.part(k * n_teach, of=total, size=n_teach).tasks().progress for k in range(self.teachers)]
        shared = self.workers.share(texts, lambda path: save_arrays(path, texts.arrays()), _load_texts)
        teach = _Teaching(replace(self, workers=Workers()), shared, whole.tasks().threads)
        teachers = list(self.workers.map_arrays(teach, zip(range(self.teachers), lessons, states, starts, strict=False)))
        last = rest.part(total - n_learn, of=total, size=n_learn)
        arrays, _ = training.learn(teachers, last.progress, states[-1], starts[-1])
        self.take(arrays)
        if self.with_teachers:
            self.teachers_ = {f"{k}.{name}": array for k, arrays in enumerate(teachers) for name, array in arrays.items()}
        return self

    def _torch(self) -> type[Training]:
        """What trains with PyTorch; an error if it or the device cannot be used."""
        with importing("PyTorch", "torch", "torch"):
            from hyperbaton.align.neural import training as side
        if fault := side.device_fault(self.device):
            raise OptionError(f"device {self.device}: {fault}")
        return side.Training

    def _before(self) -> Neural | None:
        """The model that training continues from."""
        if self.continue_ is None:
            return None
        model = Aligner.load(self.continue_)
        if not isinstance(model, Neural) or not hasattr(model, "teachers_"):
            raise OptionError(f"{self.continue_}: has no teachers; train it with --with-teachers")
        for name in _SIZES:
            if (size := getattr(model, name)) != getattr(self, name):
                raise OptionError(f"{self.continue_}: was learned with {name} {size}, not {getattr(self, name)}")
        return model

    def prior_model(self) -> str | None:
        return self.prior or self.continue_

    def files(self) -> dict[str, Path]:
        return super().files() | ({} if self.continue_ is None else {"continue": Path(self.continue_) / MANIFEST})

    def _starts(self, before: Neural | None) -> list[dict[str, Array] | None]:
        """The arrays from which teachers and student start, for the embeddings of this text."""
        if before is None:
            return [None] * (self.teachers + 1)
        known = before.known_rows()
        origins = {name: np.zeros(_n_rows(rows), np.int64) for name, rows in self.rows_.items()}
        for rows in origins.values():
            rows[:FIRST] = np.arange(FIRST)
        for (name, form), row in self.known_rows().items():
            origins[name][row] = known.get((name, form), UNKNOWN)
        networks = [*(before._teacher(number) for number in range(self.teachers)), before.network_]
        return [moved_rows(arrays, origins) for arrays in networks]

    def known_rows(self) -> dict[tuple[str, str], int]:
        """The rows of the embeddings of words and stems, without those of unknown ones, by side and part, and form."""
        return {
            (f"{side}.{part}", word[:length]): row
            for side, vocabulary in zip(_SIDES, self.vocabularies_, strict=True)
            for part, length in _PARTS.items()
            for word, row in zip(vocabulary.words(), self.rows_[f"{side}.{part}"].tolist(), strict=True)
            if row >= FIRST
        }

    def prepare(self, bitext: Bitext, threads: int | None = None, before: Neural | None = None) -> PairTexts:
        """The input of training in PyTorch: sentences as rows of embeddings, with the posteriors of the models."""
        source, target = (side.text for side in self.normalize(bitext))
        self.number_words(source, target, {} if before is None else before.known_rows())
        return self._pair_texts(source, target, threads or default_threads())

    def _pair_texts(self, source: Text, target: Text, threads: int) -> PairTexts:
        """Normalised texts for PyTorch."""
        points, offsets, posteriors = self.model_.posteriors(
            None, source.core_tokens, target.core_tokens, SMALLEST_POSTERIOR, threads, None
        )
        sides = []
        for name, text in zip(_SIDES, (source, target), strict=True):
            words, stems = (self.rows_[f"{name}.{part}"] for part in _PARTS)
            n_rows = np.array([_n_rows(words), _n_rows(stems)])
            sides.append(SideText(rows_of(words, text.tokens), rows_of(stems, text.tokens), text.offsets, n_rows))
        return PairTexts(sides[0], sides[1], points, offsets, posteriors)

    def _correction(self, source: Text, target: Text, threads: int) -> _core.PosteriorCorrection | None:
        if not self.with_teachers:
            return getattr(self, "student_", None)
        make_training = self._torch()
        if not hasattr(self, "teachers_"):
            raise OptionError(f"{getattr(self, 'path_', 'the model')}: has no teachers; train it with --with-teachers")
        training = make_training(self, self._pair_texts(source, target, threads), threads)
        if not self.teachers_ or not len(training.texts.usable(self.max_length)):
            return None
        try:
            teachers = training.networks([self._teacher(number) for number in range(self.teachers)])
        except RuntimeError as error:
            raise DamagedError("the arrays of a teacher do not match") from error
        return _core.GivenPosteriors(*training.mixture(teachers, self.max_length))

    def _teacher(self, number: int) -> dict[str, Array]:
        return dict(group(self.teachers_, str(number)))

    def save(self, path: str | PathLike[str], smallest: float = SMALLEST_SAVED) -> None:
        super().save(path, smallest)
        for place in self._places():
            remove_artefact(place)

    def _places(self) -> list[Path]:
        """Where the states of the teachers and of the student are."""
        parts = [*(f"teacher.{number}" for number in range(self.teachers)), "student"]
        return [] if self.checkpoint is None else [self.checkpoint.with_name(f"{self.checkpoint.name}.{p}") for p in parts]

    def _states(self, texts: PairTexts, starts: Sequence[dict[str, Array] | None]) -> Sequence[TrainingStates | None]:
        """The states of the teachers and of the student, for these texts, first networks and options."""
        if self.checkpoint is None:
            return [None] * (self.teachers + 1)
        arrays, options = texts.arrays(), {**to_mapping(self), "seed": self.seed}
        for k, start in enumerate(starts):
            arrays |= {f"{k}.{name}": array for name, array in (start or {}).items()}
        inputs = {"texts": hash_arrays(arrays)}
        return [TrainingStates(place, NETWORK, options, inputs, self.seed) for place in self._places()]

    def number_words(self, source: Text, target: Text, known: Container[tuple[str, str]]) -> None:
        """Assign rows of the embeddings to the words and stems of normalised texts: the frequent and the known ones."""
        self.rows_ = {}
        for side, text in zip(_SIDES, (source, target), strict=True):
            for part, length in _PARTS.items():
                numbers: dict[str, int] = {}
                forms = [numbers.setdefault(word[:length], len(numbers)) for word in text.vocabulary.words()]
                of_word, name = np.array(forms, np.int64), f"{side}.{part}"
                old = np.array([n for form, n in numbers.items() if (name, form) in known], np.int64)
                most = self.max_words if length is None else len(numbers)
                tokens = np.concatenate([of_word[text.tokens], np.repeat(old, _MIN_COUNT)])
                self.rows_[name] = frequent_rows(tokens, len(numbers), most, _MIN_COUNT)[of_word]

    def take(self, arrays: dict[str, Array]) -> None:
        """Use a trained student, by its arrays."""
        self.network_ = arrays
        bits = {name: array.view(np.uint16) for name, array in arrays.items()}
        self.student_ = _core.LinkNetwork(
            bits,
            *(self.rows_[f"{side}.{part}"] for side in _SIDES for part in _PARTS),
            smallest_posterior=SMALLEST_POSTERIOR,
            posterior_floor=POSTERIOR_FLOOR,
            window_scale=WINDOW_SCALE,
        )

    def _details(self) -> JsonObject:
        return {**super()._details(), "aligner": "neural"}

    def _saved_seed(self) -> int:
        return self.seed

    def _restore(self, artefact: Artefact) -> None:
        super()._restore(artefact)
        self.seed = artefact.manifest["seed"] or self.seed
        self.path_, self.with_teachers = artefact.path, False

    def _model_arrays(self, smallest: float) -> dict[str, Array]:
        arrays = super()._model_arrays(smallest)
        for name in _LEARNED:
            arrays |= {f"{name[:-1]}.{part}": array for part, array in getattr(self, name, {}).items()}
        return arrays

    def _model_of(self, arrays: Arrays) -> _core.AlignmentModel:
        for name in _LEARNED:
            if parts := dict(group(arrays, name[:-1])):
                setattr(self, name, parts)
        if hasattr(self, "network_"):
            self.take(self.network_)
        return super()._model_of(arrays)

    def __getstate__(self) -> Arguments:
        return {name: value for name, value in super().__getstate__().items() if name not in ("student_", *_LEARNED)}


# The arguments of `Training.teach`.
_Lesson = tuple[int, Progress | None, TrainingStates | None, dict[str, Array] | None]


@dataclass(frozen=True)
class _Teaching:
    """Trains teachers, in this process or in those of an executor, which report no progress."""

    options: Neural
    texts: Shared[PairTexts]
    threads: int

    def __call__(self, lesson: _Lesson) -> dict[str, Array]:
        return self.options._torch()(self.options, self.texts.value, self.threads).teach(*lesson)[0]


def _load_texts(path: Path) -> PairTexts:
    return PairTexts.of(load_arrays(path))


def _n_rows(rows: Array) -> int:
    return int(rows.max(initial=FIRST - 1)) + 1
