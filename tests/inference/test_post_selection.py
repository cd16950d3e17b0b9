"""P-values of selected features that know of the selection."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, kstest

from hsiclasso import (
    AlphaRatio,
    ElasticNet,
    EmbeddingLasso,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    Ordinal,
    Real,
    as_source,
    post_selection_test,
)


def table(seed=0, n=400, d=12):
    """Two causal columns, and others that are independent of everything."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize(("quantity", "estimator"), [("hsic", "block"), ("partial", "incomplete")])
def test_null_p_values_are_uniform_and_intervals_cover(quantity, estimator):
    values, covered = [], []
    for seed in range(120):
        X, y = table(seed)
        found = post_selection_test(
            HSICLasso(3, n_jobs=1), X, y, quantity=quantity, estimator=estimator, random_state=seed
        )
        nulls = [feature for feature in found.features if feature.index > 1]
        if nulls:  # one of each draw, because those of a draw are dependent
            one = max(nulls, key=lambda feature: feature.index)
            values.append(one.p_value)
            covered.append(one.low <= 0 <= one.high)
    n = len(values)
    assert n > 50
    assert kstest(values, "uniform").pvalue > 1e-3
    assert sum(value <= 0.1 for value in values) <= binom.ppf(0.999, n, 0.1)
    assert sum(covered) >= binom.ppf(0.001, n, 0.9)


@pytest.mark.parametrize("quantity", ["hsic", "partial"])
def test_causal_features_have_small_p_values(quantity):
    X, y = table(n=2000)
    found = post_selection_test(HSICLasso(2), X, y, quantity=quantity, random_state=0)
    first = {feature.index: feature for feature in found.features[:2]}
    assert set(first) == {0, 1}
    assert all(feature.p_value < 1e-3 and feature.low > 0 for feature in first.values())


def test_the_options_change_the_answer():
    X, y = table(n=600)

    def answer(**options):
        return post_selection_test(HSICLasso(3), X, y, random_state=0, **options).to_dict()

    usual = answer()
    assert usual == answer()
    for options in ({"quantity": "hsic"}, {"n_screened": 4}, {"estimator": "block"}, {"size": 2},
                    {"split": 0.4}, {"confidence": 0.5}):  # fmt: skip
        assert usual != answer(**options)
    for name, value in (("estimator", "block"), ("quantity", "hsic"), ("confidence", 0.5)):
        assert answer(**{name: value})[name] == value
    assert len(answer(n_screened=4)["screened"]) == 4
    assert len(usual["screened"]) == 6
    assert (usual["n_first"], usual["n_second"]) == (300, 300)
    assert answer(estimator="block", size=15)["n_sets"] == 20
    assert answer(estimator="incomplete", size=2)["n_sets"] == 150
    other = post_selection_test(HSICLasso(3), X, y, random_state=1).to_dict()
    assert usual != other
    kernel = post_selection_test(HSICLasso(3, kernel="laplace"), X, y, random_state=0).to_dict()
    target = post_selection_test(
        HSICLasso(3, target=Real(transform="rank")), X, y, random_state=0
    ).to_dict()
    assert usual not in (kernel, target)


def test_nothing_of_the_scale_matters():
    X, y = table()
    usual = post_selection_test(None, X, y, random_state=0)
    scaled = post_selection_test(HSICLasso(), 1e6 * X - 3, 5 * y + 1, random_state=0)
    np.testing.assert_allclose(usual.p_values, scaled.p_values, rtol=1e-5)


def test_result():
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    found = post_selection_test(HSICLasso(3), frame, y, quantity="hsic", random_state=0)
    rows = found.to_frame()
    assert list(rows["name"]) == [f"g{j}" for j in rows["index"]]
    assert rows["p_value"].is_monotonic_increasing
    assert ((rows["low"] <= rows["high"]) & (rows["standard_error"] > 0)).all()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["quantity"] == "hsic"
    plain = post_selection_test(HSICLasso(3), as_source(X), y, quantity="hsic", random_state=0)
    np.testing.assert_allclose(plain.p_values, found.p_values)
    assert found.alpha > 0
    with pytest.raises(AttributeError):
        found.alpha = 0.0


def test_nothing_selected_is_an_answer():
    """If nothing on the first part depends on the target, little or nothing is selected."""
    counts = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
        found = post_selection_test(HSICLasso(1), X, y, random_state=seed)
        counts.append(len(found.to_frame()))
        assert list(found.to_frame().columns)[:2] == ["name", "index"]
    assert min(counts) == 0


def test_classes_and_categories():
    X, y = table(n=1200)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(str)
    found = post_selection_test(HSICLasso(2), X, labels, quantity="hsic", random_state=0)
    assert {feature.index for feature in found.features if feature.p_value < 0.01} == {0, 1}
    frame = pd.DataFrame(X).rename(columns=str)
    frame["0"] = np.where(np.abs(X[:, 0]) > 0.7, "far", "near")
    mixed = post_selection_test(HSICLasso(2), frame, y, quantity="hsic", random_state=0)
    assert {"0", "1"} <= {feature.name for feature in mixed.features if feature.p_value < 0.01}


@pytest.mark.parametrize(
    ("selector", "options", "message"),
    [
        (None, {"quantity": "full"}, "quantity='full' is unknown"),
        (None, {"estimator": "full"}, "estimator='full' is unknown"),
        (None, {"size": 0}, "size=0 must be a whole number >= 1"),
        (None, {"size": 4, "estimator": "block"}, "size=4 must be a whole number >= 5"),
        (None, {"n_screened": 0}, "n_screened=0 must be a whole number >= 1"),
        (None, {"split": 1.0}, "split=1.0 must be a number between 0 and 1"),
        (None, {"confidence": "x"}, "confidence='x' must be a number"),
        (None, {"random_state": -1}, "random_state=-1 is no source"),
        (None, {"split": 0.98}, "split=0.98 of 60 samples leaves 1 in the second part"),
        (None, {"estimator": "block"}, "3 sets of samples for 10 features"),
        (NOCCOLasso(), {}, "the test is of HSIC Lasso"),
        (EmbeddingLasso(), {}, "the test is of HSIC Lasso"),
        (HSICLasso(measure="nhsic"), {}, "the test is of HSIC Lasso"),
        (HSICLasso(2, exclude=[0]), {}, "selector has exclude for some"),
        (HSICLasso(2, penalty=ElasticNet()), {}, "chooses the penalty of a plain lasso itself"),
        (HSICLasso(alpha=AlphaRatio(0.1)), {}, "chooses the penalty of a plain lasso itself"),
        (HSICLasso(2, target=Ordinal()), {}, "the test serves 'real', 'classes' or 'counts'"),
        (HSICLasso(2, target=Real(missing="drop")), {"drop": True}, "with a value on every sample"),
    ],
)  # fmt: skip
def test_bad_options(selector, options, message, rng):
    X, y = rng.standard_normal((60, 10)), rng.standard_normal(60)
    if options.pop("drop", False):
        y[3] = np.nan
    with pytest.raises(InvalidInputError, match=message):
        post_selection_test(selector, X, y, **options)


def test_copies_are_refused():
    X, y = table()
    X[:, 1] = X[:, 0]
    with pytest.raises(InvalidInputError, match="is determined by other features, such as"):
        post_selection_test(HSICLasso(2), X, y, random_state=0)
