"""The functions of mrmr_selection, against its formula in plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_selection import f_classif, f_regression

from hsiclasso import InvalidInputError
from hsiclasso.compat import mrmr_classif, mrmr_regression


@pytest.fixture
def targets(table):
    _, y = table
    return {"regression": y, "classes": np.digitize(y, [-1, 1])}


def by_hand(X, relevance, number):
    """The largest F over the mean |r| with those chosen before, floored at 0.001."""
    chosen, r = [], np.abs(np.corrcoef(X, rowvar=False))
    for _ in range(number):
        mean = np.maximum(r[:, chosen], 1e-3).mean(axis=1) if chosen else np.ones(len(r))
        score = relevance / mean
        score[chosen] = -np.inf
        chosen.append(int(np.argmax(score)))
    return chosen


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_selected_features(kind, table, targets):
    X, y = table[0], targets[kind]
    function, test = (
        (mrmr_regression, f_regression) if kind == "regression" else (mrmr_classif, f_classif)
    )
    assert function(X, y, 6) == by_hand(X, test(X, y)[0], 6)
    assert len(function(X, y, K=100)) == 15


def test_scores_and_names(table):
    pandas = pytest.importorskip("pandas")
    X, y = table
    frame = pandas.DataFrame(X).rename(columns="v{}".format)
    selected, relevance, redundancy = mrmr_regression(
        frame, pandas.Series(y), 4, return_scores=True, show_progress=False, n_jobs=1
    )
    assert selected == mrmr_regression(frame, y, 4)
    np.testing.assert_allclose(relevance[list(frame)], f_regression(X, y)[0])
    r = np.abs(np.corrcoef(X, rowvar=False))
    for place, name in enumerate(selected):
        for other in frame:
            compared = place < 3 and other not in selected[: place + 1]
            expected = r[frame.columns.get_loc(other), frame.columns.get_loc(name)]
            value = redundancy.loc[other, name]
            assert value == pytest.approx(max(expected, 1e-3) if compared else 1e-3)


def test_polars_names(table):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(table[0], schema=[f"v{j}" for j in range(15)])
    selected = mrmr_regression(frame, table[1], 3)
    assert selected == [f"v{k}" for k in mrmr_regression(*table, 3)]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"K": 0}, "K=0 must be a whole number >= 1"),
        ({"relevance": "rf"}, "relevance='rf', but only 'f' is served here: hsiclasso.baselines"),
        ({"relevance": f_regression}, "but only 'f' is served"),
        ({"redundancy": "x"}, "redundancy='x', but only 'c'"),
        ({"denominator": "max"}, "denominator='max', but only 'mean'"),
        ({"only_same_domain": True}, "only_same_domain=True, but only False"),
        ({"cat_features": ["v1"]}, "cat_features: columns of labels are not encoded here"),
        ({"return_scores": 1}, "return_scores=1 must be True or False"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_what_is_refused(option, words, table):
    for function in (mrmr_regression, mrmr_classif):
        with pytest.raises(InvalidInputError, match=words):
            function(*table, **{"K": 3, **option})
    with pytest.raises(TypeError):
        mrmr_regression(*table, 3, progress=True)


def test_arguments_are_in_the_order_of_mrmr_selection(table):
    """They are given by place: X, y, K, relevance, ..., return_scores."""
    pytest.importorskip("pandas")
    args = ("f", "c", "mean", None, "leave_one_out", False, True)
    assert len(mrmr_regression(*table, 3, *args)) == 3
