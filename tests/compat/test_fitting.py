"""The exact fit, against dense matrices."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hsiclasso.compat import HSICLasso, fitting
from hsiclasso.solvers import Status
from tests import oracles
from tests.compat import dense


def fit(X, y, method, number, **options):
    model = HSICLasso()
    model.input(X, y)
    assert getattr(model, method)(number, B=0, **options) is True
    return model


@pytest.mark.parametrize("number", [1, 3, 6, 14])
@pytest.mark.filterwarnings("ignore::hsiclasso.errors.FewerFeaturesWarning")
def test_regression(table, number):
    X, y = table
    model = fit(X, y, "regression", number)
    dense.check_path(
        model, dense.feature_matrices(X), dense.normalised(dense.joint_gram(y)), number
    )


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("labels", [(0, 1, 2), ("low", "middle", "high")])
def test_classification(table, discrete, labels):
    X, y = table
    X = np.round(X) if discrete else X
    classes = np.array(labels)[np.digitize(y, np.quantile(y, [0.3, 0.7]))]
    model = fit(X, classes, "classification", 4, discrete_x=discrete)
    target = dense.normalised(oracles.delta_gram(classes))
    dense.check_path(model, dense.feature_matrices(X, discrete), target, 4)


def test_several_outputs_share_one_scale(table):
    X, y = table
    Y = np.column_stack([y, 5 * X[:, 3] + 10])
    model = fit(X, Y, "regression", 4)
    dense.check_path(model, dense.feature_matrices(X), dense.normalised(dense.joint_gram(Y)), 4)


def test_several_outputs_of_classes_have_a_kernel_each(table):
    X, y = table
    Y = np.column_stack([y > 0, X[:, 3] > 0.5]).astype(int)
    model = fit(X, Y, "classification", 4)
    target = sum(oracles.delta_gram(column) for column in Y.T)
    dense.check_path(model, dense.feature_matrices(X), dense.normalised(target), 4)


@pytest.mark.parametrize("columns", [[0], [0, 5]])
@pytest.mark.parametrize("method", ["regression", "classification"])
def test_covariates_are_subtracted(table, columns, method):
    X, y = table
    covars = X[:, columns] * [1.0, 7.0][: len(columns)]
    if method == "classification":
        y = (y > 0).astype(int)
    gram = oracles.delta_gram if method == "classification" else dense.joint_gram
    target = dense.normalised(gram(y))
    target = oracles.without(target, dense.normalised(dense.joint_gram(covars)))
    model = fit(X, y, method, 3, covars=covars)
    dense.check_path(model, dense.feature_matrices(X), target, 3)


def test_covariates_of_labels(table):
    X, y = table
    batch = np.repeat([0, 1, 2], 20)
    model = fit(X, y, "regression", 3, covars=batch[:, None], covars_kernel="Delta")
    target = dense.normalised(dense.joint_gram(y))
    target = oracles.without(target, dense.normalised(oracles.delta_gram(batch)))
    dense.check_path(model, dense.feature_matrices(X), target, 3)


def test_the_path_goes_on_where_a_feature_leaves():
    """With five features one leaves; five are there again before a sixth joins."""
    rng = np.random.default_rng(229)
    factors = rng.standard_normal((40, 3))
    X = factors @ rng.standard_normal((3, 12)) + 0.3 * rng.standard_normal((40, 12))
    y = factors[:, 0] * factors[:, 1] + factors[:, 2] + 0.2 * rng.standard_normal(40)
    model = fit(X, y, "regression", 5)
    sizes = np.count_nonzero(model.path, axis=0)
    assert (np.diff(sizes) < 1).any()
    dense.check_path(model, dense.feature_matrices(X), dense.normalised(dense.joint_gram(y)), 5)


def test_neighbours(table):
    X, y = table
    model = fit(X, y, "regression", 4, max_neighbors=6)
    A = dense.feature_matrices(X)
    for place, k in enumerate(model.A):
        columns, values = dense.nearest(A, k, 6)
        assert model.A_neighbors[place] == [k, *columns]
        assert model.get_index_neighbors(place, 6) == columns
        np.testing.assert_allclose(model.A_neighbors_score[place], [1, *values], atol=1e-5)


def test_equal_columns_are_told_apart():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 50))
    X = np.column_stack([rng.standard_normal(50), x, x, -x, rng.standard_normal(50)])
    model = fit(X, x + 0.1 * y, "regression", 1)
    assert model.get_index() == [1]
    assert model.get_index_neighbors(0, 2) == [2, 3]
    np.testing.assert_allclose(model.get_index_neighbors_score(0, 2), 1.0, atol=1e-9)


def test_a_path_that_stalls_is_no_secret(table, monkeypatch):
    monkeypatch.setattr(fitting, "_cut", lambda path, _: replace(path, status=Status.STALLED))
    with pytest.warns(ConvergenceWarning, match="stopped early because rounding errors"):
        fit(*table, "regression", 3)


def test_order_is_by_weight(fitted):
    scores = fitted.get_index_score()
    assert (np.diff(scores) < 0).all()
    np.testing.assert_array_equal(scores, fitted.beta[fitted.A, 0])
    assert np.count_nonzero(fitted.beta) == 4
