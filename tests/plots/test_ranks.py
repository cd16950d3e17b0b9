"""The grid of ranks: which method selects which feature."""

from __future__ import annotations

import numpy as np
import pytest

from hsiclasso import InvalidInputError
from hsiclasso.plots import plot_ranks, save_ranks
from tests.plots.helpers import texts

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from hsiclasso.baselines.comparison import Comparison, Outcome


def outcome(title, *names):
    return Outcome(
        title.lower(),
        title,
        names,
        tuple(range(len(names))),
        tuple(1.0 / (1 + i) for i in range(len(names))),
    )


@pytest.fixture(scope="module")
def comparison():
    """Return what three methods selected, a fourth being left out."""
    outcomes = (
        outcome("First", "a", "b", "c"),
        outcome("Second", "b", "d"),
        Outcome("third", "Third", skipped="y is text"),
        outcome("Fourth", "b", "c", "e"),
    )
    return Comparison(outcomes, 50, 9, 3)


def grid(ax):
    """Return the numbers of a grid by row and column, and its votes."""
    rows, columns = texts(ax.get_yticklabels()), texts(ax.get_xticklabels())
    cells = {}
    for text in ax.texts:
        x, y = text.get_position()
        cells[rows[round(y)], columns[int(x + 0.5)]] = int(text.get_text())
    return cells


def test_ranks_are_a_grid_by_votes(comparison):
    ax = plot_ranks(comparison)
    assert texts(ax.get_yticklabels()) == ["b", "c", "a", "d", "e"]
    assert texts(ax.get_xticklabels()) == ["First", "Second", "Fourth", "votes"]
    assert grid(ax) == {
        ("a", "First"): 1, ("b", "First"): 2, ("c", "First"): 3,
        ("b", "Second"): 1, ("d", "Second"): 2,
        ("b", "Fourth"): 1, ("c", "Fourth"): 2, ("e", "Fourth"): 3,
        ("b", "votes"): 3, ("c", "votes"): 2, ("a", "votes"): 1, ("d", "votes"): 1,
        ("e", "votes"): 1,
    }  # fmt: skip
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert ax.get_xlabel() == "rank in each method"


def test_better_ranks_are_darker(comparison):
    (mesh,) = plot_ranks(comparison).collections
    shades = np.asarray(mesh.get_array()).mean(axis=2)
    assert shades[2, 0] < shades[0, 0] < shades[1, 0]  # ranks 1, 2 and 3 of the first method
    assert shades[2, 0] == shades[0, 1]
    assert shades[1, 1] > shades[1, 0]  # not selected


def test_a_long_grid_is_cut_and_says_so(comparison):
    ax = plot_ranks(comparison, max_features=2)
    assert texts(ax.get_yticklabels()) == ["b", "c"]
    assert ax.get_xlabel() == "rank in each method; 3 more features not shown"
    with pytest.raises(InvalidInputError, match="max_features=0, but it must be 1 or more"):
        plot_ranks(comparison, max_features=0)


def test_a_grid_uses_given_axes_and_odd_names():
    ax = Figure().add_subplot()
    odd = outcome("$x_1$ [b] is a title that is too long to be shown", "$a_1^$", "b" * 40)
    assert plot_ranks(Comparison((odd,), 50, 9, 2), ax) is ax
    ax.figure.draw_without_rendering()
    assert all(len(label) <= 28 for label in texts(ax.get_yticklabels() + ax.get_xticklabels()))


def test_a_grid_of_nothing_is_said():
    nothing = Comparison((Outcome("a", "A", skipped="it cannot"), Outcome("b", "B")), 50, 9, 2)
    assert texts(plot_ranks(nothing).texts) == ["no feature selected"]


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_of_ranks(tmp_path, comparison, suffix):
    file = tmp_path / f"ranks{suffix}"
    save_ranks(comparison, file)
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert file.read_bytes().startswith(start)
    if suffix == ".svg":
        words = "3 of 9 features by each of 3 (of 4) methods, from 50 samples"
        assert words in file.read_text(encoding="utf-8")
        save_ranks(comparison, file, target=["risk", "age"], source="data/cohort.csv")
        text = file.read_text(encoding="utf-8")
        assert "target: risk, age, file: cohort.csv" in text
        assert words in text
    with pytest.raises(InvalidInputError, match=r"suffix '\.gif'"):
        save_ranks(comparison, tmp_path / "ranks.gif")
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
