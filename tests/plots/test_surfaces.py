"""Fitted surfaces: what is drawn is the function, on the scale of its samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import EmbeddingLasso, InvalidInputError, PairFunction
from hsiclasso.plots import draw_result, plot_functions, plot_surface, save_figure
from hsiclasso.plots.surfaces import largest_value
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


def surface(values, grids, *, spread=1.0, outputs=("y",), samples=None):
    """A pair whose function has these values (q, g, h)."""
    values = np.asarray(values, dtype=float)
    grids = tuple(np.asarray(grid) for grid in grids)
    samples = grids if samples is None else samples
    spread = np.broadcast_to(spread, len(values))
    return PairFunction("a & b", 9, 0.25, ("a", "b"), grids, values, outputs, spread, samples)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((150, 5))).rename(columns="gene{}".format)
    table["kind"] = rng.choice(["bad", "good"], 150)
    sign = np.where(table["kind"] == "good", 1.0, -1.0)
    y = table["gene0"] + table["gene1"] * table["gene2"] + sign * table["gene3"]
    pairs = [("gene1", "gene2"), ("kind", "gene3"), ("gene0", "gene4")]
    return EmbeddingLasso(3, interactions=pairs).fit(table, y.to_numpy())


def test_contours_over_two_numbers():
    line = np.linspace(-2, 2, 31)
    function = surface([np.outer(line, line + 0.5)], (line, 10 * line))
    ax = plot_surface(function)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert ax.get_title() == "a & b  25%"
    assert ax.get_ylim() == pytest.approx((-20, 20))
    contours, dots = ax.collections[0], ax.collections[-1]
    assert dots.get_offsets().shape == (31, 2)
    assert contours.get_clim() == pytest.approx((-3, 3))  # three deviations; the corners have more
    (bar,) = (other for other in ax.figure.axes if other is not ax)
    assert bar.get_ylabel() == "added to y"
    assert texts(bar.get_yticklabels())[2] == "0"


def test_cells_over_labels_and_few_numbers():
    kinds, doses = np.array(["bad", "good"], dtype=object), np.array([0.0, 1.0, 5.0])
    samples = np.array(["good"] * 4, dtype=object), np.array([5.0, 5.0, 0.0, 1.0])
    function = surface([[[1, 2, 3], [-1, -2, -3]]], (kinds, doses), samples=samples)
    ax = plot_surface(function, Figure().add_subplot())
    assert texts(ax.get_xticklabels()) == ["bad", "good"]
    assert texts(ax.get_yticklabels()) == ["0", "1", "5"]
    mesh, dots = ax.collections
    np.testing.assert_array_equal(mesh.get_array(), function.values[0].T)
    places = dots.get_offsets()
    np.testing.assert_array_equal(np.round(places), [[1, 2], [1, 2], [1, 0], [1, 1]])
    assert len(np.unique(places[:, 0])) == 4  # beside each other


def test_the_output_that_varies_most_or_the_one_asked_for():
    line = np.linspace(0, 1, 20)
    values = [np.outer(line, line), 5 * np.outer(line, line)]
    function = surface(values, (line, line), spread=(0.1, 0.5), outputs=("low", "high"))
    labels = [
        plot_surface(function, output=output).figure.axes[1].get_ylabel()
        for output in (None, "low")
    ]
    assert labels == ["added to high", "added to low"]
    with pytest.raises(InvalidInputError, match="output='middle'"):
        plot_surface(function, output="middle")


def test_only_pairs_have_surfaces(fitted):
    curve = EmbeddingLasso(1).fit(np.arange(20.0)[:, None], np.arange(20.0)).functions_[0]
    with pytest.raises(InvalidInputError, match="function=FeatureFunction"):
        plot_surface(curve)


def test_scales():
    line = np.linspace(0, 1, 20)
    flat = surface([np.zeros((20, 20))], (line, line), spread=0.0)
    steep = surface([np.full((20, 20), 0.42)], (line, line), spread=1.0)
    assert largest_value([flat], 0) == 1.0
    assert largest_value([flat, steep], 0) == pytest.approx(0.45)
    assert plot_surface(flat).get_xlabel() == "a"


def test_curves_and_surfaces_of_a_selection(fitted, tmp_path):
    figure = plot_functions(fitted.functions_)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    titles = [ax.get_title().rsplit("  ", 1)[0] for ax in shown]
    assert set(titles) == {"gene0", "gene1 & gene2", "gene3 & kind", ""}
    assert titles.index("gene0") == 0
    pairs = [ax for ax in shown if "&" in ax.get_title()]
    limits = {ax.collections[0].get_clim() for ax in pairs}
    assert len(limits) == 1  # colours mean the same everywhere
    whole = draw_result(fitted.result_)
    assert len([ax for ax in whole.axes if ax.get_visible()]) == len(shown) + 3
    assert "3 features selected from 6 and their pairs" in whole.get_suptitle()
    save_figure(fitted.result_, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_surfaces_alone(fitted):
    pairs = [one for one in fitted.functions_ if isinstance(one, PairFunction)]
    figure = plot_functions(pairs)
    assert len(figure.axes) == 3
    assert plot_functions([*pairs] * 4).axes[-1].get_ylabel() == "added to y"
