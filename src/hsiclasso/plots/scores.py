"""How well selected features predict: by number of features, or by method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hsiclasso.baselines import Comparison
from hsiclasso.errors import InvalidInputError
from hsiclasso.plots import drawing
from hsiclasso.plots.drawing import BAR, FEW, INK, LINES, QUIET, SMALL, TEXT
from hsiclasso.selectors.summaries import SizeScores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_methods", "plot_sizes"]

#: Width of a column of numbers, in points.
_COLUMN = 68
_ERROR: dict[str, Any] = {"elinewidth": 1.4, "capsize": 3, "zorder": 3}


def plot_sizes(scores: SizeScores, ax: Axes | None = None) -> Axes:
    """Draw the score of each number of features, with its standard error; the chosen one is marked.

    Parameters
    ----------
    scores : SizeScores
        ``search.scores_`` of an `HSICLassoCV`, or ``result_.validation``.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import HSICLassoCV, make_data1
    >>> X, y, causal = make_data1(200, 30, random_state=0)
    >>> search = HSICLassoCV(sizes=[1, 2, 4, 8], cv=3).fit(X, y)
    >>> ax = plot_sizes(search.scores_)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['1', '2', '4', '8']
    """
    ax = drawing.tidy_axes(ax, (6.0, 4.0), "number of features")
    ax.set_ylabel("score", fontsize=TEXT, color=INK)
    places, mean, error = np.arange(len(scores.sizes)), scores.mean, scores.standard_error
    ax.errorbar(places, mean, error, color=BAR, marker="o", linewidth=1.6, **_ERROR)
    if scores.chosen is not None:
        place = scores.sizes.index(scores.chosen)
        ax.plot([place], [mean[place]], "o", color=LINES[1], markersize=10, zorder=4)
        folds = scores.scores.shape[1]
        drawing.name_axes(ax, f"{scores.chosen} features predict best in {folds} folds")
    ax.set_xticks(places, labels=[str(size) for size in scores.sizes])
    ax.set_xlim(-0.4, len(places) - 0.6)
    drawing.few_ticks(ax.yaxis)
    return ax


def plot_methods(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw how well the features of each method predict, with standard errors, best on top.

    Beside each method stand its time, the stability of its selection, and the redundancy of it.

    Parameters
    ----------
    comparison : Comparison
        What `hsiclasso.baselines.compare` returns with `cv`.
    ax : matplotlib.axes.Axes, default=None
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import compare
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> found = compare(X, y, 4, methods=["hsic_lasso", "mi_ranking"], cv=3)
    >>> plot_methods(found).get_xlabel()
    'score in cross-validation'
    """
    scored = [one for one in comparison.ran if one.score is not None]
    if not scored:
        raise InvalidInputError(
            "comparison has no scores: make it with cv, as in compare(X, y, 10, cv=5)."
        )
    scored.sort(key=lambda one: -(one.score or 0.0))
    ax = drawing.tidy_axes(ax, (8.5, drawing.figure_height(len(scored))), "")
    ax.set_xlabel("score in cross-validation", fontsize=TEXT, color=INK)
    rows = np.arange(len(scored))
    middle = np.array([one.score for one in scored], dtype=np.float64)
    error = np.array([one.score_error or 0.0 for one in scored])
    ax.errorbar(middle, rows, xerr=error, fmt="o", color=BAR, markersize=7, **_ERROR)
    drawing.name_rows(ax, [one.title for one in scored])
    for row in rows:
        ax.axhline(float(row), color=QUIET, linewidth=0.6, zorder=1)
    ax.set_ylim(max(len(rows), FEW) - 0.4, -0.8)
    columns = (
        ("seconds", [f"{one.seconds:.2g}" for one in scored]),
        ("stability", [_share(one.stability) for one in scored]),
        ("redundancy", [_share(one.redundancy) for one in scored]),
    )
    for place, (title, cells) in enumerate(columns, start=1):
        for row, cell in zip((-0.8, *rows), (title, *cells), strict=True):
            ax.annotate(
                cell, (1.0, row), (_COLUMN * place, 0), fontsize=SMALL, color=INK, ha="right",
                va="center", xycoords=("axes fraction", "data"), textcoords="offset points",
            )  # fmt: skip
    return ax


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
