"""Text of a target that stands for numbers or dates."""

from __future__ import annotations

import numpy as np

from hsiclasso.data.cells import as_number, is_nearly_number
from hsiclasso.data.dates import as_day
from hsiclasso.errors import InvalidInputError
from hsiclasso.targets.base import Array

__all__ = ["numbers_in"]

#: If more than this share of a text are numbers, the rest are mistakes, not labels.
_MOSTLY = 0.5


def numbers_in(column: Array) -> Array:
    """Return text that holds numbers as numbers, dates as days since 1970, and all else as it is.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Values without missing ones.

    Raises
    ------
    InvalidInputError
        If most of a text are numbers and some are not, or if commas leave a doubt.

    Examples
    --------
    >>> numbers_in(np.array(["1.5", "-2"])), numbers_in(np.array(["1970-01-03", "1970-01-01"]))
    (array([ 1.5, -2. ]), array([2., 0.]))
    """
    if column.dtype.kind in "biuf":
        return column
    labels, codes = np.unique(column.astype(str), return_inverse=True)
    texts = labels.tolist()
    for read in (as_number, as_day):
        found = [read(text) for text in texts]
        if None not in found:
            return np.array(found)[codes]
    number = np.array([as_number(text) is not None for text in texts])
    comma = ~number & np.array([is_nearly_number(text) for text in texts])
    if (number | comma)[codes].mean() > _MOSTLY:
        wrong = comma[codes] if comma.any() else ~number[codes]
        text = str(column[int(np.argmax(wrong))])
        raise InvalidInputError(
            f"y holds the text {text!r}, but most of it are numbers: pass numbers, with a dot as "
            "the decimal mark and None where one is missing; or, if these are labels, pass "
            "target='classes'."
        )
    return column
