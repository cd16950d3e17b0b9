"""A memory of entries against a dense matrix with NaN for what is not known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.dependence.entries import Entries


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(0, 12))
def test_what_was_remembered_is_recalled(seed, size, n_blocks):
    rng = np.random.default_rng(seed)
    entries, dense = Entries(size), np.full((size, size), np.nan)

    def some():
        return rng.permutation(size)[: rng.integers(0, size + 1)]

    for _ in range(n_blocks):
        rows, cols = some(), some()
        values = rng.standard_normal((rows.size, cols.size))
        entries.remember(rows, cols, values)
        dense[np.ix_(rows, cols)] = values
        rows, cols = some(), rng.integers(0, size, 5)
        np.testing.assert_array_equal(entries.recall(rows, cols), dense[np.ix_(rows, cols)])
    every = np.arange(size)
    np.testing.assert_array_equal(entries.recall(every, every), dense)
