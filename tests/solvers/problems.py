"""Problems for the tests of the solvers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from hsiclasso.solvers import ExplicitProblem


def design(seed, *, rounded, duplicates):
    """A non-negative design, possibly with ties, equal and linearly dependent columns."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2, 60), rng.integers(2, 40)
    A = np.abs(rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.6)
    A[0] += 0.1
    if rounded:
        A = np.ceil(A)
    if duplicates and d > 5:
        A[:, 3], A[:, 5] = A[:, 0], A[:, 1] + A[:, 2]
    t = A @ np.maximum(rng.standard_normal(d), 0) + 0.3 * rng.standard_normal(n)
    return A, np.round(t) if rounded else t


def explicit(A, t):
    """The least squares problem of a design and a target."""
    return ExplicitProblem(A.T @ A, A.T @ t, float(t @ t))


#: Designs and targets of every kind.
designs = st.builds(
    design, st.integers(0, 100_000), rounded=st.booleans(), duplicates=st.booleans()
)
