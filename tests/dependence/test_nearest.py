"""Nearest neighbours among all features against brute force."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.io import loadmat

from hsiclasso import HSICLasso
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear
from tests import oracles
from tests.dependence.cases import (
    MEASURES,
    STORAGES,
    dense_matrices,
    find,
    make_features,
    make_samples,
    punched,
    redundancy,
)

#: Error of a similarity.
ERROR = 2e-4


def check(features, measure, number=3, wanted=None):
    """Compare the neighbours of some features with the similarities of dense matrices."""
    rng = np.random.default_rng(0)
    d = features.n_features
    wanted = np.arange(d) if wanted is None else np.array(wanted)
    found = find(features, rng.standard_normal(features.n_samples), measure).nearest(wanted, number)
    S = oracles.similarity(dense_matrices(features, measure))
    assert len(found) == wanted.size
    for k, near in zip(wanted.tolist(), found, strict=True):
        others = [j for j, _ in near]
        assert len(set(others)) == len(others) == min(number, d - 1)
        assert k not in others
        values = [value for _, value in near]
        assert values == sorted(values, reverse=True)
        np.testing.assert_allclose(values, S[k, others], atol=ERROR)
        rest = np.setdiff1d(np.arange(d), [k, *others])
        assert S[k, rest].max(initial=-np.inf) <= min(values) + ERROR  # no other is nearer


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernels",
    [(Gaussian(),), (Laplace(),), (Delta(),), (Gaussian(), Laplace(), Linear())],
    ids=lambda kernels: " ".join(k.name for k in kernels),
)
def test_neighbours_are_the_nearest_of_all(kernels, measure, rng):
    latent = rng.standard_normal((50, 3))
    X = latent[:, rng.integers(0, 3, 12)] + 0.5 * rng.standard_normal((50, 12))
    X = np.round(X) if kernels[0].of_labels else X
    check(make_features(X, kernels), measure)
    check(make_features(punched(rng, X), kernels), measure)
    check(make_features(X, kernels, make_samples(rng, 50, "real", True)), measure)


@pytest.mark.parametrize("storage", STORAGES)
def test_neighbours_in_every_storage(storage, rng):
    check(make_features(STORAGES[storage](rng, 40, 7), joint=True), "nhsic")


def test_many_features_are_asked_for_in_portions(rng, monkeypatch):
    monkeypatch.setattr(sys.modules["hsiclasso.dependence.relate"], "NEIGHBOURS_AT_ONCE", 2)
    calls = []
    X = rng.standard_normal((30, 7))
    check(make_features(X), "hsic", wanted=[6, 0, 3, 3, 1])
    problem = find(make_features(X), X[:, 0])
    problem.nearest(np.arange(3), 1, progress=lambda *call: calls.append(call))
    assert calls == [("neighbours", 7, 7)] * 2


def test_ties_go_to_the_feature_that_comes_first(rng):
    x = rng.standard_normal((30, 1))
    X = np.hstack([rng.standard_normal((30, 2)), x, x, x])
    for kernel in (Gaussian(), Laplace()):
        (near,) = find(make_features(X, kernel), X[:, 0]).nearest(np.array([3]), 2)
        assert [j for j, _ in near] == [2, 4]
        np.testing.assert_allclose([value for _, value in near], 1.0, atol=ERROR)


def test_more_neighbours_than_there_are_features(rng):
    X = rng.standard_normal((30, 4))
    check(make_features(X), "hsic", number=10)
    assert find(make_features(X[:, :1]), X[:, 0]).nearest(np.array([0]), 3) == [[]]


@pytest.mark.parametrize("kernel", [Gaussian(), Laplace()], ids=str)
def test_constant_features_are_like_no_other(kernel, rng):
    X = rng.standard_normal((30, 4))
    X[:, 1] = 2.0
    near = find(make_features(X, kernel), X[:, 0]).nearest(np.array([1, 0]), 3)
    assert [value for _, value in near[0]] == [0.0, 0.0, 0.0]
    assert near[1][-1] == (1, 0.0)


def test_similarity_is_that_of_the_redundancy(rng):
    """Also where missing values and weights change the norm of a matrix."""
    X = punched(rng, rng.standard_normal((60, 5)), 0.3)
    for measure in MEASURES:
        problem = find(make_features(X, samples=make_samples(rng, 60, "real")), X[:, 0], measure)
        G = redundancy(problem)
        expected = G / np.sqrt(np.outer(np.diag(G), np.diag(G)))
        for k, near in enumerate(problem.nearest(np.arange(5), 4)):
            for j, value in near:
                assert value == pytest.approx(expected[k, j], abs=ERROR)


def test_neighbours_that_are_no_candidates(data_folder):
    """In the authors' own table: the best among the candidates of a solver would be x1477."""
    stored = loadmat(data_folder / "formats" / "pyhsiclasso" / "matlab_data.mat")
    X, y = stored["X"].T, stored["Y"].ravel()
    selector = HSICLasso(3, n_neighbors=2).fit(X, y)
    (feature,) = (f for f in selector.result_.features if f.name == "x1099")
    copy, other = feature.neighbours
    assert (copy.name, other.name) == ("x99", "x384")
    assert other.similarity == pytest.approx(0.104, abs=5e-4)
    A = np.array([oracles.measure_matrix(oracles.gaussian_gram(x), "nhsic") for x in X.T])
    S = np.einsum("ij,kij->k", A[1099], A)
    assert np.argsort(-S)[:3].tolist() == [1099, 99, 384]
    assert other.similarity == pytest.approx(S[384], abs=ERROR)
    assert other.similarity > S[1477] + 0.02
