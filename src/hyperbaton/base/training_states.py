"""The state of a long training, stored next to its output, so that it can resume after an interruption."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import ArtefactError
from hyperbaton.base.store import Artefact, Kind, save

SECONDS = 120.0  # between two states
NETWORK = Kind("network-training", about={"details": {"epoch": int, "history": list[float]}})


@dataclass(frozen=True)
class TrainingStates:
    """States of a training with given options and inputs; the last one is kept, in the folder `path`."""

    path: Path
    kind: Kind
    options: Mapping[str, object]
    inputs: Mapping[str, str]
    seed: int

    def last(self) -> Artefact | None:
        """The state at which this training was interrupted; None if there is none, or it belongs to another training."""
        if not self.path.exists():
            return None
        try:
            saved = Artefact(self.path, self.kind, content=True)
        except ArtefactError:
            return None
        same = saved.manifest["inputs"] == self.inputs and saved.options == self.options
        return saved if same else None

    def save(self, arrays: Mapping[str, Array], details: Mapping[str, object] | None = None) -> None:
        save(self.path, self.kind, arrays, options=self.options, inputs=self.inputs, seed=self.seed, details=details)


@dataclass
class MinimizerStates:
    """The interface for the core's minimizer: where to start, and when to save; saved arrays are valid only in the call."""

    states: TrainingStates
    details: Mapping[str, object] | None = None  # to be kept with every state
    saved: float = field(default_factory=time.monotonic)  # when the last state was

    def has_start(self) -> bool:
        return self.states.last() is not None

    def start(self) -> dict[str, Array] | None:
        last = self.states.last()
        if last is None:
            return None
        arrays = last.arrays()
        arrays.update({name: np.array(array) for name, array in arrays.items()})
        return arrays

    def due(self) -> bool:
        return time.monotonic() >= self.saved + SECONDS

    def save(self, state: Mapping[str, Array]) -> None:
        self.states.save(state, self.details)
        self.saved = time.monotonic()
