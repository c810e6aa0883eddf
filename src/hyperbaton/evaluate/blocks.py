"""How well a block model expects the path of held-out sentence pairs: target and jump together, and the jump alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Bitext, Tags, Trees
from hyperbaton.models.block_me import BlockMe

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class BlockSteps:
    """Columns over the steps of held-out paths, as `BlockMe.path_scores` has them."""

    columns: dict[str, Array]

    @property
    def n(self) -> int:
        return len(self.columns["jump"])

    def as_json(self) -> dict[str, Any]:
        """Percent of steps whose (t, j), or whose j given t, is the most probable, and their mean log-probabilities.

        `accuracy_by_jump`: percent of jumps predicted, by the jump made.
        """
        jumps = self.columns["jump"].astype(np.int64)
        right = self.columns["jump_right"]
        return {
            "n": self.n,
            "block_accuracy": 100 * float(self.columns["right"].mean()),
            "mean_logprob": float(self.columns["logprob"].mean()),
            "jump_accuracy": 100 * float(right.mean()),
            "mean_jump_logprob": float(self.columns["jump_logprob"].mean()),
            "accuracy_by_jump": {str(j): 100 * float(right[jumps == j].mean()) for j in sorted(set(jumps.tolist()))},
        }


def evaluate_blocks(model: BlockMe, bitext: Bitext, tags: Tags | None = None, trees: Trees | None = None) -> BlockSteps:
    """Score the paths that the links of a held-out bitext define."""
    columns = model.path_scores(bitext, source_tags=tags, source_trees=trees)
    if len(columns["jump"]) == 0:
        raise InputError("there is nothing to predict: no sentence pair has links")
    return BlockSteps(columns)
