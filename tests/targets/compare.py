"""Matrices of targets beside what dense formulas say."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.kernels import Samples, as_measure
from hsiclasso.targets.matrix import FactoredTarget, LaplaceTarget
from tests import oracles

N = 40
MEASURES = ["hsic", "nhsic", "nocco"]
every_measure = pytest.mark.parametrize("measure", MEASURES)
#: Weights and covariates of N samples.
SPACES = {
    "plain": lambda rng: Samples(N),
    "whole weights": lambda rng: Samples(N, rng.integers(1, 4, N).astype(float)),
    "covariates": lambda rng: Samples(N, None, covariates(rng)),
    "both": lambda rng: Samples(N, rng.uniform(0.05, 2, N), covariates(rng)),
}
every_space = pytest.mark.parametrize("space", SPACES)


def covariates(rng):
    return np.array([rng.standard_normal(N), rng.random(N) < 0.4], float)


def matrix_of(target, samples):
    """T itself, from the rows of a target or from its products."""
    if isinstance(target, FactoredTarget):
        rows, signs = target.whole
        return (rows.T * signs) @ rows
    off = samples.remove(np.eye(samples.n))
    if isinstance(target, LaplaceTarget):
        return sum((m.product(off) for m in target.matrices), np.zeros_like(off)) @ off.T
    return target.product(off) @ off.T


def check(data, K, measure, samples, *, error=1e-6, n_features=0):
    """Compare a target with the measure's matrix of a Gram matrix."""
    target = data.matrix(as_measure(measure), samples, error=error, n_features=n_features)
    T = oracles.projected_measure(K, measure, samples.weights, samples.covariates)
    assert_matrix(target, T, samples, error)
    return target


def assert_matrix(target, T, samples, error=1e-6):
    size = np.linalg.norm(T)
    assert np.linalg.norm(matrix_of(target, samples) - T) <= error * size
    np.testing.assert_allclose(target.norm2, size**2, rtol=2 * error)
    rows = samples.remove(np.random.default_rng(9).standard_normal((3, samples.n)))
    allowed = error * size * np.sum(rows**2)
    assert abs(target.energy(rows) - np.sum(rows * (rows @ T))) <= allowed


def assert_same_data(found, expected):
    """Compare the data of two prepared targets, whatever it holds."""
    assert type(found) is type(expected)
    for name, value in vars(expected).items():
        parts = (
            (getattr(found, name), value)
            if isinstance(value, tuple)
            else ([vars(found)[name]], [value])
        )
        for ours, theirs in zip(*parts, strict=True):
            np.testing.assert_array_equal(ours, theirs)
