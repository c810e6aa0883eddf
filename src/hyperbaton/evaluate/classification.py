"""Classification of phrase movements: precision over all classes, F1 of each, precision by distance and by cluster size.

The overall precision is the fraction of phrase pairs whose most likely class is the true one (NI11 §4.1). F1 of a class
is 2 · right / (predicted + true). Figures are percentages.

The possible precision is computed with predictions restricted to possible classes, given the source words that are linked
to target words left of the phrase. For a model over possible classes the two are equal. Some of Moses' labels are not
possible: then no prediction is right, and only in log p does the label count as one of the possible classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.evaluate.base import Evaluation, HeldOut, evaluation_of
from hyperbaton.models import OrientationModel
from hyperbaton.phrases import Occurrences, distances, extract, near_samples
from hyperbaton.phrases.orientation import Side

# Training samples of the source phrase: never seen, left to the back-off, small, middle and large clusters.
SUPPORTS = {"0": (0, 0), "1-9": (1, 9), "10-99": (10, 99), "100-999": (100, 999), "1000+": (1000, np.inf)}


@dataclass(frozen=True)
class Classification(Evaluation):
    """Counts of a model's predictions.

    `confusion` (n_classes, n_classes): true class by predicted class. `by_distance`: distance → (right, all).
    `by_support`: range of training samples of the source phrase → (right, all); empty for models that keep no phrases.

    >>> result = Classification(("left", "right"), np.array([[3, 1], [0, 4]]), -0.4, {0: (7, 8)}, {})
    >>> result.overall_precision, result.f1
    (87.5, {'left': 85.71428571428571, 'right': 88.88888888888889})
    """

    names: tuple[str, ...]
    confusion: Array
    mean_logprob: float
    by_distance: dict[int, tuple[int, int]]
    by_support: dict[str, tuple[int, int]]
    orientations: str = ""
    side: str = "before"
    possible_precision: float | None = None  # None if possible classes are unknown
    possible_mean_logprob: float | None = None
    impossible_labels: float | None = None  # percent of phrase pairs whose true class is not possible

    shape: ClassVar = "orientation"
    figure: ClassVar = "overall_precision"
    predicts: ClassVar = "orientations"
    figures: ClassVar = (
        *("orientations", "side", "n", "overall_precision", "possible_precision", "possible_mean_logprob"),
        *("impossible_labels", "f1", "precision_by_distance", "precision_by_support", "known_precision"),
        *("mean_logprob", "perplexity"),
    )

    @property
    def comparable(self) -> str:
        return f"{self.orientations} {self.side}"

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        logprobs: Array,
        labels: Array,
        moved: Array,
        support: Array | None = None,
        frequency: Array | None = None,
        of_labels: Array | None = None,
    ) -> Classification:
        """Compare log-probabilities (n, n_classes) with true classes; `moved` is d, `support` training samples.

        Ties between equally likely classes go to the one with the higher `frequency`, or without it to the first.
        `of_labels` are log-probabilities of the true classes, if they differ.
        """
        frequent = np.arange(len(names)) if frequency is None else np.argsort(-frequency, kind="stable")
        predicted = frequent[logprobs[:, frequent].argmax(axis=1)]
        n = len(names)
        confusion = np.bincount(labels.astype(np.int64) * n + predicted, minlength=n * n).reshape(n, n)
        right = predicted == labels
        by_distance = {int(d): _share(right, moved == d) for d in np.unique(moved)}
        by_support = {}
        if support is not None:
            by_support = {name: _share(right, (support >= a) & (support <= b)) for name, (a, b) in SUPPORTS.items()}
        if of_labels is None:
            of_labels = logprobs[np.arange(len(labels)), labels]
        mean = float(of_labels.mean()) if len(labels) else 0.0
        return cls(names, confusion, mean, by_distance, by_support)

    @property
    def n(self) -> int:
        """Number of phrase pairs."""
        return int(self.confusion.sum())

    @property
    def overall_precision(self) -> float:
        """Percent of phrase pairs whose class is predicted."""
        return 100 * float(np.trace(self.confusion)) / max(self.n, 1)

    @property
    def perplexity(self) -> float:
        """The exponential of the mean negative log-probability of the true classes."""
        return float(numeric.exp(-self.mean_logprob))

    @property
    def f1(self) -> dict[str, float]:
        """F1 of each class, by name."""
        both = self.confusion.sum(axis=0) + self.confusion.sum(axis=1)
        values = 200 * np.diagonal(self.confusion) / np.maximum(both, 1)
        return dict(zip(self.names, values.tolist(), strict=True))

    @property
    def precision_by_distance(self) -> dict[int, float]:
        """Percent right at each signed distance d."""
        return {d: 100 * right / max(n, 1) for d, (right, n) in self.by_distance.items()}

    @property
    def precision_by_support(self) -> dict[str, float]:
        """Percent right by the training samples of the source phrase."""
        return {name: 100 * right / n for name, (right, n) in self.by_support.items() if n}

    @property
    def known_precision(self) -> float | None:
        """Percent right among source phrases with at least 10 training samples, as in NI11; None without phrases."""
        counts = [count for name, count in self.by_support.items() if name not in ("0", "1-9")]
        n = sum(n for _, n in counts)
        return 100 * sum(right for right, _ in counts) / n if n else None

    def as_json(self) -> dict[str, object]:
        counts = {"n_by_distance": {str(d): n for d, (_, n) in self.by_distance.items()}}
        counts["n_by_support"] = {name: n for name, (_, n) in self.by_support.items() if n}
        return super().as_json() | counts | {"confusion": self.confusion.tolist()}

    def row(self) -> dict[str, object]:
        return {
            "n": self.n,
            "precision": round(self.overall_precision, 2),
            **{f"F1 {name}": round(value, 1) for name, value in self.f1.items()},
            "log p": round(self.mean_logprob, 4),
            "perplexity": round(self.perplexity, 4),
            "possible precision": None if self.possible_precision is None else round(self.possible_precision, 2),
        }


def _share(right: Array, here: Array) -> tuple[int, int]:
    return int((right & here).sum()), int(here.sum())


@evaluation_of.register
def _(model: OrientationModel, held_out: HeldOut) -> Classification:
    bitext, side = held_out.bitext, cast(Side, model.side)
    samples = extract(bitext, held_out.max_length, threads=model.threads or None)
    samples = near_samples(samples, held_out.max_distance, side)
    if len(samples) == 0:
        raise InputError("nothing to classify: no phrase pair was found; check the links", bitext.source.path)
    annotations = held_out.annotations.only(model.needs)
    logprobs = model.sample_logprobs(bitext, samples, annotations)
    support = model.support(Occurrences.of_samples(bitext, samples, annotations.source_tags))
    moved, labels = distances(samples, side), model.labels(samples)

    def result(classes: str) -> Classification:
        scores = model.given_coverage(logprobs, bitext, samples, classes=classes)
        of_labels = None
        if classes == "possible":
            counted = model.given_coverage(logprobs, bitext, samples, classes=classes, labels=labels)
            of_labels = counted[np.arange(len(labels)), labels]
        compared = Classification.of(model.class_names, scores, labels, moved, support, model.class_counts_, of_labels)
        return replace(compared, orientations=model.orientations, side=model.side)

    possible = None
    if side == "before":
        try:
            possible = result("possible")
        except OptionError:  # an orientation set for which they are unknown
            if model.classes == "possible":
                raise
    if possible is None:
        return result("all")
    contradicted = ~model.possible(bitext, samples)[np.arange(len(labels)), labels]
    return replace(
        possible if model.classes == "possible" else result("all"),
        possible_precision=possible.overall_precision,
        possible_mean_logprob=possible.mean_logprob,
        impossible_labels=100 * float(contradicted.mean()),
    )
