"""Which classes features speak for, as a grid of shares."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import HSICLasso, InvalidInputError
from hsiclasso.plots import plot_classes
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    y = rng.choice(["B <cell>", "T_cell $", "monocyte"], 90)
    X = rng.standard_normal((90, 8))
    X[:, 2] += 3 * (y == "T_cell $")
    return HSICLasso(3).fit(X, y).result_


def test_cells_are_shares_of_the_relevance(result):
    ax = plot_classes(result)
    frame = result.classes_to_frame()
    shares = frame.to_numpy() / frame.to_numpy().sum(axis=1, keepdims=True)
    (cells,) = ax.collections
    np.testing.assert_allclose(np.asarray(cells.get_array()).reshape(3, 3), shares)
    assert texts(ax.get_yticklabels()) == list(result.names)
    assert texts(ax.get_xticklabels()) == list(frame.columns)
    assert texts(ax.texts) == [f"{100 * share:.0f}" for share in shares.ravel()]
    bottom, top = ax.get_ylim()
    assert bottom > top
    ax.figure.draw_without_rendering()
    assert plot_classes(result, (own := Figure().add_subplot())) is own


def test_other_results(selection, nothing):
    with pytest.raises(InvalidInputError, match="no parts of the classes: select for a target"):
        plot_classes(selection)
    assert texts(plot_classes(nothing).texts) == ["no feature selected"]
