"""Targets given by similarities of pairs: functions of objects, and matrices."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hsiclasso.dependence.pairwise import (
    check_affinity,
    eigen_rows,
    pairwise_gram,
    pairwise_rows,
)
from hsiclasso.errors import InvalidInputError


def spectrum(a, b, k=2):
    """Number of common substrings of length k, with multiplicity (Leslie et al., 2002)."""
    first, second = (Counter(s[i : i + k] for i in range(len(s) - k + 1)) for s in (a, b))
    return sum(count * second[word] for word, count in first.items())


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


class Counted:
    """A function that remembers the pairs it was called with."""

    def __init__(self, function):
        self.function, self.pairs = function, []

    def __call__(self, a, b):
        self.pairs.append((a, b))
        return self.function(a, b)


def words(rng, n, length=12, letters="ACGT"):
    return ["".join(rng.choice(list(letters), length)) for _ in range(n)]


def test_string_kernel_from_few_calls(rng):
    items = words(rng, 200)
    counted = Counted(spectrum)
    rows, left = pairwise_rows(items, counted, 1e-10)
    gram = pairwise_gram(items, spectrum)
    # 16 words of two letters: rank 16
    assert rows.shape == (16, 200)
    np.testing.assert_allclose(rows.T @ rows, gram, atol=1e-9 * gram.max())
    assert left <= 1e-10 * np.trace(gram)
    assert len(counted.pairs) <= 17 * 200


@given(
    items=st.lists(st.text("ab", max_size=8), min_size=1, max_size=25),
    tol=st.sampled_from([0.0, 1e-6, 0.1]),
)
def test_what_is_left_is_the_trace(items, tol):
    gram = pairwise_gram(items, spectrum)
    made = pairwise_rows(items, spectrum, tol)
    if not gram.any():
        assert made is None
        return
    rows, left = made
    rest = gram - rows.T @ rows
    assert np.trace(rest) == pytest.approx(left, abs=1e-12 * np.trace(gram))
    assert left <= max(tol, 1e-14) * np.trace(gram)
    assert np.linalg.norm(rest) <= left + 1e-12 * np.trace(gram)
    assert len(rows) <= np.linalg.matrix_rank(gram)


def test_full_rank_needs_no_pair_twice(rng):
    x = rng.standard_normal((40, 3))
    counted = Counted(lambda i, j: np.exp(-np.sum((x[i] - x[j]) ** 2)))
    rows, left = pairwise_rows(range(40), counted, 0.0)
    np.testing.assert_allclose(
        rows.T @ rows, pairwise_gram(range(40), counted.function), atol=1e-13
    )
    assert left < 1e-12
    del counted.pairs[:]
    pairwise_rows(range(40), counted, 0.0)
    assert len({frozenset(pair) for pair in counted.pairs}) == len(counted.pairs) <= 40 * 41 // 2


def test_rank_grows_beyond_the_first_rows(rng):
    values = rng.permutation(100)
    rows, left = pairwise_rows(values, lambda a, b: float(a == b), 0.0)
    assert rows.shape == (100, 100)
    assert left == 0
    np.testing.assert_array_equal(rows.T @ rows, np.eye(100))


def test_indefinite_functions_are_noticed(rng):
    items = sorted(set(words(rng, 60, length=5, letters="ab")))
    assert pairwise_rows(items, edit_distance, 1e-6) is None  # zero diagonal
    assert pairwise_rows(items, lambda a, b: -spectrum(a, b), 1e-6) is None
    assert pairwise_rows(items, lambda a, b: 1 - 0.5 * edit_distance(a, b), 1e-6) is None
    # one negative value on the diagonal
    assert pairwise_rows([3, -1, 2], lambda a, b: a if a == b else 0, 1e-6) is None
    assert pairwise_rows([], spectrum, 1e-6) is None


def test_rounding_is_not_taken_for_indefinite(rng):
    x = rng.standard_normal((50, 4))
    noise = 1e-13 * rng.standard_normal((50, 50))
    gram = x @ x.T + noise + noise.T
    rows, _ = pairwise_rows(range(50), lambda i, j: gram[i, j], 1e-9)
    assert len(rows) == 4


def test_gram_calls_each_pair_once(rng):
    items = words(rng, 12)
    counted = Counted(spectrum)
    gram = pairwise_gram(iter(items), counted)
    assert len(counted.pairs) == 12 * 13 // 2
    np.testing.assert_array_equal(gram, [[spectrum(a, b) for b in items] for a in items])


@pytest.mark.parametrize("value", [2, True, np.float32(2), np.int8(2), np.array(2.0), Fraction(2)])
def test_scalars_of_all_kinds(value):
    np.testing.assert_array_equal(pairwise_gram([0, 1], lambda a, b: value), np.full((2, 2), value))


@pytest.mark.parametrize(
    "value",
    [np.nan, -np.inf, None, "1.0", b"1", 1j, np.array(1j), [1.0], np.array([1.0]), np.ones(500),
     10**400],
    ids=lambda value: repr(value)[:12],
)  # fmt: skip
def test_values_that_are_no_number_name_their_pair(value):
    def function(a, b):
        return value if {a, b} == {"x", "z"} else 1.0 + (a == b)

    for call in (pairwise_gram, lambda *args: pairwise_rows(*args, 1e-6)):
        with pytest.raises(InvalidInputError, match="items 0 and 2, but") as caught:
            call(["x", "y", "z"], function)
        assert repr(value)[:30] in str(caught.value)
        assert len(str(caught.value)) < 300


def test_errors_of_the_function_pass():
    with pytest.raises(ZeroDivisionError):
        pairwise_gram([0, 1], lambda a, b: 1 / (a + b))


@st.composite
def symmetric(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, rank = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    factor = (
        rng.standard_normal((rank, n))
        * 10.0 ** -np.linspace(0, draw(st.floats(0, 9)), rank)[:, None]
    )
    signs = rng.choice([-1.0, 1.0], rank)
    return (factor.T * signs) @ factor


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


def test_distances_become_rows_with_signs(rng):
    items = words(rng, 30, length=6)
    gram = pairwise_gram(items, edit_distance)
    rows, signs = eigen_rows(gram, 1e-10)
    assert {-1.0, 1.0} == set(signs)
    np.testing.assert_allclose((rows.T * signs) @ rows, gram, atol=1e-8)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix])
def test_affinity_is_made_plain(make):
    values = np.array([[1, -2, 0], [-2, 0, 0], [0, 0, 3]])
    made = check_affinity(make(values), 3)
    if sparse.issparse(made):
        assert isinstance(made, sparse.csr_array)
        made = made.toarray()
    np.testing.assert_array_equal(made, values)
    assert made.dtype == np.float64


@pytest.mark.parametrize("make", [np.array, sparse.csr_array])
@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 2.0, 0.0]], r"affinity has shape \(1, 3\).*shape \(2, 2\)"),
        ([[1.0, 2.0], [3.0, 1.0]], r"affinity\[0, 1\]=2 but .*=3.*pass \(L \+ L\.T\) / 2"),
        ([[np.inf, 2.0], [2.0, 1.0]], "affinity contains inf.*finite"),
        ([[0.0, 0.0], [0.0, 0.0]], "affinity is 0 for all pairs.*nothing can depend"),
        ([[2.0, 2.0], [2.0, 2.0]], "affinity is 2 for all pairs"),
    ],
)
def test_affinity_that_is_none(make, matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        check_affinity(make(matrix), 2)


@pytest.mark.parametrize("matrix", [[["a", "b"], ["b", "a"]], [[1.0], [1.0, 2.0]], None])
def test_affinity_that_is_no_matrix(matrix):
    with pytest.raises(InvalidInputError, match=r"affinity (cannot be read|has shape)"):
        check_affinity(matrix, 2)


def test_affinity_nearly_symmetric_is_averaged():
    made = check_affinity([[1.0, 2.0], [2.0 + 1e-10, 1.0]], 2)
    assert made[0, 1] == made[1, 0] == pytest.approx(2.0)


def test_asymmetry_of_a_large_sparse_matrix_is_found():
    n = 100_000
    matrix = sparse.csr_array(([1.0], ([n - 1], [n - 2])), shape=(n, n))
    with pytest.raises(InvalidInputError, match=r"affinity\[9999[89], 9999[89]\]"):
        check_affinity(matrix, n)
    assert check_affinity(matrix + matrix.T, n).nnz == 2
