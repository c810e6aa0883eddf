"""Base classes of minimizers: their options, and the lookup of the objective's method.

minimise  −log-likelihood(w) + ‖w‖² / (2σ²)

A learner of rows knows its objective; a model of whole sentences provides its own in the core, so a minimizer only chooses
the algorithm.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import Layout
from hyperbaton.base.options import CheckedOptions, option
from hyperbaton.base.progress import Progress

if TYPE_CHECKING:
    from hyperbaton.base.training_states import MinimizerStates


class Minimum(NamedTuple):
    """Weights, and the objective after each pass."""

    weights: npt.NDArray[np.float64]
    history: npt.NDArray[np.float64]


class Objective(NamedTuple):
    """The objective of a model: weights to start from, and the function in the core, which has a method for each minimizer.

    `checkpoint` stores the states of the minimizer, from which interrupted training resumes; None for none.
    """

    start: npt.NDArray[np.float64]
    core: Callable[[], Any]
    checkpoint: MinimizerStates | None = None


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
            names = ", ".join(name for name in ("lbfgs", "adagrad", "iis") if hasattr(core, name))
            raise OptionError(f"this model cannot be trained by {self.method}; use one of: {names}")
        return core
