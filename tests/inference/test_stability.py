"""Stability selection: which clusters half-samples agree on."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectPercentile, f_classif
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from hsiclasso import (
    EmbeddingLasso,
    HSICLasso,
    InvalidInputError,
    NOCCOLasso,
    Real,
    Resources,
    StabilitySelection,
    make_copies,
    make_data1,
    with_frequencies,
)
from hsiclasso.inference import picks, shared, stability
from hsiclasso.inference.bounds import false_selections


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        StabilitySelection(n_pairs=2, random_state=0),
        StabilitySelection(SelectKBest(k=1), n_pairs=2, threshold=0.6, random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def generic(monkeypatch):
    """Have every selector fitted to each half."""
    monkeypatch.setattr(stability, "shared_picks", lambda *args, **options: None)


def labels(n=160, d=60, seed=0):
    """A table of labels, whose scale does not depend on the samples, and classes."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n, d))
    codes[:, 9] = np.where(rng.random(n) < 0.95, codes[:, 0], codes[:, 9])
    y = (codes[:, 0] + codes[:, 1] + rng.integers(0, 2, n) > 2).astype(int)
    return pd.DataFrame(codes).rename(columns="g{}".format).astype("category"), y


def test_sharing_a_pass_changes_nothing_where_scales_are_the_same(monkeypatch):
    """A delta kernel has no scale; that of the classes depends on a half by one sample at most."""
    X, y = labels()
    keep = np.sort(np.r_[np.flatnonzero(y == 0)[:70], np.flatnonzero(y == 1)[:70]])
    X, y = X.iloc[keep], y[keep]
    model = StabilitySelection(HSICLasso(6), threshold=0.6, n_pairs=15, random_state=1)
    fast = clone(model).fit(X, y)
    generic(monkeypatch)
    slow = clone(model).fit(X, y)
    assert fast.shared_
    assert not slow.shared_
    # where features nearly tie, a half may pick another one
    assert np.abs(fast.frequencies_ - slow.frequencies_).max() < 1.5 / 30
    assert fast.result_.names == slow.result_.names


@pytest.mark.parametrize("n", [200, 201])
def test_sharing_a_pass_changes_frequencies_by_hundredths(monkeypatch, n):
    X, y, origin = make_copies(n, 120, n_copies=2, random_state=0)
    model = StabilitySelection(HSICLasso(8), expected_false=1.0, n_pairs=25, random_state=0)
    fast = clone(model).fit(X, y)
    generic(monkeypatch)
    slow = clone(model).fit(X, y)
    assert np.abs(fast.frequencies_ - slow.frequencies_).max() <= 0.1
    assert np.corrcoef(fast.frequencies_, slow.frequencies_)[0, 1] > 0.99
    for fitted in (fast, slow):
        assert sorted(origin[fitted.selected_]) == [0, 1, 2, 3]


def test_copies_are_one_cluster_and_any_of_them_speaks_for_it():
    X, y, origin = make_copies(200, 100, n_copies=2, random_state=2)
    fitted = StabilitySelection(HSICLasso(12), threshold=0.8, random_state=0).fit(X, y)
    assert sorted(origin[fitted.selected_]) == [0, 1, 2, 3]
    for cluster in fitted.result_.selected:
        columns = list(cluster.columns)
        assert len(columns) == 3
        assert len(set(origin[columns])) == 1
        frequencies = fitted.frequencies_[columns]
        assert cluster.representative.frequency == frequencies.max()
        assert frequencies.max() <= cluster.frequency <= min(1.0, frequencies.sum())
        assert cluster.frequency >= 0.8
    alone = StabilitySelection(
        HSICLasso(12), threshold=0.8, max_redundancy=1.0, random_state=0
    ).fit(X, y)
    assert all(not cluster.members for cluster in alone.result_.clusters)
    assert alone.selected_.size < 4
    n_merged = sum(len(cluster.members) for cluster in fitted.result_.clusters)
    assert fitted.result_.levels.n_total == 100 - n_merged
    assert alone.result_.levels.n_total == 100


