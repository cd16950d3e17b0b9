"""Targets of any objects under a function of two of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hsiclasso.errors import InvalidInputError
from hsiclasso.kernels import HSIC, Samples, as_measure
from hsiclasso.targets import Objects, Pairwise
from hsiclasso.targets.matrix import FactoredTarget
from hsiclasso.targets.objects import pairwise_gram
from tests import oracles
from tests.targets.compare import SPACES, N, assert_matrix, check, every_measure, every_space
from tests.targets.tables import spectrum


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


def make(items, function, measure="hsic", error=1e-6):
    return Pairwise(items, function).matrix(
        as_measure(measure), Samples(len(items)), error=error, n_features=1
    )


@every_measure
def test_string_kernel_from_few_calls(measure, rng):
    items, counted = words(rng, 200), Counted(spectrum)
    target = make(items, counted, measure)
    gram = pairwise_gram(items, spectrum)
    T = oracles.projected_measure(gram, measure)
    assert_matrix(target, T, Samples(200))
    # 16 words of two letters: rank 16, a row of calls for each pivot and one for the diagonal
    assert len(target.signs) <= 16
    assert len(counted.pairs) <= 17 * 200


def test_a_function_must_be_symmetric(rng):
    """Otherwise the answer would depend on the order of the rows."""
    message = r"returned .* for items \d+ and \d+ and .*: pass lambda a, b: \(f\(a, b\)"
    for function in (lambda a, b: a - b, lambda a, b: float(a < b), lambda a, b: a * b + 0.01 * a):
        with pytest.raises(InvalidInputError, match=message):
            Objects(function).prepare(rng.standard_normal(90).tolist(), 90)
    Objects(lambda a, b: a * b + 1e-9 * a).prepare([1.0, 2.0, 5.0], 3)  # rounding


@settings(max_examples=25)
@given(items=st.lists(st.text("ab", max_size=8), min_size=3, max_size=25))
def test_any_strings(items):
    counted = Counted(spectrum)
    T = oracles.projected_measure(pairwise_gram(items, spectrum), "hsic")
    if np.linalg.norm(T) > 1e-9:
        assert_matrix(make(range(len(items)), lambda i, j: counted(items[i], items[j])), T,
                      Samples(len(items)))  # fmt: skip
        assert len(counted.pairs) <= len(items) * (len(items) + 1) // 2


def test_no_pair_is_evaluated_twice(rng):
    """Not even one and its mirror image, however often the rows are refined."""
    x = rng.standard_normal((40, 3))
    counted = Counted(lambda i, j: np.exp(-np.sum((x[i] - x[j]) ** 2)))
    target = make(range(40), counted, error=1e-10)
    K = pairwise_gram(range(40), counted.function)
    assert_matrix(target, oracles.centre(K), Samples(40), 1e-10)
    assert len({frozenset(pair) for pair in counted.pairs}) == len(counted.pairs) <= 40 * 41 // 2


INDEFINITE = {
    "zero diagonal": edit_distance,
    "negative diagonal": lambda a, b: -spectrum(a, b),
    "mixed diagonal": lambda a, b: (len(a) - 3.5) * (a == b),
    "unlike ends": lambda a, b: spectrum(a, b) - 9.0 * (a[-1] == b[-1]),
    "distance": lambda a, b: 1 - 0.5 * edit_distance(a, b),
}


@pytest.mark.parametrize("form", INDEFINITE)
def test_indefinite_functions_are_noticed(form, rng):
    items = sorted({word[: 2 + i % 4] for i, word in enumerate(words(rng, 60, 5, "ab"))})
    counted = Counted(INDEFINITE[form])
    target = make(items, counted)
    gram = pairwise_gram(items, INDEFINITE[form])
    assert_matrix(target, oracles.centre(gram), Samples(len(items)))
    assert -1.0 in target.signs
    assert len(counted.pairs) == len(items) * (len(items) + 1) // 2  # all pairs, each once


def test_rounding_is_not_taken_for_indefinite(rng):
    x = rng.standard_normal((50, 4))
    noise = 1e-13 * rng.standard_normal((50, 50))
    gram = x @ x.T + noise + noise.T
    target = make(range(50), lambda i, j: gram[i, j])
    assert isinstance(target, FactoredTarget)
    assert target.signs.tolist() == [1] * 4


@every_space
@every_measure
def test_the_matrix_of_a_measure(measure, space, rng):
    samples, items = SPACES[space](rng), rng.standard_normal((N, 2))
    K = np.exp(-0.5 * np.sum((items[:, None] - items) ** 2, axis=2))
    function = Objects(lambda a, b: float(np.exp(-0.5 * np.sum((a - b) ** 2))))
    check(function.prepare(items, N).data, K, measure, samples)


@every_space
@pytest.mark.parametrize("measure", ["hsic", "nhsic"])
def test_the_matrix_of_an_indefinite_function(measure, space, rng):
    samples, items = SPACES[space](rng), rng.standard_normal(N)
    K = -(np.abs(items[:, None] - items) ** 1.5) + np.cos(3 * (items[:, None] + items))
    target = check(Pairwise(range(N), lambda i, j: K[i, j]), K, measure, samples)
    assert set(target.signs) == {-1.0, 1.0}


@every_measure
def test_a_large_constant_in_a_function_does_not_matter(measure, rng):
    """Centring removes it, but not from the trace that accuracy is measured by."""
    x = rng.standard_normal(N)
    K = np.exp(-0.5 * (x[:, None] - x) ** 2)
    target = make(range(N), lambda i, j: 1e4 + K[i, j], measure)
    assert_matrix(target, oracles.projected_measure(K, measure), Samples(N))


def test_nocco_needs_a_definite_function(rng):
    with pytest.raises(InvalidInputError, match="negative eigenvalues"):
        make(rng.standard_normal(N), lambda a, b: abs(a - b), "nocco")


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

    for call in (pairwise_gram, make):
        with pytest.raises(InvalidInputError, match="items 0 and 2, but") as caught:
            call(["x", "y", "z"], function)
        assert repr(value)[:30] in str(caught.value)
        assert len(str(caught.value)) < 300


def test_errors_of_the_function_pass():
    with pytest.raises(ZeroDivisionError):
        pairwise_gram([0, 1], lambda a, b: 1 / (a + b))


# ------------------------------------------------------------------------------------ the target


def test_objects_of_any_container(rng):
    items = words(rng, 9)
    for y in (
        items,
        tuple(items),
        np.array(items),
        pd.Series(items, index=range(5, 14)),
        iter(items),
    ):
        assert Objects(spectrum).prepare(y, 9).data.items == items
    with pytest.raises(InvalidInputError, match="y has 9 values and X has 10 samples"):
        Objects(spectrum).prepare(items, 10)


def test_missing_objects(rng):
    items = words(rng, 9)
    y = [None, *items[1:8], float("nan")]
    with pytest.raises(
        InvalidInputError, match=r"first in row 0 \(2 in all\).*Objects\(missing='dr"
    ):
        Objects(spectrum).prepare(y, 9)
    prepared = Objects(spectrum, missing="drop").prepare(y, 9)
    assert prepared.data.items == items[1:8]
    assert prepared.rows.tolist() == [False, *[True] * 7, False]


@pytest.mark.parametrize("function", [None, "spectrum", 3])
def test_the_function_is_one(function):
    with pytest.raises(InvalidInputError, match=r"function=.*must be a function of two targets"):
        Objects(function).prepare(["a", "b", "c"], 3)


def test_a_function_that_does_not_vary_leaves_nothing():
    assert Pairwise("abc", lambda a, b: 1.0).matrix(
        HSIC(), Samples(3), error=1e-6, n_features=1
    ).norm2 == 0  # fmt: skip
