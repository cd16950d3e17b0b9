"""The factor of the active set, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.solvers.active import ActiveCholesky


def factored(gram):
    factor = ActiveCholesky()
    for k in range(len(gram)):
        assert factor.append(gram[k, :k], gram[k, k])
    return factor


def test_features_come_and_go(rng):
    A = rng.standard_normal((60, 40))  # more than there is room for at first
    gram = A.T @ A
    factor = factored(gram)
    right = rng.standard_normal((2, 40)).astype(np.longdouble)
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(gram, right.T.astype(float)).T)
    gone = np.array([3, 17, 39])
    factor.remove(gone)
    kept = np.delete(np.arange(40), gone)
    expected = np.linalg.solve(gram[np.ix_(kept, kept)], right[:, kept].T.astype(float)).T
    np.testing.assert_allclose(factor.solve(right[:, kept]), expected)
    assert not factor.append(gram[kept, 5], gram[5, 5])  # it is there already
    assert factor.size == kept.size


@pytest.mark.parametrize("distance", [1.0, 1e-2, 1e-4])
def test_almost_dependent_features_lose_digits_of_extended_precision_only(distance, rng):
    A = rng.standard_normal((50, 10))
    A[:, 9] = A[:, :9].sum(axis=1) + distance * rng.standard_normal(50)
    gram = A.T @ A
    gram = (gram + gram.T) / 2
    x = rng.integers(1, 100, (3, 10)).astype(np.longdouble)
    found = factored(gram).solve(x @ gram.astype(np.longdouble))
    lost = 100 * np.finfo(np.longdouble).eps * np.linalg.cond(gram)
    np.testing.assert_allclose(found.astype(float), x.astype(float), rtol=max(float(lost), 1e-14))
