"""Training of the teachers and the student; needs NumPy and PyTorch, but not the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from hyperbaton.align.neural.student import StudentShape, StudentTask
from hyperbaton.align.neural.teacher import Teacher, TeacherShape, TeacherTask
from hyperbaton.align.neural.texts import PairTexts
from hyperbaton.base.arrays import Array
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.network.training import ReaderShape, Schedule, computing, device_fault, train

if TYPE_CHECKING:
    from hyperbaton.base.training_states import TrainingStates

__all__ = ["NetworkOptions", "Training", "device_fault"]

_LONGEST = 60  # longer sentences are left out
_HELD_OUT = 0.01


class NetworkOptions(Protocol):
    """The options of `neural` that its networks depend on."""

    teacher_size: int
    teacher_epochs: int
    samples: int
    hidden: int
    word_size: int
    vector_size: int
    epochs: int
    batch_tokens: int
    device: str
    seed: int


@dataclass(frozen=True)
class Training:
    """Training of both networks; needs PyTorch, but not the core."""

    options: NetworkOptions
    texts: PairTexts
    threads: int

    @property
    def n_pairs(self) -> int:
        """Number of sentence pairs that the networks can learn from."""
        return len(self.texts.usable(_LONGEST))

    def teach(
        self,
        number: int = 0,
        progress: Progress | None = None,
        states: TrainingStates | None = None,
        start: Mapping[str, Array] | None = None,
    ) -> tuple[dict[str, Array], list[float]]:
        """Train a teacher, whose seed depends on its number; returns its arrays, and minus its held-out loss after each
        epoch."""
        schedule = self._schedule(self.options.teacher_epochs, dropout=0.3, word_dropout=0.1, step=1.5e-3)
        schedule = replace(schedule, seed=schedule.seed + number)
        report = Resources(self.threads, progress).report
        return train(self._lesson(), schedule, start=start, n_threads=self.threads, states=states, progress=report)

    def learn(
        self,
        teachers: Sequence[Mapping[str, Array]],
        progress: Progress | None = None,
        states: TrainingStates | None = None,
        start: Mapping[str, Array] | None = None,
    ) -> tuple[dict[str, Array], list[float]]:
        """Train a student; returns its arrays, and minus its held-out loss after each epoch."""
        task = self._student_task(self.networks(teachers), _LONGEST)
        schedule = self._schedule(self.options.epochs, dropout=0.1, word_dropout=0.0, step=3e-3)
        report = Resources(self.threads, progress).report
        arrays, history = train(task, schedule, start=start, n_threads=self.threads, states=states, progress=report)
        return {name: np.atleast_2d(array) for name, array in arrays.items()}, history

    def networks(self, teachers: Sequence[Mapping[str, Array]]) -> list[Teacher]:
        return [self._lesson().network(0.0).take(arrays).to(self.options.device) for arrays in teachers]

    def mixture(self, teachers: Sequence[Teacher], longest: int) -> tuple[Array, Array, Array]:
        """The posteriors that a student would learn, of pairs up to a length: points, offsets and values."""
        with computing(self.threads, fast=self.options.device.startswith("cuda")):
            wanted = self._student_task(teachers, longest).data(self.options.device).wanted
        assert wanted is not None
        return wanted.points, wanted.offsets, wanted.values.astype(np.float32)

    def _student_task(self, teachers: Sequence[Teacher], longest: int) -> StudentTask:
        options = self.options
        sides = self.shapes(options.word_size, options.word_size // 3 or 1, options.hidden)
        return StudentTask(self.texts, StudentShape(sides, options.vector_size), longest, teachers)

    def _lesson(self) -> TeacherTask:
        size = self.options.teacher_size
        return TeacherTask(
            self.texts, TeacherShape(self.shapes(size, size // 4 or 1, size), self.options.samples), _LONGEST
        )

    def shapes(self, word_size: int, stem_size: int, hidden: int) -> tuple[ReaderShape, ReaderShape]:
        """Sizes of networks that read the two sides."""
        source, target = (
            ReaderShape(
                n_words=int(side.n_rows[0]),
                n_labels=int(side.n_rows[1]),
                word_size=word_size,
                label_size=stem_size,
                hidden=hidden,
            )
            for side in (self.texts.source, self.texts.target)
        )
        return source, target

    def _schedule(self, epochs: int, *, dropout: float, word_dropout: float, step: float) -> Schedule:
        return Schedule(
            dropout=dropout,
            word_dropout=word_dropout,
            step=step,
            epochs=epochs,
            patience=epochs,
            batch_tokens=self.options.batch_tokens,
            held_out=_HELD_OUT,
            seed=self.options.seed,
            device=self.options.device,
        )
