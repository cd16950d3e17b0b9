"""Relevance and redundancy of tables of every kind against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso import InvalidInputError
from hsiclasso.dependence import atoms, columns, relevance
from hsiclasso.kernels import HSIC, Delta, Gaussian, Laplace, Linear, Polynomial, Samples
from hsiclasso.targets import Affinity
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
    whole_numbers,
)


def check(features, measure, form="real", rng=None, allowed=None):
    """Compare one table and one target with dense matrices."""
    rng = rng or np.random.default_rng(0)
    error, X = features.gram_error, features.source.block(slice(None))
    x = np.nan_to_num(X[:, 0]) / (np.abs(np.nan_to_num(X[:, 0])).max() or 1.0)
    target, T = make_target(form, x, measure, features.samples, rng, error)
    problem = find(features, None, measure, target=target)
    A = dense_matrices(features, measure)
    Allowed(allowed or max(error, 1e-9)).check(problem, A, T)
    assert problem.error <= (allowed or error)
    assert problem.varies.tolist() == [vary(X[:, features.columns_of(k)]) for k in range(len(A))]
    seen = [(~np.isnan(X[:, features.columns_of(k)])).all(axis=1).sum() for k in range(len(A))]
    assert problem.observed.tolist() == seen
    return problem


def vary(vectors):
    seen = vectors[~np.isnan(vectors).any(axis=1)]
    return bool(len(seen) and np.ptp(seen, axis=0).any())


@settings(max_examples=150)
@given(
    storage=st.sampled_from(sorted(STORAGES)),
    kernels=st.one_of(*[st.tuples(*[st.sampled_from(KERNELS)] * k) for k in (1, 2)]),
    measure=st.sampled_from(MEASURES), form=st.sampled_from(FORMS),
    weights=st.sampled_from(["none", "real", "whole"]), covariates=st.booleans(),
    joint=st.booleans(), error=st.sampled_from([1e-6, 1e-10]),
    n=st.integers(20, 60), d=st.integers(3, 8), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_agreement_with_dense_matrices(
    storage, kernels, measure, form, weights, covariates, joint, error, n, d, seed
):
    rng = np.random.default_rng(seed)
    assume(not joint or kernels[1 % len(kernels)].joins_columns)
    features = make_features(
        STORAGES[storage](rng, n, d), kernels, make_samples(rng, n, weights, covariates),
        joint=joint, gram_error=error,
    )  # fmt: skip
    check(features, measure, form, rng)


@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage_with_every_kernel(storage, rng):
    """The pairs at least are all met, with measures, weights and covariates in turn."""
    for i, kernel in enumerate(KERNELS):
        samples = make_samples(rng, 50, ["none", "real"][i % 2], i % 5 == 3)
        features = make_features(STORAGES[storage](rng, 50, 6), kernel, samples)
        check(features, MEASURES[i % 3], ["real", "classes"][i % 2], rng)


# ---------------------------------------------------------------- What is rarely drawn


@pytest.mark.parametrize("storage", ["float64", "int8", "sparse", "missing", "joint"])
@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_is_left_of_columns_that_covariates_explain(measure, storage, rng):
    """Under every kernel, whatever the storage: neither relevance nor a norm."""
    n, group = 60, np.r_[[0, 1, 2], rng.integers(0, 3, 57)]
    X = np.column_stack([group, group == 1, rng.poisson(1.0, n), group == 2]).astype(float)
    stored = {
        "int8": X.astype(np.int8),
        "sparse": sparse.csc_array(0.3 * X),
        "missing": np.where(np.arange(n)[:, None] % 7 == 3, np.nan, 0.3 * X),
    }.get(storage, X)
    for kernel in (Gaussian(), Gaussian((0.5, 2.0)), Laplace(), Delta(), Polynomial(2)):
        if storage == "joint" and not kernel.joins_columns:
            continue
        samples = Samples(n, rng.uniform(0.5, 2, n), np.eye(3)[:, group])
        features = make_features(stored, kernel, samples, joint=storage == "joint")
        problem = find(features, rng.standard_normal(n), measure)
        b, G = np.abs(problem.linear), redundancy(problem)
        assert (b[:2] <= 1e-9 * b.max()).all()
        assert np.abs(G[:2]).max() <= 1e-9 * G.max()
        assert b[2] > 1e-3 * b.max()
        # a relevance without a norm would be a direction in which the problem has no bound
        assert not b[np.diag(G) == 0].any()
        assert problem.error <= 1e-6


@pytest.mark.parametrize("measure", MEASURES)
def test_a_covariate_takes_the_outlier_of_a_column(measure, rng):
    """Relevance and norm are left, or neither is."""
    outlier = np.eye(60)[0]
    X = (1e6 * outlier + rng.standard_normal(60))[:, None]
    features = make_features(X, Gaussian(), Samples(60, None, outlier[None]))
    problem = find(features, rng.standard_normal(60), measure)
    assert (problem.linear[0] > 0) == (problem.diagonal(np.array([0]))[0] > 0)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("stored", [np.array, sparse.csc_array], ids=["dense", "sparse"])
def test_columns_that_need_a_second_attempt(measure, stored, rng):
    """Hardly anything is left of mostly-zero columns: the first bound on their error is large."""
    X = np.where(rng.random((400, 3)) < 0.01, rng.standard_normal((400, 3)), 0.0)
    X[:2] = [[0.5], [-1.5]]
    check(make_features(stored(X)), measure)
    check(make_features(stored(X), gram_error=1e-10), measure)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(("missing", "run"), [(False, 128), (True, 128), (False, 8)])
def test_several_runs_and_a_tail(measure, missing, run, rng, monkeypatch):
    """Rows of a heavy-tailed target are split, and samples are taken a run at a time.

    The tail may be longer than a run.
    """
    monkeypatch.setattr(columns, "_RUN", run)
    X = real_numbers(rng, 300, 3)
    X = punched(rng, X) if missing else X
    samples = Samples(300)
    target, _ = make_target("heavy tail", X[:, 0], measure, samples, np.random.default_rng(0))
    assert target.rows.offset.size > 0
    assert target.rows.tail.size > 8
    for kernel in (Gaussian(), Gaussian(expansion="cholesky"), Delta()):
        check(make_features(X, kernel, samples), measure, "heavy tail")


def test_more_samples_than_a_run_has(rng):
    check(make_features(real_numbers(rng, 1100, 2)), "hsic")


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("median"), Delta(), Linear()], ids=str)
def test_levels_at_the_limits_of_each_loop(kernel, rng, monkeypatch):
    """3, 16 and 64 levels are counted by different loops; more are read as numbers."""
    monkeypatch.setattr(atoms, "_LEAST_PER_LEVEL", 0)
    most = np.array([3, 4, 16, 17, 64, 65, 120])
    X = (rng.random((150, 7)) * most).astype(np.int8)
    X[:2] = np.array([np.zeros(7), most - 1])
    for table in (X, X - 60, X.astype(np.uint8) + 130, np.asfortranarray(X)):
        samples = make_samples(rng, 150, "real", True)
        check(make_features(table, kernel, samples), "nocco", "classes")


def test_constant_columns_are_told_in_every_storage(rng):
    X = whole_numbers(rng, 40, 4).astype(float)
    X[:, 2] = 3.0
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    zero = sparse.csc_array(np.where(np.arange(4) == 2, 0.0, X))
    for table in (X, 0.3 * X, X.astype(np.int8), sparse.csc_array(X), zero, holes, 0.3 * holes):
        for kernel in (Gaussian(), Gaussian("median"), Laplace(), Delta(), Linear()):
            problem = check(make_features(table, kernel), "nhsic")
            assert problem.varies.tolist() == [True, True, False, True]
            assert problem.linear[2] == 0
            assert not redundancy(problem)[2].any()


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("kernel", [Gaussian(), Delta()], ids=str)
def test_columns_with_too_few_observations(kernel, joint, rng):
    X = np.round(rng.standard_normal((40, 4)), 1)
    X[5:, 2], X[4:, 1] = np.nan, np.nan
    features = make_features(X, kernel, least_observed=5, joint=joint)
    problem = find(features, rng.standard_normal(40), "nhsic")
    assert problem.observed[:3].tolist() == [40, 4, 5]
    assert problem.varies[:3].tolist() == [True, False, True]
    assert (problem.linear[:3] > 0).tolist() == [True, False, True]
    assert not redundancy(problem)[1].any()


@pytest.mark.parametrize("kernel", [Gaussian(), Delta(), Linear()], ids=str)
def test_vectors_that_vary_only_where_an_entry_is_missing(kernel, rng):
    X = np.column_stack([rng.standard_normal(40), np.full(40, 2.0), np.full(40, 3.0)])
    X[5, 1], X[5, 2] = 7.0, np.nan
    problem = check(make_features(X, kernel, joint=True), "nhsic")
    assert problem.varies.tolist() == [True, False]


def test_covariates_may_be_constant_where_a_column_is_observed(rng):
    """What is removed there has a lower rank, up to rounding."""
    group = np.r_[np.arange(4), rng.integers(0, 4, 56)]
    X = np.round(rng.standard_normal((60, 6)), 1)
    for j in range(1, 6):  # observed in some of the groups only
        X[np.isin(group, rng.permutation(4)[: 1 + j % 3]), j] = np.nan
    samples = Samples(60, rng.uniform(0.1, 2, 60), np.vstack([group == k for k in range(4)]) * 1.0)
    for kernel in (Gaussian(), Laplace(), Delta()):
        for measure in MEASURES:
            check(make_features(X, kernel, samples), measure)


@pytest.mark.parametrize("measure", MEASURES)
def test_huge_and_tiny_numbers(measure, rng):
    """Neither squares nor differences may overflow or vanish; a sum that does is no infinity."""
    X = rng.standard_normal((50, 5))
    units = np.array([1e200, 1e-200, 1e307, 5e-324 / 1e-3, 1.0])
    moved = X * units
    moved[:, 3] = np.round(X[:, 3] * 100) * 5e-324
    moved[:, 4] += 1e9
    for kernel in (Gaussian(), Gaussian("median"), Laplace(), Delta(), Linear(), Polynomial(3)):
        for table in (moved, sparse.csc_array(moved)):
            check(make_features(table, kernel), measure, "classes", allowed=1e-5)
    whole = np.outer(np.arange(50) % 3, [1e200, 1.0]) + np.array([0.0, 2.0**50])
    check(make_features(whole, Delta()), measure)


def test_polynomials_of_vectors_whose_trace_is_not_that_of_the_weight(rng):
    X = rng.standard_normal((60, 3))
    for measure, kernel in (
        ("hsic", Polynomial(3, 1000.0)),
        ("nhsic", Polynomial(3, 1000.0)),
        ("nocco", Polynomial(4, 100.0)),
    ):
        # entries are up to 1e9 times as large as what is left of them: so is their rounding
        check(make_features(X, kernel, joint=True), measure, allowed=3e-5)


def test_laplace_features_of_many_samples_need_recursions(rng):
    n = 4001
    X = rng.standard_normal((n, 2))
    features = make_features(X, (Gaussian(), Laplace()))
    assert (find(features, X[:, 0], "nhsic").linear > 0).all()
    with pytest.raises(InvalidInputError, match=r"Laplace kernels .* there are 4001 samples"):
        find(features, X[:, 0], "nocco")
    ring = sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])
    target = Affinity().prepare(ring, n).data.matrix(HSIC(), Samples(n), error=1e-6, n_features=2)
    with pytest.raises(InvalidInputError, match="with affinities"):
        find(features, target=target)


def test_progress_counts_all_features(rng):
    calls = []
    X = rng.standard_normal((20, 30))
    find(make_features(X, joint=True), X[:, 0], progress=lambda *call: calls.append(call))
    assert calls[-1] == ("relevance", 29, 29)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interruption_of_the_pass_surfaces(n_threads, rng, monkeypatch):
    calls = []

    def interrupt(*call):
        calls.append(call)
        raise KeyboardInterrupt

    monkeypatch.setattr(relevance, "_BLOCK", 20)
    X = rng.standard_normal((20, 30))
    with pytest.raises(KeyboardInterrupt):
        find(make_features(X), X[:, 0], n_threads=n_threads, progress=interrupt)
    assert len(calls) == 1
