"""Tests of pairs against dense matrices and drawn orders."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from hsiclasso import (
    Classes,
    Delta,
    InvalidInputError,
    Laplace,
    Resources,
    hsic_scan_pairs,
)
from hsiclasso.inference import adjust, permutation_p_value
from hsiclasso.inference.pair_tests import pair_test
from tests import oracles
from tests.genotypes import as_genotypes, draw_calls
from tests.inference.test_scan import dense_spectrum, normal_target

N = 60


def dense_test(K, L, T):
    """Statistic of three Gram matrices, and the largest of three p-values."""
    three = [oracles.centre(M) for M in (K, L, T)]
    statistic = np.sum(three[0] * three[1] * three[2])
    largest = 0.0
    for permuted in range(3):
        one, other = (three[k] for k in range(3) if k != permuted)
        spectra = [dense_spectrum(M) for M in (three[permuted], oracles.centre(one * other))]
        largest = max(largest, permutation_p_value(statistic, *spectra, len(K)))
    return statistic, largest


def check(found, grams, T, rtol=0.02):
    """Compare all pairs of a scan with dense matrices."""
    assert len(found.names) == found.n_pairs
    for (k, j), statistic, p in zip(found.index, found.statistic, found.p_value, strict=True):
        wanted, expected = dense_test(grams[k], grams[j], T)
        np.testing.assert_allclose(statistic, wanted, rtol=1e-3)
        np.testing.assert_allclose(p, expected, rtol=rtol)
    order = np.lexsort((-found.statistic, found.p_value))
    assert order.tolist() == list(range(len(order)))
    np.testing.assert_array_equal(found.q_value, adjust(found.p_value, "bh", found.n_pairs))


@pytest.fixture(name="X")
def table(rng):
    return rng.standard_normal((N, 5))


def test_statistics_and_p_values(X, rng):
    y = np.sign(X[:, 1] * X[:, 3]) + 0.5 * rng.standard_normal(N)
    found = hsic_scan_pairs(X, y)
    check(found, [oracles.gaussian_gram(x) for x in X.T], normal_target(y))
    assert found.names[0] == ("x1", "x3")
    assert found.selected(0.01).tolist() == [[1, 3]]


def test_classes_and_labels(rng):
    X = rng.integers(0, 3, (N, 4)).astype(float)
    y = rng.integers(0, 2, N)
    found = hsic_scan_pairs(X, y, target=Classes(), kernel=Delta(by_count=False))
    grams = [(x[:, None] == x).astype(float) for x in X.T]
    check(found, grams, oracles.delta_gram(y))


def test_rough_kernels(X, rng):
    y = rng.standard_normal(N)
    found = hsic_scan_pairs(X, y, kernel=Laplace())
    check(found, [oracles.kernel_gram(x, Laplace()) for x in X.T], normal_target(y), 0.05)


def test_missing_values(X, rng):
    """A pair is tested on the samples that both features have."""
    y = X[:, 1] * X[:, 3] + 0.3 * rng.standard_normal(N)
    holes = rng.random(X.shape) < 0.15
    holes[:, 0] = False
    found = hsic_scan_pairs(np.where(holes, np.nan, X), y, missing="ignore")
    assert found.names[0] == ("x1", "x3")
    T = normal_target(y)
    for (k, j), statistic, p, n in zip(
        found.index, found.statistic, found.p_value, found.n_observed, strict=True
    ):
        seen = ~holes[:, k] & ~holes[:, j]
        assert n == seen.sum()
        grams = []
        for column in (k, j):  # a feature keeps the scale that it has alone
            own = ~holes[:, column]
            whole = np.zeros((N, N))
            whole[np.ix_(own, own)] = oracles.gaussian_gram(X[own, column])
            grams.append(whole[np.ix_(seen, seen)])
        wanted, expected = dense_test(*grams, T[np.ix_(seen, seen)])
        np.testing.assert_allclose(statistic, wanted, rtol=2e-3)
        np.testing.assert_allclose(p, expected, rtol=0.02)


def test_p_values_are_those_of_drawn_orders(rng):
    """Orders of each of the three, drawn many times."""
    x = rng.standard_normal((3, 40))
    rows = [rows_of(oracles.centre(oracles.gaussian_gram(one))) for one in x]
    statistic, p = pair_test(*rows)
    three = [one.T @ one for one in rows]
    largest = 0.0
    for permuted in range(3):
        one, other = (three[k] for k in range(3) if k != permuted)
        drawn = []
        for _ in range(4000):
            order = rng.permutation(40)
            drawn.append(np.sum(one * other * three[permuted][np.ix_(order, order)]))
        largest = max(largest, np.mean(np.array(drawn) >= statistic))
    assert abs(p - largest) < 0.03


def rows_of(M):
    values, vectors = np.linalg.eigh(M)
    used = values > 1e-10
    return (vectors[:, used] * np.sqrt(values[used])).T


def test_a_feature_that_matters_alone_makes_no_pairs(rng):
    """y depends on x0 only: no pair with another feature is found, in 20 of 20 draws."""
    for _ in range(20):
        X = rng.standard_normal((150, 6))
        y = X[:, 0] + 0.1 * rng.standard_normal(150)
        assert hsic_scan_pairs(X, y).p_value.min() > 1e-3


def test_which_pairs(X, rng):
    y = rng.standard_normal(N)
    found = hsic_scan_pairs(X, y, among=["x4", 0, "x2"])
    assert {tuple(pair) for pair in found.index.tolist()} == {(0, 2), (0, 4), (2, 4)}
    assert found.n_features == 3
    found = hsic_scan_pairs(X, y, among=[0, 4], beside=["x1", 2])
    assert {tuple(pair) for pair in found.index.tolist()} == {(0, 1), (0, 2), (1, 4), (2, 4)}
    few = hsic_scan_pairs(X, y, n_kept=3)
    assert len(few.names) == 3
    assert few.n_pairs == 10
    np.testing.assert_array_equal(few.q_value, adjust(few.p_value, "bh", 10))


def test_the_best_pairs_are_kept(rng):
    """The coarse order keeps what has small p-values."""
    X = rng.standard_normal((100, 12))
    y = X[:, 2] * X[:, 7] + X[:, 3] * X[:, 9] + 0.5 * rng.standard_normal(100)
    every, best = hsic_scan_pairs(X, y), hsic_scan_pairs(X, y, n_kept=10)
    assert set(every.names[:4]) <= set(best.names)
    assert {("x2", "x7"), ("x3", "x9")} == set(best.names[:2])


def test_through_other_doors(X, rng, tmp_path):
    y = rng.standard_normal(N)
    found = hsic_scan_pairs(X, y)
    resources = Resources(checkpoint=tmp_path, memory_limit="1GB")
    for _ in range(2):
        again = hsic_scan_pairs(X, y, resources=resources, n_jobs=2)
        assert again.names == found.names
        np.testing.assert_allclose(again.p_value, found.p_value, rtol=1e-9)


def test_genotypes(rng):
    calls = draw_calls(rng, N, 5)
    y = rng.standard_normal(N)
    found = hsic_scan_pairs(as_genotypes(calls), y, missing="ignore")
    assert found.n_pairs == 10
    assert ((found.p_value > 0) & (found.p_value <= 1)).all()


def test_constant_features(X, rng):
    X[:, 2] = 1.0
    found = hsic_scan_pairs(X, rng.standard_normal(N))
    assert found.n_pairs == 10
    pairs = {tuple(pair) for pair in found.index.tolist()}
    assert pairs == set(combinations((0, 1, 3, 4), 2))


def test_forms_of_the_result(X, rng):
    found = hsic_scan_pairs(X, X[:, 1] * X[:, 3])
    frame = found.to_frame()
    assert frame.columns.tolist() == [
        "first", "second", "statistic", "p_value", "q_value", "n_observed",
    ]  # fmt: skip
    assert frame.iloc[0, :2].tolist() == ["x1", "x3"]
    read = json.loads(found.to_json())
    assert read["names"][0] == ["x1", "x3"]
    assert read["n_pairs"] == 10
    assert "10 pairs of 5 features on 60 samples, target: real. 2 pairs found" in repr(found)
    assert "x1 & x3 (p = " in repr(found)
    nothing = hsic_scan_pairs(X, np.random.default_rng(3).standard_normal(N))
    assert repr(nothing).endswith("Nothing found at a false discovery rate of 0.1 "
                                  "(Benjamini-Hochberg).")  # fmt: skip
    assert nothing.selected().shape == (0, 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_kept": 0}, "n_kept"),
        ({"among": ["x1"]}, "a pair has two"),
        ({"among": ["x1", "nothing"]}, "no such column"),
        ({"among": [0, 1], "beside": [1, 2]}, "beside shares 'x1'"),
        ({"among": [0, 1], "beside": []}, "beside is empty"),
    ],
)
def test_bad_input(X, options, words):
    with pytest.raises(InvalidInputError, match=words):
        hsic_scan_pairs(X, X[:, 0], **options)


def test_bad_level(X):
    with pytest.raises(InvalidInputError, match="level=2"):
        hsic_scan_pairs(X, X[:, 0]).selected(2)
