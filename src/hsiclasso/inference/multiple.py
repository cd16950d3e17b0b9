"""Many tests at once: p-values adjusted so that a threshold bounds the errors of all."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from hsiclasso._checks import check_choice, is_number
from hsiclasso._types import FloatArray
from hsiclasso.errors import InvalidInputError

__all__ = ["Adjustment", "adjust"]

Adjustment = Literal["bh", "by", "holm", "bonferroni"]


def adjust(p_values: Any, method: Adjustment = "bh", n_tests: int | None = None) -> FloatArray:
    r"""Adjust p-values for the number of tests.

    A test whose adjusted p-value is at most q is found at level q. For m tests with sorted
    p-values :math:`p_{(1)} \le \dots \le p_{(m)}`:

    ================  ==============================================  ==================
    ``"bh"``          :math:`\min_{j \ge i}\, m p_{(j)} / j`          Benjamini-Hochberg
    ``"by"``          the same times :math:`\sum_{j=1}^m 1/j`         Benjamini-Yekutieli
    ``"holm"``        :math:`\max_{j \le i}\, (m - j + 1)\, p_{(j)}`  Holm
    ``"bonferroni"``  :math:`m\, p_{(i)}`                             Bonferroni
    ================  ==============================================  ==================

    The first two bound the false discovery rate: ``"bh"`` for independent tests and under positive
    dependence, ``"by"`` under any. The others bound the probability of any error.

    Parameters
    ----------
    p_values : array-like of shape (k,)
        p-values between 0 and 1.
    method : {"bh", "by", "holm", "bonferroni"}, default="bh"
    n_tests : int, default=None
        Number m of tests, if there were more than the p-values given: the others count as 1.

    Returns
    -------
    ndarray of shape (k,)
        Adjusted p-values, at most 1, in the order given.

    Examples
    --------
    >>> adjust([0.01, 0.02, 0.9])
    array([0.03, 0.03, 0.9 ])
    >>> adjust([0.01, 0.02], "holm", n_tests=3)
    array([0.03, 0.04])
    """
    check_choice("method", method, get_args(Adjustment))
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InvalidInputError(
            "p_values must be one row of numbers between 0 and 1; NaN is no p-value: leave it out, "
            "or pass 1."
        )
    m = p.size if n_tests is None else n_tests
    if not is_number(m) or m != int(m) or m < p.size:
        raise InvalidInputError(
            f"n_tests={n_tests!r}, but it must be a whole number, at least the number of p-values "
            f"({p.size})."
        )
    if method == "bonferroni":
        return np.minimum(m * p, 1.0)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, p.size + 1)
    if method == "holm":
        found = np.maximum.accumulate((m - ranks + 1) * p[order])
    else:
        factor = np.sum(1 / np.arange(1, m + 1)) if method == "by" else 1.0
        # the p-values not given are 1: they come last, and their adjusted values are 1 or more
        found = np.minimum.accumulate((factor * m / ranks * p[order])[::-1])[::-1]
    out = np.empty(p.size)
    out[order] = np.minimum(found, 1.0)
    return out
