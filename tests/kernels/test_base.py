"""What every kernel promises, whatever its formula: see `tests.kernels.cases`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from hsiclasso.kernels import Gaussian, Laplace, Linear
from hsiclasso.kernels.base import DistanceKernel, explicit_terms
from tests import oracles
from tests.columns import KINDS, make
from tests.kernels.cases import (
    KERNELS,
    cases,
    draw_weights,
    every_kernel,
    every_vector_kernel,
    least_error,
    weighed,
    weightings,
)

few = settings(max_examples=12)
errors = st.sampled_from([1e-3, 1e-6, 1e-10])
#: Deviations of denormal columns have too few digits to scale other samples with.
exact_kinds = st.sampled_from(sorted(set(KINDS) - {"denormal"}))
#: Kernel matrices are known to this share of their largest entry.
ROUNDING = 1e-10


def size(K):
    return np.abs(K).max()


@every_kernel
@few
@given(case=cases(), share=errors)
def test_terms_are_the_gram_matrix(kernel, case, share):
    z, scaling = case.scaled(kernel)
    assert (scaling.factor > 0).all()
    columns = np.arange(len(z))[::-1]
    totals = np.array([case.shares(j).sum() for j in columns])
    made = kernel.expand(z, columns, share * totals, case.weights)
    assert sorted(np.concatenate([terms.columns for terms in made])) == sorted(columns)
    for terms in made:
        for place, j in enumerate(terms.columns):
            weights, K = case.shares(j), case.gram(kernel, j)
            rows, left = terms.rows(place), terms.left_out[place]
            rounding = 1e-13 * float(weights @ np.diag(K))
            assert rows.shape == (terms.n_rows, case.n)
            assert left <= (share + least_error(kernel)) * weights.sum() + rounding
            exact = weighed(K, weights)
            rest = exact - weighed(rows.T @ rows, weights)
            assert np.linalg.norm(rest) <= left + ROUNDING * np.linalg.norm(exact)
            # the trace of some dimensions bounds the norm from below
            least = terms.bulk_trace[place] / np.sqrt(terms.bulk_rank[place])
            assert least <= np.linalg.norm(exact) * (1 + ROUNDING)


@every_kernel
@few
@given(case=cases(least=2))
def test_rows_on_some_samples(kernel, case):
    """A slice and indices give the same entries of all rows, in a fresh array."""
    z, _ = case.scaled(kernel)
    kept = z.copy()
    for terms in kernel.expand(z, np.arange(len(z)), np.full(len(z), 1e-6 * case.n), case.weights):
        every = np.arange(terms.columns.size)
        whole = terms.on(every, slice(None))
        np.testing.assert_array_equal(whole[-1], terms.rows(terms.columns.size - 1))
        part = terms.on(every[-1:], slice(2, 6))
        picked = terms.on(every[-1:], np.array([2, 3, 4, 5]))
        for found in (part, picked):
            np.testing.assert_allclose(found, whole[-1:, :, 2:6], atol=1e-12 * size(whole))
        whole[:] = np.nan
        np.testing.assert_array_equal(z, kept)
        assert np.isfinite(terms.on(every, slice(None))).all()


@every_kernel
@few
@given(
    kinds=st.lists(exact_kinds, min_size=1, max_size=3), n=st.integers(8, 40),
    seed=st.integers(0, 1000), weighting=weightings,
)  # fmt: skip
def test_new_samples_against_old_ones(kernel, kinds, n, seed, weighting):
    """What a kernel has learnt is all that it needs: scale, width and counts."""
    kinds = kinds if kernel.joins_columns else kinds[:1]
    rng = np.random.default_rng(seed)
    old = np.array([make(kind, n, seed + i) for i, kind in enumerate(kinds)])
    new = np.c_[[make(kind, n, seed + 7 + i) for i, kind in enumerate(kinds)]]
    new[:, :4] = old[:, :4]
    weights = draw_weights(rng, n, weighting)
    seen = weights > 0
    old[:, ~seen] = old[:, seen][:, :1]
    assume((np.ptp(old, axis=1) > 0).all())
    z = old.copy()
    scaling = kernel.scale(z, weights[None], joint=True)
    learnt = kernel.learnt(z, weights)
    expected = oracles.kernel_between(new, old[:, seen], kernel, weights[seen])
    scaled = scaling.apply(new) if not kernel.of_labels else new
    found = learnt.between(scaled, z[:, seen])
    atol = 1e-8 * size(expected) if "shifted" in kinds else ROUNDING * size(expected)
    np.testing.assert_allclose(found, expected, atol=atol)
    own = learnt.between(z, z)
    np.testing.assert_allclose(own, own.T, atol=1e-13 * size(own))
    np.testing.assert_allclose(learnt.diagonal(z), np.diag(own), atol=1e-13 * size(own))
    # a kernel that has learnt all learns no more, and keeps it
    again = pickle.loads(pickle.dumps(clone(learnt).learnt(z, weights)))
    np.testing.assert_array_equal(again.between(scaled, z), learnt.between(scaled, z))
    assert type(kernel).__name__ in repr(kernel)
    assert repr(learnt)


@every_kernel
@few
@given(case=cases())
def test_gram_matrices_of_few_values(kernel, case):
    z, _ = case.scaled(kernel)
    found = kernel.gram(z, case.weights)
    assert found.shape == (len(z), case.n, case.n)
    for j, K in enumerate(found):
        seen, shares = case.seen(j), case.shares(j)
        both = np.ix_(seen, seen)
        expected = case.gram(kernel, j)[both]
        np.testing.assert_allclose(K[both], expected, atol=ROUNDING * size(expected))
        between = kernel.learnt(z[j : j + 1], shares).between(z[j : j + 1], z[j : j + 1])
        np.testing.assert_allclose(between[both], K[both], atol=1e-12 * size(expected))


@every_vector_kernel
@few
@given(case=cases(least=2, by_column=False), share=errors)
def test_joint_terms_are_the_gram_matrix(kernel, case, share):
    z, _ = case.scaled(kernel, joint=True)
    weights, K = case.weights[0], case.joint_gram(kernel)
    rows, left = kernel.expand_joint(z, share * weights.sum(), weights)
    assert left <= share * weights.sum() + 1e-13 * float(weights @ np.diag(K))
    exact = weighed(K, weights)
    rest = exact - weighed(rows.T @ rows, weights)
    assert np.linalg.norm(rest) <= left + ROUNDING * np.linalg.norm(exact)
    again, same = kernel.rows(z, share * weights.sum(), weights)
    np.testing.assert_array_equal(again, rows)
    assert same == left


@every_kernel
@few
@given(kind=exact_kinds, n=st.integers(8, 40), seed=st.integers(0, 1000))
def test_whole_weights_repeat_samples(kernel, kind, n, seed):
    rng, column = np.random.default_rng(seed), make(kind, n, seed)
    weights = rng.integers(1, 4, n)
    again = np.repeat(np.arange(n), weights)
    once, repeated = column[None].copy(), column[None, again]
    kernel.scale(once, weights[None].astype(float))
    kernel.scale(repeated, np.ones((1, again.size)))
    allowed = 1e-9 * again.size
    rows, left = kernel.rows(once, allowed, weights.astype(float))
    others, also_left = kernel.rows(repeated, allowed, np.ones(again.size))
    found, expected = rows[:, again].T @ rows[:, again], others.T @ others
    bound = left + also_left + ROUNDING * np.linalg.norm(expected)
    assert np.linalg.norm(found - expected) <= bound


@every_kernel
@few
@given(
    kind=exact_kinds, n=st.integers(8, 60), seed=st.integers(0, 1000),
    factor=st.sampled_from([-1.0, 3.0, 2.0**-99, 2.0**99]), shift=st.sampled_from([0.0, 1.0, -2.5]),
)  # fmt: skip
def test_units_of_a_column_do_not_matter(kernel, kind, n, seed, factor, shift):
    column = make(kind, n, seed)
    unit = 1 / np.abs(column).max()  # no product below overflows
    other = (column * unit * factor) + shift * abs(factor)
    found = []
    for values in (column, other):
        z = values[None].copy()
        kernel.scale(z, np.ones((1, n)))
        found.append(kernel.gram(z, np.ones((1, n)))[0])
    # a shift costs digits of a column that has few to spare
    atol = size(found[0]) * (1e-6 if kind in ("shifted", "one outlier") else 1e-9)
    np.testing.assert_allclose(*found, atol=atol)


@every_kernel
def test_columns_that_do_not_vary(kernel):
    block = np.array([np.arange(9.0) ** 2, np.full(9, 3.7)])
    scaling = kernel.scale(block, np.ones((1, 9)))
    assert (scaling.factor > 0).tolist() == [True, False]
    assert np.ptp(block[1]) == 0
    assert np.isfinite(scaling.apply(block)).all()


@every_kernel
def test_parameters(kernel):
    """A kernel is compared, copied and shown by its parameters."""
    assert kernel.check() is kernel
    for copy in (clone(kernel), pickle.loads(pickle.dumps(kernel))):
        assert copy == kernel
        assert hash(copy) == hash(kernel)
    changed = clone(kernel).set_params(**kernel.get_params())
    assert changed == kernel
    assert kernel.name == kernel.name.lower()
    assert 0 < kernel.observed_scale(0.5) <= 1


DISTANCE_KERNELS = sorted({type(k) for k in KERNELS if isinstance(k, DistanceKernel)}, key=str)


@pytest.mark.parametrize("width", [0, -1.0, np.nan, np.inf, "wide", None, True, 1j])
@pytest.mark.parametrize("kind", DISTANCE_KERNELS)
def test_bad_widths(kind, width):
    message = rf"width=.*, but a {kind.name} kernel needs a positive finite width or 'median': 1"
    with pytest.raises(ValueError, match=message):
        kind(width=width).check()


@pytest.mark.parametrize("kind", DISTANCE_KERNELS)
def test_widths_of_numpy(kind):
    assert kind(width=np.float32(2)).check().widths == (2.0,)


def test_explicit_terms_are_copies(rng):
    rows, weights = rng.standard_normal((3, 8)), rng.random(8)
    terms = explicit_terms(5, rows, 0.25, weights)
    assert (terms.columns.tolist(), terms.n_rows, terms.left_out[0]) == ([5], 3, 0.25)
    assert terms.bulk_trace[0] == pytest.approx(np.trace(weighed(rows.T @ rows, weights)))
    terms.rows()[:] = 0
    np.testing.assert_array_equal(terms.rows(), rows)


def test_kinds_of_kernels_differ():
    """Equal parameters do not make kernels equal."""
    assert Gaussian() != Laplace()
    assert Gaussian(2.0) != Gaussian()
    assert Linear() != "linear"
