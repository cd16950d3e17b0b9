"""The estimator that selects by knockoffs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import binom
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    AlphaRatio,
    Classes,
    ConstantFeatureWarning,
    EmbeddingLasso,
    GroupLasso,
    HSICLasso,
    InvalidInputError,
    KnockoffSelection,
    KnockoffWarning,
    Lasso,
    NOCCOLasso,
    Resources,
    as_source,
    post_selection_test,
    read_table,
)
from hsiclasso.baselines import MRMR
from hsiclasso.inference import knockoffs


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        KnockoffSelection(random_state=0),
        KnockoffSelection(EmbeddingLasso(2), q=0.9, n_draws=2, method="equicorrelated",
                          normal_scores=False, random_state=1),
    ]
)  # fmt: skip
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def table(seed=0, n=300, d=40, n_causal=12):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.abs(X[:, :n_causal]).sum(axis=1) + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize(
    "selector",
    [None, HSICLasso(60, n_jobs=1), NOCCOLasso(n_jobs=1), EmbeddingLasso(n_jobs=1)],
    ids=str,
)
def test_causal_features_are_found(selector):
    X, y = table(n=500)
    found = KnockoffSelection(selector, q=0.2, random_state=0).fit(X, y)
    assert np.isin(range(12), found.selected_).mean() > 0.7
    assert (found.selected_ >= 12).mean() < 0.35
    np.testing.assert_array_equal(found.get_support(indices=True), np.sort(found.selected_))


def test_rarely_anything_is_found_in_nothing():
    """With no causal feature any discovery is false: the share of draws with one is at most q."""
    draws = 60
    found = 0
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((80, 30)), rng.standard_normal(80)
        found += KnockoffSelection(q=0.2, random_state=seed).fit(X, y).selected_.size > 0
    assert found <= binom.ppf(0.999, draws, 0.2)


def test_each_option_changes_the_answer():
    X, y = table()
    X = np.exp(X) @ (np.eye(40) + 0.3)

    def statistics(**options):
        fitted = KnockoffSelection(random_state=0, **options).fit(X, y)
        return fitted.result_.statistics

    usual = statistics()
    assert usual.shape == (1, 40)
    np.testing.assert_array_equal(usual, statistics())
    others = [
        {"method": "equicorrelated"},
        {"normal_scores": False},
        {"selector": HSICLasso(5)},
        {"selector": HSICLasso(alpha=AlphaRatio(0.5))},
    ]
    for options in others:
        assert not np.array_equal(usual, statistics(**options))
    fitted = KnockoffSelection(random_state=1).fit(X, y)
    assert not np.array_equal(usual, fitted.result_.statistics)


def test_draws_do_not_depend_on_the_number_of_processes():
    X, y = table(n=120, d=20)
    one, two = (
        KnockoffSelection(n_draws=3, random_state=5, n_jobs=n).fit(X, y).result_ for n in (1, 2)
    )
    np.testing.assert_array_equal(one.statistics, two.statistics)
    assert len(np.unique(one.statistics, axis=0)) == 3
    assert one.draw_level == 0.05
    generator = KnockoffSelection(n_draws=3, random_state=np.random.default_rng(5)).fit(X, y)
    np.testing.assert_array_equal(generator.result_.statistics, one.statistics)


def test_the_level_of_draws_is_a_choice():
    X, y = table()
    given = KnockoffSelection(q=0.3, draw_level=0.2, n_draws=2, random_state=0).fit(X, y)
    usual = KnockoffSelection(q=0.3, n_draws=2, random_state=0).fit(X, y)
    assert given.result_.draw_level == 0.2
    assert usual.result_.draw_level == 0.15
    assert not np.array_equal(given.result_.thresholds, usual.result_.thresholds)


def test_monotone_changes_of_columns_change_nothing_with_normal_scores():
    X, y = table(n=100, d=15)
    plain = KnockoffSelection(random_state=0).fit(X, y).result_.statistics
    changed = KnockoffSelection(random_state=0).fit(np.exp(X) * 1e200, y).result_.statistics
    np.testing.assert_array_equal(plain, changed)
    raw = KnockoffSelection(random_state=0, normal_scores=False).fit(X, y).result_.statistics
    scaled = KnockoffSelection(random_state=0, normal_scores=False).fit(X * 1e200 - 5, y)
    np.testing.assert_allclose(raw, scaled.result_.statistics, atol=1e-6 * np.abs(raw).max())


def test_a_column_and_its_knockoff_are_treated_alike(monkeypatch):
    """If knockoffs are the columns themselves, every statistic is 0 or a coin's toss."""
    monkeypatch.setattr(knockoffs.KnockoffModel, "sample", lambda self, Z, rng: Z.copy())
    X, y = table(n=100, d=30)
    signs = [
        np.sign(KnockoffSelection(random_state=seed).fit(X, y).result_.statistics[0, :12])
        for seed in range(20)
    ]
    ups, downs = np.sum(np.array(signs) > 0), np.sum(np.array(signs) < 0)
    assert ups + downs > 60
    assert abs(ups - downs) < 4 * np.sqrt(ups + downs)


