"""BLOCK-ME: a joint model of target and jump of a block, relative to a prior with jumps, with questions about the parse.

    p(t, j | s) = p₀(t, j | s) exp(Σ_i λ_i φ_i(t, j, s)) / Z                                               XI11 eq. 3

s is a block of source words, t its target (empty for an unlinked word), j ∈ −5 … 5 the jump from the last translated
source word, with farther ones clamped. Z runs over the 11 jumps and the targets of s in training, the `max_targets` most
frequent ones and t itself. A block is a source word, or adjacent words linked to the same target words; the path through
a sentence pair is the visit order of its links (core/block/path.hh). Each φ is a question with its answer, t and j:

    lexical         s                                        context       the words around s, the two target words before t
    tags            the tag of s, and those around it        coverage      the word left of s is open, the one right closed
    parse-coverage  the parent of s, how much is translated  sibling-word, sibling-tag   a sibling of s, left or right, and
                                                                           how much of it is translated.
    ancestor-coverage   a node above the parent, and how much of it is translated; not in XI11, and off by default

In training a step's own jump is left out of the smoothed prior (core/block/prior.hh). XI11 uses α = 0.9; the best α
depends on how often pairs occur, so unless it is given, models are trained with a few values and the one that best
predicts held-out sentences is used.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject, within
from hyperbaton.base.options import option, plugin, to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.base.store import Kind, hash_arrays
from hyperbaton.base.training_states import MinimizerStates, TrainingStates
from hyperbaton.corpus import Annotations, Bitext, Vocabulary
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.tree_rules import read_rules
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer, Objective
from hyperbaton.models.block.features import (
    COLUMNS,
    FAMILIES,
    LAYOUT,
    USUAL_FAMILIES,
    BlockQuestions,
    core_features,
    families_of,
    family_bits,
)
from hyperbaton.models.block.table import EMPTY_TAG, JUMPS, BlockTable
from hyperbaton.models.block.vocabularies import BlockSides
from hyperbaton.models.shapes.base import ModelState
from hyperbaton.models.shapes.batch import Batch
from hyperbaton.models.shapes.step import StepModel

KIND = "block-training"
TREE_COLUMNS = ("labels", "begins", "ends", "parents", "offsets")

log = logging.getLogger(__name__)

__all__ = ["EMPTY_TAG", "FAMILIES", "JUMPS", "BlockMe", "BlockQuestions"]

# To choose α: the values tried, with at most this many sentences, of which every tenth is held out. On development text
# (docs/models/block_me.md) 0.25 was best of 0.02 to 0.9, with little between 0.05 and 0.4; 0.9 is XI11's.
_ALPHAS = (0.05, 0.15, 0.25, 0.9)
_CHOOSING, _HELD_OUT = 10_000, 10
_USUAL_ALPHA = 0.15  # if there is too little text to choose


@dataclass(eq=False)
class BlockMe(StepModel):
    """Target and jump of a block together, with features of the source parse (BLOCK-ME)."""

    families: str = option(
        ",".join(USUAL_FAMILIES),
        "families of features, comma-separated; those that need tags or trees are off without them",
        metavar="NAME,NAME,…",
    )
    prior: str = option(
        "smoothed", "reference distribution: from jumps of pairs and tags, or none", choices=("smoothed", "flat")
    )
    alpha: float | None = option(
        None,
        "smoothed prior: weight of the pair's own jumps; by default, chosen on a tenth of the training sentences",
        minimum=0,
        maximum=1,
    )
    tree_rules: str = option("de", "tree transformations: de, none, or a file of rules", path=True)
    max_targets: int = option(20, "number of targets per source phrase that the model chooses from; 0 takes all", minimum=0)
    min_count: int = option(2, "minimum number of occurrences of a feature", minimum=1)
    learner: str | Minimizer = option("lbfgs:max-passes=50", "minimizer and its options", plugins=MINIMIZERS)

    uses: ClassVar = ("source_tags", "source_trees", "target_classes")
    questions: ClassVar = BlockQuestions
    version: ClassVar = 2  # jumps are counted from far forward to far back

    def fit(
        self,
        bitext: Bitext,
        annotations: Annotations = NOTHING,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Train on the paths defined by the links of a bitext.

        Arguments:
            annotations: a tag for each source token; a tree for each source sentence, where sentences without one have no
            questions about the parse; classes of target words, used as their tags.
        """
        tagged, parsed = annotations.source_tags is not None, annotations.source_trees is not None
        with self._training(bitext, annotations):
            if not bitext.need_links().points.size:
                raise InputError("nothing to learn from: no sentence pair has links", bitext.source.path)
            self.asked_ = families_of(self.families, tagged=tagged, parsed=parsed)
            self.sides_ = BlockSides.of(bitext, annotations, read_rules(self.tree_rules))
            self.tag_vocabulary_ = self.sides_.tags
            states = self._states(bitext, annotations)
            interrupted = None if states is None else states.last()
            if interrupted is None:
                self.alpha_ = self._chosen_alpha(bitext, annotations, progress)
            else:
                self.alpha_ = float(interrupted.manifest["details"]["alpha"])
            core = self.sides_.core_bitext(bitext, annotations)
            n_tags = 0 if self.sides_.tags is None else len(self.sides_.tags)
            self.table_ = BlockTable.of(core, n_tags, self._n_threads, progress)
            table = self._core_table()
            self.features_: dict[str, Array] = _core.find_block_features(
                core,
                table,
                families=family_bits(self.asked_),
                min_count=self.min_count,
                n_threads=self._n_threads,
                progress=progress,
            )
            checkpoint = None if states is None else MinimizerStates(states, {"alpha": self.alpha_})
            minimizer: Minimizer = plugin(self, "learner")
            start = np.zeros(self.n_features)
            objective = Objective(start, lambda: self._objective(core, table, progress), checkpoint)
            self.weights_, self.objective_ = minimizer.minimize(objective, seed=self.seed, progress=progress)
            vars(self).pop("_core_model", None)
        return self

    def _chosen_alpha(self, bitext: Bitext, annotations: Annotations, progress: Progress | None) -> float:
        """The given α, or the one whose model best predicts held-out sentences."""
        if self.prior == "flat":
            return 0.0
        if self.alpha is not None:
            return self.alpha
        linked = np.flatnonzero(np.diff(bitext.need_links().offsets))
        sample = linked[:: max(1, len(linked) // _CHOOSING)][:_CHOOSING]
        is_held_out = np.arange(len(sample)) % _HELD_OUT == _HELD_OUT - 1
        if is_held_out.sum() < _HELD_OUT:
            return _USUAL_ALPHA
        train, test = (
            (bitext.select(sentences), annotations.select(sentences))
            for sentences in (sample[~is_held_out], sample[is_held_out])
        )
        scores = []
        for alpha in _ALPHAS:
            model = replace(self, alpha=alpha, checkpoint=None)  # the stored state is for the whole training
            model.fit(*train, progress=progress)
            scores.append(float(model.path_scores(*test)["logprob"].mean()))
            log.info("alpha %g: log p of held-out steps %.4f", alpha, scores[-1])
        return _ALPHAS[int(np.argmax(scores))]

    def objective(self, bitext: Bitext, annotations: Annotations = NOTHING) -> _core.BlockObjective:
        """The training objective without the Gaussian prior, for any weights of the features."""
        self._check_fitted()
        return self._objective(self.sides_.core_bitext(bitext, annotations), self._core_table(), None)

    def path_scores(self, bitext: Bitext, annotations: Annotations = NOTHING) -> dict[str, Array]:
        """The probabilities of the steps on the paths of a linked bitext, as columns.

        `sentence`, `begin`, `end`, `jump`; `logprob` is log p(t, j | s), `jump_logprob` log p(j | s, t); `right` and
        `jump_right` say whether no other (t, j), or j, is more probable; `sum` is Σ p over all (t, j).
        """
        self._check_fitted()
        core = self.sides_.core_bitext(bitext, annotations)
        return self._core_model.score_paths(core, n_threads=self._n_threads)

    def step_scorer(self, batch: Batch, weight: float) -> _core.StepScorer:
        self._check_fitted()
        target = batch.options.target.over(self.sides_.target)
        # All unknown words are equal.
        words = np.minimum(target.tokens, np.uint32(len(self.sides_.target)))
        return _core.BlockSteps(
            model=self._core_model,
            text=self.sides_.core_text(batch.source, batch.annotations),
            options=batch.core_options(_core.Tokens(words=words, offsets=target.offsets)),
            weight=weight,
        )

    @property
    def reads(self) -> tuple[str, ...]:
        return self.needs if self.sides_.labels is None else (*self.needs, "source_trees")

    @property
    def source_vocabulary_(self) -> Vocabulary:
        return self.sides_.source

    @property
    def target_vocabulary_(self) -> Vocabulary:
        return self.sides_.target

    @property
    def label_vocabulary_(self) -> Vocabulary | None:
        return self.sides_.labels

    @property
    def n_features(self) -> int:
        return len(self.features_["jumps"])

    def summary(self) -> JsonObject:
        counts = {"samples": self.table_.n_steps, "features": self.n_features, "families": list(self.asked_)}
        return counts if self.prior == "flat" else counts | {"alpha": self.alpha_}

    def _states(self, bitext: Bitext, annotations: Annotations) -> TrainingStates | None:
        """Where training stores its state, if it does."""
        if self.checkpoint is None:
            return None
        arrays = self.sides_.arrays()  # including classes and rules
        if annotations.source_tags is not None:
            arrays["tags"] = annotations.source_tags.labels
        if annotations.source_trees is not None:
            arrays |= {f"trees.{name}": getattr(annotations.source_trees, name) for name in TREE_COLUMNS}
        inputs = {"bitext": bitext.signature(), "annotations": hash_arrays(arrays)}
        kind = Kind(KIND, plugin(self, "learner").state_layout, {"details": {"alpha": float}})
        return TrainingStates(self.checkpoint, kind, to_mapping(self), inputs, self.seed)

    def _objective(
        self, core: _core.BlockBitext, table: _core.BlockTable, progress: Progress | None
    ) -> _core.BlockObjective:
        return _core.BlockObjective(
            core,
            table,
            core_features(self.features_),
            families=family_bits(self.asked_),
            max_targets=self.max_targets,
            n_threads=self._n_threads,
            progress=progress,
        )

    def _core_table(self) -> _core.BlockTable:
        return self.table_.core(self.sides_.word_tags, smoothed=self.prior == "smoothed", alpha=self.alpha_)

    @cached_property
    def _core_model(self) -> _core.BlockModel:
        return _core.BlockModel(
            self._core_table(),
            core_features(self.features_),
            self.weights_,
            self.sides_.word_tags,
            families=family_bits(self.asked_),
            max_targets=self.max_targets,
        )

    def _known_arrays(self) -> dict[str, Array]:
        return self.sides_.arrays()

    def _restore_known(self, state: ModelState) -> None:
        self.sides_ = BlockSides.restored(state)
        self.tag_vocabulary_ = self.sides_.tags

    def _arrays(self) -> dict[str, Array]:
        return {
            **self.table_.arrays("table"),
            **{f"features.{name}": self.features_[name] for name in COLUMNS},
            "weights": self.weights_,
            "objective": self.objective_,
        }

    def _layout(self) -> dict[str, str]:
        return {
            **BlockSides.layout(),
            **within("table", BlockTable.LAYOUT),
            **within("features", LAYOUT),
            "weights": "f8 features.n",
            "objective": "f8 n_passes",
        }

    def _restore(self, state: ModelState) -> None:
        self.table_ = BlockTable.from_arrays(state.group("table"))
        self.table_.check(self.sides_.source, self.sides_.target)
        self.features_ = {name: state.group("features")[name] for name in COLUMNS}
        self.weights_, self.objective_ = state.arrays["weights"], state.arrays["objective"]
        families = state.artefact.detail("families", list[str])
        self.asked_ = families_of(",".join(families), tagged=True, parsed=True)
        stored = "alpha" in state.details
        self.alpha_ = float(state.artefact.detail("alpha", float)) if stored else self.alpha or 0.0
