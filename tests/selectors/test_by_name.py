"""Frames that have the target among their columns: fitted by its name, passed whole afterwards."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hsiclasso import (
    ControlledSelection,
    EmbeddingLasso,
    HSICLasso,
    HSICLassoCV,
    KnockoffSelection,
    NOCCOLasso,
    SelectByTest,
    StabilitySelection,
    make_data1,
)
from hsiclasso.baselines import MRMR, LassoPath

ESTIMATORS = [
    HSICLasso(3),
    NOCCOLasso(3),
    EmbeddingLasso(3),
    HSICLassoCV(sizes=[1, 3], cv=3),
    ControlledSelection(),
    SelectByTest(),
    StabilitySelection(HSICLasso(3), n_pairs=5, random_state=0),
    KnockoffSelection(q=0.5, random_state=0),
    MRMR(3),
    LassoPath(3),
]


@pytest.fixture(scope="module")
def frame():
    """A frame whose target is neither its first column nor its last."""
    X, y, _ = make_data1(120, 12, random_state=0)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    frame.insert(1, "risk", y)
    return frame


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_frame_is_passed_whole(frame, estimator, make):
    whole, bare = make(frame), frame.drop(columns="risk")
    estimator.fit(whole, "risk")
    assert estimator.n_features_in_ == 12
    expected = bare.to_numpy()[:, np.sort(estimator.selected_)]
    assert 0 < expected.shape[1] < 12
    for table in (whole, make(bare), make(frame[frame.columns[::-1]])):
        np.testing.assert_array_equal(estimator.transform(table), expected)
    # the target is no feature, not even for a moment
    again = estimator.fit(bare, frame["risk"].to_numpy())
    np.testing.assert_array_equal(again.transform(bare), expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", [EmbeddingLasso(3), HSICLassoCV(sizes=[2], cv=3)])
def test_predictions_of_a_whole_frame(frame, estimator, make):
    whole, bare = make(frame), make(frame.drop(columns="risk"))
    estimator.fit(whole, "risk")
    np.testing.assert_array_equal(estimator.predict(whole), estimator.predict(bare))
    risk = frame["risk"].to_numpy()
    assert estimator.score(whole, "risk") == estimator.score(bare, risk) > 0.4


def test_a_fit_to_a_file_takes_whole_frames_and_files(frame, tmp_path):
    file = tmp_path / "t.csv"
    frame.to_csv(file, index=False)
    search = HSICLassoCV(sizes=[2], cv=3).fit(file, "risk")
    np.testing.assert_allclose(search.transform(file), search.transform(frame), rtol=1e-12)
    np.testing.assert_allclose(search.predict(file), search.predict(frame), rtol=1e-9)


def test_other_frames_keep_the_rules_of_scikit_learn(frame):
    bare = frame.drop(columns="risk")
    selector = HSICLasso(3).fit(frame, "risk")
    with pytest.raises(ValueError, match=r"seen at fit time, yet now missing:\n- g3"):
        selector.transform(frame.drop(columns="g3"))
    # of a frame without the target, a further column is a mistake
    selector.fit(bare, frame["risk"])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- risk"):
        selector.transform(frame)


@pytest.mark.parametrize("estimator", [HSICLasso(3), EmbeddingLasso(3), HSICLasso("auto")])
def test_the_result_knows_what_the_target_is_called(frame, estimator):
    bare = frame.drop(columns="risk")
    assert estimator.fit(frame, "risk").result_.data.target == ("risk",)
    assert estimator.fit(bare, frame["risk"]).result_.data.target == ("risk",)
    assert estimator.fit(bare, frame["risk"].to_numpy()).result_.data.target == ()


def test_a_search_names_the_target_in_its_figure(frame):
    pytest.importorskip("matplotlib")
    result = HSICLassoCV(sizes=[2], cv=3).fit(frame, "risk").selector_.result_
    assert "target: risk (real)" in result.plot().get_suptitle()


def test_a_pair_has_the_name_of_the_target(frame):
    pytest.importorskip("matplotlib")
    from hsiclasso.plots import plot_pair

    bare = frame.drop(columns="risk")
    by_name, by_series = plot_pair(frame, "risk", [0, 2]), plot_pair(bare, frame["risk"], [0, 2])
    for ax in (by_name, by_series):
        assert "risk" in [one.get_ylabel() for one in ax.figure.axes]
    assert by_name.get_xlabel() == "g0"
