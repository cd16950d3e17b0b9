"""A page about what several methods select."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hsiclasso.plots.drawing import shorten
from hsiclasso.report.asked import Asked, versions
from hsiclasso.report.files import write_page_to
from hsiclasso.report.heatmap import draw_heatmap
from hsiclasso.report.markup import Markup, tag
from hsiclasso.report.page import listed, paragraphs, section, write_page
from hsiclasso.report.sections import scrolling, table_section
from hsiclasso.report.table import Field, numbers, table_data, texts

if TYPE_CHECKING:
    from hsiclasso.baselines import Comparison

__all__ = ["make_comparison", "write_comparison"]

#: Most features of the table.
_MOST = 500


def write_comparison(
    comparison: Comparison, file: str | os.PathLike[str], *, asked: Asked | None = None
) -> None:
    """Write a page about what several methods select: one HTML file that opens offline.

    Parameters
    ----------
    comparison : Comparison
        What `hsiclasso.baselines.compare` returns.
    file : path-like
        File to write, ``.html``.
    asked : Asked, optional
        File, names of the target and command, for the section on what was asked.

    Examples
    --------
    >>> from hsiclasso import make_data1
    >>> from hsiclasso.baselines import compare
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> write_comparison(compare(X, y, 4, methods=["hsic_lasso", "mi_ranking"]), "methods.html")
    """
    write_page_to(file, lambda: make_comparison(comparison, asked=asked))


def make_comparison(comparison: Comparison, *, asked: Asked | None = None) -> str:
    """Return the text of the page of `write_comparison`.

    Parameters
    ----------
    comparison, asked
        As in `write_comparison`.

    Examples
    --------
    >>> from hsiclasso.baselines.comparison import Comparison, Outcome
    >>> found = Comparison((Outcome("mine", "My method", ("age",), (0,), (1.0,)),), 50, 3, 1)
    >>> "My method" in make_comparison(found)
    True
    """
    asked = Asked() if asked is None else asked
    fields = _fields(comparison)
    about = {
        "File": asked.file, "Target": asked.called,
        "Seed": "" if asked.seed is None else str(asked.seed), "Versions": versions(),
        "To run it again": asked.command,
    }  # fmt: skip
    made = [
        section("Found", paragraphs(_found(comparison)), name="found"),
        table_section(fields),
        _methods(comparison),
        _agreement(comparison),
        section("What was asked", listed({k: v for k, v in about.items() if v}), name="asked"),
    ]
    title = f"Methods compared for {asked.called or 'the target'}"
    return write_page(title, made, table_data(fields))


def _found(comparison: Comparison) -> list[str]:
    """Say which features most methods select."""
    ranks, n_ran = comparison.ranks(), len(comparison.ran)
    said = (
        f"{n_ran} of {len(comparison.outcomes)} methods ran on {comparison.n_samples:,} samples "
        f"with {comparison.n_features:,} columns, each for {comparison.n_requested:,} features. "
        f"Together they select {len(ranks):,}."
    )
    if not ranks:
        return [said]
    votes = comparison.votes()
    most = max(votes.values())
    best = [name for name, count in votes.items() if count == most]
    shown = ", ".join(shorten(name, 40) for name in best[:5])
    rest = f" and {len(best) - 5} more" if len(best) > 5 else ""
    return [said, f"Most votes, {most} of {n_ran}: {shown}{rest}."]


def _fields(comparison: Comparison) -> list[Field]:
    """Return the columns of the table: votes, and the rank in each method."""
    ranks = dict(list(comparison.ranks().items())[:_MOST])
    names, places = list(ranks), list(ranks.values())
    means = [sum(place.values()) / len(place) for place in places]
    made = [
        numbers("rank", range(1, len(names) + 1), "{:d}"),
        texts("feature", names),
        numbers("votes", [len(place) for place in places], "{:d}", "methods that select it"),
        numbers("mean rank", means, "{:.1f}", "in the methods that select it"),
    ]
    about = "rank in this method"
    return made + [
        numbers(one.title, [place.get(one.method) for place in places], "{:d}", about)
        for one in comparison.ran
    ]


def _methods(comparison: Comparison) -> Markup:
    """Return time, redundancy, scores and features of each method, and why some did not run."""
    titles = ["seconds", "redundancy"]
    judged = any(one.score is not None for one in comparison.ran)
    if judged:
        titles += ["score", "standard error", "stability"]
    rows = []
    for one in comparison.ran:
        values = [one.seconds, one.redundancy, one.score, one.score_error, one.stability]
        cells = [
            tag("td", "" if value is None else f"{value:.2f}", class_="num")
            for value in values[: len(titles)]
        ]
        names = ", ".join(shorten(name, 24) for name in one.features[:50])
        head = tag("th", one.title, scope="row")
        rows.append(tag("tr", head, cells, tag("td", names, class_="list")))
    looks = {"method": None, **dict.fromkeys(titles, "num"), "features, best first": None}
    head = tag("tr", [tag("th", name, scope="col", class_=look) for name, look in looks.items()])
    table = tag("table", tag("thead", head), tag("tbody", rows))
    skipped = [f"{one.title} left out: {one.skipped}" for one in comparison.outcomes if one.skipped]
    notes = tag("ul", [tag("li", note) for note in skipped], class_="notes") if skipped else None
    words = "Redundancy is the mean absolute correlation between features selected together."
    if judged:
        words += (
            " Score is that of a model on samples that were left out; stability is the share of "
            "features that the selections of two folds have in common."
        )
    residuals = [one.title for one in comparison.ran if one.adjusted == "residuals"]
    if residuals:
        words += f" Given residuals in place of the covariates: {', '.join(residuals)}."
    parts = tag("p", words), scrolling(table, "Methods"), notes
    return section("Methods", parts, name="methods")


def _agreement(comparison: Comparison) -> Markup | None:
    """Return how many features two methods share."""
    titles = tuple(one.title for one in comparison.ran)
    drawn = draw_heatmap(titles, comparison.agreement(), "methods", marked=False)
    if drawn is None:
        return None
    words = "The share of features that two methods have in common, of those that either selects."
    texts_ = paragraphs([words, drawn.words])
    return section("Agreement", texts_, scrolling(drawn.picture, "Agreement"), name="agreement")
