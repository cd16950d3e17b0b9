"""The pass over the data against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import InvalidInputError
from hsiclasso.dependence import Affinity, Values, make_measure, make_target
from hsiclasso.dependence import relate as relate_module
from hsiclasso.dependence import scan as scan_module
from hsiclasso.embedding import Delta, Gaussian, Laplace, Samples
from tests import oracles
from tests.columns import KINDS, make
from tests.dependence.compare import MEASURES, find, make_features


def table(n, seed):
    return np.column_stack([make(kind, n, seed + i) for i, kind in enumerate(sorted(KINDS))])


def scan(X, y, measure, *, kernel=None, n_threads=1, progress=None, **options):
    """Relate a table to values; `kernel` is that of the target."""
    data = Values(y[None], kernel or Gaussian())
    features = make_features(X, **options)
    return find(features, data, measure, n_threads=n_threads, progress=progress)


def dense(X, y, measure, classes=False):
    scaled = [np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in X.T]
    A = [oracles.measure_matrix(oracles.gaussian_gram(x), measure) for x in scaled]
    gram = oracles.delta_gram(y) if classes else oracles.gaussian_gram(y)
    T = oracles.measure_matrix(gram, measure)
    scale = np.array([np.linalg.norm(a) for a in A]) * np.linalg.norm(T)
    return np.array([oracles.hsic(a, T) for a in A]), scale


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("tol", [1e-6, 1e-10])
@given(n=st.integers(12, 70), seed=st.integers(0, 1000))
def test_relevance_of_columns_of_every_kind(measure, tol, n, seed):
    X = table(n, seed)
    y = make("normal", n, seed)
    found = scan(X, y, measure, tol=tol)
    expected, scale = dense(X, y, measure)
    assert np.abs(found.relevance - expected).max() <= tol * scale.max()
    assert (np.abs(found.relevance - expected) <= 2 * tol * scale + 1e-13).all()
    assert found.varies.all()
    assert 0 < found.error <= tol


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["table", "cholesky"])
def test_methods_agree(measure, method):
    X, y = table(60, 1), make("normal", 60, 9)
    one, other = scan(X, y, measure), scan(X, y, measure, method=method)
    _, scale = dense(X, y, measure)
    assert (np.abs(one.relevance - other.relevance) <= 4e-6 * scale).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_classes(measure, rng):
    X, y = table(50, 2), rng.integers(0, 3, 50).astype(float)
    found = scan(X, y, measure, kernel=Delta(), tol=1e-10)
    expected, scale = dense(X, y, measure, classes=True)
    assert (np.abs(found.relevance - expected) <= 1e-10 * scale).all()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("method", ["auto", "table", "cholesky"])
@pytest.mark.parametrize("run", [16, 1024])
def test_a_target_with_a_heavy_tail(measure, method, run, rng, monkeypatch):
    """The rows of its far values are related on the tail alone."""
    monkeypatch.setattr(relate_module, "_RUN", run)
    X = np.column_stack(
        [make(kind, 400, i) for i, kind in enumerate(["normal", "tied", "student-t"])]
    )
    y = np.exp(1.5 * X[:, 0] + rng.standard_normal(400))
    target = make_target(Values(y[None], Gaussian()), make_measure(measure), Samples(400))
    assert target.rows.tail.size > 16
    assert target.rows.offset.size > 0
    found = scan(X, y, measure, method=method)
    expected, scale = dense(X, y, measure)
    assert (np.abs(found.relevance - expected) <= 2e-6 * scale).all()


def test_constant_columns_are_told(rng):
    X = rng.standard_normal((30, 4))
    X[:, 2] = 3.0
    found = scan(X, rng.standard_normal(30), "hsic")
    assert found.varies.tolist() == [True, True, False, True]
    assert found.relevance[2] == 0


def test_progress_counts_all_columns(rng):
    calls = []
    scan(rng.standard_normal((20, 30)), rng.standard_normal(20), "hsic",
         progress=lambda *call: calls.append(call))  # fmt: skip
    assert calls[-1] == ("relevance", 30, 30)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interruption_of_the_pass_surfaces(n_threads, rng, monkeypatch):
    calls = []

    def interrupt(*call):
        calls.append(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(scan_module, "_BLOCK", 20)
    X, y = rng.standard_normal((20, 30)), rng.standard_normal(20)
    with pytest.raises(KeyboardInterrupt):
        scan(X, y, "hsic", n_threads=n_threads, progress=interrupt)
    assert len(calls) == 1


def test_laplace_features_of_many_samples_need_recursions(rng, monkeypatch):
    monkeypatch.setattr(relate_module, "DENSE", 20)
    X, y = rng.standard_normal((21, 3)), rng.standard_normal(21)
    features = make_features(X, (Gaussian(), Laplace()))
    assert (find(features, y, "nhsic").relevance > 0).all()
    with pytest.raises(InvalidInputError, match=r"Laplace kernels .* there are 21 samples"):
        find(features, y, "nocco")
    with pytest.raises(InvalidInputError, match="with affinities"):
        find(features, Affinity(np.outer(y, y)), "hsic")
    assert (find(make_features(X[:20], Laplace()), y[:20], "nocco").relevance > 0).all()
