r"""The pass for many samples: relevance from the table of a column and the target on their grids.

With the features P of the nodes of a column, the kernel L between the nodes of the target, and the
table C of the sums of products of the samples' weights, node by node,

.. math:: \langle K, T\rangle = \operatorname{tr} M L M^\top , \qquad
    M = P \Big(C - \tfrac1W C 1 1^\top C\Big) .

A table takes 36 additions per sample, whatever the rank of the target, and no rows with n entries
are made. The product with L is a convolution.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.relevance import PassResult, RelevancePass
from hsiclasso.dependence.tables import joint_sums, node_norm, table_grid, table_product
from hsiclasso.kernels import Grid
from hsiclasso.targets.gridded import GriddedTarget

__all__ = ["TabulatedPass"]


class TabulatedPass:
    """Relates blocks of features by tables; an instance can be called from any thread.

    Parameters
    ----------
    exact : RelevancePass
        Relates the features that no grid serves. Its target is a `GriddedTarget`.
    """

    def __init__(self, exact: RelevancePass) -> None:
        assert isinstance(exact.target, GriddedTarget)
        self.features = exact.features
        self.exact = exact
        self.target = exact.target

    def on(self, features: Features) -> TabulatedPass:
        """Return the same pass for other features on the same samples."""
        made = copy(self)
        made.features, made.exact = features, self.exact.on(features)
        return made

    def blocks(self) -> list[slice]:
        """Cut the features into blocks of one: with many samples, a column is large."""
        return [slice(k, k + 1) for k in range(self.features.n_features)]

    def __call__(self, part: slice) -> PassResult:
        """Relate a block of features."""
        features, kernel = self.features, self.features.kernels[0]
        numbers = np.arange(part.start, part.stop)
        values = features.block(numbers, buffer="values")
        result = PassResult.empty(numbers.size, 1, features.n_samples)
        result.varies[:] = kernel.scale(values, features.samples.shares).factor > 0
        left = []
        for place in np.flatnonzero(result.varies).tolist():
            grid = table_grid(kernel, values[place], features.gram_error)
            if grid is None or not self._relate(values[place], grid, place, result):
                left.append(place)
        if left:
            # read again: these columns must not be scaled twice
            some = np.array(left)
            self.exact.relate_values(kernel, features.block(numbers[some]), some, result)
        return result

    def _relate(self, z: FloatArray, grid: Grid, place: int, result: PassResult) -> bool:
        """Relate a scaled column; False if its matrix is too small for the error of the grid."""
        samples, line = self.features.samples, self.target.line
        table = joint_sums(
            (z, grid.first, grid.step, grid.n_nodes),
            (line.z, line.first, line.step, line.n_nodes),
            samples,
        )
        counts = table.sum(axis=1)
        norm = node_norm(grid, counts, samples.total)
        error = grid.gram_error * samples.total / norm if norm > 0 else np.inf
        if error > self.features.gram_error:
            return False
        centred = grid.rows @ table
        centred -= np.outer(grid.rows @ counts, table.sum(axis=0) / samples.total)
        relevance = self.target.scale * line.energy(centred)
        if self.exact.measure.normalised:
            relevance /= np.sqrt(table_product((z, grid), (z, grid), samples))
        result.relevance[place, 0], result.error[place] = relevance, error
        return True
