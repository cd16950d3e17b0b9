"""Figures of how sure a selection is."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from hsiclasso import (
    ControlledSelection,
    HSICLasso,
    InvalidInputError,
    StabilitySelection,
    make_copies,
)
from hsiclasso.plots import plot_candidates, plot_clusters, plot_stability
from hsiclasso.plots.drawing import BAR, QUIET, new_figure


@pytest.fixture(scope="module")
def data():
    return make_copies(200, 60, n_copies=2, random_state=0)


@pytest.fixture(scope="module")
def controlled(data):
    X, y, _ = data
    return ControlledSelection(HSICLasso(n_neighbors=1)).fit(X, y).result_


def names_of(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_candidates_are_bars_and_those_found_stand_out(controlled):
    ax = plot_candidates(controlled)
    control = controlled.error_control
    assert len(ax.patches) == len(control.candidates)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(widths, reverse=True)
    blue = [np.allclose(bar.get_facecolor()[:3], (0, 0x72 / 255, 0xB2 / 255)) for bar in ax.patches]
    assert sum(blue) == len(controlled.features)
    assert BAR == "#0072B2"
    assert QUIET != BAR
    assert set(names_of(ax)[: sum(blue)]) == set(controlled.names)
    (line,) = ax.lines
    assert line.get_xdata()[0] == pytest.approx(1.0)  # level 0.1
    assert f"{len(controlled.features)} of {len(control.candidates)} candidates" in ax.get_title(
        loc="left"
    )


def test_candidates_need_tests(data):
    X, y, _ = data
    with pytest.raises(InvalidInputError, match="pass the result_ of a ControlledSelection"):
        plot_candidates(HSICLasso(2).fit(X, y).result_)


def test_clusters_name_their_members(controlled):
    ax = plot_clusters(controlled, new_figure((8, 5)).add_subplot(), max_members=1)
    assert names_of(ax) == list(controlled.names)
    text = " ".join(part.get_text() for part in ax.texts)
    assert any(cluster.members for cluster in controlled.clusters)
    for cluster in controlled.clusters:
        assert (cluster.members[0].name if cluster.members else "alone") in text
        if len(cluster.members) > 1:
            assert f"and {len(cluster.members) - 1} more" in text


def test_stability_shows_frequencies_and_the_threshold(data):
    X, y, _ = data
    selector = StabilitySelection(HSICLasso(6), n_pairs=10, threshold=0.7, random_state=0)
    result = selector.fit(X, y).result_
    ax = plot_stability(result, max_clusters=5)
    assert [bar.get_width() for bar in ax.patches] == [c.frequency for c in result.clusters[:5]]
    assert ax.lines[0].get_xdata()[0] == 0.7
    assert f"{len(result.selected)} stable clusters" in ax.get_title(loc="left")
    assert "more not shown" in ax.get_title(loc="left")


def test_nothing_found_is_said(data):
    X, _, _ = data
    noise = np.random.default_rng(0).standard_normal(200)
    nothing = ControlledSelection().fit(X, noise).result_
    assert plot_clusters(nothing).texts[0].get_text() == "no feature selected"
    assert len(plot_candidates(nothing).patches) == len(nothing.error_control.candidates)