def test_result():
    X, y = table(n=500)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    fitted = KnockoffSelection(q=0.4, n_draws=2, random_state=0).fit(frame, y)
    result = fitted.result_
    assert result.selected == tuple(fitted.selected_.tolist())
    assert result.selected_names == tuple(f"g{j}" for j in fitted.selected_)
    assert list(fitted.get_feature_names_out()) == [f"g{j}" for j in np.sort(fitted.selected_)]
    rows = result.to_frame()
    assert len(rows) == 40
    k = len(result.selected)
    assert k > 5
    assert rows["selected"][:k].all()
    assert not rows["selected"][k:].any()
    assert rows["e_value"].is_monotonic_decreasing
    assert (rows["e_value"][:k] >= result.e_threshold * (1 - 1e-9)).all()
    assert rows["frequency"].between(0, 1).all()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["q"] == 0.4
    assert "false discovery rate <= 0.4" in repr(result)
    assert "g1" in repr(result)
    with pytest.raises(AttributeError):
        result.q = 0.5


def test_nothing_found_is_an_answer(rng):
    X, y = rng.standard_normal((60, 30)), rng.standard_normal(60)
    fitted = KnockoffSelection(q=0.05, random_state=0).fit(X, y)
    assert fitted.selected_.size == 0
    assert fitted.result_.to_dict()["thresholds"] == [None]
    assert "nothing found at this level" in repr(fitted.result_)


def test_any_table_and_target(tmp_path, rng):
    X, y = table(n=150, d=20)
    expected = KnockoffSelection(q=0.2, random_state=0).fit(X, y).result_.statistics
    for given in (sparse.csr_array(X), as_source(X), np.asfortranarray(X)):
        found = KnockoffSelection(q=0.2, random_state=0).fit(given, y).result_.statistics
        np.testing.assert_array_equal(found, expected)
    frame = pd.DataFrame(X).assign(y=y).rename(columns=str)
    frame.to_csv(tmp_path / "t.csv", index=False, float_format="%.17g")
    from_file = KnockoffSelection(q=0.2, random_state=0).fit(str(tmp_path / "t.csv"), "y")
    np.testing.assert_allclose(from_file.result_.statistics, expected)
    labels = np.where(y > np.median(y), "high", "low")
    classes = KnockoffSelection(HSICLasso(target=Classes()), q=0.2, random_state=0).fit(X, labels)
    assert classes.result_.n_samples == 150


