"""The quadratic problem of a table and a target, with entries of G computed on demand."""

from __future__ import annotations

import numpy as np

from hsiclasso._types import FloatArray, IntArray
from hsiclasso.dependence.entries import Entries
from hsiclasso.dependence.factors import FactorProducts
from hsiclasso.dependence.measures import Measure
from hsiclasso.dependence.packed import PackedProducts, can_be_packed
from hsiclasso.dependence.scan import Scan
from hsiclasso.embedding import Features

__all__ = ["DependenceProblem"]


class DependenceProblem:
    """Relevance and redundancy of a table, as a solver sees them.

    Parameters
    ----------
    features : Features
        The table, with the kernels of its features.
    scan : Scan
        Result of the pass over the data.
    measure : Measure
        Dependence measure.
    n_threads : int
        Threads that large blocks are computed on.
    """

    def __init__(
        self,
        features: Features,
        scan: Scan,
        measure: Measure,
        *,
        n_threads: int = 1,
    ) -> None:
        products = PackedProducts if can_be_packed(features, measure) else FactorProducts
        self._products = products(features, measure, n_threads)
        self._entries = Entries(features.n_features)
        self.linear = scan.relevance
        self.target_norm2 = scan.target_norm2

    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return G[k, k], the squared Frobenius norm of A_k."""
        return self._products.norms2(rows)

    def block(self, rows: IntArray, cols: IntArray) -> FloatArray:
        r"""Return :math:`G_{kl} = \langle A_k, A_l\rangle` for k in `rows` and l in `cols`.

        An entry is computed once. What was made of `cols`, which a solver asks for again and
        again, is kept.
        """
        out = self._entries.recall(rows, cols)
        if np.isnan(out).any():
            self._products.complete(rows, cols, out)
            self._entries.remember(rows, cols, out)
        return out

    def inner_products(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Return the same as `block`, computed afresh and not remembered."""
        return self._products.inner_products(rows, cols)
