"""Interactions as further features of a problem, against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.dependence import Budget
from hsiclasso.kernels import Delta, Gaussian, Laplace, Matern, as_measure
from hsiclasso.targets import Survival
from tests.dependence.cases import (
    FORMS,
    KERNELS,
    MEASURES,
    STORAGES,
    Allowed,
    dense_matrices,
    find,
    make_features,
    make_samples,
    make_target,
    punched,
    real_numbers,
    redundancy,
)

#: Pairs and a triple of six features; a member may be in several.
MEMBERS = [(0, 1), (2, 3), (4, 1), (0, 2, 5), (1, 5)]


def check(features, measure, form="real", rng=None, **options):
    """Compare a problem of single features and interactions with dense matrices."""
    rng = rng or np.random.default_rng(0)
    X = features.source.block(slice(None))
    x = np.nan_to_num(X[:, 0]) / (np.abs(np.nan_to_num(X[:, 0])).max() or 1.0)
    error = features.gram_error
    target, T = make_target(form, x, measure, features.samples, rng, error)
    problem = find(features, None, measure, target=target, **options)
    problem = problem.with_interactions(MEMBERS)
    A = dense_matrices(problem.features, measure)
    assert len(A) == features.n_features + len(MEMBERS)
    Allowed(max(error, 1e-9)).check(problem, A, T)
    assert problem.error <= error
    return problem, A, T


@settings(max_examples=40)
@given(
    storage=st.sampled_from(sorted(STORAGES)),
    kernels=st.one_of(*[st.tuples(*[st.sampled_from(KERNELS)] * k) for k in (1, 2)]),
    measure=st.sampled_from(MEASURES), form=st.sampled_from(FORMS),
    weights=st.sampled_from(["none", "real", "whole"]), covariates=st.booleans(),
    joint=st.booleans(), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_interactions_of_any_kind(
    storage, kernels, measure, form, weights, covariates, joint, seed
):
    rng = np.random.default_rng(seed)
    table = STORAGES[storage](rng, 40, 6 + joint)
    kernels = tuple(Delta() if storage == "categories" else kernel for kernel in kernels)
    joint = joint and all(kernel.joins_columns for kernel in kernels)
    samples = make_samples(rng, 40, weights, covariates)
    check(make_features(table, kernels, samples, joint=joint), measure, form, rng)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("error", [1e-6, 1e-10])
@pytest.mark.parametrize("n", [60, 200])
def test_the_error_asked_for(measure, error, n, rng):
    """200 samples are too many for packed matrices."""
    X = rng.standard_normal((n, 6))
    X[:, 3] = rng.binomial(2, 0.4, n)
    check(make_features(X, gram_error=error), measure)


@pytest.mark.parametrize("kernel", [Laplace(), Matern(), (Gaussian(), Laplace(), Delta())], ids=str)
@pytest.mark.parametrize("measure", MEASURES)
def test_rough_kernels(measure, kernel, rng):
    X = np.round(rng.standard_normal((50, 6)), 1)
    check(make_features(X, kernel, make_samples(rng, 50, "real", True)), measure)


@pytest.mark.parametrize("measure", MEASURES)
def test_missing_values(measure, rng):
    """A member is scaled and centred where it is observed, the product where all are."""
    X = punched(rng, real_numbers(rng, 60, 6), 0.15)
    problem, _, _ = check(make_features(X, samples=make_samples(rng, 60, "real", True)), measure)
    seen = [~np.isnan(X[:, list(members)]).any(axis=1) for members in MEMBERS]
    assert problem.observed[6:].tolist() == [int(some.sum()) for some in seen]


def test_a_constant_member_makes_a_constant_interaction(rng):
    X = rng.standard_normal((30, 6))
    X[:, 1] = 2.0
    problem = find(make_features(X), rng.standard_normal(30)).with_interactions([(0, 1), (0, 2)])
    assert problem.varies.tolist() == [True, False, *[True] * 4, False, True]
    assert problem.relevance[6] == 0 < problem.relevance[7]
    assert not redundancy(problem)[6].any()


def test_a_member_that_is_seldom_observed(rng):
    X = rng.standard_normal((30, 3))
    X[2:, 1] = np.nan
    X[:15, 2] = np.nan
    X[14:, 0] = np.nan
    problem = find(make_features(X), rng.standard_normal(30))
    problem = problem.with_interactions([(0, 1), (0, 2)])
    assert not problem.varies[3:].any()
    assert problem.observed[3:].tolist() == [2, 0]
    assert not problem.relevance[3:].any()


@pytest.mark.parametrize("measure", MEASURES)
def test_survival(measure, rng):
    X = rng.standard_normal((50, 6))
    y = np.column_stack([rng.exponential(size=50), rng.random(50) < 0.7])
    features = make_features(X)
    target = Survival().prepare(y, 50).data.matrix(
        as_measure(measure), features.samples, error=1e-6, n_features=6
    )  # fmt: skip
    problem = find(features, None, measure, target=target).with_interactions(MEMBERS)
    A = dense_matrices(problem.features, measure)
    expected = [target.energy(rows_of(M)) for M in A]
    np.testing.assert_allclose(problem.relevance, expected, rtol=1e-5, atol=1e-9)


def rows_of(A):
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.sqrt(np.maximum(values, 0))).T


def test_bounds_are_made_exact_where_they_are_asked_for(rng):
    X, y = rng.standard_normal((60, 6)), rng.standard_normal(60)
    problem = find(make_features(X), y)
    exact = problem.with_interactions(MEMBERS).relevance[6:]
    bounds = exact * 3
    some = problem.with_interactions(MEMBERS, bounds)
    assert not some.exact[6:].any()
    np.testing.assert_array_equal(some.linear[6:], bounds)
    top = 6 + int(np.argmax(bounds))
    assert some.sharpen(np.array([top]))
    assert some.exact[top]
    np.testing.assert_allclose(some.relevance[top], exact.max(), rtol=1e-9)
    assert not some.sharpen(np.array([top]))
    # the problem that it was made of is unchanged
    assert problem.features.n_features == problem.linear.size == 6


def test_others_replace_those_of_before(rng):
    X, y = rng.standard_normal((60, 6)), rng.standard_normal(60)
    problem = find(make_features(X), y)
    once = problem.with_interactions([(0, 1)]).with_interactions([(2, 3), (0, 1)])
    assert once.features.interactions == ((2, 3), (0, 1))
    np.testing.assert_allclose(
        once.relevance[7], problem.with_interactions([(0, 1)]).relevance[6], rtol=1e-9
    )


def test_names_and_columns(rng):
    features = make_features(rng.standard_normal((20, 4)), joint=True)
    more = features.with_interactions([(0, 1), (2, 0)])
    assert [more.name(k) for k in range(5)] == ["x0", "pair", "x2", "x0 & pair", "x2 & x0"]
    assert more.columns_of(3).tolist() == [0, 1, 3]
    assert more.members(3) == (0, 1)
    assert more.members(1) == (1,)
    assert more.n_single == 3
    assert more.on_columns(np.arange(5.0), -1.0).tolist() == [0, 1, 2, 1]
    assert more.singles.n_features == 3
    assert features.singles is features


def test_threads_and_memory_change_nothing(rng):
    X, y = rng.standard_normal((80, 8)), rng.standard_normal(80)
    members = [(i, j) for i in range(8) for j in range(i)]
    one, two = (
        find(make_features(X), y, "nhsic", n_threads=k, budget=Budget(factors=1, n_threads=k))
        .with_interactions(members)
        for k in (1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one.relevance, two.relevance)
    np.testing.assert_array_equal(redundancy(one), redundancy(two))
