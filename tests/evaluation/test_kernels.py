"""How samples are compared."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import KernelLogisticRegression, KernelRidgeRegression
from hsiclasso.evaluation.kernels import InputKernel, median_distance
from tests.evaluation import oracle_evaluation as oracle


@pytest.fixture
def tables(rng):
    return rng.standard_normal((12, 3)) * [1, 50, 0.01] + [0, 1e3, 5], rng.standard_normal((5, 3))


@pytest.mark.parametrize("standardise", [True, False])
def test_gaussian(tables, standardise):
    X, other = tables
    kernel = InputKernel("gaussian", standardise)
    inputs, comparison = kernel.learn(X)
    A, B = oracle.standardised(X, other) if standardise else (X, other)
    np.testing.assert_allclose(kernel.gram(comparison, 1.3), oracle.gaussian(A, A, 1.3))
    np.testing.assert_allclose(
        kernel.gram(inputs.compare(other), 1.3), oracle.gaussian(B, A, 1.3), atol=1e-300
    )
    assert median_distance(comparison) == pytest.approx(oracle.median_distance(A))


@pytest.mark.parametrize("standardise", [True, False])
def test_linear(tables, standardise):
    X, other = tables
    inputs, comparison = InputKernel("linear", standardise).learn(X)
    A, B = oracle.standardised(X, other) if standardise else (X, other)
    np.testing.assert_allclose(comparison, A @ A.T)
    np.testing.assert_allclose(inputs.compare(other), B @ A.T)


def test_constant_columns_make_no_difference(tables):
    X, other = tables
    (inputs, comparison), constants = InputKernel().learn(X), [0.1, 1e9 / 3]
    wider, same = InputKernel().learn(np.column_stack([X, np.tile(constants, (12, 1))]))
    np.testing.assert_allclose(same, comparison)
    expected = inputs.compare(other)
    new = np.column_stack([other, np.tile(constants, (5, 1))])
    np.testing.assert_allclose(wider.compare(new), expected, rtol=1e-14)
    # new samples may differ, on the scale of the numbers
    new[:, 3] += 3
    np.testing.assert_allclose(wider.compare(new), expected + 9)


def test_the_samples_are_kept_apart_from_the_caller_s(tables):
    X, other = tables
    inputs, _ = InputKernel("gaussian", standardise=False).learn(X)
    before = inputs.compare(other)
    X[:] = 0
    np.testing.assert_array_equal(inputs.compare(other), before)


def test_median_ignores_copies():
    assert median_distance(np.zeros((3, 3))) == 1.0
    A = np.array([[0.0], [0.0], [0.0], [1.0], [4.0]])
    assert median_distance((A - A.T) ** 2) == oracle.median_distance(A) == 3.0


def test_precomputed_is_taken_as_it_is(rng):
    A = rng.standard_normal((6, 2))
    K = A @ A.T
    kernel = InputKernel("precomputed")
    inputs, comparison = kernel.learn(K)
    assert comparison is K
    assert inputs.vectors.size == 0
    assert kernel.gram(inputs.compare(K[:2]), None).tolist() == K[:2].tolist()
    rows, samples = np.array([4, 5]), np.array([0, 2])
    assert kernel.part(K, rows, samples).tolist() == K[np.ix_([4, 5], [0, 2])].tolist()


def test_precomputed_must_be_square_and_symmetric(rng):
    with pytest.raises(InvalidInputError, match=r"shape \(4, 3\): pass the square matrix"):
        InputKernel("precomputed").learn(np.ones((4, 3)))
    with pytest.raises(InvalidInputError, match="not symmetric"):
        InputKernel("precomputed").learn(rng.standard_normal((4, 4)))


@pytest.mark.parametrize("power", [-1000, -600, -20, 0, 20, 511, 1000])
@pytest.mark.parametrize("model", [KernelRidgeRegression, KernelLogisticRegression])
def test_the_scale_of_features_makes_no_difference(tables, power, model):
    """Squares of huge values overflow, those of tiny ones vanish: neither happens here."""
    X, _ = tables
    y = (X[:, 0] > 0).astype(float)
    expected = model().fit(X, y).predict(X)
    assert np.unique(expected).size > 1
    scale = np.ldexp(1.0, power)
    np.testing.assert_array_equal(model().fit(scale * X, y).predict(scale * X), expected)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_features_of_such_a_scale_must_be_standardised(tables, scale):
    X, _ = tables
    with pytest.raises(InvalidInputError, match=r"values up to .*: pass standardise=True, or div"):
        KernelRidgeRegression(standardise=False).fit(scale * X, X[:, 0])
