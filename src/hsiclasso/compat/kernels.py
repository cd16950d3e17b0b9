r"""Kernels of several columns with one scale, as pyHSICLasso has them.

pyHSICLasso divides all outputs of a target, and all covariates, by *one* standard deviation, that
of all their entries together, differences between their means included. The rest of this package
standardises each column. The two agree for one column, and for columns of equal mean and spread;
otherwise the column with the largest spread counts most here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hsiclasso._types import BoolArray, FloatArray
from hsiclasso.data import Source
from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import Factor, Gaussian, Kernel, Measure, Samples
from hsiclasso.kernels.factor import factor_rows
from hsiclasso.kernels.scale import Scaling
from hsiclasso.selectors.covariates import Covariates, CovariateValues

__all__ = ["OneScaleGaussian", "SubtractedCovariates"]


class OneScaleGaussian(Gaussian):
    """Gaussian kernel of width 1 whose columns share one standard deviation."""

    def scale(self, block: FloatArray, weights: FloatArray, *, joint: bool = False) -> Scaling:
        """Divide the columns (k, n) of one feature by the deviation of all their entries."""
        if not joint or len(block) == 1:
            return super().scale(block, weights, joint=joint)
        shift = block.mean(axis=1)
        factor = float(block.std()) * np.sqrt(len(block))
        block -= shift[:, None]
        block /= factor or 1.0
        return Scaling(shift, np.full(len(block), factor))


@dataclass(frozen=True)
class _OneKernel(CovariateValues):
    """Covariates with one kernel on all of them."""

    kernel: Kernel

    def factor(self, measure: Measure, samples: Samples, error: float) -> Factor:
        """Factor of the covariates' matrix."""
        values = self.values.copy()
        self.kernel.scale(values, samples.shares, joint=True)

        def expand(allowed: float) -> tuple[FloatArray, float]:
            return self.kernel.rows(values, allowed, samples.shares[0])

        return measure.finish(factor_rows(expand, samples, measure, 0.2 * error))


class SubtractedCovariates(Covariates):
    """Covariates whose kernel matrix is subtracted from the target's.

    Parameters
    ----------
    kernel : Kernel
        Kernel on all covariates together.
    """

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(method="subtract")
        self.kernel = kernel

    def resolve(self, source: Source, table: Any, rows: BoolArray | None) -> CovariateValues:
        """Read covariates from a separate table."""
        found = super().resolve(source, table, rows)
        if not self.kernel.of_labels and any(kind != "number" for kind in found.kinds):
            raise InvalidInputError(
                "covars has labels, which covars_kernel='Gaussian' cannot compare: pass "
                "covars_kernel='Delta', or numbers."
            )
        return _OneKernel(found.names, found.kinds, found.values, found.columns, self.kernel)
