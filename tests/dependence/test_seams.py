"""Where other work starts: half-samples, permutations and several targets reuse expansions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.dependence.columns import DenseColumns, TargetRows
from hsiclasso.dependence.relevance import RelevancePass
from hsiclasso.dependence.running import Threads
from hsiclasso.dependence.statistic import relevance_and_error
from hsiclasso.kernels import Delta, Gaussian, Linear, Samples, as_measure
from hsiclasso.kernels.factor import factor_columns
from hsiclasso.targets import Real
from hsiclasso.targets.matrix import together
from tests.dependence.cases import (
    KERNELS,
    MEASURES,
    STORAGES,
    find,
    make_features,
    make_samples,
    real_numbers,
    redundancy,
)

ERROR = 1e-10


def expand(X, kernel, samples):
    """Scale columns and expand them once, on all samples."""
    z = X.T.copy()
    kernel.scale(z, samples.shares)
    allowed = np.full(len(z), ERROR * 1e-4 * samples.total)
    return z, kernel.expand(z, np.arange(len(z)), allowed, samples.shares)


def combine(z, made, target, measure, samples):
    """Relevance from terms that were made before, on samples of any weights."""
    rows = TargetRows.of(target, samples)
    found = np.zeros(len(z))
    columns = DenseColumns(z, samples.shares)
    for terms in made:
        moments = columns.moments(terms, rows, with_gram=True)
        totals = np.full(terms.columns.size, samples.total)
        b, _ = relevance_and_error(moments, measure, totals, rows.signs, rows.starts)
        found[terms.columns] = b[:, 0]
    return found


def make_target(y, measure, samples, error=ERROR):
    return Real().prepare(y, samples.n).data.matrix(measure, samples, error=error, n_features=9)


@settings(max_examples=60)
@given(
    kernel=st.sampled_from([k for k in KERNELS if not k.full_rank]),
    measure=st.sampled_from(MEASURES), weights=st.sampled_from(["none", "real"]),
    covariates=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
def test_half_of_the_samples_reuses_expansions(kernel, measure, weights, covariates, seed):
    """Zero weight is as good as leaving samples out, if the scale stays that of all samples."""
    rng, n = np.random.default_rng(seed), 60
    samples, measure = make_samples(rng, n, weights, covariates), as_measure(measure)
    X, y, half = real_numbers(rng, n, 5), rng.standard_normal(n), rng.permutation(n) < n // 2
    z, made = expand(X, kernel, samples)
    seen = samples.only(half)
    target = make_target(y, measure, seen)
    reused = combine(z, made, target, measure, seen)

    fewer = Samples(
        int(half.sum()),
        None if samples.weights is None else samples.weights[half],
        None if samples.covariates is None else samples.covariates[:, half],
    )
    learnt = [kernel.learnt(z[j : j + 1], samples.shares[0]) for j in range(5)]
    target = make_target(y[half], measure, fewer)
    for j, one in enumerate(learnt):
        (factor,) = factor_columns(z[j : j + 1, half], one, fewer, measure, ERROR)
        expected = target.energy(measure.finish(factor).rows)
        size = measure.finish(factor).norm * np.sqrt(target.norm2)
        assert reused[j] == pytest.approx(expected, abs=1e-8 * size)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_terms_are_evaluated_on_any_samples(kernel, rng):
    """A slice, some indices, or all: the same rows."""
    _, made = expand(real_numbers(rng, 30, 4), kernel, Samples(30))
    some = rng.permutation(30)[:7]
    for terms in made:
        whole = terms.on(slice(None), slice(None))
        assert whole.shape == (terms.columns.size, terms.n_rows, 30)
        np.testing.assert_array_equal(terms.on(slice(0, 1), slice(3, 17)), whole[:1, :, 3:17])
        np.testing.assert_allclose(terms.on(slice(0, 2), some), whole[:2, :, some], rtol=1e-13)
        np.testing.assert_array_equal(terms.rows(), whole[0])
        whole[:] = np.nan  # it is a fresh array
        assert np.isfinite(terms.on(slice(None), slice(None))).all()


@pytest.mark.parametrize("measure", MEASURES)
def test_permutations_reuse_expansions(measure, rng):
    """Of a permuted target only the rows are permuted."""
    n, measure = 80, as_measure(measure)
    X, y, order = real_numbers(rng, n, 5), rng.standard_normal(n), rng.permutation(n)
    samples = Samples(n)
    z, made = expand(X, Gaussian(), samples)
    found = combine(z, made, make_target(y[order], measure, samples), measure, samples)
    features = make_features(X, gram_error=ERROR)
    np.testing.assert_allclose(found, find(features, y[order], measure).linear, rtol=1e-7)


@settings(max_examples=60)
@given(
    storage=st.sampled_from(sorted(STORAGES)), kernel=st.sampled_from(KERNELS),
    measure=st.sampled_from(MEASURES), weights=st.sampled_from(["none", "real"]),
    covariates=st.booleans(), seed=st.integers(0, 1000),
)  # fmt: skip
def test_several_targets_in_one_pass(storage, kernel, measure, weights, covariates, seed):
    rng, n = np.random.default_rng(seed), 40
    samples, name = make_samples(rng, n, weights, covariates), measure
    features = make_features(STORAGES[storage](rng, n, 5), kernel, samples, gram_error=1e-8)
    measure = as_measure(measure)
    z = rng.standard_normal((3, n))
    factors = [
        measure.finish(factor) for factor in factor_columns(z, Gaussian(), samples, measure, 1e-8)
    ]
    work = RelevancePass(features, together(factors), measure)
    (found,) = Threads().map(work, work.blocks())
    assert found.relevance.shape == (5, 3)
    norms = np.sqrt(np.diag(redundancy(find(features, z[0], name))))
    for j, factor in enumerate(factors):
        alone = find(features, None, name, target=together([factor])).linear
        allowed = 1e-7 * norms * factor.norm + 1e-12
        assert (np.abs(found.relevance[:, j] - alone) <= allowed).all()


def test_a_runner_of_another_kind(rng):
    """Blocks are independent: whoever runs them may take them in any order."""

    class Backwards:
        by_chunks = False

        def map(self, work, pieces):
            return reversed([work(piece) for piece in reversed(pieces)])

    X = rng.standard_normal((30, 6))
    one = find(make_features(X, (Gaussian(), Delta(), Linear())), X[:, 0])
    two = find(make_features(X, (Gaussian(), Delta(), Linear())), X[:, 0], runner=Backwards())
    np.testing.assert_array_equal(one.linear, two.linear)
    assert two.nearest(np.array([0]), 2) == one.nearest(np.array([0]), 2)