def test_a_target_that_depends_on_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((120, 300)), rng.standard_normal(120)
    fitted = StabilitySelection(HSICLasso(10), expected_false=0.1, random_state=0).fit(X, y)
    assert fitted.selected_.size == 0
    assert fitted.result_.names == ()
    assert fitted.get_support().sum() == 0
    assert fitted.result_.levels.expected_false <= 0.1


@pytest.mark.parametrize(
    "selector",
    [
        NOCCOLasso(4),
        EmbeddingLasso(4),
        HSICLasso(4, measure="nhsic"),
        HSICLasso(4, penalty="elastic_net"),
        HSICLasso(4, target=Real(transform="rank")),
        HSICLasso(4, keep=[3]),
        SelectKBest(f_classif, k=4),
        RFE(LinearRegression(), n_features_to_select=4),
        SelectFromModel(Lasso(0.01), max_features=4),
    ],
    ids=lambda s: f"{type(s).__name__}",
)
@pytest.mark.filterwarnings("ignore")
def test_any_selector(selector):
    X, y, causal = make_data1(150, 20, random_state=0)
    y = (y > np.median(y)).astype(int) if isinstance(selector, SelectKBest) else y
    fitted = StabilitySelection(selector, threshold=0.7, n_pairs=8, random_state=0).fit(X, y)
    assert fitted.result_.levels.n_features == 4
    assert np.isin(causal, fitted.selected_).sum() >= 2
    assert fitted.frequencies_.sum() <= 4 + 1e-9
    if getattr(selector, "keep", None):
        assert fitted.frequencies_[3] == 1


def test_a_selector_that_takes_no_number():
    X, y, _ = make_data1(150, 20, random_state=0)
    fitted = StabilitySelection(SelectPercentile(percentile=20), n_pairs=6, random_state=0)
    fitted.fit(X, (y > 0).astype(int))
    levels = fitted.result_.levels
    assert levels.n_features == pytest.approx(4, abs=0.5)  # it was counted
    assert levels.threshold == 0.75
    assert levels.expected_false == pytest.approx(
        false_selections(levels.n_features, levels.n_total, 0.75, 6)
    )
    found = StabilitySelection(
        SelectPercentile(percentile=20), expected_false=1.0, n_pairs=6, random_state=0
    ).fit(X, (y > 0).astype(int))
    assert found.result_.levels.expected_false <= 1.0
    with pytest.raises(InvalidInputError, match="SelectPercentile cannot be told to select 3"):
        StabilitySelection(SelectPercentile(), n_features=3).fit(X, (y > 0).astype(int))


def test_levels_of_the_user_the_selector_and_the_default():
    X, y, _ = make_data1(60, 100, random_state=0)

    def levels(selector, **given):
        return (
            StabilitySelection(selector, n_pairs=5, random_state=0, **given)
            .fit(X, y)
            .result_.levels
        )

    assert levels(HSICLasso()).n_features == 20
    assert levels(HSICLasso()).threshold == 0.75
    assert levels(HSICLasso(7)).n_features == 7
    assert levels(HSICLasso(7), n_features=5).n_features == 5
    found = levels(HSICLasso(7), threshold=0.9, expected_false=2.0)
    assert found.n_features == 14 or found.n_features > 7
    tight = levels(HSICLasso(7), expected_false=0.5)
    assert tight.threshold < levels(HSICLasso(7), expected_false=0.05).threshold
    assert levels(HSICLasso(7), bound="none").expected_false > levels(HSICLasso(7)).expected_false
    assert levels(HSICLasso(7), bound="unimodal").assumption == "unimodal"


def test_bootstrap_samples():
    X, y, causal = make_data1(120, 30, random_state=0)
    fitted = StabilitySelection(
        HSICLasso(5), sampling="bootstrap", threshold=0.7, n_pairs=8, random_state=0
    ).fit(X, y)
    assert not fitted.shared_
    assert fitted.result_.levels.expected_false is None
    assert np.isin(causal, fitted.selected_).sum() >= 3
    assert "no bound" in repr(fitted.result_)
    with pytest.raises(InvalidInputError, match="no bound on the false selections of bootstrap"):
        StabilitySelection(sampling="bootstrap", expected_false=1.0).fit(X, y)


