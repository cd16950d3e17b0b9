"""Writing a report."""

from __future__ import annotations

import os
from typing import Any

from hsiclasso.errors import InvalidInputError
from hsiclasso.plots.seen import Groups, Seen, Times, read_data
from hsiclasso.report import sections
from hsiclasso.report.asked import Asked, settings_of
from hsiclasso.report.files import write_page_to
from hsiclasso.report.page import listed, paragraphs, section, write_page
from hsiclasso.report.sentences import found_words
from hsiclasso.report.table import fields_of, table_data
from hsiclasso.selectors.result import SelectionResult

__all__ = ["make_report", "write_report"]


def write_report(
    selected: Any, file: str | os.PathLike[str], X: Any = None, y: Any = None,
    *, asked: Asked | None = None,
) -> None:  # fmt: skip
    """Write a report of a selection: one HTML file that opens offline.

    It has the selected features in a table that can be sorted, filtered and copied, the shape of
    each dependence in the data, the path, how similar the features are, how sure the selection is,
    and what the certificate says.

    Parameters
    ----------
    selected : estimator or SelectionResult
        A fitted selector with ``result_``, such as `HSICLasso` or `ControlledSelection`, or its
        result. Of a selector, the report also has the settings.
    file : path-like
        File to write, ``.html``.
    X, y : table and target, optional
        Those of the fit; without them there are no pictures of the data.
    asked : Asked, optional
        File, names of the target and command, for the section on what was asked.

    Raises
    ------
    InvalidInputError
        If the file cannot be an HTML file, or X is another table than that of the fit.

    Examples
    --------
    >>> from pathlib import Path
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> write_report(HSICLasso(4).fit(X, y), "report.html", X, y)
    >>> Path("report.html").read_text(encoding="utf-8").count("<figure")
    4
    """
    write_page_to(file, lambda: make_report(selected, X, y, asked=asked))


def make_report(selected: Any, X: Any = None, y: Any = None, *, asked: Asked | None = None) -> str:
    """Return the text of a report.

    Parameters
    ----------
    selected, X, y, asked
        As in `write_report`.

    Examples
    --------
    >>> from hsiclasso import HSICLasso, make_data1
    >>> X, y, causal = make_data1(100, 20, random_state=0)
    >>> text = make_report(HSICLasso(4).fit(X, y), X, y)
    >>> len(text) < 100_000
    True
    """
    result, selector = _result_of(selected)
    asked = Asked() if asked is None else asked
    seen = Seen() if X is None else read_data(result, X, y, asked.target)
    name = asked.called or _name_of(seen)
    fields = fields_of(result)
    made = [
        section("Found", paragraphs(found_words(result, name)), name="found"),
        sections.notes_section(result),
        sections.table_section(fields) if result.features else None,
        sections.shapes_section(result, None if X is None else seen),
        sections.path_section(result),
        sections.similarity_section(result),
        sections.tests_section(result),
        sections.certificate_section(result),
        sections.data_section(result, seen),
        section("What was asked", listed(settings_of(result, selector, asked)), name="asked"),
    ]
    return write_page(f"Features selected for {name}", made, table_data(fields))


def _result_of(selected: Any) -> tuple[SelectionResult, Any]:
    """Return the result, and the selector if there is one."""
    if isinstance(selected, SelectionResult):
        return selected, None
    found = getattr(selected, "selector_", None)  # of HSICLassoCV
    result = getattr(selected, "result_", getattr(found, "result_", None))
    if not isinstance(result, SelectionResult):
        raise InvalidInputError(
            f"selected={selected!r:.80} has no selection to report: pass a fitted HSICLasso, "
            "NOCCOLasso, EmbeddingLasso or ControlledSelection, or its result_."
        )
    return result, selected


def _name_of(seen: Seen) -> str:
    """What the target is called if nobody says."""
    target = seen.target
    if target is None:
        return "the target"
    if isinstance(target, Groups | Times):
        return target.name
    return ", ".join(target.names[:3]) + (", ..." if len(target.names) > 3 else "")
