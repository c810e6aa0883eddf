"""The interface of optimizers, and their input.

Some weights may be fixed. Candidates are ranked by w·f + c, where f are the features whose weights may change, and c is the
contribution of the fixed ones. If c is the same for all candidates of each sentence, only the ratios of the free weights
matter, and they keep their size. If c distinguishes candidates, the size of the free weights matters too. Optimizers that
enlarge margins then optimise k·(w·f + c) for any k > 0: c becomes one more feature, and all weights are divided by its
weight at the end (`OptimizerJob.reduced`, `OptimizerJob.restored`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperbaton.base import numeric
from hyperbaton.base.options import CheckedOptions
from hyperbaton.base.progress import Progress
from hyperbaton.metrics import Metric
from hyperbaton.tune.nbest import CandidateLists, Floats

_LARGEST_GROWTH = 10.0  # of the free weights in one optimisation, if fixed ones set the scale


@dataclass(frozen=True)
class OptimizerJob:
    """One optimisation: lists, metric, and the starting weights, the current ones first.

    `fixed` marks the weights that must stay as they are in the starts, (n_features,); None means none of them.
    """

    lists: CandidateLists
    metric: Metric
    starts: Sequence[Floats]
    seed: int
    threads: int
    progress: Progress | None = None
    fixed: npt.NDArray[np.bool_] | None = None

    @property
    def start(self) -> Floats:
        return self.starts[0]

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """Features whose weights may change and matter: they differ within some list."""
        varies = self.lists.spread > 0
        return varies if self.fixed is None else varies & ~self.fixed

    @cached_property
    def constant(self) -> Floats:
        """The contribution of fixed features to the score of each candidate; empty if it never differs within a list."""
        if self.fixed is None or not (self.fixed & (self.lists.spread > 0) & (self.start != 0)).any():
            return np.zeros(0)
        return numeric.product(np.ascontiguousarray(self.lists.features[:, self.fixed]), self.start[self.fixed])

    @property
    def has_scale(self) -> bool:
        """Whether fixed weights determine the size of the free ones."""
        return len(self.constant) > 0

    @cached_property
    def reduced(self) -> CandidateLists:
        """The lists with the free features, and the constant as the last one if there is one."""
        features = self.lists.features[:, self.free]
        if self.has_scale:
            features = np.column_stack([features, self.constant])
        return replace(self.lists, features=np.ascontiguousarray(features))

    @property
    def reduced_start(self) -> Floats:
        """The first starting point as weights of the reduced lists."""
        return np.append(self.start[self.free], 1.0) if self.has_scale else self.start[self.free]

    def restored(self, weights: Floats) -> Floats:
        """All weights, from those of the reduced lists: fixed ones unchanged, the others at the right scale."""
        size = np.abs(self.start[self.free]).sum()
        if self.has_scale:
            weights, share = weights[:-1], weights[-1]
            # Lists that disfavour the fixed features would make the others infinite.
            least = np.abs(weights).sum() / (_LARGEST_GROWTH * (size if size > 0 else 1.0))
            factor = 1.0 / max(share, least) if max(share, least) > 0 else 1.0
        else:
            norm = np.abs(weights).sum()
            factor = size / norm if size > 0 and norm > 0 else 1.0
        whole = self.start.copy()
        whole[self.free] = weights * factor
        return whole


@dataclass
class Optimizer(CheckedOptions, ABC):
    """Finds weights for n-best lists."""

    @abstractmethod
    def optimize(self, job: OptimizerJob) -> Floats:
        """Better weights on the lists, (n_features,); fixed weights and those of features that never differ are kept."""
