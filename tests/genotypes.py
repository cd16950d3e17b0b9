"""Genotypes for tests: calls of 0, 1, 2 and 3 for a missing one, in memory and in files."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.data.plink import Genotypes

#: The code of each call in two bits.
CODES = np.array([3, 2, 0, 1], dtype=np.uint8)


class Calls(np.ndarray):
    """Calls that `as_genotypes` tells from other integers."""


def draw_calls(rng, n, d, missing=0.2):
    """Draw calls; the first column is complete, and every column varies."""
    calls = rng.binomial(2, rng.uniform(0.2, 0.8, d), (n, d)).astype(np.uint8)
    calls[rng.random((n, d)) < missing] = 3
    calls[:, 0] = np.minimum(calls[:, 0], 2)
    calls[:3] = [[0], [1], [2]]
    return calls.view(Calls)


def as_numbers(calls):
    """Calls as floats, NaN where missing."""
    calls = np.asarray(calls)
    return np.where(calls == 3, np.nan, calls)


def as_genotypes(calls, names=None):
    """Calls as a table in memory, four of them in a byte."""
    n, d = calls.shape
    codes = np.zeros((d, -(-n // 4) * 4), dtype=np.uint8)
    codes[:, :n] = CODES[np.asarray(calls).T]
    packed = (codes.reshape(d, -(-n // 4), 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=2)
    return Genotypes(packed.astype(np.uint8), n, names)


def write_bed(file, calls, **properties):
    """Write calls to a .bed file with bed-reader, and return its path."""
    bed_reader = pytest.importorskip("bed_reader")
    bed_reader.to_bed(file, as_numbers(calls), properties=properties)
    return file
