"""Columns of every kind a table may hold, for tests of kernels and what follows."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

KINDS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.uniform(-3, 5, n),
    "student-t": lambda rng, n: rng.standard_t(2, n),
    "log-normal": lambda rng, n: np.exp(2 * rng.standard_normal(n)),
    "genotype": lambda rng, n: np.r_[[0.0, 1.0, 2.0], rng.binomial(2, 0.3, n - 3)],
    "two-valued": lambda rng, n: np.r_[[0.0, 1.0], rng.integers(0, 2, n - 2)],
    "tied": lambda rng, n: np.r_[[0.0, 9.0], np.round(rng.standard_normal(n - 2), 1)],
    "mostly zeros": lambda rng, n: np.r_[0.0, 3.0, rng.poisson(0.2, n - 2) * rng.random(n - 2)],
    "one outlier": lambda rng, n: np.where(np.arange(n) == 1, 1e6, rng.standard_normal(n)),
    "nearly constant": lambda rng, n: np.where(np.arange(n) == n - 2, 1.0, 0.0),
    "shifted": lambda rng, n: 1e7 + rng.standard_normal(n),
    "huge": lambda rng, n: 1e300 * rng.uniform(-1, 1, n),
    "tiny": lambda rng, n: 1e-200 * rng.standard_normal(n),
    "denormal": lambda rng, n: 5e-324 * np.r_[[0, 400], rng.integers(0, 400, n - 2)],
}


def make(kind, n, seed):
    return KINDS[kind](np.random.default_rng(seed), n)


#: A drawn column: its kind, length and seed.
columns = st.builds(
    make, st.sampled_from(sorted(KINDS)), st.integers(5, 90), st.integers(0, 10_000)
)
