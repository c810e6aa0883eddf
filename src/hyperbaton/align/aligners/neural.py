"""A network that corrects the links of the hidden Markov model; training needs PyTorch, linking does not.

Trained on the bitext alone, in three steps:

1. The hidden Markov model of `hmm`, with all of its options.
2. *Teachers*, which differ by their seeds, predict each word from the other sentence and from the other words of the same
   sentence, in both directions. The word they predict from gives the alignment (after Zenkel, Wuebker and DeNero 2020, and
   Chen, Sun and Liu 2021). They are guided by the posteriors of step 1, which small texts need.
3. The *student* learns to turn the posteriors of step 1 into a mixture of theirs and the teachers'. It is small, and its
   forward pass is in the core (core/align/link_network), so that linking needs no PyTorch and takes a fraction of the time.

The saved model contains the hidden Markov model and the student, and with `with_teachers` also the teachers: it can then
link with that mixture itself, which is more exact and much slower, and needs PyTorch. Everything that works with a model
of `hmm` works with it: scores, thresholds, lexicons, streams, clusters and the service; log-probabilities of sentence pairs
and translation probabilities are those of the hidden Markov model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hyperbaton import _core
from hyperbaton.align.aligners.hmm import Aligner, confidence_option
from hyperbaton.align.base import SMALLEST_SAVED
from hyperbaton.align.neural.texts import POSTERIOR_FLOOR, SMALLEST_POSTERIOR, WINDOW_SCALE, PairTexts, SideText
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import DamagedError, OptionError, importing
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.options import Arguments, option, to_mapping
from hyperbaton.base.progress import Progress, default_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.store import Arrays, Artefact, group, hash_arrays, remove_artefact
from hyperbaton.base.training_states import NETWORK, TrainingStates
from hyperbaton.corpus import Bitext, Text
from hyperbaton.network.words import FIRST, NeedsTorch, frequent_rows, rows_of

if TYPE_CHECKING:
    from hyperbaton.align.neural.training import Training

_STEM = 4  # letters
_MIN_COUNT = 2  # rarer words and stems have no embedding
_CONFIDENCES = {"links": 0.15, "phrases": 0.05}  # chosen by error rates and table sizes (docs/results/align.md)
_SIDES, _PARTS = ("source", "target"), ("words", "stems")
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
    confidence: float | None = confidence_option(_CONFIDENCES)
    confidences: ClassVar[dict[str, float]] = _CONFIDENCES
    with_teachers: bool = option(False, "keep the teachers in the model, and link with them; slower, needs PyTorch")
    device: str = option("cpu", "where PyTorch computes", metavar="cpu|cuda|cuda:N")
    link_options: ClassVar[tuple[str, ...]] = (*Aligner.link_options, "with_teachers", "device")

    def fit(self, bitext: Bitext, *, threads: int | None = None, progress: Progress | None = None) -> Neural:
        make_training = self._torch()
        for name in ("student_", *_LEARNED):
            vars(self).pop(name, None)
        whole = Resources.of(threads, progress)
        super().fit(bitext, threads=threads, progress=whole.part(0, of=10).progress)
        texts = self.prepare(bitext, threads)
        training, states = make_training(self, texts, whole.threads), self._states(texts)
        if training.n_pairs == 0:
            return self  # without corrections
        n_teach, n_learn = 3 * self.teacher_epochs, self.teachers + self.epochs
        rest, total = whole.part(1, of=10, size=9), self.teachers * n_teach + n_learn
        teachers = [
            training.teach(number, rest.part(number * n_teach, of=total, size=n_teach).progress, states[number])[0]
            for number in range(self.teachers)
        ]
        arrays, _ = training.learn(teachers, rest.part(total - n_learn, of=total, size=n_learn).progress, states[-1])
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

    def prepare(self, bitext: Bitext, threads: int | None = None) -> PairTexts:
        """The input of training in PyTorch: sentences as rows of embeddings, with the posteriors of the models."""
        source, target = (side.text for side in self.normalize(bitext))
        self.number_words(source, target)
        return self._pair_texts(source, target, threads or default_threads())

    def _pair_texts(self, source: Text, target: Text, threads: int) -> PairTexts:
        """Normalised texts for PyTorch."""
        points, offsets, posteriors = self.model_.posteriors(
            None, source.core_tokens, target.core_tokens, SMALLEST_POSTERIOR, threads, None
        )
        sides = []
        for name, text in zip(_SIDES, (source, target), strict=True):
            words, stems = (self.rows_[f"{name}.{part}"] for part in _PARTS)
            n_rows = np.array([rows.max(initial=FIRST - 1) + 1 for rows in (words, stems)])
            sides.append(SideText(rows_of(words, text.tokens), rows_of(stems, text.tokens), text.offsets, n_rows))
        return PairTexts(sides[0], sides[1], points, offsets, posteriors)

    def _correction(self, source: Text, target: Text, threads: int) -> _core.PosteriorCorrection | None:
        if not self.with_teachers:
            return getattr(self, "student_", None)
        make_training = self._torch()
        if not hasattr(self, "teachers_"):
            raise OptionError(f"{getattr(self, 'path_', 'the model')}: has no teachers; train it with --with-teachers")
        training = make_training(self, self._pair_texts(source, target, threads), threads)
        if not len(training.texts.usable(self.max_length)):
            return None
        try:
            teachers = training.networks([group(self.teachers_, str(k)) for k in range(self.teachers)])
        except RuntimeError as error:
            raise DamagedError("the arrays of a teacher do not match") from error
        return _core.GivenPosteriors(*training.mixture(teachers, self.max_length))

    def save(self, path: str | PathLike[str], smallest: float = SMALLEST_SAVED) -> None:
        super().save(path, smallest)
        for place in self._places():
            remove_artefact(place)

    def _places(self) -> list[Path]:
        """Where the states of the teachers and of the student are."""
        parts = [*(f"teacher.{number}" for number in range(self.teachers)), "student"]
        return [] if self.checkpoint is None else [self.checkpoint.with_name(f"{self.checkpoint.name}.{p}") for p in parts]

    def _states(self, texts: PairTexts) -> Sequence[TrainingStates | None]:
        """The states of the teachers and of the student, for these texts and options."""
        if self.checkpoint is None:
            return [None] * (self.teachers + 1)
        arrays, options = [*texts.source, *texts.target, *texts[2:]], {**to_mapping(self), "seed": self.seed}
        inputs = {"texts": hash_arrays({str(i): array for i, array in enumerate(arrays)})}
        return [TrainingStates(place, NETWORK, options, inputs, self.seed) for place in self._places()]

    def number_words(self, source: Text, target: Text) -> None:
        """Assign rows of the embeddings to the words and stems of normalised texts."""
        self.rows_ = {
            f"{name}.{part}": rows
            for name, text in zip(_SIDES, (source, target), strict=True)
            for part, rows in zip(_PARTS, self._rows(text), strict=True)
        }

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

    def _rows(self, text: Text) -> tuple[Array, Array]:
        """Rows of the embeddings of words and of stems, by word."""
        n_words = len(text.vocabulary)
        words = frequent_rows(text.tokens, n_words, self.max_words, _MIN_COUNT)
        numbers: dict[str, int] = {}
        stems = np.array([numbers.setdefault(word[:_STEM], len(numbers)) for word in text.vocabulary.words()], np.int64)
        return words, frequent_rows(stems[text.tokens], len(numbers), len(numbers), _MIN_COUNT)[stems]

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
