"""The selector by tests, in scikit-learn's terms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from hsiclasso import InvalidInputError, SelectByTest, hsic_scan, make_data1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        SelectByTest(),
        SelectByTest("n_features", 2),
        SelectByTest("fwe_permutation", 0.5, n_permutations=9),
    ],
    ids=str,
)
def test_scikit_learn_checks(estimator):
    check_estimator(estimator)


def test_selects_what_the_scan_finds(rng):
    X = rng.normal(size=(150, 30))
    y = X[:, 4] + np.abs(X[:, 20]) + 0.3 * rng.normal(size=150)
    selector = SelectByTest("fdr", 0.05).fit(X, y)
    scan = hsic_scan(X, y)
    assert selector.selected_.tolist() == scan.selected("fdr", 0.05).tolist()
    assert selector.selected_[0] == np.argmin(scan.p_value)
    assert {4, 20} <= set(selector.selected_)
    np.testing.assert_array_equal(selector.p_value_, scan.p_value)
    np.testing.assert_array_equal(selector.q_value_, scan.q_value)
    assert selector.transform(X).shape == (150, selector.selected_.size)
    model = make_pipeline(SelectByTest("n_features", 2), KNeighborsRegressor())
    assert cross_val_score(model, X, y).mean() > 0.5


def test_every_parameter_is_used(rng):
    X, y, _ = make_data1(100, 40, random_state=0)
    X = np.column_stack([X, rng.binomial(2, 0.3, 100)])
    default = SelectByTest("fpr", 0.2).fit(X, y)
    assert SelectByTest("fpr", 0.2, kernel="linear").fit(X, y).p_value_[0] != default.p_value_[0]
    raw = SelectByTest("fpr", 0.2, target="classes").fit(X, y > 0)
    assert raw.result_.target == "classes"
    assert SelectByTest("fwe", 0.01).fit(X, y).selected_.size < default.selected_.size
    family = SelectByTest("fwe_permutation", 0.3, n_permutations=19, random_state=0).fit(X, y)
    again = SelectByTest("fwe_permutation", 0.3, n_permutations=19, random_state=0, n_jobs=1)
    np.testing.assert_array_equal(
        family.result_.family_p_value, again.fit(X, y).result_.family_p_value
    )
    gaps = X.copy()
    gaps[0, 0] = np.nan
    with pytest.raises(InvalidInputError, match="NaN"):
        SelectByTest().fit(gaps, y)
    assert SelectByTest(missing="ignore").fit(gaps, y).result_.n_observed[0] == 99
    stages = []
    SelectByTest(n_permutations=3).fit(X, y, progress=lambda *done: stages.append(done[0]))
    assert set(stages) == {"test", "permutations"}


@pytest.mark.parametrize(
    ("mode", "level", "message"),
    [
        ("fdr", 0, "level=0, but mode='fdr' needs a number between 0 and 1"),
        ("n_features", 0.5, "level=0.5 must be a whole number"),
        ("k_best", 3, "mode='k_best' is unknown"),
    ],
)
def test_wrong_modes_are_refused_before_work(rng, mode, level, message):
    with pytest.raises(InvalidInputError, match=message):
        SelectByTest(mode, level).fit(rng.normal(size=(20, 3)), rng.normal(size=20))
