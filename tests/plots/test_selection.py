"""Figures of selections: bars are weights or relevances, and rows features."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError, make_data1
from hsiclasso.plots import (
    draw_result,
    plot_comparison,
    plot_relevance,
    plot_selection,
    save_figure,
)
from tests.plots.helpers import choose, texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


def test_bars_are_the_weights_heaviest_on_top(selection):
    ax = plot_selection(selection)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [feature.weight for feature in selection.features]
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlim()[0] == 0


def test_relevances_have_axes_of_their_own(selection):
    ax = plot_relevance(selection)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [feature.relevance for feature in selection.features]
    assert texts(ax.get_yticklabels()) == texts(plot_selection(selection).get_yticklabels())
    for drawn in (ax, plot_selection(selection)):
        assert drawn.figure.axes == [drawn]  # one axis, no twin


def test_every_panel_has_one_axis(selection):
    figure = selection.plot()
    assert [ax.get_xlabel() for ax in figure.axes][:2] == ["weight", "relevance"]
    assert len(figure.axes) == 3
    places = [ax.get_position().bounds for ax in figure.axes]
    assert len(set(places)) == 3


def test_long_names_lose_their_middle(selection):
    labels = texts(plot_selection(selection).get_yticklabels())
    for label, name in zip(labels, selection.names, strict=True):
        assert len(label) <= 28
        head, tail = label.split("…")
        assert name.startswith(head)
        assert name.endswith(tail)


def test_given_axes_are_used(selection):
    ax = Figure().add_subplot()
    assert plot_selection(selection, ax) is ax


def test_negative_weights_are_in_sight(signed):
    weights = [feature.weight for feature in signed.features]
    ax = plot_selection(signed)
    assert ax.get_xlim()[0] < min(weights)


def test_nothing_selected_is_said(tmp_path, nothing):
    assert texts(plot_selection(nothing).texts) == ["no feature selected"]
    save_figure(nothing, tmp_path / "figure.png")


def test_both_panels_are_in_the_file(tmp_path, selection):
    file = tmp_path / "figure.svg"
    save_figure(selection, str(file))
    text = file.read_text(encoding="utf-8")
    assert isinstance(selection.plot(), Figure)  # the same, by way of the result
    for words in ("relevance", "penalty, decreasing", "6 of 20 features selected"):
        assert words in text


def test_the_title_names_target_and_file_and_counts_no_covariates(tmp_path):
    X, y, _ = make_data1(80, 10, random_state=0)
    result = choose(X, y, covariates=None, n_features_to_select=2)
    title = draw_result(result, target=["risk"], source=tmp_path / "cohort.csv").get_suptitle()
    assert title == (
        "HSIC Lasso, target: risk (real), file: cohort.csv. 2 of 10 features selected on 80 samples"
    )
    adjusted = HSICLasso(2, covariates=[0, 1]).fit(X, y).result_
    assert "2 of 8 features" in adjusted.plot().get_suptitle()
    assert (adjusted.data.n_columns, adjusted.data.n_features) == (10, 8)
    joint = HSICLasso(2, joint={"both": [0, 1]}).fit(X, y).result_
    assert joint.data.n_features == 9
    pairs = HSICLasso(2, interactions="all").fit(X, X[:, 0] * X[:, 1]).result_
    assert "selected from 10 and their pairs" in pairs.plot().get_suptitle()
    assert plot_selection(result).get_title(loc="left").startswith("HSIC Lasso, target: real. 2 of")


def test_many_features_and_odd_names(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 120))
    names = [f"${j}^ [a] _{j}$" for j in range(120)]
    y = X[:, :40] @ rng.uniform(0.3, 1, 40)
    chosen = choose(X, y, names, n_features_to_select=30)
    save_figure(chosen, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def pair():
    """Return two selections of which the second has features of its own."""
    X, y, _ = make_data1(100, 20, random_state=0)
    names = [f"g{j}" for j in range(20)]
    batch = np.random.default_rng(0).standard_normal((100, 1))
    plain = choose(X, y, names, n_features_to_select=3)
    less = choose(X, y, names, n_features_to_select=5, covariates=batch)
    assert set(less.names) - set(plain.names)
    return {"plain": plain, "with a covariate": less}


def bars(container):
    return {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in container}


def test_comparison_has_one_row_per_feature_of_any_selection(pair):
    ax = plot_comparison(pair)
    labels = texts(ax.get_yticklabels())
    first, second = pair.values()
    assert labels[: len(first.names)] == list(first.names)
    assert sorted(labels) == sorted({*first.names, *second.names})
    assert labels[len(first.names) :] == [n for n in second.names if n not in first.names]
    for container, result in zip(ax.containers, pair.values(), strict=True):
        drawn = {labels[row]: width for row, width in bars(container).items()}
        assert drawn == {feature.name: feature.weight for feature in result.features}
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert texts(ax.get_legend().get_texts()) == list(pair)


def test_comparison_bars_do_not_overlap(pair):
    for results in (pair, {**pair, "again": pair["plain"]}):
        ax = plot_comparison(results)
        spans = sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in ax.patches)
        assert all(lower[1] <= upper[0] + 1e-9 for lower, upper in pairwise(spans))
        colours = {container[0].get_facecolor() for container in ax.containers}
        assert len(colours) == len(results)


def test_marked_features_have_a_band_and_a_bold_name(pair):
    wanted = pair["with a covariate"].names[-1]
    ax = plot_comparison(pair, [wanted, "in no selection"], marked_label="shifted")
    weight = {label.get_text(): label.get_fontweight() for label in ax.get_yticklabels()}
    assert [name for name, w in weight.items() if w == "bold"] == [wanted]
    row = list(weight).index(wanted)
    inside = [bar for container in ax.containers for bar in container]
    (band,) = (patch for patch in ax.patches if patch not in inside)
    assert (band.get_y(), band.get_y() + band.get_height()) == (row - 0.5, row + 0.5)
    assert texts(ax.get_legend().get_texts()) == [*pair, "shifted"]
    assert "shifted" not in texts(plot_comparison(pair, ["nowhere"]).get_legend().get_texts())


def test_comparison_shows_negative_weights(signed, pair):
    ax = plot_comparison({"signed": signed, "plain": pair["plain"]})
    assert ax.get_xlim()[0] < min(feature.weight for feature in signed.features)


def test_comparison_uses_given_axes_and_long_or_odd_names(selection, pair):
    ax = Figure().add_subplot()
    long = {"a name so long that the legend would take all the room": selection}
    assert plot_comparison(long | {"$x_1$ [b]": pair["plain"]}, ax=ax) is ax
    ax.figure.draw_without_rendering()
    assert all(len(label) <= 28 for label in texts(ax.get_yticklabels()))


def test_comparison_of_nothing_is_said(nothing, pair):
    empty = plot_comparison({"one": nothing, "other": nothing})
    assert texts(empty.texts) == ["no feature selected"]
    half = plot_comparison({"one": nothing, "other": pair["plain"]})
    assert texts(half.get_yticklabels()) == list(pair["plain"].names)
    with pytest.raises(InvalidInputError, match="results is empty"):
        plot_comparison({})
    with pytest.raises(InvalidInputError, match="marked='g1' is one text"):
        plot_comparison(pair, "g1")
