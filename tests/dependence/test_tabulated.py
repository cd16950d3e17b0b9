"""Relevance from tables of a column and the target: the same as from factors, without rows."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import Covariates, HSICLasso, NOCCOLasso, Real, make_data1, make_data2
from hsiclasso.data.door import as_source
from hsiclasso.dependence import first_pass, tables
from hsiclasso.dependence.features import Features
from hsiclasso.dependence.tabulated import TabulatedPass
from hsiclasso.kernels import HSIC, NHSIC, Gaussian, Samples
from hsiclasso.targets import as_target, values
from hsiclasso.targets.gridded import GriddedTarget, NodeLine
from tests import oracles

N = 400


@pytest.fixture
def many(monkeypatch):
    """Few samples count as many."""
    monkeypatch.setattr(values, "MANY_SAMPLES", 100)
    monkeypatch.setattr(tables, "_LEAST_SAMPLES", 100)


TARGETS = {
    "normal": lambda rng: rng.standard_normal(N),
    "heavy": lambda rng: rng.standard_t(2, N),
    "nearly constant": lambda rng: np.exp(5 * rng.standard_normal(N)),
    "one outlier": lambda rng: np.append(rng.standard_normal(N - 1), 1e4),
    "few values": lambda rng: rng.integers(0, 3, N).astype(float),
}


def parts(X, y, measure, weights=None, kernel=None):
    samples = Samples(N, weights)
    features = Features(as_source(X), (kernel or Gaussian(),), samples, np.arange(X.shape[1]))
    data = as_target("real").prepare(y, N).data
    target = data.matrix(measure, samples, error=1e-6, n_features=X.shape[1])
    return features, target


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("measure", [HSIC(), NHSIC()], ids=["hsic", "nhsic"])
def test_like_dense_matrices(name, measure, many, rng):
    X, y = rng.standard_normal((N, 6)), TARGETS[name](rng)
    X[:, 1] += np.argsort(np.argsort(y)) / N  # a function of y within the grids
    features, target = parts(X, y, measure)
    assert isinstance(target, GriddedTarget)
    work = first_pass(features, target, measure, 10)
    assert isinstance(work, TabulatedPass)
    found = work(slice(0, 6))
    A = [oracles.centre(oracles.gaussian_gram(x)) for x in X.T]
    L = oracles.centre(oracles.gaussian_gram(y))
    if measure.normalised:
        A, L = [a / np.linalg.norm(a) for a in A], L / np.linalg.norm(L)
    np.testing.assert_allclose(found.relevance[:, 0], [np.sum(a * L) for a in A], rtol=2e-7)
    np.testing.assert_allclose(target.norm2, np.sum(L * L), rtol=1e-7)
    assert "made" not in vars(target)  # no factor was needed


@pytest.mark.parametrize("make", [make_data1, make_data2])
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_selection(make, measure, weighted, monkeypatch, rng):
    X, y, _ = make(N, 60, random_state=0)
    X[:, 5] = np.exp(3 * X[:, 5])  # no grid reaches its largest values
    X[:, 7] = 1.0
    X[:, 8] = (np.arange(N) == 3) * 1.0
    weights = rng.uniform(0.5, 2, N) if weighted else None
    chosen = HSICLasso(8, measure=measure)
    with pytest.warns(UserWarning, match="do not vary"):
        expected = chosen.fit(X, y, sample_weight=weights).coef_.copy()
    monkeypatch.setattr(values, "MANY_SAMPLES", 100)
    monkeypatch.setattr(tables, "_LEAST_SAMPLES", 100)
    with pytest.warns(UserWarning, match="do not vary"):
        found = chosen.fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(found.coef_, expected, rtol=0, atol=3e-7 * expected.max())
    assert found.result_.certificate.duality_gap <= 1e-9


@pytest.mark.parametrize(
    "selector",
    [
        NOCCOLasso(5),
        HSICLasso(5, kernel="laplace"),
        HSICLasso(5, target=Real(transform="rank")),
        HSICLasso(5, covariates=["x3"]),
        HSICLasso(5, covariates=Covariates(["x3"], "subtract")),
        HSICLasso(5, joint={"pair": ["x1", "x9"]}),
        HSICLasso(5, n_neighbors=2),
        HSICLasso(5, gram_error=1e-9),
    ],
    ids=repr,
)
def test_what_needs_factors_gets_them(selector, monkeypatch):
    X, y, _ = make_data1(N, 30, random_state=1)
    expected = selector.fit(X, y).coef_.copy()
    monkeypatch.setattr(values, "MANY_SAMPLES", 100)
    monkeypatch.setattr(tables, "_LEAST_SAMPLES", 100)
    np.testing.assert_allclose(selector.fit(X, y).coef_, expected, atol=3e-7 * expected.max())


def test_streamed_like_in_memory(many, tmp_path):
    X, y, _ = make_data2(N, 60, random_state=0)
    X[:, 5] = np.exp(3 * X[:, 5])  # no grid reaches its largest values
    np.save(tmp_path / "X.npy", X)
    expected = HSICLasso(8).fit(X, y).coef_.copy()
    found = HSICLasso(8).fit(tmp_path / "X.npy", y)
    np.testing.assert_allclose(found.coef_, expected, rtol=1e-12, atol=0)


def test_integers_use_the_factor(many, rng):
    X = rng.integers(0, 3, (N, 20)).astype(np.int8)
    y = X[:, 2] + rng.standard_normal(N)
    features, target = parts(X, y, HSIC())
    assert not isinstance(first_pass(features, target, HSIC(), 10), TabulatedPass)
    assert HSICLasso(1).fit(X, y).selected_.tolist() == [2]


@pytest.mark.parametrize("spread", [1.0, 30.0, 1000.0])
def test_energy_is_that_of_the_kernel_of_nodes(spread, rng):
    z = rng.standard_normal(50) * spread
    line = NodeLine.of(z, Gaussian().grid(1.0, 5e-9, 6))
    used = np.unique(rng.integers(0, line.n_nodes, 200))
    rows = np.zeros((2, line.n_nodes))
    rows[:, used] = rng.standard_normal((2, used.size))
    nodes = line.first + line.step * line.nodes[used]
    kernel = np.exp(-0.5 * (nodes[:, None] - nodes) ** 2)
    expected = np.einsum("ri,ij,rj->", rows[:, used], kernel, rows[:, used])
    assert line.energy(rows) == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(line.counts(np.ones(50)).sum(), 50)
    # the weights of its nodes give the mean of a cubic function: gaps were closed without a trace
    places = line.first + line.step * line.nodes
    mean = line.counts(np.ones(50)) @ (places / spread) ** 3 / 50
    assert mean == pytest.approx(np.mean((z / spread) ** 3), rel=1e-9, abs=1e-9)
