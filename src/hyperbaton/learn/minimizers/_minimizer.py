"""Base classes of minimizers: their options, and the lookup of the objective's method.

minimise  −log-likelihood(w) + ‖w‖² / (2σ²)

A learner of rows knows its objective; a model of whole sentences provides its own, in the core or in PyTorch, so a
minimizer only chooses the algorithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Layout
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.progress import Progress


class Minimum(NamedTuple):
    """Weights, and the objective after each pass."""

    weights: npt.NDArray[np.float64]
    history: npt.NDArray[np.float64]


class States(Protocol):
    """Store of a minimizer's states, which are named arrays."""

    def has_start(self) -> bool:
        """Whether there is a state to resume from."""

    def start(self) -> dict[str, npt.NDArray[np.float64]] | None:
        """The state to resume from, or None."""

    def due(self) -> bool:
        """Whether it is time to save a state."""

    def save(self, state: Mapping[str, npt.NDArray[np.float64]]) -> None:
        """Keep a state; its arrays are valid only during the call."""


class Objective(Protocol):
    """The objective of a model; a minimizer uses its form in the core or in PyTorch."""

    @property
    def start(self) -> npt.NDArray[np.float64]:
        """Weights to start from."""

    @property
    def checkpoint(self) -> States | None:
        """The store of the minimizer's states, from which interrupted training resumes; None for none."""

    def core(self) -> Any:
        """The objective in the core, with a method for each minimizer that it offers."""

    def torch(self, device: str, room: int | None, *, n_steps: int) -> Any:
        """The objective in PyTorch, with `room` bytes of the device for data kept from pass to pass. None means all memory
        that L-BFGS with `n_steps` steps leaves."""


@dataclass(eq=False)
class Minimizer(CheckedOptions, ABC):
    """Base of all minimizers."""

    variance: float = option(1.0, "σ² of the Gaussian prior of each weight", minimum=1e-12, maximum=1e12)
    max_passes: int = option(150, "maximum number of passes over the sentences", minimum=1)

    # The method of the core's objective.
    method: ClassVar[str]
    # Types and shapes of the arrays of its states (`base/forms.py`).
    state_layout: ClassVar[Layout] = {}

    @abstractmethod
    def minimize(self, objective: Objective, *, seed: int, progress: Progress | None) -> Minimum:
        """Find the weights."""

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        """Memory that `minimize` takes, besides the sentences: vectors of doubles, here weights, two gradients and the
        result."""
        return 4 * 8 * n_weights

    def _core(self, objective: Objective) -> Any:
        """The objective in the core; raise OptionError if it lacks the method."""
        core = objective.core()
        if not hasattr(core, self.method):
            known = ", ".join(name for name in ("lbfgs", "adagrad", "iis") if hasattr(core, name))
            raise OptionError(f"this model cannot be trained by {self.method}; use one of: {known}")
        return core


@dataclass(eq=False)
class QuasiNewton(Minimizer):
    """Base of minimizers that estimate the curvature from their last steps."""

    tolerance: float = option(
        1e-3, "stop when the gradient norm falls below this fraction of its value at zero weights", minimum=0
    )
    gain: float = option(
        0.0, "stop when the objective falls by less than this fraction of itself per step, over five steps", minimum=0
    )
    memory: int = option(7, "number of steps that the curvature is estimated from", minimum=1)

    def n_bytes(self, n_weights: int, n_threads: int) -> int:
        # Weights and gradients of the current point and of two trials, the start, the direction, the curvature, the weights
        # in another order; pairs of floats for each step, and one pair more; about one vector for gaps between them.
        return (10 + self.memory + 1 + 1) * 8 * n_weights
