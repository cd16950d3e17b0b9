"""Which classes a feature speaks for: parts of its relevance, one for each class."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hsiclasso import Classes, ControlledSelection, EmbeddingLasso, HSICLasso, NOCCOLasso
from hsiclasso.targets import Affinity
from tests import oracles


def table(seed=0, n=120, n_classes=4):
    """Return a table, each of whose first columns is shifted in one class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = rng.standard_normal((n, 8))
    for c in range(n_classes):
        X[:, c] += 2.5 * (y == c)
    return X, np.array([f"type {c}" for c in y])


def parts_of(result):
    return np.array([list(one.classes.values()) for one in result.features])


@pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
@given(st.integers(0, 1000), st.integers(3, 6))
def test_parts_are_those_of_the_formula(seed, n_classes):
    X, y = table(seed, 60, n_classes)
    result = HSICLasso(5).fit(X, y).result_
    for one, parts in zip(result.features, parts_of(result), strict=True):
        gram = oracles.gaussian_gram(X[:, one.index])
        expected = oracles.class_parts(gram, y)
        np.testing.assert_allclose(parts, expected, rtol=1e-4, atol=2e-4 * expected.sum())
        assert list(one.classes) == sorted(set(y))


@pytest.mark.parametrize(
    "selector",
    [
        HSICLasso(4), HSICLasso(4, measure="nhsic"), NOCCOLasso(4), EmbeddingLasso(4),
        HSICLasso(4, kernel="laplace"), HSICLasso(4, target=Classes(kernel="plain_delta")),
        HSICLasso(4, covariates=[7]), HSICLasso(4, joint={"both": [0, 7]}),
        HSICLasso(4, interactions=[(0, 1)]), ControlledSelection(HSICLasso(), 0.2),
    ],
    ids=str,
)  # fmt: skip
def test_parts_are_positive_and_add_up_to_the_relevance(selector):
    X, y = table()
    result = selector.fit(X, y).result_
    assert result.features
    parts = parts_of(result)
    assert (parts >= 0).all()
    np.testing.assert_allclose(parts.sum(axis=1), [one.relevance for one in result.features])
    for one in result.features:
        if one.index < 4 and not one.members and len(one.columns) == 1:
            assert one.main_class == f"type {one.index}"
            share = max(one.classes.values()) / one.relevance
            assert one.main_class_share == pytest.approx(share)
            assert share > 0.4


def test_weights_repeat_samples():
    X, y = table(n=60)
    times = np.arange(60) % 3 + 1
    weighted = HSICLasso(4).fit(X, y, sample_weight=times).result_
    repeated = HSICLasso(4).fit(X.repeat(times, axis=0), y.repeat(times)).result_
    assert weighted.names == repeated.names
    np.testing.assert_allclose(parts_of(weighted), parts_of(repeated), rtol=1e-3)


def test_missing_values_and_samples_without_a_class():
    X, y = table()
    X[::5, 0] = np.nan
    y = y.astype(object)
    y[::7] = None
    selector = HSICLasso(4, missing="ignore", target=Classes(missing="drop"))
    result = selector.fit(X, y).result_
    parts = parts_of(result)
    np.testing.assert_allclose(parts.sum(axis=1), [one.relevance for one in result.features])
    own = [one for one in result.features if one.index == 0]
    assert [one.main_class for one in own] == ["type 0"]


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda y: y == "type 0", {}),  # two classes: both parts say the same
        (lambda y: np.unique(y, return_inverse=True)[1] * 1.0, {"target": "real"}),
        (lambda y: np.equal.outer(y, y) * 1.0, {"target": Affinity()}),
        (lambda y: y, {"covariates": [7], "subtract": True}),
    ],
    ids=["two", "real", "affinity", "subtract"],
)
def test_other_targets_have_none(make, options):
    from hsiclasso import Covariates

    X, y = table()
    if options.pop("subtract", False):
        options["covariates"] = Covariates([7], "subtract")
    result = HSICLasso(3, **options).fit(X, make(y)).result_
    assert all(one.classes == {} for one in result.features)
    assert result.features[0].main_class is None
    assert "main_class" not in result.fields
    assert result.classes_to_frame().shape == (3, 0)


def test_numbers_of_classes_are_called_as_files_have_them():
    X, y = table()
    codes = 1000001.0 + np.unique(y, return_inverse=True)[1]
    first = HSICLasso(3, target="classes").fit(X, codes).result_.features[0]
    assert list(first.classes) == [str(int(code)) for code in np.unique(codes)]


def test_frames_rows_and_json():
    X, y = table()
    result = HSICLasso(4).fit(pd.DataFrame(X, columns=list("abcdefgh")), y).result_
    frame = result.classes_to_frame()
    assert frame.index.tolist() == list(result.names)
    np.testing.assert_array_equal(frame.to_numpy(), parts_of(result))
    weights = result.classes_to_frame(weights=True)
    np.testing.assert_allclose(weights.sum(axis=1), [one.weight for one in result.features])
    rows = result.to_frame()
    assert rows["main_class"].tolist() == frame.idxmax(axis=1).tolist()
    assert json.loads(result.to_json())["features"][0]["classes"] == result.features[0].classes
