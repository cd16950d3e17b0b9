"""The decomposition that all penalties share."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation.spectrum import Path, decompose
from tests.evaluation import oracle_evaluation as oracle


@pytest.fixture
def gram(rng):
    A = rng.standard_normal((25, 3))
    return oracle.gaussian(A, A, 1.0)


def test_features_have_the_kernel_as_products(gram):
    spectrum = decompose(gram, fit_intercept=False)
    assert not spectrum.has_intercept
    np.testing.assert_allclose(spectrum.features.T @ spectrum.features, gram, atol=1e-12)
    np.testing.assert_allclose(
        spectrum.features @ spectrum.features.T, np.diag(spectrum.values), atol=1e-12
    )


def test_with_an_intercept_the_kernel_is_centred(gram):
    spectrum = decompose(gram, fit_intercept=True)
    assert spectrum.has_intercept
    H = np.eye(25) - 1 / 25
    np.testing.assert_allclose(spectrum.features.T @ spectrum.features, H @ gram @ H, atol=1e-12)


def test_the_least_features_too_are_orthogonal_to_the_intercept(rng):
    """Rounding mixes them with the constant, which has the eigenvalue 0."""
    A = rng.standard_normal((40, 3))
    spectrum = decompose(oracle.gaussian(A, A, 5.0), fit_intercept=True)
    assert spectrum.values.min() < 1e-8 * spectrum.values.max()
    np.testing.assert_allclose(spectrum.vectors.sum(axis=1), 0, atol=1e-14)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_expansion_in_kernels_is_the_function_of_features(gram, fit_intercept, rng):
    spectrum = decompose(gram, fit_intercept)
    r = spectrum.values.size
    path = Path(rng.standard_normal((4, 2, r)) * np.sqrt(spectrum.values), np.ones((4, 2)))
    dual, intercepts = spectrum.expand(path)
    assert dual.shape == (4, 2, 25)
    direct = path.weights @ spectrum.features + path.offsets[:, :, None]
    np.testing.assert_allclose(dual @ gram + intercepts[:, :, None], direct, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_rank_is_that_of_the_features(fit_intercept, rng):
    A = rng.standard_normal((30, 4)) * 1e3
    assert decompose(A @ A.T, fit_intercept).values.size == 4


def test_rounding_is_no_feature():
    assert decompose(np.full((20, 20), 0.1), fit_intercept=True).values.size == 0
    assert decompose(np.full((20, 20), 0.1), fit_intercept=False).values.size == 1
    assert decompose(np.zeros((5, 5)), fit_intercept=False).values.size == 0


def test_a_matrix_that_is_no_kernel_is_refused(gram):
    with pytest.raises(InvalidInputError, match=r"eigenvalue -1.*positive semi-definite"):
        decompose(gram - 1.5 * np.eye(25), fit_intercept=False)
