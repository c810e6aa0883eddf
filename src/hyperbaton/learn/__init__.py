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

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.base.rows import Rows as Rows
    from hyperbaton.base.rows import TrainingRows as TrainingRows
    from hyperbaton.learn._learner import ROWS_TOGETHER as ROWS_TOGETHER
    from hyperbaton.learn._learner import Learner as Learner
    from hyperbaton.learn._matrices import matrix_text as matrix_text
    from hyperbaton.learn._models import GLOBAL_LAYOUT as GLOBAL_LAYOUT
    from hyperbaton.learn._models import ClusterModel as ClusterModel
    from hyperbaton.learn._models import GlobalModel as GlobalModel
    from hyperbaton.learn._models import KernelModel as KernelModel
    from hyperbaton.learn._models import LinearModel as LinearModel
    from hyperbaton.learn._models import restored_model as restored_model
    from hyperbaton.learn._registry import LEARNERS as LEARNERS
    from hyperbaton.learn._rows import RowsError as RowsError

LazyNames(globals())