@pytest.mark.parametrize("shared_pass", [True, False])
def test_the_answer_does_not_depend_on_jobs(monkeypatch, shared_pass):
    X, y, _ = make_data1(80, 30, random_state=0)
    if not shared_pass:
        generic(monkeypatch)
    first, second = (
        StabilitySelection(HSICLasso(5), n_pairs=4, random_state=3, n_jobs=n).fit(X, y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    assert first.result_ == second.result_
    other = StabilitySelection(HSICLasso(5), n_pairs=4, random_state=4).fit(X, y)
    assert (other.frequencies_ != first.frequencies_).any()


def test_an_interrupted_fit_continues(tmp_path, monkeypatch):
    X, y, _ = make_data1(80, 30, random_state=0)
    plain = StabilitySelection(NOCCOLasso(4), n_pairs=5, random_state=0).fit(X, y)
    model = StabilitySelection(
        NOCCOLasso(4), n_pairs=5, random_state=0, resources=Resources(checkpoint=tmp_path)
    )
    fits = []
    fit = picks.Picker.__call__

    def failing(self, rows):
        fits.append(rows)
        if len(fits) == 4:
            raise KeyboardInterrupt
        return fit(self, rows)

    monkeypatch.setattr(picks.Picker, "__call__", failing)
    with pytest.raises(KeyboardInterrupt):
        clone(model).fit(X, y)
    fitted = clone(model).fit(X, y)
    assert len(fits) == 4 + 7
    np.testing.assert_array_equal(fitted.frequencies_, plain.frequencies_)
    clone(model).fit(X, y + 1e-3 * X[:, 0])  # another target: nothing can be used
    assert len(fits) == 4 + 7 + 10
    clone(model).set_params(selector__n_features_to_select=3).fit(X, y)
    assert len(fits) == 4 + 7 + 20


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-2],  # as if fewer were selected
        lambda content: content + b" 7",
        lambda content: content.replace(b" ", b"  "),
        lambda content: content.split()[0] + b" 99999",
        lambda content: b"\x93NUMPY\x01\x00\xff",
        lambda content: b"3 5 7",
        lambda content: b"x " + b"9" * 400,
    ],
)
def test_what_is_kept_must_be_what_was_written(tmp_path, damage):
    X, y, _ = make_data1(60, 12, random_state=0)
    model = StabilitySelection(
        SelectKBest(k=3), n_pairs=2, threshold=0.6, random_state=0,
        resources=Resources(checkpoint=tmp_path),
    )  # fmt: skip
    expected = clone(model).fit(X, y > 0).frequencies_
    (folder,) = tmp_path.iterdir()
    first, second, *_ = sorted(folder.iterdir())
    valid = first.read_bytes()
    first.write_bytes(damage(valid))
    words = rf"{first.name} cannot be used \(it is not what was .*half-sample selected; delete it"
    with pytest.raises(InvalidInputError, match=words):
        clone(model).fit(X, y > 0)
    first.write_bytes(second.read_bytes())  # of another half
    with pytest.raises(InvalidInputError, match=words):
        clone(model).fit(X, y > 0)
    first.unlink()
    np.testing.assert_array_equal(clone(model).fit(X, y > 0).frequencies_, expected)
    assert first.read_bytes() == valid


def test_a_folder_in_the_place_of_what_is_kept(tmp_path):
    X, y, _ = make_data1(60, 12, random_state=0)
    model = StabilitySelection(
        SelectKBest(k=3), n_pairs=2, threshold=0.6, random_state=0,
        resources=Resources(checkpoint=tmp_path),
    ).fit(X, y > 0)  # fmt: skip
    file = min(tmp_path.rglob("*.txt"))
    file.unlink()
    file.mkdir()
    with pytest.raises(InvalidInputError, match=r"\.txt cannot be used \(.*delete it"):
        clone(model).fit(X, y > 0)


