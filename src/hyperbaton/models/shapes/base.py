"""The base of all reordering models: options, training on a bitext, storage as an artefact.

Models have one of three shapes. *Per option* (`orientation.py`): a distribution over orientation classes for each phrase
pair. *Per jump* (`next_position.py`): a distribution over the next source word for each current one. *Per step*
(`step.py`): a score of a step, given the coverage.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.counted import with_article
from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.forms import Json, JsonObject, within
from hyperbaton.base.memory import peak_mib
from hyperbaton.base.options import CheckedOptions, check_options, from_mapping, option, to_mapping
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.shown import Display, ShowsChanges
from hyperbaton.base.store import Artefact, Kind, StoredItems, check_finite, remove_artefact, save
from hyperbaton.corpus import Annotations, Bitext, Text, Vocabulary
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.bitext import need_bitext

if TYPE_CHECKING:
    from hyperbaton.corpus.classes import WordClasses

KIND = "reordering-model"
# A model declares its arrays itself (`ReorderingModel._layout`), and need not declare all.
_DETAILS = {"model": str, "model_version?": int, "train_seconds": float, "train_peak_mib": float}
STORED = Kind(KIND, about={"seed": int, "inputs": {"bitext": str}, "details": _DETAILS}, others=True)


@dataclass(frozen=True)
class ModelState:
    """The content of a saved model; its arrays are memory-mapped."""

    artefact: Artefact
    arrays: StoredItems[Array]

    @classmethod
    def of(cls, artefact: Artefact) -> ModelState:
        """The content of an opened artefact."""
        arrays = artefact.arrays()
        arrays.update({name: np.asarray(array) for name, array in arrays.items()})
        return cls(artefact, arrays)

    @property
    def details(self) -> StoredItems[Json]:
        """The details of its manifest."""
        return self.artefact.details

    def group(self, prefix: str) -> StoredItems[Array]:
        """The arrays whose names start with `prefix.`, by the rest of the name."""
        return self.arrays.group(prefix)


@dataclass(frozen=True)
class Questions:
    """An options class: questions of `explain` that are specific to a model. By default there are none."""

    @property
    def is_empty(self) -> bool:
        """Whether the question is empty."""
        return True


@dataclass(eq=False)
class ReorderingModel(ShowsChanges, CheckedOptions, Display, Picklable, ABC):
    """Base of all models, through one of the shapes. `fit` trains and returns the model; learned attributes end in `_`."""

    seed: int = field(default=1, kw_only=True)
    threads: int = field(default=0, kw_only=True)
    # Where long training stores its state, so that it can resume after an interruption; `save` removes it.
    checkpoint: Path | None = field(default=None, kw_only=True)

    # The name of the model's shape, and of its part of the results of a run.
    shape: ClassVar[str]
    # The annotations that it can be trained with, by name.
    uses: ClassVar[tuple[str, ...]] = ()
    # Increased when stored data change their meaning: models of other versions are refused.
    version: ClassVar[int] = 1
    # Whether `fit` takes `scratch`: storage for data larger than memory.
    takes_scratch: ClassVar[bool] = False
    # An options class with the questions of `explain` that are specific to the model.
    questions: ClassVar[type[Questions]] = Questions
    # Whether its probabilities are those of a table, without context.
    is_table: ClassVar[bool] = False
    # Whether it is only a function of the distance, which is a feature of every translation system anyway.
    is_distance: ClassVar[bool] = False

    def facts(self) -> dict[str, object]:
        learned = {"trained on": self.summary()["samples"]} if "signature_" in vars(self) else {"trained on": "nothing yet"}
        return {"options": [f"{name}={value}" for name, value in to_mapping(self).items()], **learned}

    @property
    def name(self) -> str:
        """The name of the model: that of its file."""
        return type(self).__module__.rpartition(".")[2]

    @abstractmethod
    def fit(self, bitext: Bitext, annotations: Annotations = NOTHING, *, progress: Progress | None = None) -> Self:
        """Train on a linked bitext with the given annotations."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The annotations that sentences must have to be scored, by name: tags, if it was trained with some."""
        return () if getattr(self, "tag_vocabulary_", None) is None else ("source_tags",)

    @property
    def reads(self) -> tuple[str, ...]:
        """The annotations that it uses: those it needs, and others that may be missing."""
        return self.needs

    def moses_table(self, direction: str) -> str | None:
        """The type of Moses' reordering table that can represent the model in a direction; None if there is none."""
        return None

    @property
    def estimates_like_moses(self) -> bool:
        """Whether Moses counts the same numbers for that table, so that it need not be made from the model."""
        return False

    @abstractmethod
    def summary(self) -> JsonObject:
        """The training data as plain values: `samples` and other counts of the shape."""

    @property
    def costs(self) -> dict[str, float]:
        """The cost of training."""
        return {"train_seconds": self.train_seconds_, "train_peak_mib": self.train_peak_mib_}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model as an artefact."""
        self._check_fitted()
        save(
            path,
            replace(STORED, arrays=self._layout()),
            {**self._known_arrays(), **self._arrays()},
            options=to_mapping(self),
            inputs={"bitext": self.signature_},
            seed=self.seed,
            details={**self.summary(), **self.costs, "model": self.name, "model_version": self.version},
        )
        if self.checkpoint is not None:
            remove_artefact(self.checkpoint)

    @classmethod
    def restored(cls, state: ModelState) -> Self:
        """Make a model with the options of a stored one; subclasses add what it learned."""
        artefact, manifest = state.artefact, state.artefact.manifest
        if state.details.get("model_version", 1) != cls.version:
            named = with_article(state.details["model"])
            raise ArtefactError(f"{artefact.path}: {named} model of another version: train it again")
        model = from_mapping(cls, artefact.options)
        artefact.require(model._layout())
        model.seed, model.signature_ = cast("int", manifest["seed"]), manifest["inputs"]["bitext"]
        model.train_seconds_ = float(state.details["train_seconds"])
        model.train_peak_mib_ = float(state.details["train_peak_mib"])
        model._restore_known(state)
        model._restore(state)
        return model

    @contextmanager
    def _training(self, bitext: Bitext, annotations: Annotations) -> Iterator[None]:
        """Wrap `fit`: check options and annotations, record the training data and the cost."""
        check_options(self)
        need_bitext(bitext, "fit")
        bitext.check_lengths()
        for name in annotations.names:
            if name not in self.uses:
                flags = ", ".join(_flag(use) for use in self.uses) or "none"
                raise OptionError(f"the model {self.name} does not use {_flag(name)}; it uses {flags}")
        started = time.perf_counter()
        yield
        self.signature_ = bitext.signature()
        self.train_seconds_ = time.perf_counter() - started
        self.train_peak_mib_ = peak_mib()

    @property
    def _n_threads(self) -> int:
        return n_threads(self.threads)

    @property
    def _resources(self) -> Resources:
        """What scoring may use."""
        return Resources(self._n_threads)

    def _check_fitted(self) -> None:
        if "signature_" not in vars(self):
            raise OptionError(f"the model {self.name} is not trained yet: call fit first, or load a saved model")

    def _known_arrays(self) -> dict[str, Array]:
        """The common data of models of the shape, for the store; of any shape, the vocabulary of tags if there is one."""
        tags: Vocabulary | None = getattr(self, "tag_vocabulary_", None)
        return {} if tags is None else tags.arrays("tags.vocabulary")

    def _restore_known(self, state: ModelState) -> None:
        """Restore the data of `_known_arrays`."""
        tags = state.group("tags.vocabulary")
        self.tag_vocabulary_ = Vocabulary.from_arrays(tags) if tags else None

    @abstractmethod
    def _arrays(self) -> dict[str, Array]:
        """The learned data of this model, for the store."""

    def _layout(self) -> dict[str, str]:
        """The types and shapes of the results of `_known_arrays` and `_arrays` (`base/forms.py`), from the options.

        A model adds the types of its arrays to those of its shape: `super()._layout() | {"counts": "f8 n_rows n_classes"}`.
        Undeclared arrays are read as they were saved.
        """
        return within("tags.vocabulary?", Vocabulary.LAYOUT)

    @abstractmethod
    def _restore(self, state: ModelState) -> None:
        """Restore the data of `_arrays`."""


def _flag(annotation: str) -> str:
    return f"--{annotation.replace('_', '-')}"


def side_layout(side: str) -> dict[str, str]:
    """The layout of `side_arrays`."""
    return {**within(f"{side}.vocabulary", Vocabulary.LAYOUT), f"{side}.classes?": f"u2 {side}.vocabulary.n_words"}


def side_arrays(side: str, vocabulary: Vocabulary, classes: WordClasses | None) -> dict[str, Array]:
    """The vocabulary of a side, and the class of each word of it, for the store."""
    arrays = vocabulary.arrays(f"{side}.vocabulary")
    if classes is not None:
        words = np.arange(len(vocabulary), dtype=np.uint32)
        arrays[f"{side}.classes"] = classes.tags(Text(words, np.array([0, len(vocabulary)], np.int64), vocabulary))
    return arrays


def restored_side(state: ModelState, side: str) -> tuple[Vocabulary, WordClasses | None]:
    """The inverse of `side_arrays`."""
    vocabulary = Vocabulary.from_arrays(state.group(f"{side}.vocabulary"))
    if (classes := state.arrays.get(f"{side}.classes")) is None:
        return vocabulary, None
    from hyperbaton.corpus.classes import WordClasses  # imported here: most models have no classes

    return vocabulary, WordClasses(classes, int(classes.max(initial=0)), vocabulary)


@dataclass(eq=False)
class DistanceModel(ReorderingModel):
    """Base of models that know one number: α, the cost of one word of distance."""

    alpha: float = option(0.0, "α, cost of one word of distance; 0 estimates it", minimum=0)

    is_distance: ClassVar = True

    def _arrays(self) -> dict[str, Array]:
        return {"alpha": np.array([self.alpha_])}

    def _layout(self) -> dict[str, str]:
        return super()._layout() | {"alpha": "f8 1"}

    def _restore(self, state: ModelState) -> None:
        check_finite(state.arrays["alpha"], "alpha")
        self.alpha_ = float(state.arrays["alpha"][0])


def max_sentences_option() -> Any:
    """The option of models that do not need the whole text."""
    return option(0, "learn from this many of the sentences with links, at even intervals; 0 takes all", minimum=0)


def some_sentences(bitext: Bitext, annotations: Annotations, most: int) -> tuple[Bitext, Annotations]:
    """At most this many of the sentence pairs with links, at even intervals; 0 for all pairs."""
    if not most:
        return bitext, annotations
    linked = np.flatnonzero(np.diff(bitext.need_links().offsets))
    n = min(most, len(linked))
    sentences = linked[np.arange(n) * len(linked) // max(n, 1)]
    return bitext.select(sentences), annotations.select(sentences)
