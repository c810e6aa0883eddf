"""Learners: from sparse examples and labels to weights. They know nothing of translation.

A learner is one file of this folder; its options are its arguments. All of them work in the manner of scikit-learn,
on SciPy's sparse matrices, on `Rows`, and on lists of either, whose arrays may be memory-mapped; and on rows that are made
when they are needed (`TrainingRows`). `docs/learners.md` says which learner solves what.

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
