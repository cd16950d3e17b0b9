"""Targets that are a matrix of affinities, dense or sparse, definite or not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, NOCCO, Samples
from hsiclasso.targets import Affinity, Similarity, affinity
from hsiclasso.targets.affinity import check_affinity, eigen_rows, eigen_target
from hsiclasso.targets.matrix import FactoredTarget, OperatorTarget
from tests.targets.compare import SPACES, N, check, every_measure, every_space

every_form = pytest.mark.parametrize("form", [np.array, sparse.csr_array])
many_or_few = pytest.mark.parametrize("n_features", [0, 10_000])


def similarities(rng, definite):
    vectors = rng.standard_normal((6, N))
    signs = np.ones(6) if definite else np.array([1, -1, 1, 1, -1, 1])
    return (vectors.T * signs) @ vectors + 0.2 * np.eye(N)


def checked_target(form, n_features, measure, space, rng, *, definite):
    """The target of affinities in some form, found to be right."""
    samples, L = SPACES[space](rng), similarities(rng, definite)
    data = Affinity().prepare(form(L), N).data
    return check(data, L, measure, samples, n_features=n_features)


@every_space
@every_measure
@many_or_few
@every_form
def test_definite_affinities(form, n_features, measure, space, rng):
    target = checked_target(form, n_features, measure, space, rng, definite=True)
    factored = measure == "nocco" or (n_features > 0 and form is np.array)
    assert isinstance(target, FactoredTarget if factored else OperatorTarget)
    if factored:
        assert (target.signs == 1).all()


@every_space
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
@many_or_few
@every_form
def test_indefinite_affinities(form, n_features, measure, space, rng):
    target = checked_target(form, n_features, measure, space, rng, definite=False)
    if n_features > 0 and form is np.array:  # a factor pays
        assert set(target.signs) == {-1.0, 1.0}


@every_form
def test_nocco_needs_a_definite_affinity(form, rng):
    data = Similarity(form(similarities(rng, definite=False)))
    with pytest.raises(
        InvalidInputError, match="negative eigenvalues: use HSICLasso, or add a mul"
    ):
        data.matrix(NOCCO(), Samples(N), error=1e-6, n_features=1)


def test_nocco_needs_eigenvalues(rng, monkeypatch):
    monkeypatch.setattr(affinity, "DENSE", N - 1)
    data = Similarity(sparse.csr_array(similarities(rng, definite=True)))
    with pytest.raises(InvalidInputError, match=f"a sparse affinity of {N} samples is too large"):
        data.matrix(NOCCO(), Samples(N), error=1e-6, n_features=1)


def falling(rng, *last, n=120):
    """A matrix with eigenvalues that fall far below its norm, down to those given."""
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    eigenvalues = n * np.exp(-np.arange(n) / 5)
    eigenvalues[n - len(last) :] = last
    matrix = (basis * eigenvalues) @ basis.T
    return (matrix + matrix.T) / 2


def test_nocco_keeps_small_eigenvalues(rng):
    """They are small beside the norm, but not beside epsilon n."""
    matrix = falling(rng)
    check(Similarity(matrix), matrix, "nocco", Samples(120))


def test_nocco_overlooks_negative_eigenvalues_that_are_rounding(rng):
    target = eigen_target(falling(rng, -1e-7, -1e-6), NOCCO(), Samples(120), 1e-6)
    assert (target.signs > 0).all()
    with pytest.raises(InvalidInputError, match="NOCCO needs a positive semi-definite target"):
        eigen_target(falling(rng, -1e-3), NOCCO(), Samples(120), 1e-6)


@every_form
@many_or_few
def test_what_is_removed_leaves_nothing(form, n_features, rng):
    """A matrix of rank one in a covariate, or of equal sums, has nothing left."""
    x = rng.standard_normal(N)
    samples = Samples(N, None, x[None])
    target = Similarity(form(np.outer(x, x))).matrix(
        HSIC(), samples, error=1e-6, n_features=n_features
    )
    assert target.norm2 == 0


@every_form
def test_rows_and_columns_of_used_samples(form, rng):
    L, use = similarities(rng, definite=True), np.arange(N) % 4 > 0
    prepared = Affinity().prepare(form(L), N, use)
    values = prepared.data.values
    values = values.toarray() if sparse.issparse(values) else values
    np.testing.assert_array_equal(values, L[np.ix_(use, use)])
    np.testing.assert_array_equal(prepared.rows, use)
    assert isinstance(prepared.target, Affinity)


# ------------------------------------------------------------------------------------ eigen_rows


@st.composite
def symmetric(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    sizes = 10.0 ** -np.linspace(0, draw(st.floats(0, 9)), rank)
    factor = rng.standard_normal((rank, n)) * sizes[:, None]
    return (factor.T * rng.choice([-1.0, 1.0], rank)) @ factor


@given(matrix=symmetric(), tol=st.sampled_from([0.0, 1e-6, 0.1, 0.9]))
def test_eigen_rows_are_the_best_of_their_rank(matrix, tol):
    rows, signs = eigen_rows(matrix, tol)
    norm = np.linalg.norm(matrix)
    rest = np.linalg.norm((rows.T * signs) @ rows - matrix)
    assert rest <= (tol + 1e-13) * norm
    sizes = np.sort(np.abs(np.linalg.eigvalsh(matrix)))[::-1]
    assert rest <= np.linalg.norm(sizes[len(rows) :]) + 1e-13 * norm
    if len(rows):  # one row less would not do
        assert np.linalg.norm(sizes[len(rows) - 1 :]) > tol * norm
    np.testing.assert_allclose(rows @ rows.T, np.diag(sizes[: len(rows)]), atol=1e-12 * norm)
    assert set(signs) <= {-1.0, 1.0}


def test_rank_deficiency_is_found(rng):
    factor = rng.standard_normal((5, 60))
    rows, signs = eigen_rows(factor.T @ factor, 0.0)
    assert rows.shape == (5, 60)
    np.testing.assert_array_equal(signs, 1.0)


def test_zero_matrix_has_no_rows():
    rows, signs = eigen_rows(np.zeros((4, 4)), 1e-6)
    assert rows.shape == (0, 4)
    assert signs.shape == (0,)


# ---------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix, list])
def test_affinities_are_made_plain(make):
    values = np.array([[1, -2, 0], [-2, 0, 0], [0, 0, 3]])
    made = Affinity().prepare(make(values), 3).data.values
    if sparse.issparse(made):
        assert isinstance(made, sparse.csr_array)
        made = made.toarray()
    np.testing.assert_array_equal(made, values)
    assert made.dtype == np.float64


BAD = [
    ([[1.0, 2.0, 0.0]], r"affinity has shape \(1, 3\).*shape \(2, 2\)"),
    ([[1.0, 2.0], [3.0, 1.0]], r"affinity\[0, 1\]=2 but .*=3.*pass \(L \+ L\.T\) / 2"),
    ([[np.inf, 2.0], [2.0, 1.0]], "affinity contains inf.*finite: use 0 for pairs"),
    ([[np.nan, 2.0], [2.0, 1.0]], "affinity contains nan.*finite: use 0 for pairs"),
    ([[0.0, 0.0], [0.0, 0.0]], "affinity is 0 for all pairs.*nothing can depend"),
    ([[2.0, 2.0], [2.0, 2.0]], "affinity is 2 for all pairs"),
    ([[1j, 0j], [0j, 1j]], "affinity cannot be read as a matrix of real numbers"),
]


@every_form
@pytest.mark.parametrize(("matrix", "message"), BAD)
def test_bad_affinities(form, matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        check_affinity(form(matrix), 2)


@pytest.mark.parametrize("matrix", [[["a", "b"], ["b", "a"]], [[1.0], [1.0, 2.0]], None])
def test_affinity_that_is_no_matrix(matrix):
    with pytest.raises(InvalidInputError, match=r"affinity (cannot be read|has shape)"):
        check_affinity(matrix, 2)


def test_affinity_nearly_symmetric_is_averaged():
    made = check_affinity([[1.0, 2.0], [2.0 + 1e-10, 1.0]], 2)
    assert made[0, 1] == made[1, 0] == pytest.approx(2.0)


def test_entries_that_are_stored_twice_are_added_up():
    """They are checked as what they add up to; the caller's matrix stays as it was."""

    def twice(other):
        parts = np.array([1e12, -1e12, 2.0, other]), np.array([0, 0, 1, 0]), np.array([0, 3, 4])
        return sparse.csr_array(parts, shape=(2, 2))

    matrix = twice(2.0)
    made = check_affinity(matrix, 2)
    assert made.nnz <= 3
    assert made.toarray().tolist() == [[0, 2], [2, 0]]
    assert matrix.nnz == 4
    with pytest.raises(InvalidInputError, match="must be symmetric"):
        check_affinity(twice(2.1), 2)


def test_asymmetry_of_a_large_sparse_matrix_is_found():
    n = 100_000
    matrix = sparse.csr_array(([1.0], ([n - 1], [n - 2])), shape=(n, n))
    with pytest.raises(InvalidInputError, match=r"affinity\[9999[89], 9999[89]\]"):
        check_affinity(matrix, n)
    assert check_affinity(matrix + matrix.T, n).nnz == 2


def test_large_sparse_affinities_stay_sparse():
    """The norm of the centred matrix comes from its products with what is removed."""
    n = 6000
    ring = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1]).tocsr()
    target = Similarity(ring).matrix(HSIC(), Samples(n), error=1e-6, n_features=10**6)
    expected = 2 * (n - 1) - 2 * np.sum(ring.sum(axis=1) ** 2) / n + (ring.sum() / n) ** 2
    assert target.norm2 == pytest.approx(expected)
