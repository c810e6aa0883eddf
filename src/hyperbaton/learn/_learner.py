"""Behaviour common to all learners.

`__init__` only stores the options, `fit` learns and returns the learner, and learned attributes end in `_`: `classes_`,
`model_`, `history_` (name → one value for each pass, "objective" always among them). scikit-learn's tools accept
a learner as a classifier, though scikit-learn need not be installed.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, check_options, option
from hyperbaton.base.progress import Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.base.scratch import Scratch
from hyperbaton.learn._labels import log_prior, number_clusters, number_known_labels, number_labels
from hyperbaton.learn._models import ClusterModel, GlobalModel, LinearModel, NotFitted, joined_clusters, softmax
from hyperbaton.learn._rows import RowsError, RowsLike, as_chunks, core_rows, join_rows

# Number of feature rows that are computed, and kept in memory, at a time.
ROWS_TOGETHER = 1 << 16


@dataclass(frozen=True)
class TrainingExamples:
    """Examples of one call of `fit`, checked."""

    chunks: list[Rows]
    labels: Array
    classes: Array
    log_prior: Array | None
    # If rows and labels are in visit order: their numbers in the data, and what makes the rows.
    order: Array | None = None
    source: TrainingRows | None = None
    scratch: Scratch = field(default_factory=Scratch)
    # Where a trainer continues, as its arguments.
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def n_classes(self) -> int:
        return len(self.classes)


@dataclass(eq=False)
class Learner(CheckedOptions, ABC):
    """Base of all learners; a learner adds options and `_trainer`."""

    intercept: bool = option(True, "add a constant feature")
    unit_length: bool = option(False, "scale the features of each row to Euclidean length 1")
    seed: int = 0
    threads: int = 0

    # Whether `fit` accepts a prior distribution for each row.
    takes_prior: ClassVar[bool] = False
    # Whether `fit` accepts held-out examples.
    takes_validation: ClassVar[bool] = False
    # Whether the core visits all rows in the random order of `_core.visit_order`, if they are one chunk.
    visits_at_random: ClassVar[bool] = False
    # Whether sub-models for clusters can be trained.
    takes_clusters: ClassVar[bool] = True
    # For scikit-learn's checks: whether it predicts their data poorly, and whether values must not be negative.
    fits_poorly: ClassVar[bool] = False
    takes_positive_only: ClassVar[bool] = False

    def _merges_features(self) -> bool:
        """Whether features that occur in the same rows get equal weights, penalised by their squares."""
        return False

    def _options(self) -> dict[str, Any]:
        """The options that not all learners have, by name, as most trainers of the core take them."""
        common = {field.name for field in dataclasses.fields(Learner)}
        return {name: value for name, value in self.get_params().items() if name not in common}

    @abstractmethod
    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        """The core's trainer with these options."""

    def fit(
        self,
        rows: RowsLike,
        labels: npt.ArrayLike,
        n_classes: int | None = None,
        progress: Progress | None = None,
        prior: Any = None,
        validation: tuple[RowsLike, npt.ArrayLike] | None = None,
        scratch: Scratch | None = None,
    ) -> Self:
        """Learn from rows and their labels.

        Arguments:
            rows: CSR matrix, `Rows`, dense array, or a list of the first two, of shape (n, n_features); or `TrainingRows`,
                which are made piece by piece in the order in which they are visited.
            labels: shape (n,); with `n_classes` the numbers 0…n_classes - 1, else anything that sorts.
            progress: called with passes done and passes at most; returns False to cancel.
            prior: shape (n, n_classes), a distribution over classes for each row that scores are relative to; for
                `TrainingRows` a function that gives those of some consecutive rows.
            validation: held-out rows and their labels, used to decide when to stop.
            scratch: for `TrainingRows`, which need `n_classes`: where rows and their variables are kept.
        """
        if isinstance(rows, TrainingRows):
            resources = Resources.of(self.threads, progress, scratch)
            training = self._make(rows, np.asarray(labels), n_classes, prior, resources)
        else:
            training = self._check(rows, labels, n_classes, prior)
        held_out = None if validation is None else self._check_validation(training, *validation)
        self._fit(training, held_out, progress)
        self.classes_ = training.classes
        self.n_features_in_ = training.chunks[0].n_features
        return self

    def _make(
        self,
        rows: TrainingRows,
        labels: Array,
        n_classes: int | None,
        prior: Callable[[slice], Array] | None,
        resources: Resources,
    ) -> TrainingExamples:
        """Make rows in the order in which they are visited."""
        if n_classes is None:
            raise RowsError("rows computed on demand need n_classes")
        n_rows, scratch = len(labels), resources.scratch
        numbers = np.asarray(scratch.array(n_rows, np.uint32))
        if self.visits_at_random:
            _core.visit_order(self.seed, numbers)
        else:
            for piece in scratch.rows(n_rows, row_bytes=8):
                numbers[piece] = np.arange(piece.start, piece.stop, dtype=np.uint32)
        examples = rows_at(rows, numbers, resources)
        in_order = scratch.filled(n_rows, np.int32, 16, lambda rows: labels[numbers[rows]])
        training = self._check(examples, np.asarray(in_order), n_classes, None)
        logs = None
        if prior is not None:
            self._check_prior()

            def log_of(rows: slice) -> Array:
                return np.asarray(log_prior(prior(rows), rows.stop - rows.start, n_classes))

            logs = np.asarray(scratch.filled((n_rows, n_classes), np.float64, 64 * n_classes, log_of))
        order, source = (numbers, rows) if self.visits_at_random else (None, None)
        return dataclasses.replace(training, log_prior=logs, order=order, source=source, scratch=scratch)

    def _fit(self, training: TrainingExamples, validation: _core.Validation | None, progress: Progress | None) -> None:
        problem = self._problem(training, self._core_rows(training.chunks))
        weights, self.history_ = _core.fit(self._trainer(training), problem, validation, progress)
        self.model_: GlobalModel = LinearModel(weights, self.intercept, self.unit_length)

    def _problem(self, training: TrainingExamples, rows: _core.Rows) -> _core.Problem:
        problem = _core.Problem(
            rows=rows,
            labels=training.labels,
            n_classes=training.n_classes,
            log_prior=training.log_prior,
            seed=self.seed,
            n_threads=n_threads(self.threads),
        )
        if training.order is not None:
            problem.set_order(training.order)
        if (room := training.scratch.room) is not None:
            problem.set_room(room)
        return problem

    def fit_clusters(
        self,
        rows: RowsLike,
        labels: npt.ArrayLike,
        clusters: npt.ArrayLike,
        n_classes: int | None = None,
        n_clusters: int | None = None,
        progress: Progress | None = None,
        prior: Any = None,
        validation: tuple[RowsLike, npt.ArrayLike, npt.ArrayLike] | None = None,
        scratch: Scratch | None = None,
        first_cluster: int = 0,
    ) -> ClusterModel:
        """Learn one sub-model for each cluster of rows, over only the features it sees, in parallel.

        Arguments:
            rows: as for `fit`; of `TrainingRows`, those of few clusters are in memory at a time. These need `n_classes` and
                `n_clusters`, and take a function as `prior`, from the numbers of rows and the rows to their prior.
            clusters: shape (n,), each row's cluster, numbered from 0; rows of cluster -1 are left out.
            progress: called with groups of clusters done and groups in all.
            validation: other rows, their labels and their clusters; a cluster without any is trained to convergence.
            first_cluster: the number of cluster 0 among all clusters, if these are only some; it seeds random choices.
        The rest is as for `fit`; the learner itself does not change, except for an estimated `delta_`.
        """
        if not self.takes_clusters:
            raise OptionError(f"{self!r} cannot train sub-models for clusters")
        if isinstance(rows, TrainingRows):
            arrays, resources = (np.asarray(labels), np.asarray(clusters)), Resources.of(self.threads, progress, scratch)
            return self._fit_groups(rows, *arrays, n_classes, n_clusters, prior, resources)
        training = self._check(rows, labels, n_classes, prior)
        core_rows = self._core_rows(training.chunks)
        numbers, n_known = number_clusters(clusters, len(core_rows), n_clusters)
        held_out = None if validation is None else self._check_validation(training, *validation, n_known)
        offsets, features, weights, objective = _core.fit_clusters(
            self._cluster_trainer(training, numbers),
            self._problem(training, core_rows),
            numbers,
            n_known,
            first_cluster,
            self._merges_features(),
            held_out,
            progress,
        )
        n_features = training.chunks[0].n_features
        return ClusterModel(
            offsets, features, weights, objective, training.classes, n_features, self.intercept, self.unit_length
        )

    def _fit_groups(
        self,
        rows: TrainingRows,
        labels: Array,
        clusters: Array,
        n_classes: int | None,
        n_clusters: int | None,
        prior: Callable[[Array, Rows], Array] | None,
        resources: Resources,
    ) -> ClusterModel:
        """Learn the sub-models group by group."""
        if n_classes is None or n_clusters is None:
            raise RowsError("rows computed on demand need n_classes and n_clusters")
        starts, order = _core.group_rows(np.asarray(clusters, np.int32), n_clusters, resources.scratch.room)
        if self._needs_all_clusters() or len(order) == 0:
            numbers = np.arange(len(labels), dtype=np.uint32)
            examples = rows_at(rows, numbers, resources)
            of_rows = None if prior is None else prior(numbers, examples)
            return self.fit_clusters(examples, labels, clusters, n_classes, n_clusters, resources.progress, of_rows)

        def models() -> Iterator[ClusterModel]:
            for first, last in cut_groups(starts, ROWS_TOGETHER):
                members = order[starts[first] : starts[last]]
                examples = rows_at(rows, members, dataclasses.replace(resources, progress=None))
                yield self.fit_clusters(
                    examples,
                    labels[members],
                    clusters[members] - first,
                    n_classes,
                    last - first,
                    _part_of(resources.progress, int(starts[first]), len(members), len(order)),
                    None if prior is None else prior(members, examples),
                    first_cluster=first,
                )

        return joined_clusters(models(), n_clusters, resources.scratch)

    def _needs_all_clusters(self) -> bool:
        """Whether a parameter is learned from all clusters together."""
        return False

    def _cluster_trainer(self, training: TrainingExamples, clusters: Array) -> _core.Trainer:
        """The core's trainer for every cluster."""
        return self._trainer(training)

    def scores(self, rows: RowsLike) -> Array:
        """Scores of shape (rows, classes)."""
        self._check_fitted()
        chunks = as_chunks(rows)
        if chunks[0].n_features != self.n_features_in_:
            width = f"X has {chunks[0].n_features} features"
            raise RowsError(f"{width}, but {type(self).__name__} is expecting {self.n_features_in_} features as input")
        return self._scores(chunks)

    def _scores(self, chunks: list[Rows]) -> Array:
        return self.model_.scores(chunks, self.threads)

    def decision_function(self, rows: RowsLike) -> Array:
        """Scores in scikit-learn's form: for two classes one number, positive for the second."""
        scores = self.scores(rows)
        if len(self.classes_) > 2:
            return scores
        return scores[:, -1] - scores[:, 0]

    def predict(self, rows: RowsLike) -> Array:
        """The label with the largest score for each row."""
        scores = self.scores(rows)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, rows: RowsLike, prior: npt.ArrayLike | None = None) -> Array:
        """Probabilities of shape (rows, classes), times `prior` and normalised if one is given."""
        scores = self.scores(rows)
        offset = log_prior(prior, *scores.shape)
        return softmax(scores if offset is None else scores + offset)

    def score(self, rows: RowsLike, labels: npt.ArrayLike) -> float:
        """The fraction of rows whose label is predicted."""
        return float(np.mean(self.predict(rows) == np.asarray(labels)))

    @property
    def weights_(self) -> Array:
        """Weights of shape (n_features, n_classes), without the constant."""
        model = self._linear_model()
        return model.weights[: model.n_features]

    @property
    def intercept_(self) -> Array:
        """Weights of the constant, shape (n_classes,); zeros without one."""
        model = self._linear_model()
        return model.weights[-1] if model.constant else np.zeros(model.weights.shape[1])

    @property
    def n_passes_(self) -> int:
        self._check_fitted()
        return len(self.history_["objective"])

    def __post_init__(self) -> None:
        """Check nothing before `fit`: scikit-learn requires constructors that accept any value."""

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """All options by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Change options by name."""
        options = self.get_params()
        for name, value in params.items():
            if name not in options:
                raise RowsError(f"{type(self).__name__} has no option {name!r}; known: {', '.join(options)}")
            setattr(self, name, value)
        return self

    def _check(
        self, rows: RowsLike, labels: npt.ArrayLike, n_classes: int | None, prior: npt.ArrayLike | None
    ) -> TrainingExamples:
        check_options(self)
        if prior is not None:
            self._check_prior()
        chunks = as_chunks(rows)
        n_rows = sum(chunk.n_rows for chunk in chunks)
        for what, count in (("sample(s)", n_rows), ("feature(s)", chunks[0].n_features)):
            if count == 0:
                raise RowsError(f"0 {what} (shape=({n_rows}, {chunks[0].n_features})) while a minimum of 1 is required.")
        classes, numbers = number_labels(labels, n_rows, n_classes)
        return TrainingExamples(chunks, numbers, classes, log_prior(prior, n_rows, len(classes)))

    def _check_prior(self) -> None:
        if not self.takes_prior:
            raise OptionError(f"{type(self).__name__} takes no prior for each row")

    def _check_validation(
        self,
        training: TrainingExamples,
        rows: RowsLike,
        labels: npt.ArrayLike,
        clusters: npt.ArrayLike | None = None,
        n_clusters: int | None = None,
    ) -> _core.Validation:
        """Held-out examples, used to decide when to stop."""
        if not self.takes_validation:
            raise OptionError(f"{type(self).__name__} does not stop by validation rows")
        chunks = as_chunks(rows)
        if chunks[0].n_features != training.chunks[0].n_features:
            width, expected = chunks[0].n_features, training.chunks[0].n_features
            raise RowsError(f"rows for validation have {width} features, those to learn from {expected}")
        core_rows = self._core_rows(chunks)
        numbers = number_known_labels(labels, len(core_rows), training.classes)
        judged = None if clusters is None else number_clusters(clusters, len(core_rows), n_clusters)[0]
        return _core.Validation(rows=core_rows, labels=numbers, clusters=judged)

    def _core_rows(self, chunks: list[Rows]) -> _core.Rows:
        return core_rows(chunks, constant=self.intercept, unit_length=self.unit_length)

    def _linear_model(self) -> LinearModel:
        self._check_fitted()
        if not isinstance(self.model_, LinearModel):
            raise AttributeError(f"a {type(self).__name__} with kernels has no weights of features")
        return self.model_

    def _check_fitted(self) -> None:
        if "classes_" not in vars(self):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet: call fit first")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(poor_score=self.fits_poorly),
            input_tags=InputTags(sparse=True, positive_only=self.takes_positive_only),
        )


