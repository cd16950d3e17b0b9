"""How much selected features repeat each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from hsiclasso.errors import InvalidInputError

__all__ = ["redundancy_rate"]


def redundancy_rate(X: Any) -> float:
    r"""Mean absolute correlation of pairs of features, the redundancy rate (RED).

    .. math:: \mathrm{RED} = \frac{2}{m (m - 1)} \sum_{k > l} |\rho_{k, l}|

    It is 0 for uncorrelated features, and 1 for copies of one. The paper prints the same sum over
    ``m (m - 1)``, which is half of the mean over the ``m (m - 1) / 2`` pairs.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At least two samples of at least two selected features: numbers without NaN. A constant
        feature has no correlation with the others.

    Returns
    -------
    rate : float
        Between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from hsiclasso.evaluation import redundancy_rate
    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> redundancy_rate(np.column_stack([x, -2 * x]))
    1.0
    >>> round(redundancy_rate(np.column_stack([x, (x - 1.5) ** 2])), 6)
    0.0
    """
    try:
        table = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"X must be a table of numbers: {error}") from None
    if table.ndim != 2 or min(table.shape) < 2:
        raise InvalidInputError(
            f"X has the shape {table.shape}; it must have two dimensions, with at least two "
            "samples and two features."
        )
    if not np.isfinite(table).all():
        raise InvalidInputError("X has NaN or infinite entries: leave them out or fill them in.")
    varies = np.ptp(table, axis=0) > 0
    # divide by the largest entry first: squares then neither overflow nor vanish
    scaled = table[:, varies] / np.abs(table[:, varies]).max(axis=0)
    centred = scaled - scaled.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=0)
    above = np.triu(np.abs(unit.T @ unit), 1)
    m = table.shape[1]
    return float(min(2 * above.sum() / (m * (m - 1)), 1.0))
