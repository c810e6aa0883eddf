"""Learners: from sparse examples and labels to weights. They do not depend on translation.

A learner is one file of this folder; its options are its arguments. All follow scikit-learn's conventions and accept
SciPy's sparse matrices, `Rows`, lists of either, whose arrays may be memory-mapped, and rows computed on demand
(`TrainingRows`). `docs/learners.md` has their objectives.

>>> from hyperbaton.learn import LEARNERS
>>> import numpy as np
>>> rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.1]])
>>> LEARNERS["lbfgs"](variance=10.0).fit(rows, ["left", "right", "left"]).predict(rows).tolist()
['left', 'right', 'left']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from
from hyperbaton.base.rows import Rows, TrainingRows
from hyperbaton.learn._registry import LEARNERS

if TYPE_CHECKING:
    from hyperbaton.learn._learner import ROWS_TOGETHER, Learner
    from hyperbaton.learn._matrices import matrix_text
    from hyperbaton.learn._models import GLOBAL_LAYOUT, ClusterModel, GlobalModel, KernelModel, LinearModel, restored_model
    from hyperbaton.learn._rows import RowsError
else:
    __getattr__ = names_from(
        __name__,
        {
            "_learner": ("ROWS_TOGETHER", "Learner"),
            "_matrices": ("matrix_text",),
            "_models": ("GLOBAL_LAYOUT", "ClusterModel", "GlobalModel", "KernelModel", "LinearModel", "restored_model"),
            "_rows": ("RowsError",),
        },
    )


__all__ = [
    "GLOBAL_LAYOUT",
    "LEARNERS",
    "ROWS_TOGETHER",
    "ClusterModel",
    "GlobalModel",
    "KernelModel",
    "Learner",
    "LinearModel",
    "Rows",
    "RowsError",
    "TrainingRows",
    "matrix_text",
    "restored_model",
]
