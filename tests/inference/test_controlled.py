"""Selection with a bound on false discoveries: what it finds, what it leaves out, and its words."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, false_discovery_control
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    ConstantFeatureWarning,
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    make_copies,
    make_data1,
)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([ControlledSelection(EmbeddingLasso(), n_draws=99)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def copies():
    return make_copies(300, 80, n_copies=3, random_state=1)


@pytest.fixture(scope="module")
def usual(copies):
    return ControlledSelection(n_jobs=1).fit(*copies[:2])


#: Draws where their number is not what is tested.
FEW = 299


@pytest.mark.parametrize(
    "selector", [None, NOCCOLasso(), EmbeddingLasso(), HSICLasso(measure="nhsic")]
)
def test_each_cause_once_and_nothing_else(copies, selector):
    X, y, origin = copies
    found = ControlledSelection(selector, n_draws=FEW).fit(X, y)
    assert set(origin[found.selected_]) >= {0, 1, 2, 3}
    assert found.selected_.size <= 5  # one false discovery in ten is allowed
    assert found.transform(X).shape == (300, found.selected_.size)


def test_clusters_hold_the_copies(copies, usual):
    origin = copies[2]
    assert len(usual.result_.clusters) == 4
    for cluster in usual.result_.clusters:
        members = [one.index for one in cluster.members]
        assert members
        assert set(origin[members]) == {origin[cluster.index]}


@pytest.mark.parametrize("selector", [HSICLasso(), EmbeddingLasso()])
def test_a_permuted_target_yields_nothing(copies, selector):
    X, y, _ = copies
    for seed in range(3):
        permuted = np.random.default_rng(seed).permutation(y)
        found = ControlledSelection(selector, n_draws=FEW).fit(X, permuted)
        assert found.selected_.size == 0
        assert found.result_.names == ()
        assert json.loads(found.result_.to_json())["features"] == []
        assert "Nothing found at a false discovery rate of 0.1" in found.result_.message
        with pytest.warns(UserWarning, match="No features were selected"):
            assert found.transform(X).shape == (300, 0)


def test_q_values_are_those_of_all_features(copies):
    X, y, _ = copies
    for method in ("bh", "by"):
        found = ControlledSelection(method=method, n_draws=FEW).fit(X, y)
        expected = false_discovery_control(found.p_values_, method=method)
        np.testing.assert_allclose(found.q_values_, np.minimum(expected, 1.0), rtol=1e-10)
        assert set(found.selected_) == set(np.flatnonzero(expected <= 0.1))


def test_a_lower_level_finds_no_more(copies):
    X, y, _ = copies
    strict, loose = (
        set(ControlledSelection(level=level, n_draws=FEW).fit(X, y).selected_)
        for level in (1e-9, 0.3)
    )
    assert strict < loose


def test_the_answer_depends_on_the_data_only(copies):
    X, y, _ = copies
    one = ControlledSelection(n_draws=FEW, n_jobs=1).fit(X, y)
    two = ControlledSelection(n_draws=FEW, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.p_values_, two.p_values_)
    order = np.random.default_rng(3).permutation(X.shape[1])
    permuted = ControlledSelection(n_draws=FEW).fit(X[:, order], y)
    np.testing.assert_allclose(permuted.p_values_, one.p_values_[order], rtol=1e-6)
    shifted = ControlledSelection(n_draws=FEW).fit(7 - 3 * X, y)
    assert set(shifted.selected_) == set(one.selected_)
    other = ControlledSelection(n_draws=FEW, random_state=5).fit(X, y)
    assert set(other.selected_) == set(one.selected_)
    assert (other.p_values_ != one.p_values_).any()


def test_candidates_double_while_most_are_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40))
    y = X[:, :12].sum(axis=1) + 0.5 * rng.standard_normal(300)
    found = ControlledSelection(EmbeddingLasso(), n_draws=FEW).fit(X, y)
    assert set(found.selected_) >= set(range(12))
    assert found.selected_.size <= 14
    few = ControlledSelection(EmbeddingLasso(), n_candidates=5, n_draws=FEW).fit(X, y)
    assert len(few.result_.error_control.candidates) == 5


def test_warnings_come_once_and_none_is_of_a_number_that_nobody_asked_for():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 15))
    y = X[:, :9].sum(axis=1) + 0.5 * rng.standard_normal(150)
    X[:, 14] = 1.0
    with pytest.warns(ConstantFeatureWarning) as caught:
        found = ControlledSelection(EmbeddingLasso(), n_draws=FEW).fit(X, y)
    assert len(found.result_.error_control.candidates) > 10
    assert len(caught) == 1


def test_a_confounder_is_no_discovery():
    rng = np.random.default_rng(4)
    batch = rng.integers(0, 2, 250)
    X = rng.standard_normal((250, 30))
    X[:, :5] += 1.5 * batch[:, None]
    y = 2.0 * batch + X[:, 7] ** 2 + 0.5 * rng.standard_normal(250)
    naive = ControlledSelection(level=0.01, n_draws=FEW).fit(X, y)
    assert set(range(5)) & set(naive.selected_)
    given = pd.DataFrame({"batch": batch})
    adjusted = ControlledSelection(level=0.01, n_draws=FEW).fit(X, y, covariates=given)
    assert adjusted.selected_.tolist() == [7]


@pytest.mark.parametrize("kind", ["classes", "survival", "labels", "counts"])
def test_other_targets(kind):
    X, y, causal = make_data1(250, 30, random_state=2)
    rng = np.random.default_rng(0)
    targets = {
        "classes": np.digitize(y, np.quantile(y, [0.3, 0.7])),
        "survival": np.column_stack([np.exp(y / 4), rng.random(250) < 0.8]),
        "labels": np.column_stack([y > np.median(y), X[:, causal[0]] > 0]),
        "counts": rng.poisson(np.exp(y / 3)),
    }
    found = ControlledSelection(HSICLasso(target=kind), 0.05, n_draws=FEW).fit(X, targets[kind])
    assert found.selected_.size >= 2
    assert set(found.selected_) <= set(causal)


def test_columns_of_labels_flags_and_small_integers():
    rng = np.random.default_rng(1)
    n = 300
    letters = rng.integers(0, 4, n)
    frame = pd.DataFrame(rng.standard_normal((n, 10))).rename(columns="x{}".format)
    frame["site"] = pd.Categorical(np.array(list("abcd"))[letters])
    frame["flag"] = rng.random(n) < 0.3
    frame["snp"] = rng.integers(0, 3, n).astype(np.int8)
    frame["noise"] = pd.Categorical(np.array(list("abcd"))[rng.integers(0, 4, n)])
    effect = (letters == 2) * 2.0 + frame["flag"] * 1.5 + 1.5 * (frame["snp"] == 2)
    y = effect + rng.standard_normal(n)
    found = ControlledSelection(n_draws=FEW).fit(frame, y)
    assert set(found.result_.names) == {"site", "flag", "snp"}


def test_missing_values_use_the_samples_that_are_complete(copies):
    X, y, origin = copies
    holes = X.copy()
    holes[np.random.default_rng(0).random(X.shape) < 0.02] = np.nan
    found = ControlledSelection(HSICLasso(missing="ignore"), 0.01, n_draws=FEW).fit(holes, y)
    assert 200 < found.result_.error_control.n_samples < 300
    assert set(origin[found.selected_]) == {0, 1, 2, 3}
    holes[np.random.default_rng(0).random(X.shape) < 0.4] = np.nan
    with pytest.raises(InvalidInputError, match=r"Only \d+ of 300 samples have no missing"):
        ControlledSelection(HSICLasso(missing="ignore")).fit(holes, y)


def test_joint_features(copies):
    X, y, origin = copies
    pair = np.flatnonzero(origin == 1)[:2].tolist()
    found = ControlledSelection(HSICLasso(joint={"pair": pair}), n_draws=FEW).fit(X, y)
    assert set(origin[found.selected_]) == {0, 1, 2, 3}


def test_the_result_joins_the_selection(copies):
    X, y, _ = copies
    frame = pd.DataFrame(X).rename(columns="gene{}".format)
    found = ControlledSelection(HSICLasso(n_neighbors=1), n_draws=FEW).fit(frame, y)
    table = found.result_.to_frame()
    assert (table["q_value"] <= 0.1).all()
    assert (table["p_value"] <= table["q_value"]).all()
    record = json.loads(found.result_.to_json())
    tests = record["error_control"]["candidates"]
    assert record["error_control"]["n_tests"] == 80
    assert sum(test["found"] for test in tests) == len(record["features"])
    assert found.get_feature_names_out().tolist() == sorted(
        found.result_.names, key=frame.columns.get_loc
    )
    assert pickle.loads(pickle.dumps(found)).selected_.tolist() == found.selected_.tolist()


def test_in_a_pipeline(copies):
    X, y, _ = copies
    selector = ControlledSelection(EmbeddingLasso(), n_draws=FEW)
    model = make_pipeline(selector, SVR(C=30)).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.5


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (ControlledSelection(level=1.0), "level=1.0, but the level"),
        (ControlledSelection(level="x"), "level='x', but the level"),
        (ControlledSelection(method="storey"), "method='storey'"),
        (ControlledSelection(n_candidates=0), "n_candidates=0"),
        (ControlledSelection(n_draws=10), "n_draws=10"),
        (ControlledSelection(random_state=-1), "random_state=-1"),
        (ControlledSelection(max_redundancy=0), "max_redundancy=0"),
        (ControlledSelection(LinearRegression()), "has no path of candidates"),
    ],
)
def test_bad_parameters_are_named(selector, message, copies):
    with pytest.raises(InvalidInputError, match=message):
        selector.fit(*copies[:2])


def test_bad_data_are_named(copies):
    X, y, _ = copies
    with pytest.raises(InvalidInputError, match="n_samples=3, but the tests need 4"):
        ControlledSelection().fit(X[:3], y[:3])


def test_false_discoveries_are_as_rare_as_promised():
    """Exact binomial bounds on seeds that no setting was chosen on."""
    any_null, wrong, n_found = 0, 0.0, 0
    for seed in range(40):
        rng = np.random.default_rng(50_000 + seed)
        X, y, origin = make_copies(120, 100, n_copies=2, random_state=rng)
        selector = ControlledSelection(n_draws=199, n_jobs=1)
        any_null += bool(selector.fit(X, rng.permutation(y)).selected_.size)
        found = origin[selector.fit(X, y).selected_]
        distinct = len(set(found) - {-1})
        wrong += (found.size - distinct) / max(1, found.size)
        n_found += distinct
    assert binomtest(any_null, 40, 0.1, alternative="greater").pvalue > 1e-3
    # the false discovery proportion is at most 1: a binomial bounds its mean from above
    assert binomtest(int(np.ceil(wrong)), 40, 0.1, alternative="greater").pvalue > 1e-3
    assert n_found >= 2.5 * 40
