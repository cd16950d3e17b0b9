"""When to stop, what is reported, and every bad input."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from hsiclasso import (
    ConstantFeatureWarning,
    FewerFeaturesWarning,
    Gaussian,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    as_source,
    make_data1,
)
from hsiclasso.dependence import make_measure
from hsiclasso.selectors import FeatureOptions, Settings, StopOptions, TargetOptions, select
from hsiclasso.solvers import homotopy


@pytest.fixture
def data():
    return make_data1(80, 30, random_state=0)[:2]


def test_default_number_of_features(data):
    X, y = data
    assert HSICLasso().fit(X, y).selected_.size == 10
    assert HSICLasso().fit(X[:, :3], y).n_features_in_ == 3


def test_alpha_stops_the_path(data):
    X, y = data
    top = HSICLasso(1).fit(X, y).relevance_.max()
    selector = HSICLasso(alpha=0.3 * top).fit(X, y)
    assert selector.path_.alpha == pytest.approx(0.3 * top)
    assert selector.result_.status == "ALPHA"
    assert 0 < selector.selected_.size < 30
    # whichever comes first
    assert HSICLasso(1, alpha=0.3 * top).fit(X, y).selected_.size == 1
    assert HSICLasso(9, alpha=0.9 * top).fit(X, y).selected_.size < 9


def test_alpha_zero_goes_to_the_end(data):
    X, y = data
    selector = HSICLasso(alpha=0.0).fit(X, y)
    assert selector.result_.status == "PATH_END"
    assert selector.path_.alpha == 0
    assert selector.result_.certificate.duality_gap < 1e-10


def test_fewer_features_than_asked_are_explained(rng):
    x = rng.standard_normal(60)
    X = np.column_stack([x, 2 * x, -x, x + 1])  # one feature, four times
    with pytest.warns(FewerFeaturesWarning, match=r"The last 2 have weight 0"):
        selector = HSICLasso(3).fit(X, x)
    assert selector.result_.status == "PATH_END"
    assert "no further feature can lower the objective" in selector.result_.message
    assert selector.result_.n_requested == 3
    assert selector.selected_.tolist() == [0, 1, 2]
    assert [f.origin for f in selector.result_.features] == ["path", "filled", "filled"]
    assert np.flatnonzero(selector.coef_).tolist() == [0]


def test_fewer_features_than_can_be_filled_in(rng):
    X = np.column_stack([rng.standard_normal(60), np.ones(60), np.ones(60)])
    with (
        pytest.warns(ConstantFeatureWarning),
        pytest.warns(FewerFeaturesWarning, match="1 feature selected of 3 asked for"),
    ):
        selector = HSICLasso(3).fit(X, X[:, 0])
    assert selector.selected_.tolist() == [0]


def test_constant_columns_are_named(data):
    X, y = data
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(30)])
    frame["batch"], frame["site"] = 1.0, 0
    with pytest.warns(ConstantFeatureWarning, match="2 of 32 columns do not vary.*batch, site"):
        selector = HSICLasso(5).fit(frame, y)
    assert selector.result_.constant == ("batch", "site")
    assert selector.coef_[30:].tolist() == [0, 0]


def test_only_constant_columns():
    with (
        pytest.warns(ConstantFeatureWarning, match="x0, x1, x2, x3, x4, ..."),
        pytest.warns(FewerFeaturesWarning, match="every relevance is zero"),
    ):
        selector = HSICLasso(2).fit(np.ones((10, 7)), np.arange(10.0))
    assert selector.selected_.size == 0
    assert selector.result_.features == ()


def test_extreme_magnitudes_give_finite_results(data):
    X, y = data
    X = X * np.resize([1e300, 5e-310, 1.0, 1e-300, 1e-30], 30)
    selector = NOCCOLasso(5).fit(X, 1e300 * y / np.abs(y).max())
    assert np.isfinite(selector.coef_).all()
    assert np.isfinite(selector.relevance_).all()
    reference = NOCCOLasso(5).fit(data[0], y)
    assert set(selector.selected_) == set(reference.selected_)


def test_result_is_data(data):
    X, y = data
    result = HSICLasso(4, n_neighbors=3).fit(X, y).result_
    frame = result.to_frame()
    assert frame["name"].tolist() == list(result.names)
    assert frame["rank"].tolist() == [1, 2, 3, 4]
    parsed = json.loads(result.to_json())
    assert parsed["features"][0]["neighbours"][0].keys() == {"name", "index", "similarity"}
    assert parsed["certificate"]["n_candidates"] >= 4
    assert parsed["method"] == "HSIC Lasso"
    with pytest.raises(AttributeError):
        result.alpha = 3


def test_neighbours_are_nearest_first_and_not_the_feature_itself(data):
    X, y = data
    for feature in HSICLasso(4, n_neighbors=5).fit(X, y).result_.features:
        similarity = [other.similarity for other in feature.neighbours]
        assert similarity == sorted(similarity, reverse=True)
        assert feature.index not in [other.index for other in feature.neighbours]
        assert all(0 <= s <= 1 for s in similarity)


def test_a_stalled_path_warns_with_its_gap(data, monkeypatch):
    monkeypatch.setattr(homotopy, "_MAX_STEPS", 3)
    with pytest.warns(ConvergenceWarning, match="rounding errors.*duality gap reached is"):
        selector = HSICLasso(20).fit(*data)
    assert selector.result_.status == "STALLED"


def test_progress_and_interruption(data):
    X, y = data
    settings = Settings(StopOptions(5), make_measure("hsic"), FeatureOptions(), TargetOptions())
    stages = []
    select(as_source(X), y, settings, progress=lambda *call: stages.append(call))
    assert stages[0] == ("relevance", 30, 30)
    assert stages[-1] == ("path", 5, 5)


def frame(X, **columns):
    return pd.DataFrame(X).rename(columns=str).assign(**columns)


BAD_TABLES = {
    "nan": (lambda X: _with(X, np.nan), "NaN in column 'x2'"),
    "inf": (lambda X: _with(X, np.inf), "infinity in column 'x2'"),
    "complex": (lambda X: X + 1j, "Complex data not supported"),
    "no rows": (lambda X: X[:0], "n_samples=0"),
    "two rows": (lambda X: X[:2], "n_samples=2.*3 samples or more"),
    "no columns": (lambda X: X[:, :0], r"0 feature\(s\)"),
    "one-dimensional": (lambda X: X[:, 0], "Expected 2D array, got 1D array"),
    "text": (lambda X: X.astype(str) + "a", "not numbers"),
    "text objects": (lambda X: X.astype(str).astype(object) + "a", "not numbers"),
    "dates": (lambda X: frame(X, day=pd.Timestamp("2020")), "column 'day'.*datetime64.*encode"),
    "complex column": (lambda X: frame(X, z=1j), "Complex data not supported: column 'z'"),
    "names twice": (lambda X: frame(X[:, :2]).set_axis(["a", "a"], axis=1), "'a'.* more than once"),
    "missing in frame": (lambda X: frame(_with(X, np.nan)), "NaN in column '2'"),
}


def _with(X, value):
    X = X.copy()
    X[5, 2] = value
    return X


@pytest.mark.parametrize("kind", sorted(BAD_TABLES))
def test_bad_tables(kind, data):
    X, y = data
    spoil, message = BAD_TABLES[kind]
    spoilt = spoil(X)
    with pytest.raises(ValueError, match=message):
        HSICLasso(1).fit(spoilt, y[: len(spoilt)])


BAD_TARGETS = {
    "none": (None, "y is None"),
    "short": (np.arange(79.0), "y has 79 values and X has 80 samples"),
    "two constant columns": (np.ones((80, 2)), "2 columns and none varies"),
    "three dimensions": (np.ones((80, 2, 2)), "dim 3|1d array"),
    "one class": (["a"] * 80, "only one class"),
    "constant": (np.full(80, 2.5), "only one value"),
    "nan": (np.r_[np.nan, np.arange(79.0)], "Input y contains NaN"),
    "none inside": (["a", None] * 40, "contains NaN or None, first in row 1"),
    "complex": (np.arange(80) * 1j, "Complex data not supported"),
}


@pytest.mark.parametrize("kind", sorted(BAD_TARGETS))
def test_bad_targets(kind, data):
    y, message = BAD_TARGETS[kind]
    with pytest.raises(ValueError, match=message):
        HSICLasso(2).fit(data[0], y)


BAD_OPTIONS = [
    ({"n_features_to_select": 31}, "n_features_to_select=31 is greater than n_features=30"),
    ({"n_features_to_select": 0}, "n_features_to_select=0"),
    ({"n_features_to_select": 2.5}, "n_features_to_select=2.5 must be a whole number"),
    ({"n_features_to_select": True}, "n_features_to_select=True"),
    ({"alpha": -1.0}, "alpha=-1.0"),
    ({"alpha": np.nan}, "alpha=nan"),
    ({"measure": "nocco"}, "use NOCCOLasso"),
    ({"task": "ranking"}, "task='ranking' is unknown"),
    ({"x_kernel": "cosine"}, "x_kernel='cosine' is unknown"),
    ({"y_kernel": "cosine"}, "y_kernel='cosine' is unknown"),
    ({"x_width": 0.0}, "width=0.0"),
    ({"y_width": -2}, "width=-2"),
    ({"y_transform": "log"}, "y_transform='log' is unknown"),
    ({"tol": 0.5}, "tol=0.5"),
    ({"embedding": "fourier"}, "embedding='fourier' is unknown"),
    ({"n_neighbors": -1}, "n_neighbors=-1"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=str)
def test_bad_options(options, message, data):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(**options).fit(*data)


NO_MEANING = [
    ({"x_kernel": "delta", "x_width": 2.0}, "x_width=2.0 has no meaning beside x_kernel='delta'"),
    ({"x_kernel": Gaussian(0.5), "x_width": 2.0}, r"beside x_kernel=Gaussian\(width=0.5\)"),
    ({"y_kernel": "linear", "y_width": "median"}, "y_width='median' has no meaning beside"),
    ({"multioutput": "joint"}, "multioutput='joint' has no meaning for a target of one column"),
    ({"covariate_method": "subtract"}, "'subtract' has no meaning without covariates"),
    (
        {"y_kernel": lambda a, b: 1.0 + (a == b), "y_transform": "rank"},
        "y_transform='rank' has no meaning for a target under a function",
    ),
    (
        {"y_kernel": lambda a, b: 1.0 + (a == b), "task": "ordinal"},
        "task='ordinal' has no meaning for a target under a function",
    ),
]


@pytest.mark.parametrize(("options", "message"), NO_MEANING)
def test_options_that_have_no_meaning_are_refused(options, message, data):
    with pytest.raises(InvalidInputError, match=message):
        HSICLasso(2, **options).fit(*data)


def test_bad_epsilon(data):
    with pytest.raises(InvalidInputError, match="epsilon=0"):
        NOCCOLasso(2, epsilon=0).fit(*data)
