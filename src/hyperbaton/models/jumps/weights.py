"""Jump models with a weight for each feature of (CP, NP): features of GO13 Table 1 and a Gaussian prior.

minimise  −Σ log P(NP | CP) + ‖w‖² / (2σ²)          over the jumps of the training sentences

With `candidates = "remaining"` it is −Σ log P(NP | CP, visited): at each step of the visit order the candidates are the
unvisited words and EOS. With `coverage`, the class of a candidate, which describes the visited words around it, has a
separate weight that is added to its score; the classes are those of `core/phrases/remaining.hh`.

The features are those of GO13 Table 1, each with the orientation o of its two positions: words within 2 of either,
pairs of such words with at least one of them within 1, tags of the two positions and their neighbours, and the
distance class d. A feature is kept if it occurs `min_count` times, as footnote 12 counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError, import_failure
from hyperbaton.base.options import option, plugin, to_mapping
from hyperbaton.base.store import Kind, hash_arrays
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer
from hyperbaton.models.jumps.lists import N_CONSTANTS, JumpForm, feature_lists, kept_lists, most_bytes
from hyperbaton.models.shapes.next_position import JumpTraining, NextPositionModel, TaggedSentences
from hyperbaton.models.shapes.store import ModelState
from hyperbaton.models.shapes.training_states import MinimizerStates, TrainingStates

if TYPE_CHECKING:
    from hyperbaton.models.jumps.torch_objective import TorchLists

KIND = "jump-training"


@dataclass(frozen=True)
class _JumpObjective:
    """The objective of a model, for minimizers."""

    model: JumpWeights
    training: JumpTraining

    @property
    def start(self) -> npt.NDArray[np.float64]:
        return np.zeros((self.model.n_features, self.model.planes))

    @property
    def checkpoint(self) -> MinimizerStates | None:
        return self.model.states(self.training)

    def core(self) -> Any:
        model, training = self.model, self.training
        resources = training.resources
        if resources.sharding is not None:
            from hyperbaton.models.jumps.shards import ShardedJumps  # imported here: most training is not split

            return ShardedJumps(training, model.keys_, model.form, resources.sharding)
        return model.core_objective(training, cached=model.cache)

    def torch(self, device: str, room: int | None, *, n_steps: int) -> Any:
        model = self.model
        if model.coverage:
            raise OptionError("features of the coverage cannot be trained with PyTorch: use --learner lbfgs or adagrad")
        try:
            from hyperbaton.models.jumps import torch_objective
            from hyperbaton.network.training import device_fault
        except ImportError as error:
            raise import_failure(error, "PyTorch", "torch", "torch") from None
        if fault := device_fault(device):
            raise OptionError(f"device {device}: {fault}")
        if room is None:
            room = torch_objective.free_room(model.n_features * model.planes, n_steps, device)
        return torch_objective.TorchObjective(model.lists(self.training), model.planes, device, room=room)


@dataclass(eq=False)
class JumpWeights(NextPositionModel):
    """Base of `pair` and `sequence`."""

    min_count: int = option(4, "minimum number of occurrences of a feature", minimum=1)
    learner: str | Minimizer = option("lbfgs:variance=0.1", "minimizer and its options", plugins=MINIMIZERS)
    cache: bool = option(True, "keep the features of all sentences in memory instead of recomputing them in every pass")
    coverage: bool = option(False, "add weights for what is translated around a candidate, with --candidates remaining")

    planes: ClassVar[int]  # weights of each feature
    in_shards: ClassVar = True
    takes_scratch: ClassVar = True

    @property
    def n_features(self) -> int:
        """Constants, features with keys, and classes of candidates if they have weights."""
        return N_CONSTANTS + len(self.keys_) + (_core.N_CANDIDATE_CLASSES if self.coverage else 0)

    @property
    def form(self) -> JumpForm:
        """Everything that the objective depends on besides sentences and weights."""
        return JumpForm(self.planes, self.candidates == "remaining", self.coverage, self.n_features)

    def states(self, training: JumpTraining) -> MinimizerStates | None:
        """Where training stores its state, if it does."""
        if self.checkpoint is None:
            return None
        labels = training.source.labels
        arrays: dict[str, Array] = {
            "tokens": training.source.text.tokens,
            "offsets": training.source.text.offsets,
            "positions": training.visits.positions,
            "visits": training.visits.offsets,
            **({} if labels is None else {"labels": labels}),
        }
        options = {**to_mapping(self), "shards": training.resources.split().shards}
        return MinimizerStates(
            TrainingStates(
                self.checkpoint,
                Kind(KIND, plugin(self, "learner").state_layout),
                options,
                {"sentences": hash_arrays(arrays)},
                self.seed,
            )
        )

    def _fit(self, training: JumpTraining) -> None:
        if self.coverage and self.candidates != "remaining":
            raise OptionError("--coverage needs --candidates remaining")
        resources = training.resources
        self.keys_ = _core.count_jump_features(
            training.core(),
            min_count=self.min_count,
            bytes=resources.scratch.memory,
            n_threads=resources.threads,
            progress=resources.progress,
        )
        vars(self).pop("_features", None)  # of earlier training
        minimizer: Minimizer = plugin(self, "learner")
        if resources.scratch.limit is not None:
            n_weights = self.n_features * self.planes
            gradients = 8 * n_weights * min(resources.threads, _core.MAX_JUMP_CHUNKS)
            vectors = self.keys_.nbytes + gradients + minimizer.n_bytes(n_weights, resources.threads)
            needed, what = max(vectors, most_bytes(training)), f"training {self.name} with {n_weights:,} weights"
            resources.scratch.check_room(needed, what, "use fewer features with --min-count")
        minimum = minimizer.minimize(_JumpObjective(self, training), seed=self.seed, progress=resources.progress)
        self.weights_, self.objective_ = minimum

    def core_objective(self, training: JumpTraining, *, cached: bool) -> _core.JumpObjective:
        """−Σ log P(NP | CP) of the jumps of training, for any weights."""
        if cached:
            packed = training.resources.scratch.memory is not None
            return self.form.objective(training, kept_lists(training, self.keys_, self.n_features, packed=packed))
        return self.form.recomputing_objective(training, self.keys_)

    def lists(self, training: JumpTraining) -> TorchLists:
        """The features of the training sentences that have jumps, by length, for PyTorch."""
        from hyperbaton.models.jumps.torch_objective import NEVER, TorchLists

        sorted_training = training.by_length()
        found = feature_lists(sorted_training, self.keys_)
        lengths = sorted_training.source.text.lengths
        jumps = sorted_training.visits.jumps(lengths)
        following = np.zeros(int(lengths.sum()) + len(lengths), np.int64)
        rows = sorted_training.source.text.offsets[jumps.sentence] + jumps.sentence  # of each jump's sentence
        following[rows + jumps.current + 1] = jumps.next + 1
        when = None
        if self.candidates == "remaining":
            when = np.full(len(following), NEVER)
            when[rows + jumps.current + 1] = np.arange(len(rows))  # only the order inside a sentence counts
        return TorchLists(lengths, found.counts, found.ids, following, self.n_features, when)

    def _jump_logprobs(self, source: TaggedSentences) -> npt.NDArray[np.float64]:
        weights = self.weights_[: N_CONSTANTS + len(self.keys_)]
        return _core.jump_logprobs(source.core(), self._features, weights, n_threads=self._n_threads, progress=None)

    @cached_property
    def _features(self) -> _core.JumpFeatures:
        """An index of all features, which takes longer to make than to score a sentence."""
        return _core.JumpFeatures(np.asarray(self.keys_), tagged=self._label_kind() != "none")

    def _class_weights(self) -> npt.NDArray[np.float64] | None:
        if not self.coverage:
            return None
        # SEQUENCE has them for the label pair ⟨C, N⟩, the second of three.
        return np.ascontiguousarray(self.weights_[N_CONSTANTS + len(self.keys_) :, self.planes // 2])

    def _arrays(self) -> dict[str, Array]:
        return {"keys": self.keys_, "weights": self.weights_, "objective": self.objective_}

    def _layout(self) -> dict[str, str]:
        n_more = N_CONSTANTS + (_core.N_CANDIDATE_CLASSES if self.coverage else 0)
        return super()._layout() | {"keys": "u8 n", "weights": f"f8 n+{n_more} {self.planes}", "objective": "f8 n_passes"}

    def _restore(self, state: ModelState) -> None:
        self.keys_, self.weights_ = state.arrays["keys"], state.arrays["weights"]
        self.objective_ = state.arrays["objective"]
