"""L-BFGS in PyTorch: the method of the core's `minimize`, also with its steps in single precision. This file imports
only NumPy and PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from hyperbaton.base.arrays import Array
    from hyperbaton.learn.minimizers import States


# Approximate number of features that move together, which limits the first step.
_TOGETHER = 20.0
# Number of steps over which the gain is measured.
_GAIN_STEPS = 5


class Sum(Protocol):
    """A sum over data that depends on weights: (features, planes)."""

    n_features: int
    planes: int
    device: torch.device
    dtype: torch.dtype

    def __call__(self, weights: Tensor) -> tuple[float, Tensor]:
        """The value and gradient of the sum."""

    def curvature(self) -> Tensor:
        """An estimate of the diagonal of its Hessian."""


def minimize(
    objective: Sum,
    variance: float,
    *,
    max_passes: int,
    tolerance: float,
    gain: float,
    memory: int,
    progress: Callable[[int, int], bool | None] | None = None,
    states: States | None = None,
) -> tuple[Tensor, list[float]]:
    """Weights that minimise the sum + ‖w‖² / (2σ²), and the objective after each step.

    Stops where the largest derivative is `tolerance` times that of the start, or where the sum falls by less than a
    fraction `gain` of itself per step. `progress` returns False to stop early.
    With `states`, interrupted training resumes from its last saved state and finds the same weights.
    """
    n_passes = 0

    def evaluate(at: Tensor) -> tuple[float, Tensor]:
        nonlocal n_passes
        value, slope = objective(at.view(-1, objective.planes))
        n_passes += 1
        flat = slope.reshape(-1) + at / variance
        return value + float(at.double() @ at.double()) / (2 * variance), flat

    inverse = 1 / (_TOGETHER * objective.curvature().reshape(-1) + 1 / variance)
    saved = None if states is None else states.start()
    pairs: list[tuple[Tensor, Tensor, float]] = []
    if saved is None:
        x = torch.zeros(objective.n_features * objective.planes, dtype=objective.dtype, device=objective.device)
        value, slope = evaluate(x)
        goal = tolerance * float(slope.abs().max())
        history = [value]
    else:
        x = torch.from_numpy(saved["weights"]).to(objective.device, objective.dtype)
        value, slope = evaluate(x)
        goal, history, n_passes = float(saved["goal"][0]), saved["history"].tolist(), int(saved["passes"][0])
        steps, changes = (torch.from_numpy(saved[name]).to(objective.device) for name in ("steps", "changes"))
        pairs = list(zip(steps, changes, saved["products"].tolist(), strict=True))
    while n_passes < max_passes and float(slope.abs().max()) > goal and _gains(history, gain):
        if progress is not None and progress(n_passes, max_passes) is False:
            break
        direction = _direction(slope, pairs, inverse)
        point = _search(evaluate, x, value, slope, direction)
        if point is None:
            if not pairs:
                break
            pairs.clear()
            continue
        new_x, new_value, new_slope = point
        step, change = (new_x - x).float(), (new_slope - slope).float()
        product = _dot(step, change)
        if product > 1e-14 * _dot(change, change):
            pairs.append((step, change, product))
            del pairs[:-memory]
        x, value, slope = new_x, new_value, new_slope
        history.append(value)
        if states is not None and states.due():
            states.save(_state(x, goal, history, n_passes, pairs))
    return x.view(-1, objective.planes), history


def _gains(history: list[float], gain: float) -> bool:
    """Whether the last steps lowered the objective enough to go on."""
    if gain == 0 or len(history) <= _GAIN_STEPS:
        return True
    return history[-1 - _GAIN_STEPS] - history[-1] > gain * _GAIN_STEPS * abs(history[-1])


def _state(
    x: Tensor, goal: float, history: list[float], n_passes: int, pairs: list[tuple[Tensor, Tensor, float]]
) -> dict[str, Array]:
    def stacked(tensors: list[Tensor]) -> Array:
        return np.stack([each.cpu().numpy() for each in tensors]) if tensors else np.empty((0, len(x)), np.float32)

    return {
        "weights": x.cpu().numpy(),
        "goal": np.array([goal]),
        "history": np.array(history),
        "passes": np.array([n_passes]),
        "steps": stacked([step for step, _, _ in pairs]),
        "changes": stacked([change for _, change, _ in pairs]),
        "products": np.array([product for _, _, product in pairs]),
    }


def _dot(a: Tensor, b: Tensor) -> float:
    """In double precision, even if the vectors are not."""
    return float(a.double() @ b.double())


def _direction(slope: Tensor, pairs: list[tuple[Tensor, Tensor, float]], inverse: Tensor) -> Tensor:
    """−H · slope by the two-loop recursion, from H₀ = the inverse of the guessed curvature, scaled to fit the last step."""
    d = slope.clone()
    factors = []
    for step, change, product in reversed(pairs):
        factors.append(_dot(step, d) / product)
        d -= factors[-1] * change
    d *= inverse
    if pairs:
        _, change, product = pairs[-1]
        d *= product / _dot(change.to(d.dtype) ** 2, inverse)
    for (step, change, product), factor in zip(pairs, reversed(factors), strict=True):
        d += (factor - _dot(change, d) / product) * step
    return -d


def _search(
    evaluate: Callable[[Tensor], tuple[float, Tensor]],
    x: Tensor,
    value: float,
    slope: Tensor,
    direction: Tensor,
) -> tuple[Tensor, float, Tensor] | None:
    """A step along the direction that meets the weak Wolfe conditions, by bisection; None if there is none."""
    fall = float(slope @ direction)
    if fall >= 0:
        return None
    size, low, high = 1.0, 0.0, np.inf
    for _ in range(40):
        new_x = x + size * direction
        new_value, new_slope = evaluate(new_x)
        if new_value > value + 1e-4 * size * fall:
            high = size
        elif float(new_slope @ direction) < 0.9 * fall:
            low = size
        else:
            return new_x, new_value, new_slope
        size = 2 * size if np.isinf(high) else (low + high) / 2
    return None
