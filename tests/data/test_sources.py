from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from hsiclasso import InvalidInputError
from hsiclasso.data import as_source, check_finite

VALUES = np.arange(24.0).reshape(6, 4) % 5

TABLES = {
    "C order": VALUES,
    "F order": np.asfortranarray(VALUES),
    "strided": np.repeat(VALUES, 2, axis=1)[:, ::2],
    "float32": VALUES.astype(np.float32),
    "int8": VALUES.astype(np.int8),
    "list": VALUES.tolist(),
    "pandas": pd.DataFrame(VALUES, columns=list("abcd")),
    "polars": pl.DataFrame(VALUES, schema=list("abcd")),
    "csr": sparse.csr_matrix(VALUES),
    "csc": sparse.csc_array(VALUES),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("columns", [slice(1, 3), slice(0, 4), np.array([3, 0]), np.array([2])])
def test_blocks(kind, columns):
    block = as_source(TABLES[kind]).block(columns)
    np.testing.assert_array_equal(block, VALUES[:, columns])
    assert block.dtype == np.float64
    assert block.flags.f_contiguous


@pytest.mark.parametrize("kind", TABLES)
def test_blocks_belong_to_the_caller(kind):
    source = as_source(TABLES[kind])
    source.block(slice(0, 4))[:] = -1
    np.testing.assert_array_equal(source.block(slice(0, 4)), VALUES)


@pytest.mark.parametrize("kind", TABLES)
def test_size_and_names(kind):
    source = as_source(TABLES[kind])
    assert (source.n_samples, source.n_features) == (6, 4)
    assert source.name(2) == ("c" if kind in ("pandas", "polars") else "x2")
    assert as_source(source) is source


def test_arrays_are_not_copied():
    assert as_source(VALUES)._array is VALUES


@pytest.mark.parametrize("kind", ["C order", "F order", "strided", "pandas", "polars", "csr"])
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_check_finite_names_the_column(kind, value, word):
    spoilt = VALUES.copy()
    spoilt[4, 3] = value
    table = {
        "C order": spoilt,
        "F order": np.asfortranarray(spoilt),
        "strided": np.repeat(spoilt, 2, axis=1)[:, ::2],
        "pandas": pd.DataFrame(spoilt, columns=list("abcd")),
        "polars": pl.DataFrame(spoilt, schema=list("abcd")),
        "csr": sparse.csr_matrix(spoilt),
    }[kind]
    name = "d" if kind in ("pandas", "polars") else "x3"
    with pytest.raises(InvalidInputError, match=f"{word} in column '{name}'"):
        check_finite(as_source(table))


def test_check_finite_is_not_fooled_by_overflow():
    check_finite(as_source(np.full((40, 40), 1e307)))


def test_polars_text_and_nulls():
    with pytest.raises(InvalidInputError, match="column 'b'"):
        as_source(pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}))
    with pytest.raises(InvalidInputError, match="NaN in column 'a'"):
        check_finite(as_source(pl.DataFrame({"a": [1, None, 3], "b": [1, 2, 3]})))


def test_polars_booleans():
    source = as_source(pl.DataFrame({"a": [True, False, True], "b": [1, 2, 3]}))
    assert source.block(slice(0, 2)).tolist() == [[1, 1], [0, 2], [1, 3]]


def test_object_array_of_numbers():
    np.testing.assert_array_equal(as_source(VALUES.astype(object)).block(slice(0, 4)), VALUES)