def test_progress_is_told():
    X, y, _ = make_data1(60, 30, random_state=0)
    for selector, stages in ((HSICLasso(4), {"relevance", "half-samples"}),
                             (NOCCOLasso(4), {"half-samples"})):  # fmt: skip
        told = []
        StabilitySelection(selector, n_pairs=3, random_state=0).fit(
            X, y, progress=lambda *call, told=told: told.append(call)
        )
        assert {stage for stage, _, _ in told} == stages
        assert told[-1] == ("half-samples", 6, 6)


def test_what_cannot_share_a_pass_is_fitted_to_each_half():
    X, y, _ = make_data1(60, 12, random_state=0)
    weights = np.ones(60)
    weights[:10] = 0
    missing = X.copy()
    missing[3, 2] = np.nan
    cases = [
        (HSICLasso(3), X, {"sample_weight": weights}),
        (HSICLasso(3), X, {"covariates": X[:, :1]}),
        (HSICLasso(3, missing="ignore"), missing, {}),
        (HSICLasso(3, kernel="laplace"), X, {}),
        (HSICLasso(3, joint={"both": [0, 1]}), X, {}),
        (HSICLasso(3, alpha=0.1), X, {}),
        (HSICLasso(3, gram_error=1e-9), X, {}),
        (HSICLasso(3, target="survival"), X, {}),
    ]
    for selector, table, params in cases:
        target = y if selector.target != "survival" else np.c_[np.exp(y), np.ones(60)]
        fitted = StabilitySelection(selector, n_pairs=2, threshold=0.7, random_state=0)
        fitted.fit(table, target, **params)
        # a survival target has a factor too, and shares a pass
        assert fitted.shared_ == (selector.target == "survival")
        assert fitted.frequencies_.max() > 0
    far = y.copy()
    far[4] = 1e6
    raw = HSICLasso(3, target=Real(transform=None))
    assert not StabilitySelection(raw, n_pairs=2, random_state=0).fit(X, far).shared_


def test_half_samples_with_weights_leave_out_samples_of_weight_0(monkeypatch):
    X, y, _ = make_data1(60, 12, random_state=0)
    weights = np.ones(60)
    weights[:10] = 0
    seen = []
    call = picks.Picker.__call__
    monkeypatch.setattr(
        picks.Picker, "__call__", lambda self, rows: (seen.append(rows), call(self, rows))[1]
    )
    StabilitySelection(HSICLasso(3), n_pairs=2, random_state=0).fit(X, y, sample_weight=weights)
    assert min(rows.min() for rows in seen) >= 10
    assert {rows.size for rows in seen} == {25}


def test_a_matrix_between_samples():
    X, y, causal = make_data1(100, 10, random_state=0)
    affinity = np.exp(-0.5 * ((y[:, None] - y) / y.std()) ** 2)
    fitted = StabilitySelection(
        HSICLasso(4, target="affinity"), n_pairs=4, threshold=0.6, random_state=0
    ).fit(X, affinity)
    assert np.isin(causal, fitted.selected_).sum() >= 3


