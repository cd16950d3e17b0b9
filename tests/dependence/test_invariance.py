"""What must not matter: how a table is stored and cut, the order of samples, units."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from hsiclasso.dependence import factors as factors_module
from hsiclasso.dependence import levels as levels_module
from hsiclasso.dependence import relate as relate_module
from hsiclasso.dependence import scan as scan_module
from hsiclasso.embedding import Delta, Gaussian, Laplace, Linear, Polynomial, Samples
from tests.dependence.compare import (
    KERNELS,
    MEASURES,
    WEIGHTS,
    find,
    make_features,
    make_samples,
    redundancy,
)

N = 50
FORMS = {
    "dense": lambda rng, X: X,
    "missing": lambda rng, X: np.where(rng.random(X.shape) < 0.1, np.nan, X),
    "sparse": lambda rng, X: sparse.csc_array(X),
    "int8": lambda rng, X: np.round(X).astype(np.int8),
}
SETTINGS = {
    "plain": ("plain", "no covariates"),
    "weights and covariates": ("real weights", "covariates"),
}


def table(rng, n=N, d=5):
    """Real columns, counts and genotypes in turn."""
    X = np.column_stack([rng.standard_normal((n, d)), rng.poisson(0.7, (n, d))])
    return np.column_stack([X, rng.binomial(2, 0.3, (n, d))])


def results(X, y, kernel, measure, samples, **options):
    features = make_features(X, kernel, samples, tol=1e-10)
    scan = find(features, y, measure, **options)
    return scan.relevance, redundancy(features, scan, measure, **options)


def assert_close(one, other, tol=1e-9):
    """Equal relative to the norms of the matrices."""
    (b, G), (b_again, G_again) = one, other
    size = np.sqrt(np.outer(np.diag(G), np.diag(G)))
    assert (np.abs(G - G_again) <= tol * size).all()
    np.testing.assert_allclose(b, b_again, rtol=0, atol=tol * np.abs(b).max())


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [Gaussian(), Laplace(), Delta()], ids=str)
def test_threads_change_not_a_bit(kernel, form, measure, setting, rng, monkeypatch):
    monkeypatch.setattr(scan_module, "_BLOCK", 5 * N)
    monkeypatch.setattr(scan_module, "_BYTES", 5 * N)
    monkeypatch.setattr(factors_module, "_STACK", 64 * N)
    samples, X = make_samples(rng, N, *SETTINGS[setting]), FORMS[form](rng, table(rng))
    y = rng.standard_normal(N)
    one = results(X, y, kernel, measure, samples)
    many = results(X, y, kernel, measure, samples, n_threads=3)
    np.testing.assert_array_equal(many[0], one[0])
    np.testing.assert_array_equal(many[1], one[1])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian((0.5, 2.0)), Laplace(), Delta()], ids=str)
def test_blocks_do_not_matter(kernel, form, measure, rng, monkeypatch):
    samples, X = make_samples(rng, N, "real weights", "covariates"), FORMS[form](rng, table(rng))
    y = rng.standard_normal(N)
    whole = results(X, y, kernel, measure, samples)
    for size in (1, 7 * N):
        monkeypatch.setattr(scan_module, "_BLOCK", size)
        monkeypatch.setattr(scan_module, "_BYTES", size)
        monkeypatch.setattr(factors_module, "_STACK", size)
        assert_close(results(X, y, kernel, measure, samples), whole, 1e-12)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("run", [16, 37])
def test_runs_of_samples_do_not_matter(run, measure, setting, rng, monkeypatch):
    """Long columns are evaluated run by run: the seams must not show."""
    samples, X = make_samples(rng, 150, *SETTINGS[setting]), rng.standard_normal((150, 9))
    y = np.exp(1.5 * rng.standard_normal(150))
    whole = results(X, y, Gaussian(), measure, samples)
    monkeypatch.setattr(relate_module, "_RUN", run)
    assert_close(results(X, y, Gaussian(), measure, samples), whole, 1e-12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_order_of_samples_does_not_matter(kernel, measure, rng):
    samples, turn = make_samples(rng, N, "real weights", "covariates"), rng.permutation(N)
    turned = Samples(N, samples.weights[turn], samples.covariates[:, turn])
    X, y = table(rng, d=1), rng.standard_normal(N)
    for form in FORMS:
        made = FORMS[form](rng, X)
        assert_close(
            results(made[turn], y[turn], kernel, measure, turned),
            results(made, y, kernel, measure, samples),
        )


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_storage_does_not_matter(kernel, measure, setting, rng):
    """Genotypes and counts as float64, float32, int8, uint8, and compressed."""
    samples = make_samples(rng, N, *SETTINGS[setting])
    X, y = table(rng, d=2)[:, 2:], rng.standard_normal(N)
    expected = results(X, y, kernel, measure, samples)
    small = [X.astype(kind) for kind in (np.float32, np.int8, np.uint8)]
    for stored in (*small, sparse.csc_array(X), sparse.coo_array(X)):
        assert_close(results(stored, y, kernel, measure, samples), expected)


@pytest.mark.parametrize("most", [3, 16])
def test_many_levels_are_counted_as_they_are_read(most, rng, monkeypatch):
    """Levels at the limits of each loop, and beyond what is counted."""
    X = np.column_stack([rng.integers(0, k, N) for k in (3, 4, 16, 17, 64, 65, 120)])
    X[:2] = [[0] * 7, [2, 3, 15, 16, 63, 64, 119]]
    y, samples = rng.standard_normal(N), make_samples(rng, N, "real weights", "covariates")
    for kernel in (Gaussian(), Delta(), Delta(by_count=False)):
        expected = results(X.astype(float), y, kernel, "nocco", samples)
        assert_close(results(X.astype(np.int8), y, kernel, "nocco", samples), expected)
        with monkeypatch.context() as patch:
            patch.setattr(levels_module, "_STEPS", (most, 64))
            assert_close(results(X.astype(np.int8), y, kernel, "nocco", samples), expected)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "kernel", [Gaussian(), Gaussian("median"), Laplace(), Linear(), Polynomial(3)], ids=str
)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_units_do_not_matter(kernel, measure, weights, rng):
    samples = make_samples(rng, N, weights, "covariates")
    X, y = rng.standard_normal((N, 5)), rng.standard_normal(N)
    # a reversed column has the same kernel, except that odd powers change sign in pairs
    moved = X * [1e-200, 3.0, -1.0, 1e3, 1e280] + [0.0, 5.0, -3.0, 1e4, 0.0]
    assert_close(
        results(moved, 7 - 2 * y, kernel, measure, samples),
        results(X, y, kernel, measure, samples),
    )


@pytest.mark.parametrize("measure", ["nhsic", "nocco"])
def test_the_unit_of_weights_does_not_matter(measure, rng):
    """HSIC grows with the squared weight; the other measures do not see it.

    Except that NOCCO's ridge grows, and the delta kernel with 1/n_x does not.
    """
    X, y, w = rng.standard_normal((N, 5)), rng.standard_normal(N), rng.uniform(0.1, 2, N)
    for kernel in (Gaussian(), Gaussian("median"), Laplace(), Delta(by_count=False)):
        assert_close(
            results(X, y, kernel, measure, Samples(N, 1e-4 * w)),
            results(X, y, kernel, measure, Samples(N, w)),
        )


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_weights_of_one_are_none(kernel, measure, rng):
    X, y = table(rng, d=1), rng.standard_normal(N)
    for form in FORMS:
        made = FORMS[form](rng, X)
        assert_close(
            results(made, y, kernel, measure, Samples(N, np.ones(N))),
            results(made, y, kernel, measure, Samples(N)),
        )


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_duplicates_are_alike(kernel, measure, rng):
    X, y = table(rng, d=2), rng.standard_normal(N)
    samples = make_samples(rng, N, "real weights", "covariates")
    for form in FORMS:
        made = FORMS[form](rng, X)
        pair = sparse.hstack([made, made]) if form == "sparse" else np.hstack([made, made])
        b, G = results(pair, y, kernel, measure, samples)
        np.testing.assert_allclose(b[6:], b[:6], rtol=1e-10)
        np.testing.assert_allclose(np.diag(G[6:, :6]), np.diag(G)[:6], rtol=1e-10)
