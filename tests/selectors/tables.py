"""Tables and targets of every kind, for the tests of selectors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl

from hsiclasso import Delta, Gaussian

N = 48
LETTERS = np.array(["b", "c", "a", "d"])
SITES = np.array(["oslo", "bern", "rome"])
PLAIN_DELTA = Delta(by_count=False)


def site_codes():
    return np.random.default_rng(8).integers(0, 3, N)


def holes(X):
    shares = [0.1, 0.1, 0.2, 0.3, 0.33, 0.0, 0.0]
    return np.where(np.random.default_rng(1).random(X.shape) < shares, np.nan, X)


def mixed(X, library="pandas"):
    """Numbers, flags, categories, text and small integers; and each column as numbers."""
    codes, other = np.digitize(X[:, 2], [-0.5, 0.6]), np.digitize(X[:, 4], [-1.0, 0.0, 1.0])
    flags, calls = X[:, 1] > 0.3, np.digitize(X[:, 0], [-0.3, 1.0])
    columns = {
        "x0": X[:, 0], "x1": X[:, 1], "flag": flags, "kind": LETTERS[codes],
        "word": LETTERS[other], "call": calls.astype(np.int8),
    }  # fmt: skip
    numbers = [X[:, 0], X[:, 1], flags, codes, other, calls]
    if library == "pandas":
        return pd.DataFrame(columns).astype({"kind": "category"}), numbers
    return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical)), numbers


#: Kernels of the columns of `mixed` if nothing is said.
AUTO = [Gaussian(), Gaussian(), PLAIN_DELTA, PLAIN_DELTA, PLAIN_DELTA, Gaussian()]


def mixed_with_holes(holed, library):
    """A frame of numbers, nullable integers, flags, categories and text with holes."""
    gone = np.isnan(holed)
    codes = np.where(gone, np.nan, np.digitize(holed, [-0.5, 0.5]))
    flag, whole = np.where(gone, np.nan, holed > 0)[:, 2], np.round(holed[:, 1])
    numbers = [holed[:, 0], whole, flag, codes[:, 3], codes[:, 4], holed[:, 5]]

    def listed(column, make):
        return [None if np.isnan(value) else make(value) for value in column]

    def words(column):
        return listed(column, lambda code: str(LETTERS[int(code)]))

    columns = {
        "x": listed(holed[:, 0], float), "count": listed(whole, int), "flag": listed(flag, bool),
        "kind": words(codes[:, 3]), "word": words(codes[:, 4]), "full": holed[:, 5],
    }  # fmt: skip
    if library == "polars":
        return pl.DataFrame(columns).with_columns(pl.col("kind").cast(pl.Categorical)), numbers
    types = {"x": float, "count": "Int64", "flag": "boolean", "kind": "category"}
    return pd.DataFrame(columns).astype(types), numbers


def same_thing_many_times():
    """One feature, four times: the path ends with one of them."""
    x = np.random.default_rng(0).standard_normal(60)
    return np.column_stack([x, 2 * x, -x, x + 1]), x


def take_rows(values, rows):
    """Some rows of a table or of a target of any form."""
    if isinstance(values, tuple):
        return tuple(part[rows] for part in values)
    if isinstance(values, list):
        return [values[i] for i in rows]
    if isinstance(values, pl.DataFrame):
        return values[np.asarray(rows).tolist()]
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]
