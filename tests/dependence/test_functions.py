"""Functions of features: against dense matrices, and solved as an additive problem."""

import numpy as np
import pytest

from hsiclasso.dependence import Budget, relate
from hsiclasso.dependence.functions import FeatureFunctions
from hsiclasso.kernels import NOCCO, Laplace, Samples
from hsiclasso.solvers import Penalty, Stop
from hsiclasso.solvers.additive import solve_additive
from hsiclasso.targets.matrix import FactoredTarget
from hsiclasso.targets.split import dense_rows
from tests.dependence.cases import make_features
from tests.oracles import centre, gaussian_gram, nocco_matrix

EPSILON = 0.01


def make(X, target, kernel=None, weights=None, progress=None, **options):
    features = make_features(X, kernel, Samples(len(X), weights), gram_error=1e-9)
    rows = FactoredTarget(dense_rows(target), np.ones(len(target)), np.sum(target**2))
    problem = relate(features, rows, NOCCO(EPSILON), **options)
    return FeatureFunctions(problem, target, progress)


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 30))
    rows = rng.standard_normal((3, 60)) + np.array([[1.0], [2.0], [0.0]]) * np.sin(2 * X[:, 4])
    return X, rows - rows.mean(axis=1, keepdims=True)


def test_rows_and_correlations_are_those_of_dense_matrices(table):
    X, target = table
    functions = make(X, target)
    correlations = functions.correlations(target)
    for k in (0, 4, 29):
        dense = nocco_matrix(centre(gaussian_gram(X[:, k])), EPSILON)
        (rows,) = functions.factors(np.array([k]))
        np.testing.assert_allclose(rows.T @ rows, dense, atol=1e-7)
        assert functions.correlations(target.copy())[k] == pytest.approx(correlations[k])
        assert correlations[k] == pytest.approx(np.sqrt(np.trace(target @ dense @ target.T)))
        assert np.square(rows).sum(axis=1).max() < 1


@pytest.mark.parametrize("long", [10, 1000])
def test_correlations_of_some_features(table, monkeypatch, long):
    X, target = table
    monkeypatch.setattr("hsiclasso.dependence.functions._LONG", long)
    functions, some = make(X, target), np.array([4, 0, 29])
    found = functions.correlations(target[:2].copy(), some)
    np.testing.assert_allclose(found, functions.correlations(target[:2].copy())[some], rtol=1e-6)


def test_threads_and_kernels_with_recursions_change_nothing(table):
    X, target = table
    one, two = (make(X, target, budget=Budget(n_threads=n)) for n in (1, 2))
    np.testing.assert_array_equal(one.correlations(target), two.correlations(target))
    laplace = make(X, target, Laplace())
    (rows,) = laplace.factors(np.array([4]))
    expected = np.linalg.norm(rows @ target.T)
    assert laplace.correlations(target)[4] == pytest.approx(expected, rel=1e-8)


def test_the_path_is_certified_over_the_table(table):
    X, target = table
    reported = []
    functions = make(X, target, progress=lambda *report: reported.append(report))
    solution = solve_additive(functions, Penalty.lasso(30), Stop(max_features=2))
    assert solution.path.entered[0] == 4
    assert solution.path.certificate.duality_gap <= 1e-8
    assert {stage for stage, _, _ in reported} == {"correlation"}


def test_weights_are_repeated_rows(table):
    X, target = table
    weights = np.ones(60)
    weights[:10] = 2.0
    rows = target - np.average(target, axis=1, weights=weights)[:, None]
    repeated = np.append(np.arange(60), np.arange(10))
    weighted = make(X, rows * np.sqrt(weights), weights=weights)
    longer = make(X[repeated], rows[:, repeated])
    made = [solve_additive(p, Penalty.lasso(30), Stop(alpha=2.0)) for p in (weighted, longer)]
    np.testing.assert_array_equal(made[0].features, made[1].features)
    assert made[0].features.size
    for ours, theirs in zip(*(s.path.breakpoints[-1].weights for s in made), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-4)