def test_frames_and_names():
    X, y, _ = make_data1(150, 20, random_state=0)
    frame = pd.DataFrame(X).rename(columns="gene{}".format)
    frame["y"] = y
    fitted = StabilitySelection(HSICLasso(5), n_pairs=10, random_state=0)
    fitted.set_output(transform="pandas").fit(frame.drop(columns="y"), y)
    assert set(fitted.result_.names) == {f"gene{k}" for k in fitted.selected_}
    table = fitted.transform(frame.drop(columns="y"))
    assert list(table.columns) == [f"gene{k}" for k in sorted(fitted.selected_)]
    pipeline = make_pipeline(StabilitySelection(HSICLasso(5), n_pairs=4), LinearRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.1


def test_the_result_is_plain_data():
    X, y, _ = make_copies(150, 60, n_copies=2, random_state=0)
    fitted = StabilitySelection(HSICLasso(6), threshold=0.8, n_pairs=10, random_state=0).fit(X, y)
    result = fitted.result_
    document = json.loads(result.to_json())
    assert document["levels"]["threshold"] == 0.8
    assert len(document["clusters"]) == len(result.clusters)
    frame = result.to_frame()
    assert list(frame["frequency"]) == sorted(frame["frequency"], reverse=True)
    assert frame["selected"].sum() == fitted.selected_.size
    assert list(frame["index"][frame["selected"]]) == list(fitted.selected_)
    assert (frame["size"] == 1 + frame["cluster"].str.count(r"\(")).all()
    assert "of 20 half-samples" in repr(result)
    lower = result.at(0.3)
    assert len(lower.selected) > len(result.selected)
    assert lower.levels.expected_false > result.levels.expected_false
    assert lower.at(0.8) == result
    with pytest.raises(InvalidInputError, match="threshold=2"):
        result.at(2)


def test_frequencies_join_a_selection():
    X, y, _ = make_copies(150, 60, n_copies=2, random_state=0)
    selector = HSICLasso(5).fit(X, y)
    fitted = StabilitySelection(HSICLasso(5), n_pairs=10, random_state=0).fit(X, y)
    joined = with_frequencies(selector.result_, fitted.result_)
    for feature in joined.features:
        own = [c for c in fitted.result_.clusters if feature.index in c.columns]
        assert feature.frequency == (own[0].frequency if own else 0.0)
    assert "frequency" in joined.to_frame().columns
    plain = with_frequencies(selector.result_, fitted.frequencies_)
    assert [f.frequency for f in plain.features] == list(
        fitted.frequencies_[[f.index for f in plain.features]]
    )
    with pytest.raises(InvalidInputError, match="frequencies of 3 columns"):
        with_frequencies(selector.result_, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"selector": Lasso()}, "does not select features"),
        ({"selector": SelectKBest}, "does not select features"),
        ({"n_pairs": 1}, "n_pairs=1 must be a whole number >= 2"),
        ({"sampling": "jackknife"}, "sampling='jackknife' is unknown"),
        ({"bound": "markov"}, "bound='markov' is unknown"),
        ({"threshold": 0.0}, "threshold=0.0, but a share"),
        ({"expected_false": -1}, "expected_false=-1, but the expected number"),
        ({"n_features": 0}, "n_features=0 must be a whole number >= 1"),
        ({"n_features": 99}, "n_features=99 of each half-sample is greater than n_features=12"),
        ({"max_redundancy": 1.5}, "max_redundancy=1.5, but a similarity"),
        ({"random_state": "seed"}, "random_state='seed' is no source"),
        ({"resources": "4GB"}, "must be an object such as Resources"),
        (
            {"n_features": 6, "threshold": 0.55, "expected_false": 0.01},
            "do not agree: with 12 features",
        ),
    ],
)
def test_parameters_that_break_a_rule(params, message):
    X, y, _ = make_data1(40, 12, random_state=0)
    with pytest.raises(InvalidInputError, match=message):
        StabilitySelection(**params).fit(X, y)


def test_samples_that_are_too_few():
    X, y, _ = make_data1(7, 12, random_state=0)
    with pytest.raises(InvalidInputError, match="n_samples=7 is too few for half-samples"):
        StabilitySelection(HSICLasso(2)).fit(X, y)
    rare = np.array(["a", "b"] * 10 + ["c"])
    X, _, _ = make_data1(21, 12, random_state=0)
    with pytest.raises(InvalidInputError, match="a class with 1 sample"):
        StabilitySelection(HSICLasso(2)).fit(X, rare)


def test_memory_is_that_of_the_resources(monkeypatch):
    X, y, _ = make_data1(60, 12, random_state=0)
    model = StabilitySelection(
        HSICLasso(3), n_pairs=2, random_state=0, resources=Resources(memory_limit="600MB")
    )
    assert clone(model).fit(X, y).shared_
    monkeypatch.setattr(shared, "_BYTES", 10**8)  # as if there were many features
    assert not clone(model).fit(X, y).shared_
    small = clone(model).set_params(resources=Resources(memory_limit=10))
    with pytest.raises(InvalidInputError, match="memory_limit"):
        small.fit(X, y)


def test_the_shared_pass_gives_up_on_large_tables(monkeypatch):
    X, y, _ = make_data1(60, 12, random_state=0)
    monkeypatch.setattr(shared, "_MOST_SAMPLES", 50)
    assert not StabilitySelection(HSICLasso(3), n_pairs=2, random_state=0).fit(X, y).shared_
