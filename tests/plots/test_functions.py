"""Panels of functions: one for each feature, on a common scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hsiclasso import EmbeddingLasso, InvalidInputError, make_data1
from hsiclasso.plots import draw_result, plot_functions, save_figure
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_data1(90, 20, random_state=0)
    table = pd.DataFrame(X, columns=[f"gene{j}" for j in range(20)])
    table["kind"] = np.where(y > 0, "good", "bad")
    return EmbeddingLasso(6).fit(table, y)


def shown(figure):
    return [ax for ax in figure.axes if ax.get_visible()]


def test_a_panel_for_each_feature(fitted):
    panels = shown(plot_functions(fitted.functions_))
    assert len(panels) == 6
    for ax, function in zip(panels, fitted.functions_, strict=True):
        assert ax.get_title().startswith(function.name)
        curve = ax.get_lines()[1]  # the first line is at zero
        np.testing.assert_array_equal(curve.get_ydata(), function.values[0])
    assert len({ax.get_ylim() for ax in panels}) == 1
    labels = [texts(ax.get_xticklabels()) for ax in panels]
    assert ["bad", "good"] in labels


def test_classes_have_a_legend_and_a_few_lines():
    X, y, _ = make_data1(120, 10, random_state=0)
    classes = np.digitize(y, np.quantile(y, np.linspace(0, 1, 9)[1:-1]))
    figure = plot_functions(EmbeddingLasso(3).fit(X, classes).functions_, Figure())
    (legend,) = figure.legends
    assert len(texts(legend.get_texts())) == 6
    assert all(len(ax.get_lines()) == 7 for ax in shown(figure))


def test_the_figure_of_a_result_has_them(fitted, tmp_path):
    figure = draw_result(fitted.result_)
    assert len(shown(figure)) == 6 + 3  # bars, dots and path
    save_figure(fitted.result_, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").stat().st_size > 10_000


def test_features_without_a_curve(fitted):
    X, y, causal = make_data1(90, 6, random_state=0)
    pair = {"pair": causal[:2].tolist()}
    joint = EmbeddingLasso(1, joint=pair).fit(X, y)
    with pytest.raises(InvalidInputError, match="joint features only"):
        plot_functions(joint.functions_)
    assert len(shown(draw_result(joint.result_))) == 3
