"""Selections to draw, and what is written in a figure."""

from __future__ import annotations

from hsiclasso import HSICLasso, SelectionResult
from hsiclasso.data.sources import ArraySource


def choose(X, y, names=None, *, covariates=None, **parameters) -> SelectionResult:
    """Return what an estimator with these parameters selects from columns of these names."""
    selector = HSICLasso(**parameters)
    return selector.fit(ArraySource(X, names), y, covariates=covariates).result_


def texts(labels) -> list[str]:
    return [label.get_text() for label in labels]
