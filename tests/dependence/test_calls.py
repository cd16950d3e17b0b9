"""Genotypes with missing calls against the same table as numbers with NaN."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso import HSICLasso, Ignore, InvalidInputError, NOCCOLasso
from hsiclasso.data import RowSubset
from hsiclasso.data.base import WrappedSource
from hsiclasso.data.plink import Genotypes
from hsiclasso.data.subset import ColumnSubset
from hsiclasso.dependence import atoms
from hsiclasso.kernels import Delta, Gaussian, Laplace, Linear, Polynomial, Samples
from tests.dependence.cases import (
    MEASURES,
    find,
    make_features,
    make_samples,
    make_target,
    redundancy,
)
from tests.dependence.test_relevance import check
from tests.genotypes import as_genotypes, as_numbers, draw_calls

ERROR = 1e-12
KERNELS = [Gaussian(), Gaussian(0.3), Delta(), Delta(by_count=False), Linear(), Polynomial(2)]


def assert_same(found, expected):
    """The same relevance, redundancy and counts, relative to the largest."""
    assert found.varies.tolist() == expected.varies.tolist()
    assert found.observed.tolist() == expected.observed.tolist()
    size = np.abs(expected.linear).max()
    np.testing.assert_allclose(found.linear, expected.linear, rtol=0, atol=2e-12 * size)
    G = redundancy(expected)
    np.testing.assert_allclose(redundancy(found), G, rtol=0, atol=1e-12 * G.max())


@settings(max_examples=80)
@given(
    kernel=st.sampled_from([*KERNELS, Laplace()]), measure=st.sampled_from(MEASURES),
    form=st.sampled_from(["real", "classes"]), weights=st.sampled_from(["none", "real"]),
    covariates=st.booleans(), share=st.sampled_from([0.0, 0.02, 0.3]),
    n=st.integers(20, 80), seed=st.integers(0, 10_000),
)  # fmt: skip
def test_like_numbers(kernel, measure, form, weights, covariates, share, n, seed):
    rng = np.random.default_rng(seed)
    calls, samples = draw_calls(rng, n, 7, share), make_samples(rng, n, weights, covariates)
    calls[:, 2] = 1  # monomorphic
    calls[5:, 3] = 3  # hardly observed
    calls[:, 4] = 3  # missing
    calls[:, 5] = np.where(calls[:, 5] == 0, 1, calls[:, 5])  # two levels
    target, _ = make_target(form, as_numbers(calls)[:, 0], measure, samples, rng, ERROR)
    options = {"least_observed": 6, "gram_error": ERROR}
    found, expected = (
        find(make_features(table, kernel, samples, **options), None, measure, target=target)
        for table in (calls, as_numbers(calls))
    )
    assert_same(found, expected)
    assert not found.varies[2:5].any()


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_covariate_that_is_constant_where_calls_are_observed(kernel, measure, rng):
    """A variant was not typed in two of four batches: their indicators say nothing about it."""
    batch = np.r_[np.arange(4), rng.integers(0, 4, 76)]
    calls = draw_calls(rng, 80, 5)
    calls[batch >= 2, 1] = 3
    calls[batch == 3, 2] = 3
    samples = Samples(80, None, np.vstack([np.eye(4)[:3, batch], rng.random(80)]))
    check(make_features(calls, kernel, samples, gram_error=1e-10), measure, rng=rng)


@pytest.mark.parametrize("order", ["C", "F"])
def test_order_of_small_integers(order, rng):
    """Columns in either order are summed by the same loop."""
    table = np.asarray(rng.integers(0, 3, (150, 90)), dtype=np.int8, order=order)
    expected = find(make_features(table.astype(np.int8).copy("C")), np.arange(150.0))
    assert_same(find(make_features(table), np.arange(150.0)), expected)
    rows = table[::2]
    assert_same(
        find(make_features(rows), np.arange(75.0)),
        find(make_features(rows.copy("C")), np.arange(75.0)),
    )


SELECTORS = {
    "hsic": HSICLasso(4, missing="ignore", n_neighbors=3),
    "nhsic": HSICLasso(4, measure="nhsic", missing=Ignore(0.7)),
    "nocco": NOCCOLasso(4, missing="ignore"),
    "delta": HSICLasso(4, kernel="delta", missing="ignore", n_neighbors=2),
    "laplace": HSICLasso(4, kernel="laplace", missing="ignore"),
    "joint": HSICLasso(4, joint={"both": ["x1", "x5"]}, missing="ignore"),
}


@pytest.mark.parametrize("name", SELECTORS)
def test_selection_like_that_of_numbers(name, rng):
    calls = draw_calls(rng, 120, 40)
    calls[:40, 20] = 3  # observed on two thirds
    y = as_numbers(calls)[:, 0] + (calls[:, 7] == 1) + 0.3 * rng.standard_normal(120)
    selector = SELECTORS[name].set_params(gram_error=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = selector.fit(as_genotypes(calls), y)
        names, weights, info = found.result_.names, found.coef_, found.result_.features
        kernel = found.selected_kernel_(as_numbers(calls)[:3])
        expected = selector.fit(as_numbers(calls), y)
    assert names == expected.result_.names
    np.testing.assert_allclose(weights, expected.coef_, rtol=1e-6, atol=1e-9 * weights.max())
    assert [f.n_observed for f in info] == [f.n_observed for f in expected.result_.features]
    assert [[n.name for n in f.neighbours] for f in info] == [
        [n.name for n in f.neighbours] for f in expected.result_.features
    ]
    again = expected.selected_kernel_(as_numbers(calls)[:3])
    np.testing.assert_allclose(kernel, again, rtol=1e-6, atol=1e-9 * np.abs(again).max())


def test_parts_of_a_table(rng):
    calls, y = draw_calls(rng, 90, 20), rng.standard_normal(90)
    rows, columns = np.flatnonzero(rng.random(90) < 0.8), np.array([1, 4, 5, 6, 19])
    part = ColumnSubset(RowSubset(as_genotypes(calls), rows), columns)
    assert part.missing_level == 3
    features = make_features(part, gram_error=ERROR)
    expected = make_features(as_numbers(calls)[np.ix_(rows, columns)], gram_error=ERROR)
    assert_same(find(features, y[rows]), find(expected, y[rows]))


@pytest.mark.parametrize("kernels", [(Gaussian(),), (Delta(), Gaussian())])
def test_missing_calls_are_refused_by_the_name_of_the_first(kernels, rng):
    calls = draw_calls(rng, 50, 8, 0.0)
    calls[4, 6] = calls[9, 5] = calls[20, 5] = 3
    calls[:, 7] = 3
    source = as_genotypes(calls, [f"rs{j}" for j in range(8)])
    features = make_features(source, kernels, least_observed=0)
    with pytest.raises(InvalidInputError, match=r"NaN in column 'rs5'.*missing='ignore'"):
        find(features, rng.standard_normal(50))


@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("covariates", [False, True])
def test_samples_by_samples(weights, covariates, rng, monkeypatch):
    """Few samples are decoded at once; the table has its rows in another order."""
    calls, order = draw_calls(rng, 150, 9), rng.permutation(150)[:130]
    calls[:, 3] = 3
    samples = make_samples(rng, 130, weights, covariates)
    source, y = RowSubset(as_genotypes(calls), order), rng.standard_normal(130)
    features = make_features(source, samples=samples, gram_error=ERROR, least_observed=2)
    expected = find(features, y)
    monkeypatch.setattr(atoms, "_LEAST_SAMPLES", 7)
    monkeypatch.setattr(atoms, "_CALLS", 300)
    decoded = []
    read = Genotypes.calls

    def note(self, columns, samples):
        found = read(self, columns, samples)
        decoded.append(found.shape)
        return found

    monkeypatch.setattr(Genotypes, "calls", note)
    assert_same(find(features, y), expected)
    assert len(decoded) >= 130 // 33


@settings(max_examples=40)
@given(
    n=st.integers(1, 300), d=st.integers(1, 70),
    ends=st.tuples(st.integers(0, 300), st.integers(0, 300)), seed=st.integers(0, 1000),
)  # fmt: skip
def test_calls_of_some_samples(n, d, ends, seed):
    rng = np.random.default_rng(seed)
    calls, some = rng.integers(0, 4, (n, d)).astype(np.uint8), slice(min(ends), max(ends))
    source, columns = as_genotypes(calls), np.flatnonzero(rng.random(d) < 0.7)
    rows = rng.integers(0, n, n)
    np.testing.assert_array_equal(source.calls(columns, some), calls[:, columns][some])
    for part in (RowSubset(source, rows), WrappedSource(RowSubset(source, rows))):
        np.testing.assert_array_equal(part.calls(columns, some), calls[rows][some][:, columns])
    part = ColumnSubset(source, columns)
    np.testing.assert_array_equal(part.calls(slice(None), some), calls[some][:, columns])
