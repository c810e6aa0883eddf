"""Maximum margin regression, NI11 §2.2.2 and Appendix B.

minimise  ½ ‖W‖² + C Σ_i max(0, 1 − ⟨ψ(y_i), W φ(x_i)⟩)
dual      ½ Σ_nm α_n α_m κ_out(y_n, y_m) κ_in(x_n, x_m) − Σ_n α_n,   0 ≤ α_n ≤ C

by coordinate descent with shrinking. The score of class k is Σ_n α_n κ_out(k, y_n) κ_in(x, x_n). The cost of a visit
does not depend on the number of classes when the output kernel is the identity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.base.rows import Rows
from hyperbaton.learn._learner import Learner, TrainingExamples
from hyperbaton.learn._matrices import kernel_matrix
from hyperbaton.learn._models import KernelModel
from hyperbaton.learn._rows import core_rows, split_rows


@dataclass(eq=False)
class Mmr(Learner):
    """Maximum margin regression: linear, polynomial or Gaussian inputs, any kernel between classes.

    With `kernel` other than linear `model_` is a `KernelModel`: it keeps the rows with α > 0, with one coefficient for each
    class, instead of weights. It needs no constant and cannot be trained by cluster.

    >>> Mmr(kernel="gaussian").fit([[1.0], [-1.0], [1.2]], [0, 1, 0]).predict([[2.0]]).tolist()
    [0]
    """

    # A constant alone gives every true class the score 1, so that nothing else would be learned.
    intercept: bool = option(False, "add a constant feature")
    cost: float = option(1.0, "C, weight of the losses relative to the norm", minimum=1e-12, maximum=1e12)
    kernel: str = option("linear", "kernel between rows", choices=("linear", "polynomial", "gaussian"))
    gamma: float = option(1.0, "γ of (γ x·z + shift)^degree or exp(−γ‖x − z‖²)", minimum=0)
    shift: float = option(1.0, "shift of the polynomial kernel", minimum=0)
    degree: int = option(2, "degree of the polynomial kernel", minimum=1)
    output_kernel: str = option("identity", "kernel between classes: identity, or rows like '1 .5; .5 1'")
    max_passes: int = option(1000, "maximum number of passes over the active rows", minimum=1)
    tolerance: float = option(0.01, "largest violation of the optimality conditions", minimum=0)
    cache: int = option(256, "cache for kernel columns, in MiB", minimum=0)

    def _trainer(self, training: TrainingExamples) -> _core.Trainer:
        output = kernel_matrix(self.output_kernel, training.n_classes)
        if self.kernel == "linear":
            return _core.mmr_trainer(
                output_kernel=output, cost=self.cost, max_passes=self.max_passes, tolerance=self.tolerance
            )
        return _core.kernel_mmr_trainer(
            kernel=_core.InputKernel(shape=self.kernel, gamma=self.gamma, shift=self.shift, degree=float(self.degree)),
            output_kernel=output,
            cost=self.cost,
            max_passes=self.max_passes,
            tolerance=self.tolerance,
            cache_bytes=self.cache << 20,
        )

    def _cluster_trainer(self, training: TrainingExamples, clusters: Array) -> _core.Trainer:
        if self.kernel != "linear":
            raise OptionError("sub-models for clusters need linear inputs: set kernel to linear")
        return self._trainer(training)

    def _fit(self, training: TrainingExamples, validation: _core.Validation | None, progress: Progress | None) -> None:
        super()._fit(training, validation, progress)
        if self.kernel == "linear":
            return
        alpha = self.history_.pop("alpha", np.zeros(len(training.labels)))
        used = alpha > 0
        support = sparse.vstack([_csr(chunk) for chunk in split_rows(training.chunks, used)], format="csr")
        output = kernel_matrix(self.output_kernel, training.n_classes)
        coefficients = np.ascontiguousarray(alpha[used, None] * output[training.labels[used]])
        parameters = (self.gamma, self.shift, float(self.degree))
        self.model_ = KernelModel(support, coefficients, self.kernel, *parameters, self.unit_length)

    def _core_rows(self, chunks: list[Rows]) -> _core.Rows:
        constant = self.intercept and self.kernel == "linear"
        return core_rows(chunks, constant=constant, unit_length=self.unit_length)


def _csr(rows: Rows) -> sparse.csr_array:
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
