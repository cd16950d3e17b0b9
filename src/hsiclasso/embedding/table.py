"""The paper's lookup table, in factor form.

The paper tabulates the kernel at B = 4096 differences of values. Here one shared table holds
the leading eigenfunctions at B = 4096 values, and embedding a value is a cubic interpolation
in it. The recurrence of `hsiclasso.embedding.hermite` needs no table and is faster, so that the
table is an option and not the default: ``benchmarks/embedding.py`` has the numbers.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.embedding.hermite import MAX_FEATURES, REACH, bases

__all__ = ["N_ENTRIES", "TABLE_BASIS", "lookup_table", "table_error"]

#: Entries of the table (the paper's B).
N_ENTRIES = 4096
#: The expansion that is tabulated: reference measure of standard deviation 1.
TABLE_BASIS = 2


@cache
def lookup_table() -> FloatArray:
    """Return the table of shape (N_ENTRIES, MAX_FEATURES) over [-REACH, REACH]."""
    grid = np.linspace(-REACH, REACH, N_ENTRIES)
    return np.ascontiguousarray(bases().features(grid, TABLE_BASIS, MAX_FEATURES).T)


@cache
def table_error() -> float:
    """Bound on how far interpolation moves any kernel value, measured between the entries."""
    from hsiclasso.embedding._loops import table_features

    step = 2 * REACH / (N_ENTRIES - 1)
    between = np.linspace(-REACH + step, REACH - step, 16 * N_ENTRIES)
    looked_up = np.empty((MAX_FEATURES, between.size))
    counts = np.array([MAX_FEATURES])
    table_features(between[None], 0, between.size, counts, REACH, lookup_table(), looked_up)
    exact = bases().features(between, TABLE_BASIS, MAX_FEATURES)
    # |phi~'psi~ - phi'psi| <= 2 e + e^2 where e bounds |phi~ - phi|, and |phi| <= 1.
    error = float(np.sqrt(np.sum((looked_up - exact) ** 2, axis=0)).max())
    return 2 * error + error**2
