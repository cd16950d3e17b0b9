"""Similarities as a heat map in the order of a tree, and relevance against redundancy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hsiclasso import InvalidInputError, make_copies
from hsiclasso.plots import plot_heatmap, plot_redundancy
from hsiclasso.plots.heatmap import clustered
from tests.plots.helpers import choose, texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def many():
    """Return 47 features, some of them copies of others."""
    X, y, _ = make_copies(120, 90, n_copies=3, random_state=0)
    names = [f"gene_{j}" for j in range(X.shape[1])]
    return choose(X, y, names, n_features_to_select=47, max_redundancy=1.0)


def cells(ax):
    (mesh,) = ax.collections
    return np.asarray(mesh.get_array()).reshape(len(ax.get_yticklabels()), -1)


@pytest.mark.parametrize("which", ["selection", "many"])
def test_cells_are_the_similarities_in_the_order_of_the_names(which, request):
    result = request.getfixturevalue(which)
    ax = plot_heatmap(result)
    order, _ = clustered(result.similarity)
    np.testing.assert_array_equal(cells(ax), result.similarity[np.ix_(order, order)])
    for label, k in zip(texts(ax.get_yticklabels()), order, strict=True):
        assert label.split("…")[0] == result.names[k][: len(label.split("…")[0])]
    assert sorted(order) == list(range(len(result.names)))


def test_similar_features_are_side_by_side(many):
    ax = plot_heatmap(many)
    shown = cells(ax)
    beside = np.diagonal(shown, 1).mean()
    assert beside > np.diagonal(many.similarity, 1).mean()


def test_the_tree_has_a_branch_for_each_join_and_few_cells_have_numbers(selection, many):
    ax = plot_heatmap(selection)
    size = len(selection.names)
    assert len(ax.lines) == size - 1
    assert len(ax.texts) == len(selection.names) ** 2
    assert ax.texts[0].get_text() == "1.00"
    assert not plot_heatmap(many).texts
    # leaves of the tree stand beside their rows
    points = [point for line in ax.lines for point in line.get_xydata().tolist()]
    leaves = {round(y, 6) for x, y in points if x == size - 0.4}
    assert leaves == set(range(size))
    assert max(x for x, _ in points) <= ax.get_xlim()[1]


def test_given_axes_and_results_without_similarities(selection, nothing):
    ax = Figure().add_subplot()
    assert plot_heatmap(selection, ax) is ax
    assert ax.get_title(loc="left") == ""
    assert "Similarity" in plot_heatmap(selection).get_title(loc="left")
    assert texts(plot_heatmap(nothing).texts) == ["no feature selected"]
    for plot in (plot_heatmap, plot_redundancy):
        with pytest.raises(InvalidInputError, match="no similarities, which are computed for up"):
            plot(replace(selection, similarity=None))


def test_redundancy_is_the_largest_similarity_with_another(many):
    ax = plot_redundancy(many)
    drawn = np.concatenate([dots.get_offsets() for dots in ax.collections])
    others = many.similarity - np.eye(47) * 10
    expected = {(x, f.relevance) for x, f in zip(others.max(axis=1), many.features, strict=True)}
    assert {tuple(row) for row in drawn.tolist()} == expected
    assert len(ax.texts) == 12
    named = {text.get_text() for text in ax.texts}
    best = sorted(many.features, key=lambda f: -f.relevance)[:12]
    assert named == {f.name for f in best}
    assert "12 most relevant of 47" in ax.get_title(loc="right")
    # areas grow with weights
    filled = ax.collections[0]
    weights = [f.weight for f in many.features if f.weight]
    assert np.argmax(filled.get_sizes()) == int(np.argmax(weights))


def test_filled_in_features_are_hollow_and_one_feature_is_drawn():
    X = np.random.default_rng(0).standard_normal((60, 5))
    X[:, 4] = X[:, 0] + 0.3 * X[:, 1]
    with pytest.warns(UserWarning, match="selected"):
        result = choose(X, X[:, 0], n_features_to_select=5, max_redundancy=0.5)
    filled = sum(f.weight == 0 for f in result.features)
    assert filled
    ax = plot_redundancy(result)
    assert [len(dots.get_offsets()) for dots in ax.collections] == [5 - filled, filled]
    one = choose(X, X[:, 0], n_features_to_select=1)
    assert plot_redundancy(one).collections[0].get_offsets()[0][0] == 0
    assert texts(plot_heatmap(one).texts) == ["fewer than two features"]


def test_nothing_selected(nothing):
    assert texts(plot_redundancy(nothing).texts) == ["no feature selected"]
