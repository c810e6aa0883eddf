"""BLOCK-ME: target and jump of a block together, relative to a prior that knows jumps, with questions about the parse.

    p(t, j | s) = p₀(t, j | s) exp(Σ_i λ_i φ_i(t, j, s)) / Z                                               XI11 eq. 3

s is a block of source words, t its target (nothing, for a word without links), j ∈ −5 … 5 the jump from the source word
translated last, farther ones cut. Z runs over the 11 jumps and the targets that s had in training, the `max_targets` most
frequent ones and t itself. A block is a source word, or neighbours linked to the same target words; the path through a
sentence pair is the visit order of its links (core/block/path.hh). Each φ is a question with its answer, t and j:

    lexical         s                                        context       the words around s, the two target words before t
    tags            the tag of s, and those around it        coverage      the word left of s is open, the one right closed
    parse-coverage  the parent of s, how much is translated  sibling-word, sibling-tag   a sibling of s, left or right, and
                                                                           how much of it is translated
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.options import option, plugin
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations, Bitext, Text, Vocabulary
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.tree_rules import apply_rules, parse_rules, read_rules
from hyperbaton.learn.minimizers import MINIMIZERS, Minimizer
from hyperbaton.models._base import restored_side, side_arrays
from hyperbaton.models._block_table import EMPTY_TAG, JUMPS, BlockTable
from hyperbaton.models._step import Batch, StepModel
from hyperbaton.models._store import ModelState

__all__ = ["EMPTY_TAG", "FAMILIES", "JUMPS", "BlockMe"]

FAMILIES = tuple(_core.block_families())
_UNKNOWN_LABEL = 2**16 - 1
_FEATURES = ("keys", "starts", "jumps", "counts", "asks", "sources", "as", "bs", "targets")


class _Objective(NamedTuple):
    """What the model minimises, for minimizers."""

    start: npt.NDArray[np.float64]
    core: Callable[[], _core.BlockObjective]

    def torch(self, device: str) -> Any:
        raise OptionError("the model block_me cannot be trained by torch; it can by lbfgs, iis")


@dataclass(eq=False)
class BlockMe(StepModel):
    """Target and jump together, with questions about the source parse (BLOCK-ME)."""

    families: str = option(",".join(FAMILIES), "what is asked, by commas; what needs tags or trees is off without them")
    prior: str = option("smoothed", "what is known before: jumps of pairs and tags, or none", choices=("smoothed", "flat"))
    alpha: float = option(0.9, "smoothed prior: share of the pair's own jumps", minimum=0, maximum=1)
    tree_rules: str = option("de", "changes of the trees: de, none, or a file of rules")
    max_targets: int = option(20, "targets of a source phrase that the model chooses among; 0 takes all", minimum=0)
    min_count: int = option(2, "occurrences that a feature needs", minimum=1)
    learner: str | Minimizer = option("lbfgs:max-passes=50", "minimizer and its options", plugins=MINIMIZERS)

    uses: ClassVar = ("source_tags", "source_trees", "target_classes")

    def fit(
        self,
        bitext: Bitext,
        annotations: Annotations = NOTHING,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from the paths that the links of a bitext define.

        Arguments:
            annotations: a tag for each source token; a tree for each source sentence, where those without one have no
                questions about the parse; classes of target words, that stand for their tags.
        """
        tags, trees = annotations.source_tags, annotations.source_trees
        with self._training(bitext, annotations):
            if not bitext.need_links().points.size:
                raise InputError("there is nothing to learn from: no sentence pair has links", bitext.source.path)
            asked = self._asked()
            self.rules_ = read_rules(self.tree_rules)
            self.source_vocabulary_, self.target_vocabulary_ = bitext.source.vocabulary, bitext.target.vocabulary
            self.target_classes_ = annotations.target_classes
            self.tag_vocabulary_ = None if tags is None else tags.vocabulary
            self.label_vocabulary_ = None if trees is None else trees.vocabulary
            if tags is None:
                asked -= {"tags", "sibling-tag"}
            if trees is None:
                asked -= {"parse-coverage", "sibling-word", "sibling-tag"}
            self.asked_ = tuple(family for family in FAMILIES if family in asked)
            core = self._core_bitext(bitext, annotations)
            n_tags = 0 if self.tag_vocabulary_ is None else len(self.tag_vocabulary_)
            self.table_ = BlockTable.of(core, n_tags, self._n_threads, progress)
            table = self._core_table()
            self.features_: dict[str, Array] = _core.find_block_features(
                core,
                table,
                families=self._family_bits,
                min_count=self.min_count,
                n_threads=self._n_threads,
                progress=progress,
            )
            self._learn(core, table, progress)
            vars(self).pop("_core_model", None)
        return self

    def objective(self, bitext: Bitext, annotations: Annotations = NOTHING) -> _core.BlockObjective:
        """What training minimises, without the Gaussian prior, for any weights of the features."""
        self._check_fitted()
        return self._objective(self._core_bitext(bitext, annotations), self._core_table(), None)

    def path_scores(self, bitext: Bitext, annotations: Annotations = NOTHING) -> dict[str, Array]:
        """How probable the steps of the paths of a bitext with links are, as columns.

        `sentence`, `begin`, `end`, `jump`; `logprob` is log p(t, j | s), `jump_logprob` log p(j | s, t); `right` and
        `jump_right` say whether no other (t, j), or j, is more probable; `sum` is Σ p over all (t, j).
        """
        self._check_fitted()
        core = self._core_bitext(bitext, annotations)
        return self._core_model.score_paths(core, n_threads=self._n_threads, progress=None)

    def step_scorer(self, batch: Batch, weight: float) -> _core.StepScorer:
        self._check_fitted()
        source, options = batch.source, batch.options
        text = self._core_text(source, batch.annotations)
        target = options.target.over(self.target_vocabulary_)
        # Unknown words are all alike.
        words = np.minimum(target.tokens, np.uint32(len(self.target_vocabulary_)))
        offsets = options.sentence_offsets
        if offsets is None:
            offsets = np.searchsorted(options.source.sentence, np.arange(len(source) + 1)).astype(np.int64)
        return _core.BlockSteps(
            model=self._core_model,
            text=text,
            options=_core.BlockOptions(
                offsets=offsets,
                begin=options.source.begin,
                length=options.source.length,
                targets=_core.Tokens(words=words, offsets=target.offsets),
                links=options.links.points,
                link_offsets=options.links.offsets,
            ),
            weight=weight,
        )

    @property
    def needs(self) -> tuple[str, ...]:
        return () if self.tag_vocabulary_ is None else ("source_tags",)

    @property
    def reads(self) -> tuple[str, ...]:
        return self.needs if self.label_vocabulary_ is None else (*self.needs, "source_trees")

    @property
    def n_features(self) -> int:
        """Features with a weight."""
        return len(self.features_["jumps"])

    def summary(self) -> dict[str, Any]:
        return {"samples": self.table_.n_steps, "features": self.n_features, "families": list(self.asked_)}

    def _asked(self) -> set[str]:
        asked = {family.strip() for family in self.families.split(",") if family.strip()}
        for family in sorted(asked):
            if family not in FAMILIES:
                raise OptionError(f"unknown family of features {family!r}; there are {', '.join(FAMILIES)}")
        return asked

    def _learn(self, core: _core.BlockBitext, table: _core.BlockTable, progress: Progress | None) -> None:
        minimizer: Minimizer = plugin(self, "learner")
        objective = _Objective(np.zeros(self.n_features), lambda: self._objective(core, table, progress))
        self.weights_, self.objective_ = minimizer.minimize(objective, seed=self.seed, progress=progress)

    def _objective(
        self, core: _core.BlockBitext, table: _core.BlockTable, progress: Progress | None
    ) -> _core.BlockObjective:
        return _core.BlockObjective(
            core,
            table,
            self._core_features(),
            families=self._family_bits,
            max_targets=self.max_targets,
            n_threads=self._n_threads,
            progress=progress,
        )

    @property
    def _family_bits(self) -> int:
        return sum(1 << FAMILIES.index(family) for family in self.asked_)

    @property
    def _word_tags(self) -> npt.NDArray[np.uint32]:
        """The class of each target word, nothing where there are no classes."""
        classes = self.target_classes_
        if classes is None:
            return np.empty(0, np.uint32)
        words = np.arange(len(self.target_vocabulary_), dtype=np.uint32)
        text = Text(words, np.array([0, len(words)], np.int64), self.target_vocabulary_)
        return classes.tags(text).astype(np.uint32)

    def _core_table(self) -> _core.BlockTable:
        return self.table_.core(self._word_tags, smoothed=self.prior == "smoothed", alpha=self.alpha)

    def _core_features(self) -> _core.BlockFeatures:
        return _core.BlockFeatures(*(self.features_[name] for name in _FEATURES if name != "counts"))

    @cached_property
    def _core_model(self) -> _core.BlockModel:
        return _core.BlockModel(
            self._core_table(),
            self._core_features(),
            self.weights_,
            self._word_tags,
            families=self._family_bits,
            max_targets=self.max_targets,
        )

    def _core_bitext(self, bitext: Bitext, annotations: Annotations) -> _core.BlockBitext:
        target, links = bitext.target.over(self.target_vocabulary_), bitext.need_links()
        source = self._core_text(bitext.source, annotations)
        return _core.BlockBitext(source, target.tokens, target.offsets, links.points, links.offsets)

    def _core_text(self, source: Text, annotations: Annotations) -> _core.BlockText:
        """Sentences over the vocabularies of training; unseen words, tags and labels are known to no feature."""
        tags, trees = annotations.source_tags, annotations.source_trees
        text = source.over(self.source_vocabulary_)
        labels = None
        if self.tag_vocabulary_ is not None:
            if tags is None:
                raise OptionError(
                    f"the model {self.name} was trained with tags: give the tags of the sentences (--source-tags)"
                )
            labels = Text(tags.labels.astype(np.uint32), tags.offsets, tags.vocabulary).over(self.tag_vocabulary_).tokens
        nodes: tuple[Array, ...] = (
            *(np.empty(0, np.uint16) for _ in range(3)),
            np.empty(0, np.int32),
            np.empty(0, np.int64),
        )
        if trees is not None and self.label_vocabulary_ is not None:
            if len(trees) != len(source):
                raise OptionError(f"there are {len(trees)} trees for {len(source)} sentences")
            changed = apply_rules(trees, self.rules_)
            numbers = self.label_vocabulary_.lookup.find_all(changed.vocabulary.lookup)
            known = np.minimum(numbers, _UNKNOWN_LABEL).astype(np.uint16)[changed.labels]
            nodes = (known, changed.begins, changed.ends, changed.parents, changed.offsets)
        return _core.BlockText(text.tokens, text.offsets, labels, *nodes)

    def _known_arrays(self) -> dict[str, Array]:
        arrays = {
            **side_arrays("source", self.source_vocabulary_, None),
            **side_arrays("target", self.target_vocabulary_, self.target_classes_),
            "rules": np.frombuffer("\n".join(map(str, self.rules_)).encode(), np.uint8),
        }
        for name, vocabulary in (("tags", self.tag_vocabulary_), ("labels", self.label_vocabulary_)):
            arrays |= {} if vocabulary is None else vocabulary.arrays(f"{name}.vocabulary")
        return arrays

    def _restore_known(self, state: ModelState) -> None:
        self.source_vocabulary_, _ = restored_side(state, "source")
        self.target_vocabulary_, self.target_classes_ = restored_side(state, "target")
        self.rules_ = parse_rules(bytes(state.arrays["rules"]).decode().splitlines())
        vocabularies = [state.group(name) for name in ("tags", "labels")]
        self.tag_vocabulary_, self.label_vocabulary_ = (
            Vocabulary.from_arrays(group, "vocabulary") if group else None for group in vocabularies
        )

    def _arrays(self) -> dict[str, Array]:
        return {
            **self.table_.arrays(),
            **{f"features.{name}": self.features_[name] for name in _FEATURES},
            "weights": self.weights_,
            "objective": self.objective_,
        }

    def _restore(self, state: ModelState) -> None:
        self.table_ = BlockTable.from_arrays(state.group("table"))
        self.features_ = {name: state.group("features")[name] for name in _FEATURES}
        self.weights_, self.objective_ = state.arrays["weights"], state.arrays["objective"]
        self.asked_ = tuple(state.details["families"])
