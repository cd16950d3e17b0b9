"""Selections to draw, and what is written in a figure."""

from __future__ import annotations

from dataclasses import replace

from hsiclasso import HSICLasso
from hsiclasso.data.sources import ArraySource
from hsiclasso.selectors import Selection, StopOptions, select


def choose(X, y, names=None, *, covariates=None, **stop) -> Selection:
    """Return a selection from columns of these names, with this rule to stop."""
    settings = replace(HSICLasso()._settings(), stop=StopOptions(**stop))
    return select(ArraySource(X, names), y, settings, covariates=covariates)


def texts(labels) -> list[str]:
    return [label.get_text() for label in labels]
