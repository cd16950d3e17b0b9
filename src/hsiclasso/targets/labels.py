"""Targets of labels: zeros and ones, a column for each label."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets.base import Array
from hsiclasso.targets.values import ValueTarget, codes_of

__all__ = ["Labels"]


class Labels(ValueTarget):
    """Labels of which a sample may have several: a table of zeros and ones.

    Parameters
    ----------
    kernel, outputs, missing
        As in `Classes`.

    Examples
    --------
    >>> Labels().prepare([[0, 1], [1, 1], [1, 0]], 3).data.averaged
    True
    """

    name: ClassVar[str] = "labels"
    words: ClassVar[str] = "a target of labels"
    by_class: ClassVar[bool] = True

    def _check_outputs(self, n_outputs: int) -> None:
        if n_outputs == 1:
            raise InvalidInputError(
                "target='labels' needs a table of zeros and ones, one column per label, but y "
                "has one column: use target='classes'."
            )

    def scores(self, column: Array) -> FloatArray:
        """Return zeros and ones; raise for other values."""
        if column.dtype.kind not in "biuf" or not np.isin(column, (0, 1)).all():
            raise InvalidInputError(
                "target='labels' needs zeros and ones, one column per label: use "
                "target='classes' for several classes in a column."
            )
        return codes_of(column)