def test_constant_columns_are_left_out():
    X, y = table(n=150, d=20)
    X[:, 15] = 3.0
    with pytest.warns(ConstantFeatureWarning, match="1 of 20 columns do not vary .*: x15"):
        fitted = KnockoffSelection(random_state=0).fit(X, y)
    assert fitted.result_.statistics[0, 15] == 0
    assert fitted.result_.similarity[15] == 1
    without = KnockoffSelection(random_state=0).fit(np.delete(X, 15, axis=1), y)
    np.testing.assert_array_equal(
        np.delete(fitted.result_.statistics, 15, axis=1), without.result_.statistics
    )


def test_warnings_say_when_knockoffs_cannot_help():
    X, y = table(n=150, d=20)
    copies = X.copy()
    copies[:, 1] = X[:, 0] + 1e-3 * X[:, 2]
    with pytest.warns(KnockoffWarning, match=r"2 columns are close copies of others.* x0, x1\."):
        KnockoffSelection(random_state=0).fit(copies, y)
    levels = X.copy()
    levels[:, 3] = np.round(X[:, 3])
    with pytest.warns(KnockoffWarning, match="1 columns have fewer than 20 .* 'x3'"):
        KnockoffSelection(random_state=0).fit(levels, y)
    with pytest.warns(KnockoffWarning, match=r"20 columns, but with q=0.01 .* 1/q = 100"):
        KnockoffSelection(q=0.01, random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"q": 0}, "q=0 must be a number between 0 and 1"),
        ({"q": True}, "q=True must be a number between 0 and 1"),
        ({"q": None}, "q=None must be a number between 0 and 1"),
        ({"draw_level": 1.5}, "draw_level=1.5 must be a number"),
        ({"method": "sdp"}, "method='sdp' is unknown"),
        ({"normal_scores": "yes"}, "normal_scores='yes' must be True or False"),
        ({"n_draws": 0}, "n_draws=0 must be a whole number >= 1"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number"),
        ({"selector": HSICLasso(resources=Resources(checkpoint="c"))}, "has a checkpoint"),
        ({"random_state": "a"}, "random_state='a' is no source"),
        ({"selector": MRMR(2)}, "is no selector with a path: pass HSICLasso"),
        ({"selector": HSICLasso(keep=[0])}, "selector has keep for some of the columns"),
        ({"selector": HSICLasso(kernel={"number": "laplace"})}, "selector has kernel for some"),
        ({"selector": HSICLasso(penalty=Lasso([1] * 10))}, "selector has penalty for some"),
        ({"selector": EmbeddingLasso(penalty=GroupLasso([0] * 10))}, "selector has penalty"),
    ],
)  # fmt: skip
def test_bad_options(options, message, rng):
    with pytest.raises(InvalidInputError, match=message):
        KnockoffSelection(**options).fit(rng.standard_normal((30, 10)), rng.standard_normal(30))


def test_bad_tables(rng):
    y = rng.standard_normal(30)
    with pytest.raises(InvalidInputError, match=r"3,001 columns.*screen first"):
        KnockoffSelection().fit(rng.standard_normal((30, 3001)), y)
    labels = pd.DataFrame({"a": y, "b": ["u", "v"] * 15})
    with pytest.raises(InvalidInputError, match="column 'b' holds labels"):
        KnockoffSelection().fit(labels, y)
    with pytest.raises(InvalidInputError, match="none varies"):
        KnockoffSelection(q=0.9).fit(np.ones((30, 5)), y)
    holes = rng.standard_normal((30, 20))
    holes[2, 3] = np.nan
    with pytest.raises(ValueError, match="x3"):
        KnockoffSelection().fit(holes, y)


def test_weights_are_refused(tmp_path, rng):
    frame = pd.DataFrame(rng.random((40, 12))).rename(columns=str)
    frame.to_csv(tmp_path / "t.csv", index=False)
    weighted = read_table(tmp_path / "t.csv", target="0", weights="1")
    with pytest.raises(InvalidInputError, match="X has sample weights"):
        KnockoffSelection().fit(weighted)
    with pytest.raises(InvalidInputError, match="X has sample weights"):
        post_selection_test(None, weighted)
