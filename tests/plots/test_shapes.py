"""How the target depends on a feature, in the data: which picture, and what is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import Classes, HSICLasso, InvalidInputError
from hsiclasso.plots import plot_shape, plot_shapes
from hsiclasso.plots.seen import read_data
from hsiclasso.plots.shape_data import Lives, Scatter, Shares, Strips, shape_of
from hsiclasso.plots.smoothing import smooth
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

N = 120


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.uniform(20, 80, N),
            "dose": rng.choice([0.0, 5.0, 10.0], N),
            "site": pd.Categorical(rng.choice(["A", "B", "C", "D", "E", "F", "G"], N)),
            "sex": rng.choice(["f", "m"], N),
        }
    )


def risk(frame):
    return pd.Series(np.abs(frame["age"] - 50) / 30 + frame["dose"] / 5, name="risk")


TARGETS = {
    "numbers": risk,
    "classes": lambda frame: np.where(risk(frame) > 1.5, "ill", "well"),
    "labels": lambda frame: np.c_[frame["age"] > 50, frame["dose"] > 2].astype(int),
    "survival": lambda frame: np.c_[np.exp(-risk(frame)) + 0.1, np.arange(N) % 3 > 0],
}
KINDS = {
    "numbers": {"age": Scatter, "dose": Strips, "site": Strips, "sex": Strips},
    "classes": {"age": Strips, "dose": Shares, "site": Shares, "sex": Shares},
    "labels": {"age": Strips, "dose": Shares, "site": Shares, "sex": Shares},
    "survival": dict.fromkeys(["age", "dose", "site", "sex"], Lives),
}


def fitted(frame, name, **options):
    kind = "survival" if name == "survival" else "auto"
    y = TARGETS[name](frame)
    return HSICLasso(4, keep=list(frame.columns), target=kind, **options).fit(frame, y).result_, y


@pytest.mark.parametrize("name", TARGETS)
def test_each_kind_of_target_and_feature_has_its_picture(frame, name):
    result, y = fitted(frame, name)
    seen = read_data(result, frame, y)
    for feature in result.features:
        assert type(shape_of(feature, seen).shown) is KINDS[name][feature.name]
        ax = plot_shape(result, frame, y, feature.name)
        assert ax.has_data()
        labels = {ax.get_xlabel(), ax.get_ylabel()}
        if name == "survival":
            labels = {ax.get_legend().get_title().get_text()}
        assert feature.name in labels
    figure = plot_shapes(result, frame, y, target=["what"])
    assert len(figure.axes) == 4
    figure.draw_without_rendering()


def test_dots_and_the_curve(frame):
    result, y = fitted(frame, "numbers")
    ax = plot_shape(result, frame, y, "age")
    drawn = ax.collections[0].get_offsets()
    assert {tuple(row) for row in drawn.tolist()} == set(zip(frame["age"], y, strict=True))
    points, curve = smooth(frame["age"].to_numpy(), y.to_numpy())
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), np.c_[points, curve])
    assert ax.get_ylabel() == "risk"
    assert plot_shape(result, frame, y, "age", target=["mine"]).get_ylabel() == "mine"


def test_far_samples_are_counted_and_do_not_squeeze_the_others(frame):
    far = frame.assign(age=frame["age"].where(frame.index > 0, 1e6))
    result, y = fitted(far, "numbers")
    ax = plot_shape(result, far, y, "age")
    assert ax.get_xlim()[1] < 1000
    assert ax.get_title(loc="left") == "1 samples lie beyond the axes"


def test_boxes_are_quantiles(frame):
    result, y = fitted(frame, "classes")
    ax = plot_shape(result, frame, y, "age")
    assert texts(ax.get_yticklabels()) == ["ill", "well"]
    medians = [line.get_xdata() for line in ax.lines if len(set(line.get_xdata())) == 1]
    for name in ("ill", "well"):
        assert any(value[0] == np.median(frame["age"][y == name]) for value in medians)
    dots = [len(dots.get_offsets()) for dots in ax.collections]
    assert dots == [(y == "ill").sum(), (y == "well").sum()]


def test_shares_add_up(frame):
    result, y = fitted(frame, "classes")
    ax = plot_shape(result, frame, y, "dose")
    assert texts(ax.get_xticklabels()) == ["0", "5", "10"]
    heights = np.array([[bar.get_height() for bar in group] for group in ax.containers])
    np.testing.assert_allclose(heights.sum(axis=0), 1)
    assert heights[0].tolist() == [np.mean(y[frame["dose"] == d] == "ill") for d in (0, 5, 10)]
    assert texts(ax.texts) == [f"n={int((frame['dose'] == d).sum())}" for d in (0, 5, 10)]
    assert texts(ax.get_legend().get_texts()) == ["ill", "well"]


def test_survival_falls_in_steps(frame):
    result, y = fitted(frame, "survival")
    ax = plot_shape(result, frame, y, "age")
    steps = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    assert len(steps) == 3
    for line in steps:
        left = line.get_ydata()
        assert left[0] == 1
        assert (np.diff(left) <= 0).all()
    labels = texts(ax.get_legend().get_texts())
    assert [label.split()[0] for label in labels] == ["low", "middle", "high"]
    assert sum(int(label.split("n=")[1]) for label in labels) == N
    assert len({line.get_linestyle() for line in steps}) == 3  # without colours too


def test_pairs_and_missing_values(frame):
    X = np.random.default_rng(0).standard_normal((N, 4))
    y = X[:, 0] * X[:, 1]
    result = HSICLasso(1, interactions=[(0, 1)], keep=None).fit(X, y).result_
    assert result.features[0].members
    ax = plot_shape(result, X, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")
    gaps = frame.assign(age=frame["age"].where(frame.index % 4 > 0))
    result = HSICLasso(2, missing="ignore", keep=["age"]).fit(gaps, risk(frame)).result_
    ax = plot_shape(result, gaps, risk(frame), "age")
    assert ax.get_title(loc="left") == "Observed on 90 of 120 samples."
    result = HSICLasso(2, target=Classes(missing="drop")).fit(
        frame, (y := np.where(frame.index % 5 > 0, frame["sex"], None))
    ).result_  # fmt: skip
    assert plot_shape(result, frame, y, "sex").has_data()


def test_targets_between_samples_have_none(frame):
    X = frame[["age", "dose"]].to_numpy()
    y = np.exp(-np.square(np.subtract.outer(X[:, 0], X[:, 0])) / 100)
    result = HSICLasso(1, target="affinity").fit(X, y).result_
    ax = plot_shape(result, X, y)
    assert "compares pairs of samples" in ax.texts[0].get_text()


def test_which_feature(frame):
    result, y = fitted(frame, "numbers")
    own = Figure().add_subplot()
    assert plot_shape(result, frame, y, 1, ax=own) is own
    assert own.get_xlabel() == result.names[1]
    with pytest.raises(InvalidInputError, match="feature='agee' was not selected: did you mean"):
        plot_shape(result, frame, y, "agee")
    for wrong in (4, -1, 1.5, None):
        with pytest.raises(InvalidInputError, match="or its place among the 4"):
            plot_shape(result, frame, y, wrong)
    with pytest.raises(InvalidInputError, match="pass the table of the fit"):
        plot_shape(result, frame[["age"]], y)


def test_at_most_twenty_panels(nothing):
    X = np.random.default_rng(0).standard_normal((60, 30))
    y = X @ np.linspace(0.2, 1, 30)
    result = HSICLasso(24, keep=range(24)).fit(X, y).result_
    figure = plot_shapes(result, X, y)
    assert len(figure.axes) == 20
    assert "(4 more)" in figure.get_suptitle()
    X, y = np.zeros((60, 8)) + np.arange(8), np.arange(60.0)
    assert texts(plot_shapes(nothing, X, y).axes[0].texts) == ["no feature selected"]
