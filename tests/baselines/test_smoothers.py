"""Smoothers as factors against dense matrices."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hsiclasso.baselines import smoothers
from hsiclasso.baselines.smoothers import SmootherBank, kernel_smoother, spline_smoother
from hsiclasso.data import as_source
from tests.baselines import oracle_spam

N = 60


def columns():
    rng = np.random.default_rng(0)
    return {
        "normal": rng.standard_normal(N),
        "uniform": rng.random(N),
        "heavy": rng.standard_t(1.5, N),
        "outlier": np.append(rng.standard_normal(N - 1), 1e4),
        "skewed": np.exp(2 * rng.standard_normal(N)),
        "genotype": rng.integers(0, 3, N).astype(float),
        "binary": rng.integers(0, 2, N).astype(float),
        "huge": 1e200 * rng.standard_normal(N),
    }


@pytest.mark.parametrize("kind", columns())
@given(bandwidth=st.one_of(st.just("plugin"), st.floats(0.05, 2)))
@settings(max_examples=5)
def test_kernel_smoother_is_the_dense_one(kind, bandwidth):
    x = columns()[kind]
    values = np.random.default_rng(1).standard_normal(N)
    scaled = x / np.abs(x).max()
    dense = oracle_spam.kernel_smoother(scaled, None if bandwidth == "plugin" else bandwidth)
    smoother = kernel_smoother(x, bandwidth)
    np.testing.assert_allclose(smoother(values), dense @ values, rtol=0, atol=1e-8)
    assert smoother.trace == pytest.approx(np.trace(dense), abs=1e-7)


@pytest.mark.parametrize(("kind", "n_knots"), [("normal", 2), ("heavy", 5), ("skewed", 9)])
def test_spline_smoother_is_the_projection_on_splines(kind, n_knots):
    x = columns()[kind]
    values = np.random.default_rng(1).standard_normal(N)
    smoother = spline_smoother(x, n_knots)
    dense = oracle_spam.spline_smoother(x, n_knots)
    np.testing.assert_allclose(smoother(values), dense @ values, rtol=0, atol=1e-8)
    assert smoother.trace == n_knots + 1
    np.testing.assert_allclose(smoother.rows @ smoother.rows.T, np.eye(n_knots + 1), atol=1e-10)
    np.testing.assert_allclose(smoother(np.ones(N)), 0, atol=1e-10)


@pytest.mark.parametrize(
    ("kind", "distinct", "n_knots"), [("genotype", 3, 2), ("genotype", 3, 9), ("binary", 2, 5)]
)
def test_splines_of_few_values_are_means_by_value(kind, distinct, n_knots):
    x = columns()[kind]
    values = np.random.default_rng(1).standard_normal(N)
    smoother = spline_smoother(x, n_knots)
    means = np.array([values[x == v].mean() for v in x]) - values.mean()
    assert smoother.trace == distinct - 1
    np.testing.assert_allclose(smoother(values), means, atol=1e-10)


def test_a_spline_smoother_of_fewer_samples_than_functions_interpolates():
    x, values = np.random.default_rng(0).standard_normal((2, 5))
    smooth = spline_smoother(x, 9)(values)
    np.testing.assert_allclose(smooth, values - values.mean(), atol=1e-8)


@pytest.mark.parametrize(
    "smoothing",
    [kernel_smoother, partial(kernel_smoother, bandwidth=0.3), partial(spline_smoother, n_knots=4)],
)
@given(
    x=arrays(float, 25, elements=st.floats(-100, 100, allow_subnormal=False), unique=True),
    shift=st.floats(-10, 10),
    scale=st.sampled_from([-3.0, -1e-3, 0.5, 1e4]),
)
def test_shift_and_scale_of_a_column_do_not_matter(smoothing, x, shift, scale):
    x = x + np.linspace(0, 1, 25)  # gaps that rounding cannot close
    values = np.cos(np.arange(25.0))
    smooth = smoothing(x)(values)
    other = smoothing(scale * (x + shift))(values)
    np.testing.assert_allclose(other, smooth, atol=1e-5)


@pytest.mark.parametrize(
    "smoothing",
    [kernel_smoother, partial(kernel_smoother, bandwidth=1.0), partial(spline_smoother, n_knots=5)],
)
def test_the_norm_is_bounded_closely(smoothing):
    for column in columns().values():
        smoother = smoothing(column)
        dense = np.array([smoother(unit) for unit in np.eye(N)]).T
        norm = np.linalg.norm(dense, 2)
        assert norm <= smoother.norm <= 1.5 * norm


@pytest.mark.parametrize(
    ("smoothing", "room", "n_threads"),
    [
        (kernel_smoother, 0, 1),
        (kernel_smoother, 1 << 28, 3),
        (partial(spline_smoother, n_knots=5), 20_000, 3),
    ],
)
def test_a_bank_gives_the_same_whatever_it_keeps(monkeypatch, smoothing, room, n_threads):
    monkeypatch.setattr(smoothers, "_ROOM", room)
    monkeypatch.setattr(smoothers, "_BLOCK", 3 * N)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 11))
    bank = SmootherBank(as_source(X), smoothing, n_threads=n_threads)
    done = []
    for chosen in (np.arange(11), np.array([2, 7]), np.array([2, 3, 10]), np.zeros(0, int)):
        values = rng.standard_normal((3, N))
        grams, norms = bank.grams(chosen, values, done.append)
        alone = [smoothing(X[:, k]) for k in chosen]
        assert grams.shape == (chosen.size, 3, 3)
        for smoother, gram in zip(alone, grams, strict=True):
            smooth = np.array([smoother(v) for v in values])
            np.testing.assert_allclose(gram, smooth @ smooth.T / N, atol=1e-12)
        np.testing.assert_allclose(norms, [smoother.norm for smoother in alone], rtol=1e-12)
        if chosen.size:
            assert done[-1] == chosen.size
    alone = smoothing(X[:, 4])
    np.testing.assert_allclose(bank[4](values), alone(values), atol=1e-12)
    assert bank[4] is bank[4]


def test_a_bank_makes_what_it_keeps_once(monkeypatch):
    made = []

    def make(column):
        made.append(column[0])
        return spline_smoother(column)

    X = np.random.default_rng(0).standard_normal((N, 6))
    bank = SmootherBank(as_source(X), make)
    for _ in range(3):
        bank.grams(np.arange(6), X[:, :1].T)
    assert sorted(made) == sorted(X[0])
    monkeypatch.setattr(smoothers, "_ROOM", 0)
    made.clear()
    bank = SmootherBank(as_source(X), make)
    for _ in range(3):
        bank.grams(np.arange(6), X[:, :1].T)
    assert len(made) == 18
