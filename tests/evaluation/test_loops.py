"""Each compiled loop against a NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso.evaluation._loops import newton_direction
from tests.evaluation import oracle_evaluation as oracle


def twin(design, probabilities, penalty, inverse, gradient, accuracy):
    """Conjugate gradients as in the textbook, with the dense Hessian."""
    H = oracle.logistic_hessian(design, probabilities, penalty)
    M = np.tile(inverse, len(probabilities))
    x, residual = np.zeros(gradient.size), -gradient.ravel()
    along = M * residual
    norm = start = residual @ along
    for _ in range(gradient.size):
        step = norm / (along @ H @ along)
        x, residual = x + step * along, residual - step * (H @ along)
        norm, last = residual @ (M * residual), norm
        if norm <= accuracy**2 * start:
            break
        along = M * residual + norm / last * along
    return x.reshape(gradient.shape)


@pytest.fixture
def system(rng):
    n_classes, r, n = 3, 7, 20
    design = rng.standard_normal((r, n)) * np.linspace(0.1, 3, r)[:, None]
    probabilities = rng.dirichlet(np.ones(n_classes), n).T.copy()
    penalty = np.append(np.full(r - 1, 0.03), 0.0)
    inverse = 1 / (0.2 * np.square(design).sum(axis=1) / n + penalty)
    gradient = rng.standard_normal((n_classes, r))
    gradient -= gradient.mean(axis=0)  # as those of probabilities, which sum to 1
    return design, probabilities, penalty, inverse, gradient


def call(system, accuracy):
    design, *rest = system
    return newton_direction(design, np.ascontiguousarray(design.T), *rest, accuracy)


@pytest.mark.parametrize("accuracy", [0.5, 0.1, 1e-3, 1e-8])
def test_direction_is_its_twin(system, accuracy):
    np.testing.assert_allclose(call(system, accuracy), twin(*system, accuracy), atol=1e-7)


def test_direction_solves_the_newton_system(system):
    design, probabilities, penalty, _, gradient = system
    H = oracle.logistic_hessian(design, probabilities, penalty)
    solution = np.linalg.lstsq(H, -gradient.ravel(), rcond=None)[0]
    np.testing.assert_allclose(call(system, 1e-12).ravel(), solution, atol=1e-8)


def test_no_gradient_no_direction(system):
    *rest, gradient = system
    assert not call((*rest, np.zeros_like(gradient)), 0.1).any()