def rows_at(rows: TrainingRows, numbers: Array, resources: Resources) -> Rows:
    """Rows by their numbers; if there are many, they are kept in the scratch. The progress counts rows."""
    n = len(numbers)
    if n <= ROWS_TOGETHER:
        return rows.at(numbers)

    def pieces() -> Iterator[Array]:
        for at in range(0, n, ROWS_TOGETHER):
            yield numbers[at : at + ROWS_TOGETHER]
            resources.report(min(at + ROWS_TOGETHER, n), n)

    return join_rows(rows, pieces(), resources.scratch)


def _part_of(progress: Progress | None, done: int, n: int, total: int) -> Progress | None:
    """Progress within part of the rows, reported as progress over all rows."""
    if progress is None:
        return None
    return lambda part, parts: progress(done + part * n // max(parts, 1), total)


def cut_groups(starts: Array, rows_together: int) -> Iterator[tuple[int, int]]:
    """Ranges of groups of at most `rows_together` rows, or of one larger group; group g is `starts[g]` to `starts[g + 1]`.

    No range is without rows, unless there are none at all.

    >>> list(cut_groups(np.array([0, 2, 3, 9, 10]), 4)), list(cut_groups(np.array([0, 0, 5, 5]), 4))
    ([(0, 2), (2, 3), (3, 4)], [(0, 3)])
    """
    first, n_groups = 0, len(starts) - 1
    while first < n_groups:
        # As many groups as fit, and at least the first group with rows and the empty ones after it.
        limit = max(starts[first] + rows_together, starts[np.searchsorted(starts, starts[first], side="right")])
        last = int(np.searchsorted(starts, limit, side="right")) - 1
        yield first, last
        first = last
