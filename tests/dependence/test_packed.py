"""Packed Gram matrices of few samples against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.dependence import make_measure, packed
from hsiclasso.dependence._packed_loops import multiply_packed, pack
from hsiclasso.dependence.packed import PackedProducts, can_be_packed
from hsiclasso.embedding import Delta, Gaussian, Laplace
from tests import oracles
from tests.columns import KINDS, make
from tests.dependence.compare import make_features, make_samples


def centred_gram(z):
    return oracles.centre(np.exp(-0.5 * np.subtract.outer(z, z) ** 2))


def packed_twin(z):
    """The lower triangle of the centred Gram matrix, row by row."""
    K = centred_gram(z)
    scaled = np.where(np.eye(z.size, dtype=bool), K, np.sqrt(2) * K)
    return scaled[np.tril_indices(z.size)]


@given(st.integers(1, 40), st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 30.0, 1e3]))
def test_pack(n, seed, spread):
    block = spread * np.random.default_rng(seed).standard_normal((3, n))
    out, norm2 = np.empty((3, n * (n + 1) // 2)), np.empty(3)
    pack(block, out, norm2)
    for row, found, size in zip(block, out, norm2, strict=True):
        np.testing.assert_allclose(found, packed_twin(row), rtol=0, atol=1e-14 * n)
        np.testing.assert_allclose(size, np.sum(centred_gram(row) ** 2), rtol=1e-9, atol=1e-20)


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_multiply_packed(n, seed):
    rng = np.random.default_rng(seed)
    block, cols = rng.standard_normal((4, n)), rng.standard_normal((5, n))
    held, norm2 = np.array([packed_twin(z) for z in cols]), np.full(4, np.nan)
    norm2[2] = -1.0
    places = np.array([3, 0, 3])
    out = np.where(rng.random((4, 3)) < 0.3, -1.0, np.nan)
    known = out == -1
    multiply_packed(block, held, places, out, norm2)
    expected = [[np.sum(centred_gram(x) * centred_gram(cols[p])) for p in places] for x in block]
    np.testing.assert_allclose(out, np.where(known, -1.0, expected), rtol=1e-9, atol=1e-12)
    norms = [np.sum(centred_gram(x) ** 2) for x in block]
    np.testing.assert_allclose(norm2, np.where(np.arange(4) == 2, -1.0, norms), rtol=1e-9)


@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@pytest.mark.parametrize("width", [1.0, 0.25, "median"])
def test_exact_for_columns_of_any_kind(measure, width):
    """Long tails, ties, few levels: no column needs more than rounding."""
    X = np.column_stack([make(kind, 50, i) for i, kind in enumerate(sorted(KINDS))])
    products = PackedProducts(make_features(X, Gaussian(width)), make_measure(measure), 1)
    scaled = [np.ldexp(x, -np.frexp(np.abs(x).max())[1]) for x in X.T]
    A = [oracles.feature_matrix(x, Gaussian(width), measure, None, None) for x in scaled]
    expected = np.einsum("kij,lij->kl", A, A)
    every = np.arange(len(A))
    found = products.inner_products(every, every)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12 * expected.max())
    np.testing.assert_allclose(products.norms2(every), np.diag(expected), rtol=1e-8)


def test_what_is_kept_is_made_once(rng, monkeypatch):
    products = PackedProducts(make_features(rng.standard_normal((20, 30))), make_measure("hsic"), 1)
    made = []
    original = PackedProducts._pack

    def count(self, columns):
        made.extend(columns.tolist())
        return original(self, columns)

    monkeypatch.setattr(PackedProducts, "_pack", count)
    whole = products.inner_products(np.arange(30), np.arange(30))
    made.clear()
    for cols in ([4], [7, 4, 2], [2, 9, 9], list(range(12))):
        out = np.full((30, len(cols)), np.nan)
        products.complete(np.arange(30), np.array(cols), out)
        np.testing.assert_allclose(out, whole[:, cols], rtol=1e-12)
    assert sorted(made) == list(range(12))


def test_only_plain_gaussian_features_are_packed(rng):
    X, hsic = rng.standard_normal((20, 3)), make_measure("hsic")
    assert can_be_packed(make_features(X), hsic)
    assert can_be_packed(make_features(X, Gaussian("median")), make_measure("nhsic"))
    missing = X.copy()
    missing[0, 0] = np.nan
    odd = [
        make_features(X, Laplace()),
        make_features(X, (Gaussian(), Delta())),
        make_features(X, Gaussian((0.5, 1.0))),
        make_features(X, method="cholesky"),
        make_features(X, samples=make_samples(rng, 20, "real weights")),
        make_features(X, samples=make_samples(rng, 20, "plain", "covariates")),
        make_features(missing),
        make_features(X, joint={0: ("pair", np.array([0, 1]))}),
        make_features(rng.standard_normal((packed._MOST_SAMPLES + 1, 2))),
    ]
    assert not any(can_be_packed(features, hsic) for features in odd)
    assert not can_be_packed(make_features(X), make_measure("nocco"))
