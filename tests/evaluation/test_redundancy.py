import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso.errors import InvalidInputError
from hsiclasso.evaluation import redundancy_rate
from tests.oracles import printed_red


def _table(n=30, m=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)) @ rng.normal(size=(m, m))


@pytest.mark.parametrize("m", [2, 3, 17])
def test_it_is_twice_the_printed_sum(m):
    X = _table(m=m)
    assert redundancy_rate(X) == pytest.approx(2 * printed_red(X), rel=1e-12)


def test_it_is_the_mean_of_the_pairs():
    X = _table()
    pairs = np.abs(np.corrcoef(X, rowvar=False))[np.triu_indices(6, 1)]
    assert redundancy_rate(X) == pytest.approx(pairs.mean(), rel=1e-12)


@given(st.integers(0, 100), st.floats(1e-200, 1e200), st.floats(-1e3, 1e3))
def test_scale_shift_sign_and_order_do_not_matter(seed, factor, shift):
    X = _table(seed=seed)
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], 6)
    other = ((X + shift) * signs * factor)[:, rng.permutation(6)]
    assert redundancy_rate(other) == pytest.approx(redundancy_rate(X), rel=1e-6)


def test_copies_have_one_and_constants_count_as_uncorrelated():
    x = _table(m=2)[:, 0]
    assert redundancy_rate(np.column_stack([x, x, -x])) == 1.0
    assert redundancy_rate(np.column_stack([x, np.full(30, 0.1)])) == 0.0
    assert redundancy_rate(np.column_stack([x, x, np.full(30, 0.1)])) == pytest.approx(1 / 3)


def test_frames_and_lists_are_tables():
    import pandas as pd

    X = _table()
    assert redundancy_rate(pd.DataFrame(X)) == redundancy_rate(X.tolist()) == redundancy_rate(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones(4), "shape"),
        (np.ones((4, 1)), "two features"),
        (np.ones((1, 4)), "two samples"),
        ([[1.0, np.nan], [2.0, 3.0]], "NaN"),
        ([["a", "b"], ["c", "d"]], "table of numbers"),
    ],
)
def test_bad_tables_are_named(X, words):
    with pytest.raises(InvalidInputError, match=words):
        redundancy_rate(X)
