"""What tells how far weights are from those of the lasso.

Nothing here imports the package.
"""

from __future__ import annotations

import numpy as np


def lower_bound(X, y, weights, alpha):
    """The value 1/2 |y|^2 - 1/2 |y - t|^2 of the dual, which no weights of the lasso go below.

    It takes any t with |X't| <= alpha: here the residual of some weights, scaled down.
    """
    t = y - X @ weights
    t = t * min(1.0, alpha / np.abs(X.T @ t).max())
    return 0.5 * y @ y - 0.5 * np.sum((y - t) ** 2)
