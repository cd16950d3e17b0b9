"""Kernel measures as dependences of features on the target and on each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import Auto, InvalidInputError
from hsiclasso.baselines.dependency import dependency_matrix
from hsiclasso.kernels import Delta, Gaussian
from tests import oracles
from tests.baselines.conftest import relate

MEASURES = ["hsic", "nhsic", "nocco"]


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * np.max(expected))


def matrices(X, measure, kernel=None):
    return [oracles.feature_matrix(x, kernel or Gaussian(), measure) for x in X.T]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 5))
    return X, X[:, 0] ** 2 + X[:, 1] + 0.3 * rng.standard_normal(60)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("classes", [False, True])
def test_against_dense_matrices(table, measure, classes):
    X, y = table
    target = np.digitize(y, [-0.5, 0.7]) if classes else y
    related = relate(X, target, measure)
    A = matrices(X, measure)
    gram = oracles.delta_gram(target) if classes else oracles.gaussian_gram(y)
    T = oracles.measure_matrix(gram, measure)
    assert_close(related.relevance, [np.sum(a * T) for a in A])
    expected = [[np.sum(a * b) for b in A] for a in A]
    assert_close(related.block(np.arange(5), np.arange(5)), expected)
    assert_close(related.block(np.array([3, 1]), np.array([0])), np.array(expected)[[3, 1]][:, [0]])


def test_widths_change_the_answer(table):
    X, y = table
    related = relate(X, y, "hsic", kernel=Gaussian(0.5), target=Auto(Gaussian(2.0)))
    A = matrices(X, "hsic", Gaussian(0.5))
    T = oracles.centre(oracles.gaussian_gram(y, 2.0))
    assert_close(related.relevance, [np.sum(a * T) for a in A])


def test_labels_have_delta_kernels(table):
    X, y = table
    words = np.where(y > 0.5, "b", np.where(y < -0.5, "c", "a"))
    related = relate(pd.DataFrame({"x": X[:, 0], "word": words}), y, "hsic")
    codes = np.unique(words, return_inverse=True)[1]
    A = [
        oracles.feature_matrix(X[:, 0], Gaussian(), "hsic"),
        oracles.feature_matrix(codes, Delta(by_count=False), "hsic"),
    ]
    T = oracles.centre(oracles.gaussian_gram(y))
    assert_close(related.relevance, [np.sum(a * T) for a in A])
    assert_close(related.block(np.arange(2), np.arange(2)), [[np.sum(a * b) for b in A] for a in A])


def test_survival_and_affinities(table):
    X, y = table
    time, event = np.exp(y), X[:, 3] < 1
    survival = relate(X, (time, event), "hsic", target="survival")
    L = oracles.log_rank_matrix(oracles.gaussian_gram(time), time, event)
    A = matrices(X, "hsic")
    assert_close(survival.relevance, [np.sum(a * oracles.centre(L)) for a in A])
    affinity = np.exp(-np.abs(y[:, None] - y))
    found = relate(X, affinity, "hsic", target="affinity").relevance
    assert_close(found, [np.sum(a * oracles.centre(affinity)) for a in A])


def test_a_negative_relevance_counts_as_none(table):
    X, y = table
    opposite = -np.exp(-np.abs(y[:, None] - y))
    related = relate(X, opposite, "hsic", target="affinity")
    assert related.relevance.tolist() == [0] * 5


@pytest.mark.parametrize("measure", MEASURES)
def test_many_columns_are_the_same_as_few(measure, rng):
    X = rng.standard_normal((40, 40))
    related = relate(X, X[:, 0], measure)
    features = np.arange(40)
    by_column = np.hstack([related.block(features, features[k : k + 1]) for k in features])
    whole = dependency_matrix(relate(X, X[:, 0], measure, n_threads=2), lambda *_: None)
    np.testing.assert_allclose(whole, by_column, rtol=1e-9, atol=1e-12 * whole.max())
    np.testing.assert_allclose(whole, whole.T)
    assert (whole >= 0).all()


def test_a_target_without_anything_to_depend_on(table):
    X, _ = table
    with pytest.raises(InvalidInputError, match="Nothing of the target is left after centring"):
        relate(
            X,
            np.ones((60, 1)) + np.arange(60.0) + np.arange(60.0)[:, None],
            "hsic",
            target="affinity",
        )
