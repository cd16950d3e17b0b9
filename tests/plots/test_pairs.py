"""The target over two features: dots are samples, the background is a mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.plots import plot_pair
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    made = pd.DataFrame(rng.standard_normal((80, 3)), columns=["a", "b", "c"])
    made["kind"] = rng.choice(["good", "bad"], 80)
    made["dose"] = rng.integers(0, 3, 80)
    return made


def test_numbers_over_numbers(table):
    y = pd.Series(table["a"] * table["b"], name="growth")
    ax = plot_pair(table, y, ("a", "b"))
    dots, background = ax.collections
    np.testing.assert_allclose(dots.get_offsets(), table[["a", "b"]])
    np.testing.assert_allclose(dots.get_array(), y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert ax.figure.axes[1].get_ylabel() == "growth"
    image = np.asarray(background.get_array())
    assert image.shape == (120, 120, 3)
    assert 0 <= image.min() <= image.max() <= 1
    assert image[0, 0].min() > image[60, 60].min()  # paler where no sample is near


def test_the_background_is_the_mean_of_samples_nearby():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (500, 2))
    y = np.where(X[:, 0] > 0, 1.0, 0.0)
    background = plot_pair(X, y, (0, 1)).collections[1].get_array()
    left, right = background[60, 15], background[60, 105]
    assert left[2] > left[0]  # purple
    assert right[0] > right[2]  # yellow


def test_classes(table):
    y = np.where(table["a"] * table["b"] > 0, "same", "other")
    ax = plot_pair(table, y, ["a", "b"], ax=Figure().add_subplot())
    assert texts(ax.get_legend().get_texts()) == ["other", "same"]
    assert len(np.unique(ax.collections[0].get_facecolors(), axis=0)) == 2
    many = np.array([f"c{k % 13}" for k in range(80)])
    names = texts(plot_pair(table, many, ["a", "b"]).get_legend().get_texts())
    assert len(names) == 11
    assert names[-1] == "others"


def test_a_label_on_one_side(table):
    y = np.where(table["kind"] == "good", 1, -1) * table["a"]
    ax = plot_pair(table, y, ("kind", "a"))
    assert texts(ax.get_xticklabels()) == ["bad", "good"]
    places = ax.collections[0].get_offsets()
    np.testing.assert_array_equal(np.round(places[:, 0]), table["kind"] == "good")
    np.testing.assert_allclose(places[:, 1], table["a"])


def test_a_table_of_means(table):
    y = table["dose"].to_numpy() * np.where(table["kind"] == "good", 1.0, -1.0)
    ax = plot_pair(table, y, ("dose", "kind"), target="real")
    cells = {cell.get_position(): cell.get_text() for cell in ax.texts}
    assert len(cells) == 6
    for dose in range(3):
        for place, kind in enumerate(["bad", "good"]):
            number = int(((table["dose"] == dose) & (table["kind"] == kind)).sum())
            mean = dose if kind == "good" else -dose
            assert cells[dose, place].split("\n")[1] == f"n={number}"
            assert float(cells[dose, place].split("\n")[0]) == mean
    assert ax.figure.axes[1].get_ylabel() == "mean of y"


def test_a_table_of_classes_and_empty_cells(table):
    y = np.where(table["dose"] == 1, "yes", "no")
    kind = np.where(table["dose"] == 1, "good", table["kind"])
    ax = plot_pair(table.assign(kind=kind), y, ("dose", "kind"))
    cells = {cell.get_position(): cell.get_text() for cell in ax.texts}
    assert cells[1, 0] == "n=0"
    assert cells[1, 1].startswith("yes 100%")
    assert cells[0, 0].startswith("no 100%")


def test_missing_values_are_left_out(table):
    gaps = table.copy()
    gaps.loc[:9, "a"] = np.nan
    gaps.loc[70:, "kind"] = None
    assert len(plot_pair(gaps, table["b"], ("a", "b")).collections[0].get_offsets()) == 70
    assert len(plot_pair(gaps, table["b"], ("a", "kind")).collections[0].get_offsets()) == 60


@pytest.mark.parametrize(
    ("y", "pair", "words"),
    [
        ("a", ("a",), "must name two columns"),
        ("a", ("a", "a"), "must name two columns"),
        ("a", ("a", "b", "c"), "must name two columns"),
        ("a", ("a", "z"), "no such column"),
        ("a", "ab", "list of columns"),
        (["a", "b"], ("a", "b"), "one number or class"),
    ],
)
def test_bad_input_is_named(table, y, pair, words):
    with pytest.raises(InvalidInputError, match=words):
        plot_pair(table, table[y], pair)
