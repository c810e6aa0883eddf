"""What every optimizer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from hyperbaton.base.options import check_options
from hyperbaton.base.progress import Progress
from hyperbaton.metrics import Metric
from hyperbaton.tune.nbest import Floats, Lists


@dataclass(frozen=True)
class Job:
    """One optimisation: lists, metric, and the weights to start from, the present ones first."""

    lists: Lists
    metric: Metric
    starts: Sequence[Floats]
    seed: int
    threads: int
    progress: Progress | None = None

    @property
    def start(self) -> Floats:
        return self.starts[0]


@dataclass
class Optimizer(ABC):
    """Finds weights for n-best lists."""

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def optimize(self, job: Job) -> Floats:
        """Weights that are better on the lists, (n_features,); features that never differ keep theirs."""
