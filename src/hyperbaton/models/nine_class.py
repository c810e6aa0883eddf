"""9-CLASS: distance to the next word, from the context of the current word (outbound) or of the next one (inbound).

Two maximum-entropy classifiers (Green et al. 2010, in the form of GO13 §4.3) give the class c of the distortion j − i − 1
of a jump, one of nine (GO13 footnote 6). To get probabilities of positions, the outbound part chooses the class and the
inbound part the position within it:

    P(j | i) ∝ p_out(c | i) · p_in(c | j) / Σ_{j' ∈ J_c} p_in(c | j')        c the class of (i, j), J_c its candidates

which is exact if, given the class, the next word does not depend on the current one. Outbound alone shares p_out(c | i)
equally among J_c; inbound alone takes p_in(c | j), normalised over all candidates.

GO13's baseline has two features in a system, log p_out(c | i) and log p_in(c | j) as they are: `scores = "classes"`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import joined
from hyperbaton.base.options import option, plugin
from hyperbaton.base.store import check_finite
from hyperbaton.corpus import Annotations, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.learn import LEARNERS, Learner, LinearModel, Rows
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.next_position import JumpLogProbs, JumpTraining, NextPositionModel, TaggedSentences

N_CLASSES = len(_core.distance_cuts()["nine"]) + 1
PARTS = {"outbound": _core.Bound.outbound, "inbound": _core.Bound.inbound}


@dataclass(eq=False)
class NineClass(NextPositionModel):
    """Nine classes of distance, from the current word's side and from the next one's (9-CLASS)."""

    parts: str = option("both", "which classifiers are used", choices=("both", *PARTS))
    scores: str = option(
        "positions",
        "features of a system: one, log P of positions, or one for each classifier, log p of classes",
        choices=("positions", "classes"),
    )
    min_count: int = option(4, "minimum number of occurrences of a feature", minimum=1)
    learner: str | Learner = option(
        "lbfgs:variance=0.1:max-passes=150:tolerance=0.001", "learner and its options", plugins=LEARNERS
    )

    version: ClassVar = 2  # classes are counted from far forward to far back

    @property
    def _chosen(self) -> tuple[str, ...]:
        return tuple(PARTS) if self.parts == "both" else (self.parts,)

    @property
    def phases(self) -> Mapping[str, float]:
        return {f"{part} {phase}": share for part in self._chosen for phase, share in (("features", 1), ("weights", 6))}

    def split(self) -> Sequence[NextPositionModel | ClassScores]:
        """The parts with separate features in a system."""
        return (self,) if self.scores == "positions" else self.classifiers

    @property
    def classifiers(self) -> Sequence[ClassScores]:
        """log p(class of the jump) of each part."""
        return [ClassScores(self, part) for part in self._chosen]

    def class_scores(self, source: Text, annotations: Annotations, part: str) -> JumpLogProbs:
        """log p(class of the jump) of one classifier for all jumps, which does not sum to 1 over positions."""
        self._check_fitted()
        classes = self.class_logprobs(self._known(source, annotations), part)
        starts, side = _core.jump_starts(source.offsets), source.lengths + 1
        sentence = np.repeat(np.arange(len(side)), side * side)
        place = np.arange(starts[-1]) - starts[sentence]
        row, column = place // side[sentence], place % side[sentence]
        # Columns are NPs and rows CPs, BOS first: the distortion is column − row, and the CP itself has −1.
        of_jump = np.searchsorted(_core.distance_cuts()["nine"], row - column, side="right")
        position = source.offsets[sentence] + sentence + (row if part == "outbound" else column)
        values = np.where(column + 1 == row, -np.inf, classes[position, of_jump])
        return JumpLogProbs(values, starts, source.lengths)

    def _fit(self, training: JumpTraining) -> None:
        self.keys_, self.weights_ = {}, {}
        jumps = training.core()
        for part in self._chosen:
            self.keys_[part] = _core.count_position_features(
                jumps,
                bound=PARTS[part],
                min_count=self.min_count,
                n_threads=self._n_threads,
                progress=training.resources.phase(f"{part} features").progress,
            )
            if len(self.keys_[part]) == 0:
                raise InputError(f"no feature occurs {self.min_count} times: give more text, or a lower --min-count")
            labels = _core.position_classes(jumps, bound=PARTS[part])
            rows = self._rows(jumps, part)
            learner: Learner = plugin(self, "learner")
            # A feature of the position always fires.
            learner.intercept, learner.seed, learner.threads = False, self.seed, self._n_threads
            jumping = labels >= 0
            fitting = training.resources.phase(f"{part} weights").progress
            learner.fit(rows.at(np.flatnonzero(jumping)), labels[jumping], n_classes=N_CLASSES, progress=fitting)
            self.weights_[part] = learner.weights_

    def _rows(self, jumps: _core.JumpText, part: str) -> Rows:
        starts, indices = _core.position_rows(jumps, self.keys_[part], bound=PARTS[part], n_threads=self._n_threads)
        return Rows(starts, indices, len(self.keys_[part]))

    def class_logprobs(self, source: TaggedSentences, part: str) -> Array:
        """log p(class) of the CPs (outbound) or NPs (inbound) of all sentences, shape (n_positions, 9)."""
        model = LinearModel(self.weights_[part], False, False)
        return numeric.log_softmax(model.scores(self._rows(source.core(), part), self._n_threads))

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        logprobs = {part: self.class_logprobs(source, part) for part in self._chosen}
        return _core.nine_class_logprobs(
            source.text.offsets, logprobs.get("outbound"), logprobs.get("inbound"), n_threads=self._n_threads
        )

    def _arrays(self) -> dict[str, Array]:
        return {f"{part}.keys": self.keys_[part] for part in self._chosen} | {
            f"{part}.weights": self.weights_[part] for part in self._chosen
        }

    def _layout(self) -> dict[str, str]:
        layouts = [{f"{part}.keys": f"u8 {part}", f"{part}.weights": f"f8 {part} {N_CLASSES}"} for part in self._chosen]
        return super()._layout() | joined(layouts)

    def _restore(self, state: ModelState) -> None:
        self.keys_ = {part: state.arrays[f"{part}.keys"] for part in self._chosen}
        self.weights_ = {part: state.arrays[f"{part}.weights"] for part in self._chosen}
        for weights in self.weights_.values():
            check_finite(weights, "a weight")


@dataclass(frozen=True)
class ClassScores:
    """One classifier of a nine-class model, as a feature of a system."""

    model: NineClass
    part: str

    @property
    def needs(self) -> tuple[str, ...]:
        return self.model.needs

    def jump_logprobs(self, source: Text, annotations: Annotations = NOTHING) -> JumpLogProbs:
        return self.model.class_scores(source, annotations, self.part)
