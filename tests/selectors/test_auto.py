"""``n_features_to_select="auto"``: tests of candidates say how many features there are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    ControlledSelection,
    ElasticNet,
    EmbeddingLasso,
    GroupLasso,
    HSICLasso,
    HSICLassoCV,
    InvalidInputError,
    KnockoffSelection,
    NOCCOLasso,
    Resources,
    StabilitySelection,
    plan,
    post_selection_test,
)

FAMILIES = [HSICLasso, NOCCOLasso, EmbeddingLasso]
#: Checks with weights other than 0 and 1, which tests do not serve.
WEIGHTED = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
        "check_sample_weights_list",
        "check_sample_weights_not_overwritten",
    ),
    "samples of unequal weight cannot be exchanged",
)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([HSICLasso("auto")], expected_failed_checks=lambda _: WEIGHTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    """Two causes, a copy of the first, and noise."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 7))
    X[:, 2] = X[:, 0] + 0.2 * X[:, 2]
    return X, 2 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(120)


@pytest.mark.parametrize("family", FAMILIES)
def test_it_is_a_controlled_selection_of_the_selector(table, family):
    X, y = table
    found, same = family("auto").fit(X, y), ControlledSelection(family()).fit(X, y)
    assert {0, 1} <= set(found.selected_)
    for name in ("selected_", "coef_", "relevance_", "p_values_", "q_values_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(same, name))
    assert found.result_.to_dict() == same.result_.to_dict()
    assert all(feature.q_value <= 0.1 for feature in found.result_.features)
    assert len(found.result_.clusters) == found.selected_.size
    assert sum(feature.share for feature in found.result_.features) == pytest.approx(1.0)
    assert found.get_params()["n_features_to_select"] == "auto"


def test_it_has_all_that_a_selection_has(table):
    X, y = table
    found, plain = HSICLasso("auto").fit(X, y), HSICLasso(2).fit(X, y)
    assert vars(plain).keys() | {"p_values_", "q_values_"} == vars(found).keys()
    kernel = found.selected_kernel_
    np.testing.assert_array_equal(kernel.columns, found.selected_)
    np.testing.assert_allclose(kernel.weights, found.coef_[found.selected_])
    np.testing.assert_array_equal(found.n_observed_, plain.n_observed_)
    np.testing.assert_array_equal(found.transform(X), X[:, np.sort(found.selected_)])
    found.set_params(n_features_to_select=2).fit(X, y)
    assert vars(plain).keys() == vars(found).keys()


def test_functions_are_those_of_the_features_that_are_found(table):
    X, y = table
    found = EmbeddingLasso("auto").fit(X, y)
    columns = np.sort(found.selected_)
    alone = EmbeddingLasso(columns.size, max_redundancy=1.0).fit(X[:, columns], y)
    np.testing.assert_allclose(found.predict(X), alone.predict(X[:, columns]), rtol=1e-8)
    names = [function.name for function in found.functions_]
    assert names == list(found.result_.names)
    assert json.loads(found.result_.to_json())["functions"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_shuffled_target_yields_nothing(table, family):
    X, y = table
    y = np.random.default_rng(0).permutation(y)
    found = family("auto").fit(X, y)
    assert found.selected_.size == 0
    assert not found.coef_.any()
    assert "Nothing found at a false discovery rate of 0.1" in found.result_.message
    assert not found.selected_kernel_(X).any()
    if family is EmbeddingLasso:
        np.testing.assert_allclose(found.predict(X), y.mean())


def test_options_of_the_selector_count(table):
    X, y = table
    for options in ({"max_redundancy": 0.9}, {"penalty": ElasticNet(0.9)}, {"measure": "nhsic"}):
        cap = {name: value for name, value in options.items() if name == "max_redundancy"}
        found = HSICLasso("auto", **options).fit(X, y)
        same = ControlledSelection(HSICLasso(**options), **cap).fit(X, y)
        np.testing.assert_array_equal(found.q_values_, same.q_values_)


def test_few_columns_are_all_candidates(table):
    X, y = table
    found = HSICLasso("auto", exclude=[5, 6], max_redundancy=1.0).fit(X, y)
    assert 1 < len(found.result_.error_control.candidates) <= 5
    assert found.result_.error_control.n_tests == 5
    assert not np.any(found.selected_ >= 5)


def test_samples_of_weight_zero_are_left_out(table):
    X, y = table
    weights = (np.arange(120) < 100).astype(float)
    weighted = HSICLasso("auto").fit(X, y, sample_weight=weights)
    alone = HSICLasso("auto").fit(X[:100], y[:100])
    np.testing.assert_array_equal(weighted.selected_, alone.selected_)
    with pytest.raises(InvalidInputError, match="sample_weight has values other than 0 and 1"):
        HSICLasso("auto").fit(X, y, sample_weight=weights + 1)


def test_in_pipelines_and_searches(table):
    X, y = table
    model = make_pipeline(HSICLasso("auto"), SVR(C=30))
    search = GridSearchCV(model, {"hsiclasso__n_features_to_select": [1, "auto"]}, cv=2)
    search.fit(X, y)
    assert search.best_params_ == {"hsiclasso__n_features_to_select": "auto"}
    copy = clone(EmbeddingLasso("auto", epsilon=0.05))
    assert copy.get_params() == EmbeddingLasso("auto", epsilon=0.05).get_params()


def test_files_are_continued(table, tmp_path):
    X, y = table
    first = HSICLasso("auto", resources=Resources(checkpoint=tmp_path)).fit(X, y)
    again = HSICLasso("auto", resources=Resources(checkpoint=tmp_path)).fit(X, y)
    assert first.result_.to_dict() == again.result_.to_dict()
    assert (tmp_path / "relevance").exists()


def test_more_candidates_from_the_same_files(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 14))
    y = X[:, :9].sum(axis=1) + 0.5 * rng.standard_normal(150)
    np.save(tmp_path / "x.npy", X)
    resources = Resources(checkpoint=tmp_path / "finished")
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = EmbeddingLasso("auto", resources=resources).fit(stored, y)
    assert len(found.result_.error_control.candidates) > 10
    assert len(set(found.selected_) & set(range(9))) > 5


def test_covariates_and_names(table):
    X, y = table
    frame = pd.DataFrame(X).rename(columns="gene{}".format)
    assert {"gene0", "gene1"} <= set(HSICLasso("auto").fit(frame, y).result_.names)
    assert "gene0" not in HSICLasso("auto", covariates=["gene0"]).fit(frame, y).result_.names


def test_the_plan_is_that_of_the_first_path(table):
    X, y = table
    made = plan(HSICLasso("auto"), X, y)
    assert made.n_passes == plan(HSICLasso(), X, y).n_passes
    assert any("tests of candidates come after it" in line for line in made.advice)


@pytest.mark.filterwarnings("ignore::hsiclasso.FewerFeaturesWarning")
def test_halves_are_counted(table):
    X, y = table
    stable = StabilitySelection(HSICLasso("auto"), n_pairs=2, random_state=0).fit(X, y)
    assert not stable.shared_
    assert 0 < stable.result_.levels.n_features <= 4
    assert set(stable.selected_) <= {0, 1}


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (HSICLasso("many"), "n_features_to_select='many' must be a whole number >= 1, or 'auto'"),
        (HSICLasso("auto", alpha=3), "alpha=3 says where the path ends, but n_features_to_select"),
        (EmbeddingLasso("auto", keep=[3]), "keep has features that would be selected without a"),
        (ControlledSelection(HSICLasso(keep=[3])), "but ControlledSelection selects only what"),
        (HSICLasso("auto", penalty=GroupLasso(np.arange(7) // 2)), "The penalty has groups"),
        (HSICLassoCV(NOCCOLasso("auto")), "but HSICLassoCV finds it by cross-validation"),
        (KnockoffSelection(HSICLasso("auto")), "but knockoffs are tests of their own"),
        (HSICLasso("auto", max_redundancy=2), "max_redundancy=2, but the largest similarity"),
    ],
)
def test_contradictions_are_named(selector, message, table):
    with pytest.raises(InvalidInputError, match=message):
        selector.fit(*table)


def test_other_numbers_and_other_tests_are_refused(table):
    X, y = table
    found = HSICLasso("auto").fit(X, y)
    n = found.selected_.size
    np.testing.assert_array_equal(found.selected_of_size(n), found.selected_)
    with pytest.raises(InvalidInputError, match=f"tests found that {n} features are needed"):
        found.selected_of_size(1)
    with pytest.raises(InvalidInputError, match="but the test is of a plain lasso"):
        post_selection_test(HSICLasso("auto"), X, y)
