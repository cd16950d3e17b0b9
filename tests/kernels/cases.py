"""Every kernel, with what a test needs to see it at work.

A new kernel needs no new tests: it is found by its line in the registry, and its parameters stand
beside its formula in `tests.oracles`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import strategies as st

from hsiclasso.kernels import KERNELS as REGISTRY
from hsiclasso.kernels.hermite import table_error
from tests import oracles
from tests.columns import KINDS, make


def all_kernels():
    made = [make() for make in REGISTRY.values()]
    classes = {type(kernel) for kernel in made}
    variants = [c(**params) for c in classes for params in oracles.KERNELS[c.__name__][2]]
    return sorted(set(made + variants), key=str)


KERNELS = all_kernels()
VECTOR_KERNELS = [kernel for kernel in KERNELS if kernel.joins_columns]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)
every_vector_kernel = pytest.mark.parametrize("kernel", VECTOR_KERNELS, ids=str)

kinds = st.sampled_from(sorted(KINDS))


def draw_weights(rng, n, weighting):
    """Weights of samples: equal ones, whole numbers, or real numbers of which some are 0."""
    if weighting == "none":
        return np.ones(n)
    if weighting == "whole":
        return rng.integers(1, 5, n).astype(float)
    weights = rng.uniform(0.05, 3, n)
    weights[4:][rng.random(n - 4) < 0.2] = 0.0
    return weights


weightings = st.sampled_from(["none", "whole", "some without"])


@dataclass(frozen=True)
class Case:
    """Columns (k, n) with the weights of their samples, (1, n) or (k, n).

    Where a sample has no weight, a column holds the value of another sample, as the package
    fills in what is missing.
    """

    columns: np.ndarray
    weights: np.ndarray

    @property
    def n(self):
        return self.columns.shape[1]

    def shares(self, j):
        return self.weights[min(j, len(self.weights) - 1)]

    def seen(self, j):
        return self.shares(j) > 0

    def scaled(self, kernel, joint=False):
        block = self.columns.copy()
        scaling = kernel.scale(block, self.weights, joint=joint)
        return block, scaling

    def gram(self, kernel, j):
        """Dense Gram matrix of column j, with zeros where a sample has no weight."""
        seen, out = self.seen(j), np.zeros((self.n, self.n))
        K = oracles.kernel_gram(self.columns[j, seen], kernel, self.shares(j)[seen])
        out[np.ix_(seen, seen)] = K
        return out

    def joint_gram(self, kernel):
        seen, out = self.seen(0), np.zeros((self.n, self.n))
        K = oracles.kernel_gram(self.columns[:, seen], kernel, self.shares(0)[seen])
        out[np.ix_(seen, seen)] = K
        return out


@st.composite
def cases(draw, most=3, least=1, by_column=True, kinds=kinds, smallest=8):
    """Draw columns of some kinds, that vary on the samples with a weight."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, k = draw(st.integers(smallest, 60)), draw(st.integers(least, most))
    columns = np.array([make(draw(kinds), n, draw(st.integers(0, 10_000))) for _ in range(k)])
    rows = k if by_column and draw(st.booleans()) else 1
    weighting = draw(weightings)
    weights = np.array([draw_weights(rng, n, weighting) for _ in range(rows)])
    shares = np.broadcast_to(weights, (k, n))
    for column, own in zip(columns, shares, strict=True):
        seen = own > 0
        column[~seen] = column[seen][0]
        if np.ptp(column) == 0:  # what varied had no weight
            column[np.flatnonzero(seen)[:2]] = [-0.5, 0.5]
            column[~seen] = -0.5
    return Case(columns, weights)


def weighed(K, weights):
    """W^1/2 K W^1/2."""
    root = np.sqrt(weights)
    return root[:, None] * K * root


def least_error(kernel):
    """Share of the trace that a kernel cannot avoid leaving out."""
    return table_error() if getattr(kernel, "expansion", "") == "table" else 0.0
