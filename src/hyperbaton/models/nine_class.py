"""9-CLASS: how far the next word is, from the surroundings of the current one (outbound), or of the next one (inbound).

Two maximum-entropy classifiers (Green et al. 2010, as GO13 §4.3 has them) give the class c of the distortion j − i − 1
of a jump, one of nine (GO13 footnote 6). To speak about positions, the outbound part chooses the class and the inbound
part the position within it:

    P(j | i) ∝ p_out(c | i) · p_in(c | j) / Σ_{j' ∈ J_c} p_in(c | j')        c the class of (i, j), J_c its candidates

which is exact if, given the class, the next word does not depend on the current one. Outbound alone shares p_out(c | i)
equally among J_c; inbound alone takes p_in(c | j), normalised over all candidates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError
from hyperbaton.base.options import option, plugin
from hyperbaton.learn import LEARNERS, BinaryRows, Learner, LinearModel
from hyperbaton.models._next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models._store import ModelState

N_CLASSES = len(_core.distance_cuts()["nine"]) + 1
PARTS = {"outbound": _core.Bound.outbound, "inbound": _core.Bound.inbound}


@dataclass(eq=False)
class NineClass(NextPositionModel):
    """Nine classes of distance, from the current word's side and from the next one's (9-CLASS)."""

    parts: str = option("both", "classifiers that decide", choices=("both", *PARTS))
    min_count: int = option(4, "occurrences that a feature needs", minimum=1)
    learner: str | Learner = option(
        "lbfgs:variance=0.1:max-passes=150:tolerance=0.001", "learner and its options", plugins=LEARNERS
    )

    version: ClassVar = 2  # classes are counted from far forward to far back

    @property
    def _chosen(self) -> tuple[str, ...]:
        return tuple(PARTS) if self.parts == "both" else (self.parts,)

    def _fit(self, training: JumpTraining) -> None:
        self.keys_, self.weights_ = {}, {}
        jumps = training.core()
        for part in self._chosen:
            self.keys_[part] = _core.count_position_features(
                jumps,
                bound=PARTS[part],
                min_count=self.min_count,
                n_threads=self._n_threads,
                progress=training.progress,
            )
            if len(self.keys_[part]) == 0:
                raise InputError(f"no feature occurs {self.min_count} times: give more text, or a lower --min-count")
            labels = _core.position_classes(jumps, bound=PARTS[part])
            rows = self._rows(jumps, part)
            learner: Learner = plugin(self, "learner")
            # A feature of the position always fires.
            learner.intercept, learner.seed, learner.threads = False, self.seed, self._n_threads
            jumping = labels >= 0
            learner.fit(_select(rows, jumping), labels[jumping], n_classes=N_CLASSES, progress=training.progress)
            self.weights_[part] = learner.weights_

    def _rows(self, jumps: _core.JumpText, part: str) -> BinaryRows:
        starts, indices = _core.position_rows(jumps, self.keys_[part], bound=PARTS[part], n_threads=self._n_threads)
        return BinaryRows(starts, indices, len(self.keys_[part]))

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

    def _restore(self, state: ModelState) -> None:
        self.keys_ = {part: state.arrays[f"{part}.keys"] for part in self._chosen}
        self.weights_ = {part: state.arrays[f"{part}.weights"] for part in self._chosen}


def _select(rows: BinaryRows, chosen: npt.NDArray[np.bool_]) -> BinaryRows:
    """The chosen rows."""
    lengths = np.diff(rows.indptr)
    kept = np.repeat(chosen, lengths)
    indptr = np.concatenate([[0], np.cumsum(lengths[chosen])])
    return BinaryRows(indptr, rows.indices[kept], rows.n_features)
