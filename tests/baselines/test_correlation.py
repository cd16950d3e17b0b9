"""Correlations, and the F-test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression, r_regression

from hsiclasso import Auto, InvalidInputError, Real
from hsiclasso.baselines.correlation import f_statistic
from hsiclasso.baselines.dependency import dependency_matrix
from tests.baselines import conftest
from tests.baselines import oracle_measures as oracle
from tests.baselines.conftest import all_pairs
from tests.columns import KINDS, make

#: Without denormal numbers, whose mean has hardly any digits.
SOUND = sorted(set(KINDS) - {"denormal"})
CLOSE = {"rtol": 1e-10, "atol": 1e-12}


def relate(X, y, **options):
    return conftest.relate(X, y, "correlation", **options)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 6)) @ rng.standard_normal((6, 6))
    return X, X[:, 0] - 2 * X[:, 3] + rng.standard_normal(80)


def test_real_targets_as_in_scikit_learn(table):
    X, y = table
    related = relate(X, y)
    np.testing.assert_allclose(related.relevance, np.abs(r_regression(X, y)), **CLOSE)
    np.testing.assert_allclose(related.f_statistic(), f_regression(X, y)[0], rtol=1e-9)
    np.testing.assert_allclose(all_pairs(related), np.abs(np.corrcoef(X.T)), **CLOSE)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_classes_as_in_scikit_learn(table, n_classes):
    X, y = table
    classes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    related = relate(X, classes)
    expected = [oracle.correlation_ratio(x, classes) for x in X.T]
    np.testing.assert_allclose(related.relevance, expected, **CLOSE)
    np.testing.assert_allclose(related.f_statistic(), f_classif(X, classes)[0], rtol=1e-9)


def test_two_classes_are_as_good_as_two_numbers(table):
    X, y = table
    by_class, by_number = relate(X, y > 0), relate(X, 3.0 * (y > 0) - 1, target="real")
    np.testing.assert_allclose(by_class.relevance, by_number.relevance, **CLOSE)
    np.testing.assert_allclose(by_class.f_statistic(), by_number.f_statistic(), rtol=1e-9)


def test_ranks_and_counts(table):
    X, y = table
    ranked = relate(X, np.exp(y), target=Auto(transform="rank"))
    ranks = y.argsort().argsort()
    np.testing.assert_allclose(ranked.relevance, np.abs(r_regression(X, ranks)), **CLOSE)
    counts = np.floor(np.exp(y / 2))
    roots = np.sqrt(counts + 0.375)
    found = relate(X, counts, target="counts").relevance
    np.testing.assert_allclose(found, np.abs(r_regression(X, roots)), **CLOSE)


def test_several_outputs(table, rng):
    X, y = table
    Y = np.column_stack([y, X[:, 1] + rng.standard_normal(80), y + rng.standard_normal(80)])
    each = [relate(X, z) for z in Y.T]
    averaged = relate(X, Y, target=Auto(outputs="average"))
    np.testing.assert_allclose(
        averaged.relevance, np.mean([one.relevance for one in each], axis=0), **CLOSE
    )
    np.testing.assert_allclose(
        averaged.f_statistic(), np.mean([one.f_statistic() for one in each], axis=0), rtol=1e-9
    )
    joint = relate(X, Y)
    expected = np.array([oracle.multiple_correlation(x, Y) for x in X.T])
    np.testing.assert_allclose(joint.relevance, expected, **CLOSE)
    np.testing.assert_allclose(joint.f_statistic(), f_statistic(expected, 80, 3), rtol=1e-8)
    # what depends on the others, or does not vary, adds nothing
    more = np.column_stack([Y, Y @ [1, 2, 3], np.ones(80)])
    again = relate(X, more)
    np.testing.assert_allclose(again.relevance, expected, **CLOSE)
    np.testing.assert_allclose(again.f_statistic(), joint.f_statistic(), rtol=1e-8)


def test_labels(table):
    X, y = table
    Y = np.column_stack([y > 0, X[:, 1] > 0.5, X[:, 2] > X[:, 4]]).astype(int)
    each = [[oracle.correlation_ratio(x, z) for x in X.T] for z in Y.T]
    np.testing.assert_allclose(relate(X, Y).relevance, np.mean(each, axis=0), **CLOSE)
    words = Y @ [1, 2, 4]
    joint = [oracle.correlation_ratio(x, words) for x in X.T]
    np.testing.assert_allclose(relate(X, Y, target=Auto(outputs="joint")).relevance, joint, **CLOSE)


@given(
    kinds=st.tuples(*[st.sampled_from(SOUND)] * 2),
    n=st.integers(5, 60),
    seed=st.integers(0, 999),
)
def test_columns_of_every_kind(kinds, n, seed):
    """Correlations are those of columns brought to a common size, and at most 1."""
    x, z = (make(kind, n, seed + i) for i, kind in enumerate(kinds))
    related = relate(np.column_stack([x, z]), z, target="real")
    a, b = ((c - c.mean()) / np.abs(c - c.mean()).max() for c in (x, z))
    expected = abs(np.corrcoef(a, b)[0, 1])
    np.testing.assert_allclose(related.relevance, [expected, 1.0], rtol=0, atol=1e-7)
    redundancy = all_pairs(related)
    assert (redundancy <= 1).all()
    np.testing.assert_allclose(redundancy, [[1, expected], [expected, 1]], rtol=0, atol=1e-7)


def test_invariances(table, rng):
    X, y = table
    related = relate(X, y)
    order, samples = rng.permutation(6), rng.permutation(80)
    moved = relate(X[samples][:, order], y[samples])
    np.testing.assert_allclose(moved.relevance, related.relevance[order], **CLOSE)
    scaled = relate(X * [1e3, -1e-3, 7, 1, 1, -2] + [5, 1e3, 0, -9, 1e3, 1], 3 - 2 * y)
    np.testing.assert_allclose(scaled.relevance, related.relevance, rtol=1e-8)
    np.testing.assert_allclose(all_pairs(scaled), all_pairs(related), atol=1e-9)


def test_copies_and_constants(table):
    X, y = table
    related = relate(np.column_stack([X, -2 * X[:, 0], np.ones(80)]), y)
    redundancy = all_pairs(related)
    assert redundancy[6, 0] == pytest.approx(1, abs=1e-12)
    assert related.relevance[7] == related.f_statistic()[7] == 0
    assert redundancy[7].tolist() == [0] * 8


def test_blocks_are_the_same_however_they_are_cut(table, monkeypatch):
    X, y = table
    related = relate(X, y)
    whole = all_pairs(related)
    rows, cols = np.array([4, 0, 5]), np.array([5, 2])
    np.testing.assert_allclose(related.block(rows, cols), whole[np.ix_(rows, cols)], **CLOSE)
    monkeypatch.setattr("hsiclasso.baselines.correlation._BLOCK", 100)
    threaded = relate(X, y, n_threads=3)
    found = dependency_matrix(threaded, lambda *_: None)
    np.testing.assert_allclose(found, whole, **CLOSE)


def test_sparse_and_boolean_tables(table):
    X, y = table
    holes = np.where(X > 0.5, X, 0.0)
    dense, stored = relate(holes, y), relate(sparse.csc_array(holes), y)
    assert (dense.relevance == stored.relevance).all()
    flags = relate(X > 0, y)
    np.testing.assert_allclose(flags.relevance, np.abs(r_regression(X > 0, y)), **CLOSE)


def test_f_statistic_at_its_ends():
    assert f_statistic(np.array([0.0, 1.0]), 10).tolist() == [0.0, np.finfo(float).max]
    assert f_statistic(np.array([0.5, 1.0]), 3, 2).tolist() == [0.0, 0.0]
    x = np.arange(12.0)
    perfect = relate(x[:, None], x, target="real")
    assert perfect.f_statistic()[0] == f_regression(x[:, None], x)[0][0]
    two = relate(x[:, None], np.column_stack([x, x]), target=Real(outputs="average"))
    assert np.isfinite(two.f_statistic()).all()


@pytest.mark.parametrize(
    ("target", "options"),
    [
        (lambda y: (np.exp(y), y > 0), {"target": "survival"}),
        (lambda y: np.array(list(zip(np.exp(y), y > 0, strict=True)), dtype="f8,?"), {}),
    ],
)
def test_targets_that_nothing_can_be_correlated_with(table, target, options):
    X, y = table
    with pytest.raises(InvalidInputError, match=r"'survival', with which nothing.*measure='hsic'"):
        relate(X, target(y), **options)


def test_tables_with_labels(table):
    X, y = table
    frame = pd.DataFrame({"number": X[:, 0], "word": np.where(y > 0, "a", "b")})
    with pytest.raises(InvalidInputError, match="column 'word' holds labels"):
        relate(frame, y)
